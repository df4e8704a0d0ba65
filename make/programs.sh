#!/usr/bin/env bash
# programs.sh [PART...]: builds the programs that the scripted tests run, below target/programs. The parts are `hello`, a C program; `mock`,
# the mock driver with its manifest; and `all`, these two with the other C programs and the program in Rust. The default is `all`.
. "$(dirname "$0")/common.sh"

[ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build"

# debugging PACKAGE: builds a package for debugging. In a test run, the function builds the whole workspace, as the stage `compile` does.
# For one package alone, cargo would compile shared crates again, with fewer features and without lints (make/rustc.sh).
debugging() {
    if [ -n "${XTASK:-}${CLIPPY_DRIVER:-}" ]; then python3 tests/run.py; else $CARGO build --locked --quiet -p "$1"; fi
}
mock() {
    debugging mock-driver
    # The mock driver reads the file libmock_driver.conf beside its library, so the library is copied into a separate folder.
    local folder=$PROGRAMS/mock
    mkdir -p "$folder"
    cp "$BUILT/debug/libmock_driver.so" "$folder/libmock_driver.so"
    cat >"$folder/libmock_driver.conf" <<'END'
name mock
device Mock GPU
END
    cat >"$folder/mock_driver.json" <<'END'
{
    "file_format_version": "1.0.1",
    "ICD": { "library_path": "./libmock_driver.so", "api_version": "1.3.280" }
}
END
}

library_folder "$LIBRARY" "$PROGRAMS/lib"
# Builds the library with the feature `steps-aside`, for the bundle of a program, in the debug profile. Uses a separate target folder,
# because cargo's usual folder contains the library without this feature.
aside() {
    $CARGO build --locked --quiet -p vulkan-loader --features steps-aside --target-dir "$TARGET/aside"
    mkdir -p "$PROGRAMS/aside"
    cp --remove-destination "$(built_below "$TARGET/aside")/debug/libvulkan.so" "$PROGRAMS/aside/libvulkan.so.1"
}

for part in "${@:-all}"; do
    case $part in
    hello) build_programs tests/programs "$PROGRAMS" hello ;;
    mock) mock ;;
    all)
        mock
        debugging ash-client
        [ "$(uname -s)" != Linux ] || aside
        ln -sfn "$BUILT/debug/ash-client" "$PROGRAMS/ash-client"
        build_programs tests/programs "$PROGRAMS"
        ;;
    *) die 3 "unknown part $part; the parts are hello, mock and all" ;;
    esac
done

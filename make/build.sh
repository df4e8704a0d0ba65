#!/usr/bin/env bash
# Builds the release library and the programs beside it, with manual pages and completions. With MAPPED=1, the files contain no path of this
# machine, as packages require. The same sources then result in the same bytes in every folder, which tests/reproducible.sh checks. This
# mode needs other compiler flags, so cargo builds everything again. PAGES names the folder for manual pages and completions; `no` skips
# them. The default is a folder beside the library. LIBRARY_ONLY=yes builds the library alone. SYSROOT names a folder with an older C
# library to link with, which make/sysroot.sh can unpack. CARGO_BUILD_TARGET names another processor or system, as in cargo.
. "$(dirname "$0")/common.sh"

# toml_strings TEXT...: prints the texts as a TOML list.
toml_strings() {
    local text list=
    for text; do
        text=${text//\\/\\\\}
        text=${text//\"/\\\"}
        list+="\"$text\", "
    done
    printf '[%s]' "${list%, }"
}

# Adds flags for rustc to the flags of a packager. Cargo reads flags from one source only, so our flags must go to the source that the
# packager uses: an environment variable, or the configuration. In the configuration, cargo joins the flags of all matching targets.
add_rustflags() {
    local flag own flags=("$@")
    if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}${RUSTFLAGS:-}" ]; then
        if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}" ]; then
            flags+=("$CARGO_ENCODED_RUSTFLAGS")
        else
            for flag in $RUSTFLAGS; do
                flags+=("$flag")
            done
        fi
        # The character \x1f separates encoded flags, so that the name of a folder can contain a blank.
        CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
        export CARGO_ENCODED_RUSTFLAGS
    else
        # If a target has flags, cargo ignores build.rustflags. The target here always has flags, so the function copies build.rustflags to
        # the target.
        own=$(RUSTC_BOOTSTRAP=1 $CARGO -Zunstable-options config get build.rustflags 2>/dev/null) || own=
        CARGO_OPTIONS+=(--config "target.'cfg(all())'.rustflags = $(toml_strings "${flags[@]}")")
        [ -z "$own" ] || CARGO_OPTIONS+=(--config "target.'cfg(not(any()))'.${own#build.}")
    fi
}

if [ -n "${MAPPED:-}" ]; then
    # Crates are in vendor/ below the project, or in the folder where cargo unpacks them.
    add_rustflags --remap-path-prefix="$CRATES=/usr/src/crates" --remap-path-prefix="$ROOT=/usr/src/vulkan-loader-rs-$VERSION"
fi
if [ -n "${SYSROOT:-}" ]; then
    [ -d "$SYSROOT/usr/include" ] || die 3 "SYSROOT=$SYSROOT has no C library to link with"
    libraries=$(dirname "$(compgen -G "$SYSROOT/usr/lib/*/libc.so")")
    mkdir -p "$TARGET"
    # In older C libraries, the functions for threads and for opening libraries are in libpthread and libdl.
    cat >"$TARGET/linker" <<END
#!/bin/sh
exec cc "--sysroot=$SYSROOT" "-L$SYSROOT/lib/${libraries##*/}" "-L$libraries" "\$@" -Wl,--push-state,--as-needed -ldl -lpthread -Wl,--pop-state
END
    chmod +x "$TARGET/linker"
    host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
    export "CARGO_TARGET_${host}_LINKER=$TARGET/linker"
fi
$CARGO "${CARGO_OPTIONS[@]}" build --locked --release -p vulkan-loader
[ -f "$LIBRARY" ] || die 2 "cargo did not build $LIBRARY; if cargo's configuration sets a target, set CARGO_BUILD_TARGET to it too"
[ "${LIBRARY_ONLY:-}" != yes ] || exit 0
programs=(vkloader)
# The driver service is a program for Linux only.
case ${CARGO_BUILD_TARGET:-$(uname -s)} in
Linux | *-linux-*) programs+=(vk-loader-service) ;;
esac
build_tools "${programs[@]}"
if [ "$PAGES" != no ]; then
    # The program that writes the pages must be built for this machine.
    env -u CARGO_BUILD_TARGET $CARGO "${CARGO_OPTIONS[@]}" run --locked --profile tools -p vulkan-loader-pages --example write -- "$PAGES"
fi

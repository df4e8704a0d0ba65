#!/usr/bin/env bash
# Runs a Vulkan program in a fresh clone. Builds the library and a C program, and then runs the C program. Downloads only crates and missing
# packages, and installs the packages while the library is compiled.
. "$(dirname "$0")/common.sh"

need_rust

# Succeeds if a driver is installed in the loader's folders, or if a variable names a driver.
driver_installed() {
    [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}${VK_ADD_DRIVER_FILES:-}" ] || return 0
    local folders folder
    folders=${XDG_CONFIG_HOME:-${HOME:-}/.config}:${XDG_CONFIG_DIRS:-/etc/xdg}:/usr/local/etc:/etc
    folders=$folders:${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
    while read -r -d: folder; do
        ! compgen -G "$folder/vulkan/icd.d/*.json" >/dev/null || return 0
    done <<<"$folders:"
    return 1
}

# Installs missing packages, and a software driver if no other driver is installed.
install_needed() {
    local sets=run
    driver_installed || sets=run+driver
    # The software driver is optional, because the mock driver can replace it. The other packages are necessary.
    make/setup.sh $sets || { [ $sets != run ] && make/setup.sh run; }
}

# Rust links with the C compiler. If the C compiler is missing, the missing packages must be installed before the build.
if command -v cc >/dev/null; then
    mkdir -p "$TARGET"
    install_needed >"$TARGET/setup.log" 2>&1 &
    installing=$!
    built=0
    $CARGO build --locked --release -p vulkan-loader || built=$?
    # Waits for apt even if the build failed, because apt would continue after the script exits.
    wait "$installing" || { tail -n 30 "$TARGET/setup.log" >&2 && exit 1; }
    [ "$built" = 0 ] || exit "$built"
    sed -n '/^Installing /p' "$TARGET/setup.log"
else
    install_needed
    $CARGO build --locked --release -p vulkan-loader
fi
make/programs.sh hello

arguments=()
if ! driver_installed; then
    say
    say "No Vulkan driver is installed. A mock stands in: what you see below is the loader at work, with devices that execute nothing."
    say "A real driver comes with mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-swrast (Arch), or the vendor of your device;"
    say "Mesa's lavapipe, which is among them, runs on any processor."
    make/programs.sh mock
    export VK_DRIVER_FILES=$PROGRAMS/mock/mock_driver.json
    arguments=(mock)
fi
say
LD_LIBRARY_PATH=$PROGRAMS/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout 600 "$PROGRAMS/hello" "${arguments[@]}"
cat <<END

The library is $LIBRARY. What can come next:
  LD_LIBRARY_PATH=$(printf %q "$PROGRAMS/lib") PROGRAM        any program on it, without installing it
  make build && $(printf %q "$RELEASE/vkloader") explain --library $(printf %q "$LIBRARY")
                                               why a driver, layer or device is there or not
  make install                                 the library in place of the system's
  make generate                                the generated code again, from the committed registry
  make test                                    every test; make alone lists the other verbs
END

#!/usr/bin/env bash
# From nothing to a Vulkan program that runs on the library.
. "$(dirname "$0")/common.sh"

make/setup.sh run
make/registry.sh
make/generate.sh
make/check-generated.sh
make --no-print-directory build
make/programs.sh

# Whether any driver is installed where the loader looks, or named by a variable.
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

# Where it may be installed, a driver that needs no hardware shows more than a mock.
driver_installed || make/setup.sh driver 2>/dev/null || true
arguments=()
if ! driver_installed; then
    say
    say "No Vulkan driver is installed. A mock stands in: what you see below is the loader at work, with devices that execute nothing."
    say "A real driver comes with mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-swrast (Arch), or the vendor of your device;"
    say "Mesa's lavapipe, which is among them, runs on any processor."
    export VK_DRIVER_FILES=$PROGRAMS/mock/mock_driver.json
    arguments=(mock)
fi
say
LD_LIBRARY_PATH=$PROGRAMS/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout 60 "$PROGRAMS/hello" "${arguments[@]}"
say
say "Why a driver, layer or device is there or not: $TARGET/release/vkloader explain --library $LIBRARY"

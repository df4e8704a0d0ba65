# Sourced by the scripts beside it: where things are, and how to say what is wrong.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

CARGO=${CARGO:-cargo}
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
case $TARGET in /*) ;; *) TARGET=$ROOT/$TARGET ;; esac

# A value of the pin: `pin header`, `pin '"vk.xml"'`.
pin() {
    sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" registry/pin.toml
}
VERSION=$(pin header)

# The library under test; any other libvulkan.so.1 may stand in.
LIBRARY=${VKL_LIBRARY:-$TARGET/release/libvulkan.so}
# What is built from C, and scratch space.
PROGRAMS=$TARGET/programs

say() {
    printf '%s\n' "$*"
}

# die STATUS TEXT...
die() {
    local status=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$status"
}

# The system's own loader, or nothing; an installed copy of this library is none.
peer_library() {
    local file
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
        awk -v abi="$(uname -m)" '$1 == "libvulkan.so.1" && (abi != "x86_64" || /x86-64/) { print $NF }' |
        while read -r file; do
            if [ "$(basename "$(realpath "$file")")" != "libvulkan.so.$VERSION" ]; then
                say "$file"
                break
            fi
        done
}

# A folder in which programs find LIBRARY under both names: for LD_LIBRARY_PATH.
library_folder() {
    local library=$1 folder=$2
    mkdir -p "$folder"
    ln -sfn "$(realpath "$library")" "$folder/libvulkan.so.1"
    ln -sfn libvulkan.so.1 "$folder/libvulkan.so"
}

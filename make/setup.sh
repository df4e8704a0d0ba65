#!/usr/bin/env bash
# setup.sh SET[+SET...]: installs missing packages for `make run`, `make bench` or `make test` (run, bench, test), for a Debian sid root
# (sid), or a software driver (driver). Without apt or superuser rights, the script only lists the missing packages.
. "$(dirname "$0")/common.sh"

set -- "${1:-}"

# Each row contains a needed program, or a file if the name contains a slash, the Debian package that contains it, and its purpose.
FOR_RUN='
cc                              gcc                      a C compiler, also the linker of Rust
/usr/include/stdio.h            libc6-dev                C headers
/usr/include/vulkan/vulkan.h    libvulkan-dev            C headers of Vulkan
'
FOR_REGISTRY='
python3                         python3                  fetching the registry
pip                             python3-pip              fetching the registry
'
FOR_TEST='
bwrap                           bubblewrap               sandboxes for drivers
mkfs.erofs                      erofs-utils              an image of drivers whose files have no times
Xvfb                            xvfb                     a display for vkcube
weston                          weston                   a Wayland compositor for vkcube-wayland
vkcube                          vulkan-tools             a real program
vulkaninfo                      vulkan-tools             a real program
explicit_layer.d/VkLayer_khronos_validation.json  vulkan-validationlayers  a real layer
implicit_layer.d/MangoHud.json  mangohud                 a real layer
cmake                           cmake                    a consumer of the installed package
c++                             g++                      libFuzzer
git                             git                      trying a header bump in a clone
chromium                        chromium                 a look at the page of the registry report
make                            make                     a consumer of the installed package
pkg-config                      pkg-config               a consumer of the installed package
'
FOR_BENCH='
nm                              binutils                 ABI tests and figures
icd.d/lvp_icd                   mesa-vulkan-drivers      lavapipe, a real driver, and two layers
ldconfig:libvulkan.so.1         libvulkan1               the other loader, for comparisons
valgrind                        valgrind                 counting instructions
/usr/include/valgrind/callgrind.h  valgrind              counting instructions
strace                          strace                   counting system calls
'
# Rows for the stage `windows`, which is skipped if these packages are not available.
FOR_WINDOWS='
x86_64-w64-mingw32-gcc          gcc-mingw-w64-x86-64     a C compiler for Windows, and its linker
i686-w64-mingw32-dlltool        binutils-mingw-w64-i686  compiling for 32 bits
wine                            wine                     running programs for Windows
/usr/lib/wine/wine64            wine64                   running programs for Windows
/usr/bin/rustc                  rustc-web                a Rust compiler that has the source of its library
/usr/bin/cargo                  cargo-web                the cargo that belongs to it
/usr/lib/rustlib/src/rust/library/std  rust-web-src      the standard library for Windows
'
# Rows for `make run` on systems without a driver.
FOR_DRIVER='
icd.d/lvp_icd                   mesa-vulkan-drivers      lavapipe, a real driver for any processor
'
FOR_SID='
mmdebstrap                      mmdebstrap               making a root of Debian sid
/usr/share/keyrings/debian-archive-keyring.gpg  debian-archive-keyring  checking its packages
'

found() {
    case $1 in
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    ldconfig:*) [ -n "$(peer_library)" ] ;;
    icd.d/* | *_layer.d/*) compgen -G "/usr/share/vulkan/$1*" >/dev/null ;;
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# Prints the lines of the table on standard input whose program or file is missing.
missing() {
    local what package purpose
    while read -r what package purpose; do
        [ -z "$what" ] || found "$what" || printf '%s\t%s\t%s\n' "$what" "$package" "$purpose"
    done
}

table= optional=
for set in ${1//+/ }; do
    case $set in
    run) table+=$FOR_RUN ;;
    bench) table+=$FOR_RUN$FOR_REGISTRY$FOR_BENCH ;;
    test) table+=$FOR_RUN$FOR_REGISTRY$FOR_BENCH$FOR_TEST optional=$FOR_WINDOWS ;;
    sid) table+=$FOR_SID ;;
    driver) table+=$FOR_DRIVER ;;
    *) die 3 "unknown set $set; the sets are run, bench, test, sid and driver" ;;
    esac
done
[ -n "$table" ] || die 3 "name a set: run, bench, test, sid or driver"

[[ $1 = sid || $1 = driver ]] || need_rust
if [ "$1" = test ]; then
    for tool in cargo-fmt cargo-clippy; do
        command -v "$tool" >/dev/null || die 1 "$tool is missing: it belongs to the Rust toolchain"
    done
fi

lacking=$(missing <<<"$table")
wanted=$(missing <<<"$optional")
[ -n "$lacking$wanted" ] || exit 0

# install ROWS: installs the packages of a table.
install() {
    local packages
    packages=$(cut -f2 <<<"$1" | sort -u | tr '\n' ' ')
    say "Installing $packages"
    # shellcheck disable=SC2086 -- $packages contains several names
    "${apt[@]}" install --no-install-recommends $packages
}
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt=(timeout 900 apt-get -q -y -o DPkg::Lock::Timeout=300)
    export DEBIAN_FRONTEND=noninteractive
    # A failed update does not matter if apt still finds the packages in its old list.
    "${apt[@]}" update || say "apt-get update failed; going on with the lists there are"
    if [ -n "$lacking" ]; then
        install "$lacking"
        lacking=$(missing <<<"$table")
    fi
    if [ -n "$wanted" ]; then
        install "$wanted" || say "Going on without what the stage windows needs"
    fi
fi
[ -n "$lacking" ] || exit 0

{
    say "Missing, and not to be installed from here (that takes apt-get and root):"
    while IFS=$'\t' read -r what package purpose; do
        printf '  %-32s Debian package %-24s %s\n' "$what" "$package" "$purpose"
    done <<<"$lacking"
} >&2
exit 1

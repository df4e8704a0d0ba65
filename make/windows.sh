#!/usr/bin/env bash
# Builds vulkan-1.dll for Windows x86-64, compares what it exports with generated/exports/windows.def, and runs the C program
# tests/windows/devices.c on it under Wine: it finds Wine's own driver through the registry, and lavapipe behind that. The program
# tests/windows/sources.c tries what only this system has, with a registry of its own.
#
# The standard library for that system is built from its source, which Debian has beside its second Rust (rustc-web).
. "$(dirname "$0")/common.sh"

TRIPLE=x86_64-pc-windows-gnu
WINDOWS=$TARGET/windows
DLL=$WINDOWS/vulkan-1.dll
GROUP=windows HERE=$WINDOWS

need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need wine wine64
need wine wine
need xvfb-run xvfb
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"

mkdir -p "$WINDOWS"
build() {
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$WINDOWS/cargo cargo build --locked --release \
        -Zbuild-std=std,panic_abort --target "$TRIPLE" -p vulkan-loader
    cp "$WINDOWS/cargo/$TRIPLE/release/vulkan.dll" "$DLL"
}
exports() {
    diff <(x86_64-w64-mingw32-objdump -p "$DLL" | sed -n '/Ordinal\/Name Pointer/,/^$/p' | awk '$NF ~ /^[A-Za-z_]/ && $NF != "Table" { print $NF }' | sort) \
        <(sed -n '/^EXPORTS/,$p' generated/exports/windows.def | awk 'NR > 1 { print $1 }' | sort)
}
program() {
    x86_64-w64-mingw32-dlltool --input-def generated/exports/windows.def --output-lib "$WINDOWS/libvulkan-1.a"
    mkdir -p "$WINDOWS/include"
    # The headers of Linux are in the way of those of this system.
    cp -r /usr/include/vulkan /usr/include/vk_video "$WINDOWS/include"
    x86_64-w64-mingw32-gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$WINDOWS/include" tests/windows/devices.c \
        -o "$WINDOWS/devices.exe" -L"$WINDOWS" -lvulkan-1
}
run() {
    (cd "$WINDOWS" && HOME=$WINDOWS WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all timeout --kill-after=10 300 xvfb-run -a wine devices.exe)
}
check "the library builds" build
check "it exports what the list says" exports
check "a C program links with it" program
check "the program runs on it" run

# What the registry lists, load order, long paths and the order of adapters, with drivers and answers of its own.
sources() {
    make --silent -C tests/windows OUT="$WINDOWS/sources" DLL="$DLL"
}
found_in_windows() {
    (cd "$WINDOWS/sources" && HOME=$WINDOWS WINEPREFIX=$WINDOWS/sources-prefix WINEDEBUG=-all \
        timeout --kill-after=10 300 xvfb-run -a wine sources.exe scratch)
}
check "a program for what only this system has links" sources
check "what only this system has" found_in_windows
exit "$failed"

#!/usr/bin/env bash
# Builds vulkan-1.dll for Windows x86-64 and compares its exports with generated/exports/windows.def. Then runs the C program
# tests/windows/devices.c on the library under Wine. The library finds Wine's own driver through the registry, and this driver uses
# lavapipe. The program tests/windows/sources.c tests features that only Windows has, with separate registry values.
. "$(dirname "$0")/../../make/common.sh"
. tests/windows/build.sh

GROUP=windows HERE=$WINDOWS

need wine wine64
need wine wine
need xvfb-run xvfb
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"

mkdir -p "$WINDOWS"
looks() {
    python3 tests/windows/library.py "$1" "$TRIPLE" "$DLL"
}
program() {
    x86_64-w64-mingw32-dlltool --input-def generated/exports/windows.def --output-lib "$WINDOWS/libvulkan-1.a"
    mkdir -p "$WINDOWS/include"
    # The script copies only the Vulkan headers, because the other headers of Linux would hide the headers of Windows.
    cp -r /usr/include/vulkan /usr/include/vk_video "$WINDOWS/include"
    x86_64-w64-mingw32-gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$WINDOWS/include" tests/windows/devices.c \
        -o "$WINDOWS/devices.exe" -L"$WINDOWS" -lvulkan-1
}
run() {
    (cd "$WINDOWS" && HOME=$WINDOWS WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all timeout --kill-after=10 300 xvfb-run -a wine devices.exe)
}
check "the library builds" build_library
check "it exports what the list says" looks exports
check "it imports what the list allows" looks imports
check "a C program links with it" program
check "the program runs on it" run

# Builds the tests of the registry's lists, the load order, long paths and the order of adapters. These tests use their own drivers and
# simulated answers.
sources() {
    make --silent -C tests/windows OUT="$WINDOWS/sources" DLL="$DLL"
}
found_in_windows() {
    (cd "$WINDOWS/sources" && HOME=$WINDOWS WINEPREFIX=$WINDOWS/sources-prefix WINEDEBUG=-all \
        timeout --kill-after=10 300 xvfb-run -a wine sources.exe scratch)
}
check "a program for what only this system has links" sources
check "what only this system has" found_in_windows
seen "Windows x86_64, release" "$([ "$failed" -eq 0 ] || say "failures; ")$(wine --version): exports, imports, a C program, and cases of sources.c: \
$(grep -c '^ok ' "$HERE/case.log") passed, $(grep -c '^FAIL ' "$HERE/case.log" || true) failed"
exit "$failed"

#!/usr/bin/env bash
# Runs programs for Windows on vulkan-1.dll under Wine, on Wine's own driver with lavapipe behind it: the compute and render program of
# tests/programs, and wgpu, a library that others built for Windows and that opens vulkan-1.dll by itself. make/windows.sh builds what
# they run on.
. "$(dirname "$0")/common.sh"

WINDOWS=$TARGET/windows
GROUP=windows HERE=$WINDOWS/programs-of-others
WGPU=0.32.0
WHEEL=wgpu-$WGPU-py3-none-win_amd64.whl
SUM=493c8a0425c7d3cc728a2489bce40d1a016d800306e59763ff1b21e176e66323

[ -f "$WINDOWS/vulkan-1.dll" ] || die 2 "$WINDOWS/vulkan-1.dll is not built: make test-windows"
command -v wine >/dev/null || die 3 "missing; apt-get install --no-install-recommends wine wine64"

compile() {
    x86_64-w64-mingw32-gcc -std=gnu11 -O1 -Wall -Wextra "$@"
}
run() {
    (cd "$HERE" && HOME=$HERE WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d;vulkan-1=n" \
        timeout --kill-after=10 300 xvfb-run -a wine "$@")
}
gpu() {
    make --silent -C tests/clients/windows OUT="$HERE" PROGRAMS="$PWD/tests/programs" && run gpu.exe
}
fetch() {
    [ -f "$HERE/$WHEEL" ] || python3 -m pip download --quiet --no-deps --dest "$HERE" --platform win_amd64 --only-binary=:all: "wgpu==$WGPU" || return
    sha256sum --check <<<"$SUM  $HERE/$WHEEL" || return
    python3 -m zipfile -e "$HERE/$WHEEL" "$HERE/wheel" && cp "$HERE/wheel/wgpu/resources/wgpu_native-release.dll" "$HERE/wgpu_native.dll"
}
wgpu() {
    fetch || return
    # Wine 8 lacks it; where a newer one has it, that one has the same function.
    compile -shared tests/windows/bcryptprimitives.c -o "$HERE/bcryptprimitives.dll" -ladvapi32 &&
        compile -Werror -I"$HERE/wheel/wgpu/resources" tests/windows/wgpu.c "$HERE/wgpu_native.dll" -o "$HERE/wgpu.exe" && run wgpu.exe
}

rm -rf "$HERE/wheel" && mkdir -p "$HERE" && cp "$WINDOWS/vulkan-1.dll" "$HERE"
# What single calls cost.
instructions() {
    x86_64-w64-mingw32-dlltool --input-def generated/exports/windows.def --output-lib "$HERE/liball.a" &&
        compile -Werror -I"$HERE/include" tests/windows/instructions.c -o "$HERE/instructions.exe" -L"$HERE" -lall && run instructions.exe
}
check "a program computes and renders" gpu
check "single calls are counted" instructions
check "wgpu $WGPU, built for Windows by others, lists devices and computes" wgpu
exit "$failed"

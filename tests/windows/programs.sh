#!/usr/bin/env bash
# Runs programs for Windows on vulkan-1.dll under Wine, with Wine's own driver, which uses lavapipe. The first program is the compute and
# render program of tests/programs. The other programs are small and use published libraries for Windows. The libraries wgpu and GLFW open
# vulkan-1.dll themselves, and the backend of llama.cpp is linked with vulkan-1.dll. tests/windows/release.sh must build the library first.
. "$(dirname "$0")/../../make/common.sh"

WINDOWS=$TARGET/windows
GROUP=windows HERE=$WINDOWS/programs-of-others
# Versions of the programs, and their archives with checksums.
WGPU=0.32.0
GLFW=2.11.0
LLAMA=3.21.1
FILES="wgpu-$WGPU-py3-none-win_amd64.whl 493c8a0425c7d3cc728a2489bce40d1a016d800306e59763ff1b21e176e66323
glfw-$GLFW-py2.py3-none-win_amd64.whl bd39c1adb57b7273813e33b9768bed88d1ea656abfc914b4a6424ec0c5d62674
node-llama-cpp-win-x64-vulkan-$LLAMA.tgz 105e8207d2114f5f248b217fee7f9b702d0e7509cf0d3c7565dfb9e707f9303e"

[ -f "$WINDOWS/vulkan-1.dll" ] || die 2 "$WINDOWS/vulkan-1.dll is not built: make test-windows"
command -v wine >/dev/null || die 3 "missing; apt-get install --no-install-recommends wine wine64"

compile() {
    x86_64-w64-mingw32-gcc -std=gnu11 -O1 -Wall -Wextra "$@"
}
run() {
    (cd "$HERE" && HOME=$HERE MESA_SHADER_CACHE_DISABLE=true WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d;vulkan-1=n" \
        timeout --kill-after=10 300 xvfb-run -a wine "$@")
}
gpu() {
    make --silent -C tests/clients/windows OUT="$HERE" PROGRAMS="$PWD/tests/programs" && run gpu.exe
}
# fetched FILE COMMAND...: if FILE does not exist, runs COMMAND, which must download FILE. Fails if FILE lacks its checksum in FILES.
fetched() {
    local file=$1 sum
    sum=$(awk -v file="$file" '$1 == file { print $2 }' <<<"$FILES")
    shift
    [ -f "$HERE/$file" ] || "$@" || return
    sha256sum --check <<<"$sum  $HERE/$file"
}
# wheel NAME VERSION FILE: downloads FILE, the wheel of the package NAME for Windows, and unpacks it into the folder NAME.
wheel() {
    fetched "$3" python3 -m pip download --quiet --no-deps --dest "$HERE" --platform win_amd64 --only-binary=:all: "$1==$2" &&
        rm -rf "${HERE:?}/$1" && python3 -m zipfile -e "$HERE/$3" "$HERE/$1"
}
# Wine 8 lacks bcryptprimitives.dll, so this function builds a replacement. Newer versions of Wine contain the library with the same
# function.
random() {
    compile -shared tests/windows/bcryptprimitives.c -o "$HERE/bcryptprimitives.dll" -ladvapi32
}
wgpu() {
    wheel wgpu "$WGPU" "wgpu-$WGPU-py3-none-win_amd64.whl" && random || return
    cp "$HERE/wgpu/wgpu/resources/wgpu_native-release.dll" "$HERE/wgpu_native.dll" &&
        compile -Werror -I"$HERE/wgpu/wgpu/resources" tests/windows/wgpu.c "$HERE/wgpu_native.dll" -o "$HERE/wgpu.exe" && run wgpu.exe
}
glfw() {
    wheel glfw "$GLFW" "glfw-$GLFW-py2.py3-none-win_amd64.whl" && random || return
    cp "$HERE/glfw/glfw/glfw3.dll" "$HERE" &&
        compile -Werror -I"$HERE/include" tests/windows/glfw.c -o "$HERE/glfw.exe" && run glfw.exe
}
npm_pack() {
    (cd "$HERE" && npm pack --silent "$1")
}
llama() {
    local file=node-llama-cpp-win-x64-vulkan-$LLAMA.tgz library
    fetched "$file" npm_pack "@node-llama-cpp/win-x64-vulkan@$LLAMA" && random || return
    for library in ggml-base ggml-vulkan; do
        tar -xOf "$HERE/$file" "package/bins/win-x64-vulkan/$library.dll" >"$HERE/$library.dll" || return
    done
    compile -Werror tests/windows/ggml.c -o "$HERE/ggml.exe" && run ggml.exe
}

mkdir -p "$HERE" && cp "$WINDOWS/vulkan-1.dll" "$HERE"
# Builds and runs instructions.c, which counts the instructions of single calls.
instructions() {
    x86_64-w64-mingw32-dlltool --input-def generated/exports/windows.def --output-lib "$HERE/liball.a" &&
        compile -Werror -I"$HERE/include" tests/windows/instructions.c -o "$HERE/instructions.exe" -L"$HERE" -lall && run instructions.exe
}
check "a program computes and renders" gpu
check "single calls are counted" instructions
check "wgpu $WGPU, built for Windows by others, lists devices and computes" wgpu
check "GLFW $GLFW, built for Windows by others, makes a window and its surface" glfw
if command -v npm >/dev/null; then
    check "the backend of llama.cpp, built for Windows by others, multiplies matrices" llama
else
    say "  skip  windows: the backend of llama.cpp: npm is missing"
fi
seen "Windows x86_64, programs of others" "$([ "$failed" -eq 0 ] || say "failures; ")wgpu $WGPU, GLFW $GLFW, llama.cpp of node-llama-cpp $LLAMA"
exit "$failed"

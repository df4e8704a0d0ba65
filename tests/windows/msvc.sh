#!/usr/bin/env bash
# Links vulkan-1.dll with the options of Microsoft's tools, for x86-64, x86 and 64-bit Arm. lld-link replaces Microsoft's linker, and
# tests/windows/msvc_runtime.c replaces Microsoft's C runtime. Control-flow guard, continuations of exceptions and shadow stacks are on. The
# script checks the headers of each library, and runs the library for x86-64 under Wine. TRIPLES="x86_64-pc-windows-msvc" selects one of the
# targets.
. "$(dirname "$0")/../../make/common.sh"

TRIPLES=${TRIPLES:-x86_64-pc-windows-msvc i686-pc-windows-msvc aarch64-pc-windows-msvc}
WINDOWS=$TARGET/windows
GROUP=msvc HERE=$WINDOWS/msvc
# Folder of the newest LLVM that contains all programs that this script needs.
LLVM=
for folder in $(printf '%s\n' /usr/lib/llvm-*/bin | sort --version-sort); do
    if [ -x "$folder/lld-link" ] && [ -x "$folder/clang" ] && [ -x "$folder/llvm-rc" ]; then
        LLVM=$folder
    fi
done

[ -n "$LLVM" ] || lacking+=" lld clang llvm"
need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need wine wine
need xvfb-run xvfb
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"

# runtime TRIPLE FOLDER: builds the replacement for the C runtime in FOLDER, under the name that the compiler requests.
runtime() {
    "$LLVM/clang" --target="$1" -std=gnu11 -O1 -Wall -Wextra -Werror -Wno-extern-initializer -ffreestanding -fno-builtin -gcodeview \
        -Xclang -cfguard -Xclang -ehcontguard -c tests/windows/msvc_runtime.c -o "$2/runtime.obj"
    "$LLVM/llvm-lib" /nologo "/out:$2/libcmt.lib" "$2/runtime.obj"
}
# build TRIPLE FOLDER: builds the library for TRIPLE, and copies it to FOLDER. The linker needs no import library, because the code names
# the library of each function of Windows.
build() {
    local flags=(-Ctarget-feature=+crt-static -Ccontrol-flow-guard -Zehcont-guard "-Lnative=$2" "-Clinker=$LLVM/lld-link" -Clink-arg=/Brepro)
    [[ $1 != x86_64-* ]] || flags+=(-Clink-arg=/cetcompat)
    rm -f "$2/built/$1/release/vulkan-1".*
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 RC=$LLVM/llvm-rc CARGO_TARGET_DIR=$2/built \
        CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}") cargo build --locked --release \
        -Zbuild-std=std,panic_abort -Zbuild-std-features=windows_raw_dylib --target "$1" -p vulkan-loader
    cp "$2/built/$1/release/vulkan-1".{dll,lib,pdb} "$2"
}
looks() {
    python3 tests/windows/library.py "$@"
}
symbols() {
    "$LLVM/llvm-pdbutil" dump --publics "$1/vulkan-1.pdb" >"$1/publics"
    for name in vkCreateInstance vkCmdDraw vkl_device_thunks; do
        grep -q "\`_\?$name\(@[0-9]*\)\?\`" "$1/publics"
    done
}
run() {
    mkdir -p "$1/include"
    # The script copies only the Vulkan headers, because the other headers of Linux would hide the headers of Windows.
    cp -r /usr/include/vulkan /usr/include/vk_video "$1/include"
    x86_64-w64-mingw32-gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$1/include" tests/windows/devices.c "$1/vulkan-1.lib" -o "$1/devices.exe"
    (cd "$1" && HOME=$1 WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all WINEDLLOVERRIDES="vulkan-1=n" timeout --kill-after=10 300 xvfb-run -a wine devices.exe)
}

for triple in $TRIPLES; do
    folder=$HERE/$triple
    mkdir -p "$folder"
    check "$triple: what stands in for the C runtime compiles" runtime "$triple" "$folder"
    check "$triple: the library links" build "$triple" "$folder"
    check "$triple: it exports what the list says" looks exports "$triple" "$folder/vulkan-1.dll"
    check "$triple: it imports what the list allows" looks imports "$triple" "$folder/vulkan-1.dll"
    check "$triple: exported functions and stubs may be called through pointers" looks guard "$triple" "$folder/vulkan-1.dll"
    check "$triple: its words to Windows and debuggers" looks words "$triple" "$folder/vulkan-1.dll"
    check "$triple: a debugger finds its functions" symbols "$folder"
    [[ $triple != x86_64-* ]] || check "$triple: a C program runs on it" run "$folder"
done
seen "Windows, Microsoft's rules" "$([ "$failed" -eq 0 ] || say "failures; ")linked by $("$LLVM/lld-link" --version | grep -o 'LLD [0-9.]*') for $(say "$TRIPLES" | sed 's/-pc-windows-msvc//g')"
exit "$failed"

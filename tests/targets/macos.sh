#!/usr/bin/env bash
# Links libvulkan.1.dylib for macOS, for arm64 and x86-64. LLVM's linker replaces Apple's linker, and stub libraries (.tbd) replace the
# system's libraries. Checks exports, imports, load commands and the signature of each library, and of the universal file. The script runs
# none of the libraries.
. "$(dirname "$0")/../../make/common.sh"

GROUP=macos
# Folder of the newest LLVM that contains all programs that this script needs.
LLVM=
for folder in $(printf '%s\n' /usr/lib/llvm-*/bin | sort --version-sort); do
    if [ -x "$folder/ld64.lld" ] && [ -x "$folder/clang" ] && [ -x "$folder/llvm-lipo" ] && [ -x "$folder/llvm-objcopy" ]; then
        LLVM=$folder
    fi
done

[ -n "$LLVM" ] || lacking+=" lld clang llvm"
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"

SDK=$TARGET/macos/sdk
# sdk: writes stub libraries (.tbd) in place of the system's libraries, for the linker. tests/targets/macos.txt lists their functions.
sdk() {
    rm -rf "$SDK"
    mkdir -p "$SDK/usr/lib" "$SDK/System/Library/Frameworks/CoreFoundation.framework"
    local file name
    for name in System CoreFoundation; do
        [ "$name" = System ] && file=usr/lib/libSystem.B || file=System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation
        stub "$name" "/$file" >"$SDK/$name.tbd"
    done
    mv "$SDK/CoreFoundation.tbd" "$SDK/System/Library/Frameworks/CoreFoundation.framework"
    # The crate of the C library requests libiconv, and the linker drops it.
    for name in libSystem libc libm libiconv; do
        cp "$SDK/System.tbd" "$SDK/usr/lib/$name.tbd"
    done
    rm "$SDK/System.tbd"
    sed -i 's/libSystem.B/libiconv.2/; s/symbols: .*/symbols: [ _iconv ]/' "$SDK/usr/lib/libiconv.tbd"
}
# stub LIBRARY PATH: prints the stub library (.tbd) of the system's LIBRARY, whose path is PATH.
stub() {
    local suffix=
    [ "$1" != System ] || suffix=.dylib
    say "--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '$2$suffix'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ $(awk -v library="$1" '$1 == library { printf "%s\047%s\047", sep, $2; sep = ", " }' tests/targets/macos.txt) ]
..."
}
# build TRIPLE FOLDER: builds the library for TRIPLE, and copies it to FOLDER. To strip files, the compiler calls rust-objcopy, which
# Debian's Rust lacks. The script therefore provides LLVM's program under this name.
build() {
    mkdir -p "$TARGET/macos/bin"
    ln -sf "$LLVM/llvm-objcopy" "$TARGET/macos/bin/rust-objcopy"
    local flags=("-Clinker=$LLVM/clang" -Clink-arg=-fuse-ld=lld "-Clink-arg=--target=${1/aarch64/arm64}" -Clink-arg=-Wl,-adhoc_codesign)
    rm -f "$2/built/$1/release/libvulkan.dylib"
    PATH=$TARGET/macos/bin:$LLVM:/usr/bin:$PATH RUSTC_BOOTSTRAP=1 SDKROOT=$SDK CARGO_TARGET_DIR=$2/built CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}") \
        cargo build --locked --release -Zbuild-std=core,alloc --target "$1" -p vulkan-loader
    cp "$2/built/$1/release/libvulkan.dylib" "$2"
    say "figure $(stat -c %s "$2/libvulkan.dylib") bytes"
}
looks() {
    python3 tests/targets/macos_library.py "$@"
}
both() {
    "$LLVM/llvm-lipo" -create "$TARGET"/macos/*/libvulkan.dylib -output "$TARGET/macos/libvulkan.1.dylib"
    looks signature "$TARGET/macos/libvulkan.1.dylib"
}

HERE=$TARGET/macos && mkdir -p "$HERE"
check "lists of the system's functions" sdk
for triple in aarch64-apple-darwin x86_64-apple-darwin; do
    HERE=$TARGET/macos/$triple
    mkdir -p "$HERE"
    check "$triple: the library links" build "$triple" "$HERE"
    for what in exports imports commands signature; do
        check "$triple: its $what" looks "$what" "$HERE/libvulkan.dylib"
    done
done
HERE=$TARGET/macos
check "one file for both processors" both
seen macos "$([ "$failed" -eq 0 ] || say "failures; ")linked by $("$LLVM/ld64.lld" --version | grep -o 'LLD [0-9.]*'): exports, imports, load commands and signature of arm64 and x86-64"
exit "$failed"

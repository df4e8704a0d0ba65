# Defines functions that build the shipped library for Windows x86-64 with mingw. Scripts that need this library source this file after
# common.sh. The library contains no path and no time of this machine.
#
# The standard library for Windows is built from its source, which Debian's second package of Rust (rustc-web) provides.
TRIPLE=x86_64-pc-windows-gnu
WINDOWS=$TARGET/windows
DLL=$WINDOWS/vulkan-1.dll

need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web

# for_windows ARGUMENT...: runs `cargo rustc` with the ARGUMENTs, and builds the standard library for Windows too.
for_windows() {
    local flags=("--remap-path-prefix=$CRATES=/usr/src/crates" "--remap-path-prefix=$ROOT=/usr/src/vulkan-loader-rs-$VERSION")
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$WINDOWS/cargo \
        CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}") \
        cargo rustc --locked -Zbuild-std=std,panic_abort --target "$TRIPLE" "$@"
}
# build_library: builds vulkan-1.dll and its symbols, vulkan-1.pdb.
build_library() {
    mkdir -p "$WINDOWS"
    rm -f "$WINDOWS/cargo/$TRIPLE/release/vulkan.dll"
    for_windows --release -p vulkan-loader -- -Clink-arg=-Wl,--no-insert-timestamp "-Clink-arg=-Wl,--pdb=$WINDOWS/vulkan-1.pdb"
    cp "$WINDOWS/cargo/$TRIPLE/release/vulkan.dll" "$DLL"
}

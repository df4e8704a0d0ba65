#!/usr/bin/env bash
# Compiles the library, its assembly included, for systems that are not at hand: nothing is linked, and nothing runs. A line each;
# fails if one does not compile. Arguments: some of the targets; none means all.
#
# The parts of the standard library that it needs are built from their source, which Debian has beside its second Rust (rustc-web).
. "$(dirname "$0")/common.sh"

# Target, features of the package `vulkan-loader`, and symbols that must be in what comes out: window systems and machine code.
SYSTEMS="
aarch64-apple-darwin      -               _vkCreateMetalSurfaceEXT,_vkCreateMacOSSurfaceMVK,_vkl_device_thunks
x86_64-apple-darwin       -               _vkCreateMetalSurfaceEXT,_vkCreateMacOSSurfaceMVK,_vkl_device_thunks
aarch64-apple-ios         -               _vkCreateMetalSurfaceEXT,_vkCreateIOSSurfaceMVK,_vkl_device_thunks
x86_64-apple-ios          -               _vkCreateMetalSurfaceEXT,_vkCreateIOSSurfaceMVK,_vkl_device_thunks
x86_64-unknown-freebsd    -               vkCreateWaylandSurfaceKHR,vkCreateXcbSurfaceKHR,vkl_device_thunks
x86_64-unknown-netbsd     -               vkCreateWaylandSurfaceKHR,vkCreateXcbSurfaceKHR,vkl_device_thunks
x86_64-unknown-openbsd    -               vkCreateWaylandSurfaceKHR,vkCreateXcbSurfaceKHR,vkl_device_thunks
x86_64-unknown-dragonfly  -               vkCreateWaylandSurfaceKHR,vkCreateXcbSurfaceKHR,vkl_device_thunks
x86_64-unknown-fuchsia    -               vkCreateImagePipeSurfaceFUCHSIA,vkl_device_thunks
x86_64-unknown-fuchsia    fuchsia-service vkCreateImagePipeSurfaceFUCHSIA,vkl_device_thunks
aarch64-unknown-fuchsia   fuchsia-service vkCreateImagePipeSurfaceFUCHSIA,vkl_device_thunks
aarch64-linux-android     -               vkCreateAndroidSurfaceKHR,vkl_device_thunks
armv7-linux-androideabi   -               vkCreateAndroidSurfaceKHR,vkl_device_thunks
x86_64-unknown-illumos    -               vkCreateHeadlessSurfaceEXT,vkl_device_thunks
"
SOURCE=/usr/lib/rustlib/src/rust/library
OUT=$TARGET/systems

lacking=
need() {
    [ -e "$1" ] || lacking+=" $2"
}
need $SOURCE/core rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
if [ -n "$lacking" ]; then
    say "  skip  systems: they need$lacking"
    exit 0
fi
nm=
for tool in llvm-nm llvm-nm-22 llvm-nm-19 llvm-nm-14 /usr/lib/llvm-*/bin/llvm-nm; do
    command -v "$tool" >/dev/null && nm=$tool && break
done
[ -n "$nm" ] || say "  skip  systems: what is in the object files; that needs llvm"

# What ships, but for what linking does.
compile() {
    local target=$1 features=$2
    [ "$features" != - ] || features=
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$OUT CARGO_PROFILE_RELEASE_LTO=off \
        cargo rustc --locked --release -p vulkan-loader --lib --crate-type rlib --features "$features" \
        -Zbuild-std=core,alloc --target "$target"
}

# holds TARGET SYMBOLS: whether each symbol is defined in the library that was made.
holds() {
    local library=$OUT/$1/release/libvulkan.rlib symbols symbol
    [ -n "$nm" ] || return 0
    symbols=$("$nm" --defined-only --format=just-symbols "$library" 2>/dev/null || true)
    for symbol in ${2//,/ }; do
        grep -qx "$symbol" <<<"$symbols" || {
            say "$library does not define $symbol"
            return 1
        }
    done
}

mkdir -p "$OUT"
failed=0
while read -r target features symbols; do
    [ -n "$target" ] || continue
    [ $# -eq 0 ] || [[ " $* " == *" $target "* ]] || continue
    name=$target
    [ "$features" = - ] || name+=" with $features"
    log=$OUT/$target.log
    if compile "$target" "$features" >"$log" 2>&1 && holds "$target" "$symbols" >>"$log" 2>&1 && ! grep -q '^warning: `vulkan' "$log"; then
        say "  ok    systems: $name"
    else
        say "  FAIL  systems: $name"
        grep -A 12 -E '^(error|warning)|does not define' "$log" || tail -n 20 "$log"
        failed=1
    fi
done <<<"$SYSTEMS"
exit "$failed"

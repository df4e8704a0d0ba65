#!/usr/bin/env bash
# Compiles the library, including its assembly, for systems that no test machine has. The script does not link or run the library. It prints
# a line for each target, and fails if a target does not compile. Arguments select targets. The default is all targets.
#
# The parts of the standard library that the library needs are built from source, which Debian's second package of Rust (rustc-web)
# provides.
. "$(dirname "$0")/../../make/common.sh"

# Each row contains the target, the features of the package `vulkan-loader`, and the exports. A name that ends in .txt is a list in
# generated/exports/. In other rows, the library exports the functions that linux.txt and macos.txt have in common, and the functions that
# the row names.
SYSTEMS="
aarch64-apple-darwin      -               macos.txt
x86_64-apple-darwin       -               macos.txt
aarch64-apple-ios         -               vkCreateIOSSurfaceMVK,vkCreateMetalSurfaceEXT
x86_64-apple-ios          -               vkCreateIOSSurfaceMVK,vkCreateMetalSurfaceEXT
x86_64-unknown-freebsd    -               linux.txt
x86_64-unknown-netbsd     -               linux.txt
x86_64-unknown-openbsd    -               linux.txt
x86_64-unknown-dragonfly  -               linux.txt
x86_64-unknown-illumos    -               -
x86_64-pc-solaris         -               -
x86_64-unknown-fuchsia    -               vkCreateImagePipeSurfaceFUCHSIA
x86_64-unknown-fuchsia    fuchsia-service vkCreateImagePipeSurfaceFUCHSIA
aarch64-unknown-fuchsia   fuchsia-service vkCreateImagePipeSurfaceFUCHSIA
aarch64-linux-android     -               vkCreateAndroidSurfaceKHR
armv7-linux-androideabi   -               vkCreateAndroidSurfaceKHR
"
SOURCE=/usr/lib/rustlib/src/rust/library
OUT=$TARGET/systems

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

# compile TARGET FEATURES: compiles the shipped library, without linking. FEATURES can be `-` for no features.
compile() {
    local target=$1 features=$2
    [ "$features" != - ] || features=
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$OUT CARGO_PROFILE_RELEASE_LTO=off \
        cargo rustc --locked --release -p vulkan-loader --lib --crate-type rlib --features "$features" \
        -Zbuild-std=core,alloc --target "$target"
}

# names FILE: prints the functions in the list generated/exports/FILE.
names() {
    sed -n 's/^_\?\(vk[A-Z].*\)/\1/p' "generated/exports/$1" | sort
}

# holds TARGET EXPORTS: succeeds if the object files for TARGET define the machine code of the stubs, and export exactly the functions that
# EXPORTS selects.
holds() {
    local library=$OUT/$1/release/libvulkan.rlib symbols exports
    [ -n "$nm" ] || return 0
    symbols=$("$nm" --extern-only --defined-only --format=just-symbols "$library" 2>/dev/null || true)
    grep -qxE '_?vkl_device_thunks' <<<"$symbols" || {
        say "error: $library does not hold the machine code of the stubs"
        return 1
    }
    case $2 in
    *.txt) exports=$(names "$2") ;;
    *) exports=$({ comm -12 <(names linux.txt) <(names macos.txt) && tr , '\n' <<<"${2#-}" | grep . || true; } | sort) ;;
    esac
    diff <(printf '%s\n' "$exports") <(sed -n 's/^_\?\(vk[A-Z].*\)/\1/p' <<<"$symbols" | sort) || {
        say "error: $library exports others than it should"
        return 1
    }
}

mkdir -p "$OUT"
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
        grep -A 12 -E '^(error|warning)|^[<>]' "$log" || tail -n 20 "$log"
        failed=1
    fi
done <<<"$SYSTEMS"
[ $# -gt 0 ] || seen systems "$([ "$failed" -eq 0 ] || say "failures; ")compiled: $(awk '{ print $1 }' <<<"$SYSTEMS" | sort -u | grep . | paste -sd ' ')"
exit "$failed"

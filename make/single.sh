#!/usr/bin/env bash
# Writes vkloader as one file that runs on systems with musl, and on systems with glibc if they are as new as Debian 11. The file is a
# static program that contains a vkloader and a Vulkan library for each of these two C libraries. The program starts the vkloader for the
# C library of the system.
#
# The files for glibc are linked with the glibc of Debian 11. For musl, the script builds Rust's standard library from its source, which
# Debian ships with rustc-web.
. "$(dirname "$0")/common.sh"

TRIPLE=x86_64-unknown-linux-musl
OUT=$TARGET/single
SETS=$OUT/sets

need musl-gcc musl-tools
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
need mmdebstrap mmdebstrap
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"
[ "$(uname -m)" = x86_64 ] || die 3 "the single file is written on x86-64, for x86-64"

# keep SET PROGRAM_FOLDER LIBRARY_FOLDER: copies `vkloader` and the Vulkan library, which were built for one C library, into the set SET.
keep() {
    install -D -m 755 "$2/vkloader" "$SETS/$1/vkloader"
    install -D -m 755 "$3/libvulkan.so" "$SETS/$1/libvulkan.so.1"
    strip "$SETS/$1/vkloader" "$SETS/$1/libvulkan.so.1"
}

# The unwinder libgcc_s is a shared library for glibc. A linker script with its name makes the linker use the static libgcc_eh.
linker_of_musl() {
    mkdir -p "$OUT/musl"
    printf 'GROUP ( %s %s %s )\n' "$(gcc -print-file-name=libgcc_eh.a)" "$(gcc -print-libgcc-file-name)" "$OUT/musl/objects.o" |
        tee "$OUT/musl/libgcc_s.so" >"$OUT/musl/libunwind.a"
    # The unwinder calls glibc's `_dl_find_object`, which musl lacks. This replacement always fails, so panic messages have no backtrace.
    printf 'int _dl_find_object(void *place, void *found) { return -1; }\n' |
        musl-gcc -O1 -c -x c -o "$OUT/musl/objects.o" -
    printf '#!/bin/sh\nexec musl-gcc "-L%s" "$@"\n' "$OUT/musl" >"$OUT/musl/linker"
    chmod +x "$OUT/musl/linker"
}

# for_musl SUBCOMMAND ARGUMENT...: runs cargo with a standard library for musl.
for_musl() {
    local command=$1 flags=(-Ctarget-feature=-crt-static -Clink-self-contained=no
        "--remap-path-prefix=$CRATES=/usr/src/crates"
        "--remap-path-prefix=$ROOT=/usr/src/vulkan-loader-rs-$VERSION")
    shift
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$OUT/cargo CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=$OUT/musl/linker \
        CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}") VKL_SETS=$SETS \
        cargo "$command" --locked -Zbuild-std=std,panic_abort --target "$TRIPLE" "$@"
}

sysroot=$(make/sysroot.sh bullseye)
mkdir -p "$OUT"
CARGO_TARGET_DIR=$OUT/glibc MAPPED=1 PAGES=no SYSROOT=$sysroot make/build.sh
keep glibc "$OUT/glibc/release" "$OUT/glibc/release"

linker_of_musl
for_musl build --release -p vulkan-loader
for_musl build --profile tools -p vkloader --features single --bin vkloader
built=$OUT/cargo/$TRIPLE
keep musl "$built/tools" "$built/release"

# The static program must not need a C library of the system.
for_musl rustc --profile tools -p vkloader --features single --bin vkloader-single -- \
    -Crelocation-model=static -Ctarget-feature=+crt-static
install -m 755 "$built/tools/vkloader-single" "$OUT/vkloader"
strip "$OUT/vkloader"
[ -z "$(readelf -l "$OUT/vkloader" | sed -n '/INTERP/p')" ] || die 1 "$OUT/vkloader needs a dynamic linker"
say "$OUT/vkloader: $(stat -c %s "$OUT/vkloader") bytes"

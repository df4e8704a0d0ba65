#!/usr/bin/env bash
# Builds the library for other processors, word sizes and C libraries of Linux. The library then runs on this machine if possible, and under
# qemu-user otherwise. Arguments select groups from the list TARGETS below. The default is all groups. CASES="wrapping unknown" runs only
# behaviour cases with one of these words in their paths, CASES=all runs all cases, and CASES=none runs no cases. SUITES="layers" selects
# some of the three test programs. LIMIT is the maximum time for the cases of a group, in seconds.
#
# The standard library for these targets is built from its source, which Debian's second package of Rust (rustc-web) provides. The file
# tests/targets.txt lists the cases that cannot pass on a target, each with the reason.
. "$(dirname "$0")/../../make/common.sh"

TARGETS="i686 arm64 armhf riscv64 musl loongarch64 others"
LIMIT=${LIMIT:-3000}
SUITES=${SUITES:-app drivers layers}
# Debian has no unwinder for musl. LLVM's unwinder needs only one function of glibc, which tests/targets/checked.c contains.
UNWINDER=$(printf '%s\n' /usr/lib/llvm-*/lib/libunwind.a | sort --version-sort | tail -n 1)
[ -f "$UNWINDER" ] || UNWINDER=
# Modules of cases that run under an emulator by default. These cases depend on a processor's machine code, layouts and word size.
EMULATED="trampolines:: handles:: lookup unknown device_functions:: negotiation:: surfaces:: swapchains:: instance_chain:: \
    device_chain:: wrapping:: device_table:: messengers:: groups::"

wanted=${*:-$TARGETS}
for name in $wanted; do
    [[ " $TARGETS " == *" $name "* ]] || die 3 "there is no group $name, but $TARGETS"
done

need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/include/vulkan/vulkan.h libvulkan-dev
need bwrap bubblewrap
for name in $wanted; do
    case $name in
    i686) need /usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a gcc-12-multilib ;;
    arm64) need aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" && need qemu-aarch64 qemu-user ;;
    armhf) need arm-linux-gnueabihf-gcc "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" && need qemu-arm qemu-user ;;
    riscv64) need riscv64-linux-gnu-gcc "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross" && need qemu-riscv64 qemu-user ;;
    musl) need musl-gcc musl-tools && [ -n "$UNWINDER" ] || lacking+=" libunwind-14-dev" ;;
    esac
done
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"

OUT=$TARGET/targets
mkdir -p "$OUT/include"
# The script copies only the Vulkan headers, because the other headers of this system would hide the headers of the target.
cp -r /usr/include/vulkan /usr/include/vk_video "$OUT/include"


# with_std COMMAND...: runs a command with the compiler that can build the standard library, and with the linker, runner and flags for
# TRIPLE.
with_std() {
    local upper
    upper=$(tr a-z- A-Z_ <<<"$TRIPLE")
    env PATH="/usr/bin:$PATH" RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$HERE/cargo" \
        ${LINKER:+"CARGO_TARGET_${upper}_LINKER=$LINKER"} \
        ${RUNNER:+"CARGO_TARGET_${upper}_RUNNER=$RUNNER"} \
        ${FLAGS:+"CARGO_TARGET_${upper}_RUSTFLAGS=$FLAGS"} "$@"
}

# begin GROUP TRIPLE CC [RUNNER [LINKER [FLAGS]]]: begins a group, and sets its variables for the functions below. CC is the C compiler, and
# RUNNER is the emulator for the target's programs. LINKER links the Rust programs (default: CC), and FLAGS are flags of the Rust compiler.
begin() {
    GROUP=$1 TRIPLE=$2 HERE=$OUT/$1
    read -r -a CC <<<"$3"
    RUNNER=${4:-} LINKER=${5:-${CC[0]}} FLAGS=${6:-}
    mkdir -p "$HERE"
    SHARED=$HERE/cargo/$TRIPLE/release/libvulkan.so
    started=$SECONDS ran=
    say "== $GROUP: $TRIPLE"
}
finish() {
    say "== $GROUP: $((SECONDS - started)) s"
    seen "$GROUP" "$([ "$failed" -eq 0 ] || say "failures; ")the library and a C program${ran:+; $ran}"
}

# Builds the release library, which uses only core and alloc of the standard library. Compares its structures with the structures of the
# target's C compiler.
library() {
    local rows=$HERE/layouts.rs
    python3 tests/targets/layouts.py "$rows" "${CC[@]}" "-I$OUT/include"
    with_std VKL_LAYOUTS="$rows" cargo build --locked --release -Zbuild-std=core,alloc \
        --target "$TRIPLE" -p vulkan-loader
    cp "$SHARED" "$HERE/stripped.so"
    "${STRIP:-strip}" "$HERE/stripped.so"
    echo "figure stripped: $(stat -c %s "$HERE/stripped.so") bytes"
}

# Compiles the library to machine code without linking. Targets without a linker on this machine use this function.
assembled() {
    with_std cargo rustc --locked --release -Zbuild-std=core,alloc --target "$TRIPLE" -p vulkan-loader \
        --lib --crate-type rlib "$@"
}

# c_part FOLDER CC...: builds the C driver with its manifest, and the C program, in FOLDER. CC is the C compiler with its flags.
c_part() {
    local folder=$1
    shift
    rm -rf "$folder" && mkdir -p "$folder"
    local common=("$@" -std=gnu11 -O1 -Wall -Wextra -Werror "-I$OUT/include")
    "${common[@]}" -fPIC -shared tests/targets/driver.c -o "$folder/driver.so" &&
        "${common[@]}" tests/targets/program.c -o "$folder/program" -ldl &&
        printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.0.0"}}\n' \
            "$folder/driver.so" >"$folder/driver.json"
}

# program LIBRARY FOLDER...: runs the C program of the first FOLDER on LIBRARY. The program finds the drivers of all FOLDERs in one search.
# Standard error must be empty, although errors and warnings are logged.
program() {
    local library=$1 own=$2 data=$HERE/data folder
    shift
    rm -rf "$data" && mkdir -p "$data/vulkan/icd.d"
    for folder; do
        cp "$folder/driver.json" "$data/vulkan/icd.d/$(basename "$(dirname "$folder")")-$(basename "$folder").json"
    done
    # shellcheck disable=SC2086 -- $RUNNER contains a command and its arguments
    env -i XDG_DATA_HOME="$data" XDG_DATA_DIRS="$HERE/none" XDG_CONFIG_DIRS="$HERE/none" VK_LOADER_SERVICE_SOCKET= VK_LOADER_DEBUG=error,warn \
        timeout 60 $RUNNER "$own/program" "$library" 2>"$HERE/errors" >"$HERE/output" || { cat "$HERE/output" "$HERE/errors"; return 1; }
    cat "$HERE/output"
    [ ! -s "$HERE/errors" ] || { cat "$HERE/errors"; return 1; }
}

# Runs the behaviour cases. Cases that tests/targets.txt lists for the group must fail. A row without a matching case is an error.
cases() {
    local words=() log=$HERE/cases.log status=0 row suites
    read -r -a suites <<<"$SUITES"
    [ "${CASES:-}" != none ] || { say "  skip  $GROUP: behaviour cases (CASES=none)"; return 0; }
    case ${CASES:-${RUNNER:+-}} in
    "" | all) ran="all cases" ;;
    -) ran="the cases that an emulator runs by itself" ;;
    *) ran="cases of $CASES" ;;
    esac
    [ "${CASES:-}" = all ] || read -r -d '' -a words <<<"${CASES:-${RUNNER:+$EMULATED}}" || true
    # VKL_WRAP is always set, because the harness gives each child of a wrapper the time limit of a busy machine.
    with_std VKL_TARGET="$GROUP" VKL_LIBRARY="$SHARED" VKL_WRAP="${RUNNER:-env}" timeout --kill-after=10 "$LIMIT" \
        cargo test --locked --no-fail-fast -Zbuild-std=std,panic_unwind,test --target "$TRIPLE" -p loader-tests \
        "${suites[@]/#/--test=}" -- "${words[@]}" >"$log" 2>&1 || status=$?
    ran+=": $(counted "$log")"
    say "        $ran"
    if [ "$status" -ne 0 ]; then
        say "  FAIL  $GROUP: behaviour cases (status $status)"
        grep -E '^test .* \.\.\. FAILED$|^error' "$log" | sort -u | sed -n 1,60p || true
        failed=1
        return
    fi
    say "  ok    $GROUP: behaviour cases, $(rows | wc -l) of them known not to pass"
    [ ${#words[@]} -eq 0 ] && [ ${#suites[@]} -eq 3 ] || return 0
    rows | while read -r row; do
        # The row contains the name of a module or of a case.
        case $row in
        *::\*) row=${row%\*}[a-z0-9_]+ ;;
        esac
        grep -qE "^test (.*::)?${row%\?} \.\.\. ok$" "$log" || say "$row"
    done >"$HERE/dead"
    [ ! -s "$HERE/dead" ] || { say "  FAIL  $GROUP: tests/targets.txt has rows without a case:"; cat "$HERE/dead"; failed=1; }
}
# Prints the names in the rows of tests/targets.txt for the group $GROUP.
rows() {
    awk -v group="$GROUP" '/^\[/ { gsub(/[][,]/, " "); here = index(" " $0 " ", " " group " ") > 0; next }
        here && /^[^#]/ { sub(/: .*/, ""); print }' tests/targets.txt
}

# Builds the library of a bundle, which passes calls to a library of the system. This build must come before the build of the plain library,
# because both builds write to $SHARED.
bundle() {
    with_std cargo build --locked --release -Zbuild-std=core,alloc --target "$TRIPLE" -p vulkan-loader --features steps-aside
    cp "$SHARED" "$HERE/bundle.so"
}
# Runs the program on the library of a bundle, in a sandbox whose system contains the plain library.
steps_aside() {
    local system=/usr/local/lib
    bwrap --dev-bind / / --tmpfs "$system" --ro-bind "$SHARED" "$system/libvulkan.so.1" --die-with-parent \
        env -i XDG_DATA_HOME="$HERE/data" XDG_DATA_DIRS="$HERE/none" XDG_CONFIG_DIRS="$HERE/none" VK_LOADER_DEBUG=info \
        timeout 60 $RUNNER "$HERE/c/program" "$HERE/bundle.so" >"$HERE/output" 2>&1 || { cat "$HERE/output"; return 1; }
    grep --quiet --fixed-strings "Stepping aside for $system/libvulkan.so.1, which is not older" "$HERE/output" || { cat "$HERE/output"; return 1; }
}

# Runs all checks of a group whose programs can run here.
usual() {
    check "a library that steps aside builds" bundle
    check "the library builds, with the layouts of its C compiler" library
    check "a driver and a program in C" c_part "$HERE/c" "${CC[@]}"
    check "the program runs on it" program "$SHARED" "$HERE/c"
    check "the library of a bundle steps aside for it" steps_aside
}

# Counts the instructions of single calls on the target.
costs() {
    # shellcheck disable=SC2086 -- $RUNNER contains a command and its arguments
    env XDG_DATA_HOME="$HERE/data" XDG_DATA_DIRS="$HERE/none" XDG_CONFIG_DIRS="$HERE/none" \
        python3 tests/targets/instructions.py "$SHARED" "$HERE/c/program" $RUNNER
}

i686() {
    begin i686 i686-unknown-linux-gnu "gcc-12 -m32" "" gcc-12
    usual
    # Drivers of both word sizes are in one folder. Each loader skips the drivers for the other size without a message.
    check "a driver and a program of 64 bits in C" c_part "$HERE/c64" gcc-12
    check "a driver of 64 bits in the same search is passed over" program "$SHARED" "$HERE/c" "$HERE/c64"
    check "the library of 64 bits builds" $CARGO build --locked --release -p vulkan-loader
    check "a driver of 32 bits is passed over by it" program "$TARGET/release/libvulkan.so" "$HERE/c64" "$HERE/c"
    cases
    finish
}
arm64() {
    begin arm64 aarch64-unknown-linux-gnu aarch64-linux-gnu-gcc "qemu-aarch64 -L /usr/aarch64-linux-gnu"
    STRIP=aarch64-linux-gnu-strip usual
    check "instructions" costs
    cases
    finish
}
armhf() {
    begin armhf armv7-unknown-linux-gnueabihf arm-linux-gnueabihf-gcc "qemu-arm -L /usr/arm-linux-gnueabihf"
    STRIP=arm-linux-gnueabihf-strip usual
    check "instructions" costs
    cases
    finish
}
riscv64() {
    begin riscv64 riscv64gc-unknown-linux-gnu riscv64-linux-gnu-gcc "qemu-riscv64 -L /usr/riscv64-linux-gnu"
    STRIP=riscv64-linux-gnu-strip usual
    check "instructions" costs
    cases
    finish
}
# Tests the C library of Alpine and other systems (musl), on this processor. The programs of the cases unwind, so the script provides an
# unwinder under the name that the standard library requests. The shipped library needs no unwinder. Unlike Debian's gcc and the compilers
# of Alpine, Debian's musl-gcc does not ask the linker for a build ID.
musl() {
    begin musl x86_64-unknown-linux-musl musl-gcc "" musl-gcc "-Ctarget-feature=-crt-static -Clink-self-contained=no -Clink-arg=-Wl,--build-id"
    usual
    check "it needs nothing but the C library" needs_only_libc
    check "a driver of another processor" foreign "$HERE/other"
    check "it is passed over in the same search" program "$SHARED" "$HERE/c" "$HERE/other"
    check "an unwinder for the cases" unwinder "$HERE/unwinder"
    FLAGS+=" -Lnative=$HERE/unwinder"
    cases
    finish
}
unwinder() {
    mkdir -p "$1"
    "${CC[@]}" -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -c tests/targets/checked.c -o "$1/checked.o"
    printf 'INPUT(%s %s)\n' "$UNWINDER" "$1/checked.o" >"$1/libgcc_s.so"
}
needs_only_libc() {
    [ "$(readelf -d "$SHARED" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" = libc.so ]
}
# foreign FOLDER: builds the C driver in FOLDER for another target, with the first installed compiler of the list, and writes the driver's
# manifest.
foreign() {
    local compiler words
    for compiler in "gcc-12 -m32" aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc riscv64-linux-gnu-gcc; do
        read -r -a words <<<"$compiler"
        if c_part "$1" "${words[@]}"; then
            say "figure with $compiler"
            return 0
        fi
    done
    return 1
}
# This machine has no linker for the target, so the script only assembles the machine code of the stubs.
loongarch64() {
    begin loongarch64 loongarch64-unknown-linux-gnu gcc
    check "the library is assembled" assembled
    check "a library that steps aside is assembled" assembled --features steps-aside
    finish
}
# Tests a processor without stubs in machine code. The script compiles the library, which does not find unknown functions on this processor
# (DRV-230).
others() {
    begin others powerpc64le-unknown-linux-gnu gcc
    check "the library is assembled without stubs of its own" assembled
    finish
}

for name in $wanted; do
    "$name"
done
exit "$failed"

#!/usr/bin/env bash
# run.sh SECONDS [TARGET...]: builds the fuzz targets of tests/fuzz with AddressSanitizer and runs them, two at a time. The default is all
# targets. With 0 seconds, the script only builds.
#
# FUZZ_PROFILE names a profile of tests/fuzz/Cargo.toml. The default is `release`. With FUZZ_LINT=1, clippy builds the targets, and its
# warnings are errors. A separate run of clippy would read all crates again. This script replaces cargo-fuzz, which needs a nightly
# toolchain and must be built first. The script passes the same options to the compiler as cargo-fuzz. Inputs that fail are in
# target/fuzz/finds/TARGET, and inputs that reached new code are in target/fuzz/corpus/TARGET.
. "$(dirname "$0")/../../make/common.sh"

seconds=${1:-60}
shift || true
[[ $seconds =~ ^(0|[1-9][0-9]{0,5})$ ]] || die 3 "for how many seconds each? SECONDS_EACH=600, and not $seconds"
FUZZ=$TARGET/fuzz
PROFILE=${FUZZ_PROFILE:-release}
TRIPLE=$(rustc -vV | sed -n 's/^host: //p')
# Compiler flags that make the target report its branches to libFuzzer.
FLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
# Toolchains from rustup contain the sanitizer's runtime, including stable toolchains. Few other toolchains contain it.
if compgen -G "$(rustc --print sysroot)/lib/rustlib/$TRIPLE/lib/librustc*_rt.asan.a" >/dev/null; then
    FLAGS="-Zsanitizer=address $FLAGS"
else
    say "SKIPPED: AddressSanitizer, which this toolchain has not; fuzzing without it"
fi

if [ -n "${FUZZ_LINT:-}" ]; then
    RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver
    [ -x "$RUSTC_WORKSPACE_WRAPPER" ] || die 2 "there is no $RUSTC_WORKSPACE_WRAPPER: rustup component add clippy"
    export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
fi

# The compiler's option for a sanitizer is unstable, but every toolchain has it.
build() {
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=$FLAGS CARGO_TARGET_DIR=$FUZZ $CARGO build \
        --locked --quiet --profile "$PROFILE" --manifest-path tests/fuzz/Cargo.toml --target "$TRIPLE" --bins
}

# run TARGET: runs a target, and prints a line with the result. If the target failed, prints the end of its output too.
run() {
    local target=$1 log=$FUZZ/$1.log status=0 folder
    mkdir -p "$FUZZ/corpus/$target" "$FUZZ/finds/$target"
    folder=$(mktemp -d "$scratch/XXXXXX")
    # Inputs have at most 4 KiB, because behaviour tests cover large files. An input that needs a minute is reported as a hang, and
    # the other limit ends a target that does not. The command remains in the foreground, so that it ends together with its stage.
    TMPDIR=$folder timeout --foreground --kill-after=10 $((seconds + 1200)) \
        "$FUZZ/$TRIPLE/$PROFILE/$target" "$FUZZ/corpus/$target" "$ROOT/tests/fuzz/seeds/$target" \
        -max_total_time="$seconds" -max_len=4096 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
        -dict="$ROOT/tests/fuzz/words.txt" -artifact_prefix="$FUZZ/finds/$target/" >"$log" 2>&1 || status=$?
    if [ "$status" = 0 ]; then
        say "  ok    fuzz: $target, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    else
        say "  FAIL  fuzz: $target (status $status), see $FUZZ/finds/$target"
        tail -n 60 "$log"
    fi
    return "$status"
}

build
[ "$seconds" != 0 ] || exit 0

targets=("$@")
if [ $# = 0 ]; then
    mapfile -t targets < <(cd tests/fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//')
fi
# The targets write files thousands of times a second, which would wear out a disk.
if [ -w /dev/shm ]; then scratch=$(mktemp -d -p /dev/shm); else scratch=$(mktemp -d); fi
trap 'rm -rf "$scratch"' EXIT
failed=0
for ((index = 0; index < ${#targets[@]}; index += 2)); do
    running=()
    for target in "${targets[@]:index:2}"; do
        run "$target" &
        running+=($!)
    done
    for job in "${running[@]}"; do wait "$job" || failed=1; done
done
exit "$failed"

#!/usr/bin/env bash
# test.sh [STAGE[:CASE]...]: runs the stages of the tests. The default is all stages. A failed stage does not stop the other stages. The
# summary repeats each failure with the command that runs it alone: `make/test.sh behaviour:app::drv_1_the_case`. Several such arguments
# select several cases. `test.sh quick` runs four stages without their slow parts. `test.sh check` runs the stages that need neither root
# nor network, for packagers. `test.sh list` lists the stages.
#
# Time limits only detect hangs. A stage that runs longer than an hour is treated as hanging. With CI=true, all stages together have 80
# minutes, so that the summary is printed before CI's own limit.
. "$(dirname "$0")/common.sh"
. make/settings.sh

HANG=3600
BUDGET=0
[ "${CI:-}" != true ] || BUDGET=4800
case ${1:-} in --run | list) ;; *) usual_settings "$@" ;; esac
# A build takes a third less time without incremental compilation, and without line numbers for backtraces. If the target folder
# contains incremental state of an earlier `quick`, the build is incremental too, because cargo would otherwise compile everything again.
# Cargo makes the folder for this state in each build. A call with `--run` has the environment of the call for its stage.
if [ "${1:-}" != --run ] &&
    { [ "${CI:-}" = true ] || { [ "${1:-}" != quick ] && ! compgen -G "$BUILT/debug/incremental/*" >/dev/null; }; }; then
    export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0}
fi

# The debug builds of `make test` also lint each crate and check its comments (make/rustc.sh). The builds of `quick` only lint. Packagers
# have no clippy.
case ${1:-} in
check | --run) ;;
*)
    driver=$(rustc --print sysroot)/bin/clippy-driver
    if [ -x "$driver" ]; then
        export CLIPPY_DRIVER=$driver
        [ "${1:-}" != quick ] || export VKL_QUICK=1
    else
        say "no crate is linted without clippy: rustup component add clippy" >&2
    fi
    ;;
esac

LOGS=$TARGET/test
# Names of the tests to run. The variable CASE has them, one in each line. Without a name, all tests of the stage run.
CASES=()
[ -z "${CASE:-}" ] || mapfile -t CASES <<<"$CASE"

# -- Commands of the stages --

formatted() {
    $CARGO fmt --all --check
    $CARGO fmt --manifest-path tests/fuzz/Cargo.toml --check
    $CARGO fmt --manifest-path tests/clients/rust/Cargo.toml --check
}
# Fails if the stage `compile` had warnings, which cargo repeats. That stage also lints each crate and checks its comments.
lint() {
    [ -n "${CLIPPY_DRIVER:-}" ] || die 2 "clippy's compiler is missing: rustup component add clippy"
    python3 tests/run.py --strict
    # Checks only the shipped code. This code does not use the standard library, not even through features that other crates enable.
    $CARGO clippy --locked --release -p vulkan-loader -- -D warnings
    # Checks the licences and origins of crates, and checks that the lock files contain no banned crate.
    make/crates.sh
}
# Upper bound on the bytes that the client of the driver service adds to the stripped library.
CLIENT_BYTES=20480

# Checks that a library without the client of the driver service contains neither its messages nor its functions, and that the client adds
# few bytes to the library. A library without any feature only has to compile.
features() {
    local library whole without bytes
    library=$(built_below "$TARGET/without")/release/libvulkan.so
    # A check writes no library, so it can share the folder with the stage `lint`, which has checked the dependencies.
    $CARGO check --locked --release -p vulkan-loader --no-default-features
    $CARGO build --locked --release -p vulkan-loader --no-default-features --features catalogue,lazy --target-dir "$TARGET/without"
    [ -f "$library" ] || die 1 "no $library"
    not grep --text --only-matching -E 'VKLS|service\.[a-z-]+|SERVICE_SOCKET|service:|wait_for_idle|proc/self/fd|[0-9]service[0-9]|sha256' "$library"
    if [ -n "${VKL_LIBRARY:-}" ]; then
        say "SKIPPED: the limit is for the library built here, and VKL_LIBRARY names another"
        return
    fi
    library_built
    whole=$(stripped_bytes "$LIBRARY")
    without=$(stripped_bytes "$library")
    bytes=$((whole - without))
    say "The client of the driver service adds $bytes bytes, and the limit is $CLIENT_BYTES."
    [ "$bytes" -gt 0 ] && [ "$bytes" -le "$CLIENT_BYTES" ]
}
# stripped_bytes LIBRARY: prints the size of the library without symbols for debuggers.
stripped_bytes() {
    rm -f "$LOGS/stripped.so"
    strip -o "$LOGS/stripped.so" "$1" && wc -c <"$LOGS/stripped.so"
}
# Builds and lints everything for debugging in one call of cargo. Separate calls for fewer packages would compile shared crates again with other
# features.
compiled() {
    python3 tests/run.py
}
units() {
    python3 tests/run.py -p structure -p xtask -p vk-registry -p vkgen -p vulkan-loader-elf -p vulkan-loader-os \
        -p vulkan-loader-reasons -p vulkan-loader-wire -p vulkan-loader-linked -p vulkan-loader-discovery -p vulkan-loader \
        -p vulkan-loader-pages -p vk-loader-service
}
checked_units() {
    python3 tests/run.py -p vulkan-loader-elf -p vulkan-loader-os -p vulkan-loader-reasons -p vulkan-loader-wire \
        -p vulkan-loader-linked -p vulkan-loader-discovery -p vulkan-loader -p vulkan-loader-pages -p vk-loader-service
}
# quick_run OPTION...: runs programs of `quick`. Each call names the same packages to build, so that only the first call compiles, and
# compiles each crate once.
quick_run() {
    python3 tests/run.py --alone --strict --built vulkan-loader-os --built vulkan-loader-discovery --built vulkan-loader \
        --built loader-tests "$@"
}
quick_units() {
    # This test reads a file of 16 MiB, which takes a third of the time of all units.
    quick_run -p vulkan-loader-os -p vulkan-loader-discovery -p vulkan-loader -- --skip lay_72_size_bound
}
# Folder of vkloader and vk-loader-service, which make/install.sh reads too. The tests run the debug builds, which the stage `compile` has
# made, and which check for overflows. The programs of a release would take three minutes of processor time more.
export VKL_TOOLS=$BUILT/debug
# Builds all programs that the scripted tests run, and writes the pages. The first stage that needs these programs builds them for the whole
# run.
built() {
    library_built
    python3 tests/run.py
    "$VKL_TOOLS/examples/write" "$LOGS/pages"
    make/programs.sh
    : >"$LOGS/built"
}
documents() {
    xtask documents --check
}
behaviour() {
    library_built
    VKL_LIBRARY=$LIBRARY python3 tests/run.py -p loader-tests -p vkloader
}
catalogued() {
    VKL_VKLOADER=$VKL_TOOLS/vkloader make/runs.sh catalogue quick
}
# Tests the debug build of the library. Skips modules that wait for file times or services, repeat races, fail every allocation, or read
# large or hostile files. These modules contain only a tenth of the tests, but need most of the time.
quick_behaviour() {
    local module words=()
    for module in catalogue_reading chains elevated gate large many_devices reentry sample scan_cache scan_cache_drivers service_limits \
        short_heap short_memory threads unasked wrong_drivers; do
        words+=(--skip "$module::")
    done
    VKL_LIBRARY=${VKL_LIBRARY:-$BUILT/debug/libvulkan.so} quick_run -p loader-tests -- "${words[@]}"
}
# scripted FOLDER: runs the Python tests in a folder.
scripted() {
    [ -f "$LOGS/built" ] || built >/dev/null
    VKL_LIBRARY=$LIBRARY VKL_PEER_LIBRARY=$(peer_library) VKL_PROGRAMS=$PROGRAMS \
        VKL_PICTURES=$TARGET/pictures VKL_VKLOADER=$VKL_TOOLS/vkloader VKL_SERVICE=$VKL_TOOLS/vk-loader-service \
        python3 tests/apart.py python3 "tests/$1" "${CASES[@]}"
}
interface() {
    if [ -n "${VKL_LIBRARY:-}" ]; then
        say "SKIPPED: what is promised of names and libc is promised of the library built here, and VKL_LIBRARY names another"
        return
    fi
    library_built
    xtask interface "$LIBRARY"
}
gate() {
    if [ -n "${VKL_LIBRARY:-}" ]; then
        say "SKIPPED: the limits are those of the library built here, and VKL_LIBRARY names another"
        return
    fi
    library_built
    build_programs tests/bench "$TARGET/bench"
    VKL_LIBRARY=$LIBRARY VKL_BENCH_PROGRAMS=$TARGET/bench python3 tests/apart.py python3 tests/bench/gate.py
}
fuzzed() {
    FUZZ_PROFILE=quick FUZZ_LINT=1 tests/fuzz/run.sh 4 "${CASES[@]}"
}

# -- Table of the stages --

# Each row has the stage's name, its usual time in seconds on two cores after a fresh clone, and its command.
STAGES='
setup        50  make/setup.sh test
registry      1  make/registry.sh
fixtures      6  registry/fetch.sh --fixtures
format        2  formatted
compile     240  compiled
lint         15  lint
generated     1  make/generate.sh check
documents     2  documents
unit         60  units
build        50  built
inputs       20  scripted inputs
bump        110  tests/bump.sh
features     15  features
fuzz        150  fuzzed
behaviour   120  behaviour
catalogue    90  catalogued
windows     180  tests/windows/cases.sh quick
gate          5  gate
interface     1  interface
abi           1  scripted abi
real         30  scripted real
sandbox      20  scripted sandbox
'

# Stages that can run in parallel with all other stages on machines with several cores, because they share no build folder with other
# stages, or build nothing. Each row begins with a stage that installs packages or builds programs for the other stages in the row.
# After that stage, the other stages of its row run one after another. The stages of a row that begins with `-` run from the beginning.
BESIDE='
- format
fixtures fuzz windows
compile bump
build features inputs real sandbox
'

# Stages of `test.sh quick`, with their times after a change of one file in loader/, and the stages that run in parallel with others.
QUICK='
format        2  formatted
compile      12  quick_run
unit          6  quick_units
behaviour    20  quick_behaviour
'
QUICK_BESIDE='
- format
compile unit
'

# Stages of `test.sh check`.
CHECK='
unit        150  checked_units
behaviour   150  behaviour
interface     5  interface
'

# -- Running the stages --

begin=$SECONDS
passed=0 failed=0 skipped=0 processors=0
summary= repeats= missed=

# Prints the numbers of passed, failed and skipped tests in a log. Counts the last lines of cargo's test programs and of tests/bump.sh, and
# the lines of tests/cases.py.
count() {
    awk '/^test result: / { pass += $4; fail += $6; skip += $8 }
         /^[a-z]+: [0-9]+ passed, [0-9]+ failed$/ { pass += $2; fail += $4 }
         /^SKIPPED: / { skip++ }
         /^  ok    / { pass++ } /^  FAIL  / { fail++ } /^  skip  / { skip++ }
         END { print pass + 0, fail + 0, skip + 0 }' "$1"
}

# failures STAGE LOG: prints each failed test with the command that repeats it, or the stage itself if the log names no failed test.
failures() {
    awk -v stage="$1" '
        function tell(name, word) {
            if (!seen[name]++) { count++; printf "  FAIL  %s: %s\n        make/test.sh %s\n", stage, name, word }
        }
        function one(name) { tell(name, "\"" stage ":" name "\"") }
        /^test .* \.\.\. FAILED/ { one($2) }
        /^  FAIL  / { name = $0; sub(/^  FAIL  [a-z_]*: /, "", name); sub(/ \(([0-9.]+ s|status)[^)]*\).*/, "", name); one(name) }
        /^FAILED: / { tell(substr($0, 9), stage) }
        END { if (!count) printf "  FAIL  %s\n        make/test.sh %s\n", stage, stage }' "$2"
}

# time_of SECONDS: prints a duration in readable form.
time_of() {
    if [ "$1" -lt 100 ]; then say "$1 s"; else say "$(($1 / 60)) min $(($1 % 60)) s"; fi
}

# setting NAME VALUE: prints a line for git's configuration. The value may contain any characters.
setting() {
    local value=${2//\\/\\\\}
    say "    $1 = \"${value//\"/\\\"}\""
}

# processor NAME: sets `used` to the processor time, in seconds, of all children of this process that have ended. The function uses a
# temporary file with this NAME.
processor() {
    times >"$LOGS/$1.times"
    used=$(awk 'NR == 2 { split($1 "m" $2, part, /[ms]+/); printf "%d", part[1] * 60 + part[2] + part[3] * 60 + part[4] }' "$LOGS/$1.times")
    rm "$LOGS/$1.times"
}

# run_stage NAME COMMAND...: runs the command with its output in NAME.log, and writes status, seconds, limit and seconds of processor time
# to NAME.end. If no time is left, the function does not write NAME.end. The function must run in a separate process, because it can exit.
run_stage() {
    local name=$1 start=$SECONDS status=0 limit=$HANG used before
    shift
    if [ "$BUDGET" -gt 0 ] && [ "$limit" -gt $((BUDGET - (SECONDS - begin))) ]; then
        limit=$((BUDGET - (SECONDS - begin)))
        [ "$limit" -gt 0 ] || return 0
    fi
    # After a signal to end, no further stage begins, and the script does not write NAME.end.
    trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
    processor "$name"
    before=$used
    # `timeout` cannot run functions, so the script calls itself.
    CASE=${chosen[$name]:-} timeout --kill-after=10 "$limit" "$ROOT/make/test.sh" --run "$@" >"$LOGS/$name.log" 2>&1 </dev/null &
    wait $! || status=$?
    trap - TERM
    processor "$name"
    echo "$status $((SECONDS - start)) $limit $((used - before))" >"$LOGS/$name.end"
}

# title NAME: prints the name of the stage, and its number in the list of stages.
title() {
    say "$(printf '%s\n' "${names[@]}" | grep --line-number --line-regexp "$1" | cut -d: -f1)/${#names[@]} $1"
}

# report NAME: adds the counts of the stage to the totals, and prints its result.
report() {
    local name=$1 log=$LOGS/$1.log status seconds limit used pass fail skip word=ok
    reported[$name]=
    [ -f "$LOGS/$name.end" ] || return 0
    read -r status seconds limit used <"$LOGS/$name.end"
    read -r pass fail skip < <(count "$log")
    # A stage without tests counts as one test. A failure outside of all tests counts as one test too.
    if [ "$status" -ne 0 ]; then
        [ "$fail" -gt 0 ] || fail=1
    elif [ $((pass + fail + skip)) -eq 0 ]; then
        if [ -z "${chosen[$name]:-}" ]; then pass=1; else say "no case of $name is called ${chosen[$name]//$'\n'/ or }" && fail=1; fi
    fi
    [ "$fail" -eq 0 ] || word=FAILED
    # `timeout` kills a command that does not end after its first signal.
    case $status in
    124 | 137) [ "$seconds" -lt "$limit" ] || word="FAILED, still running after $limit s" ;;
    esac
    passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
    processors=$((processors + used))
    summary+=$(printf '%-10s %5d s %5d s %7d passed %4d failed %4d skipped  %s' \
        "$name" "$seconds" "$used" "$pass" "$fail" "$skip" "$word")$'\n'
    # Later stages use the built generator and xtask.
    [ "$name" != compile ] || [ "$fail" -ne 0 ] || export VKGEN=$BUILT/debug/vkgen XTASK=$BUILT/debug/xtask
    [ "$fail" -eq 0 ] || repeats+=$(failures "$name" "$log")$'\n'
    say "== $(title "$name"): $word in $(time_of "$seconds")"
    say
}

# stage NAME USUAL COMMAND...: runs the command and shows its output.
stage() {
    local name=$1 usual=$2
    shift 2
    : >"$LOGS/$name.log"
    say "== $(title "$name"), usually $(time_of "$usual")"
    local running
    run_stage "$name" "$@" &
    running=$!
    tail --silent --follow --lines=+1 --sleep-interval=0.2 --pid="$running" "$LOGS/$name.log" &
    wait "$running" || true
    wait $! || true
    report "$name"
}

# aside STAGE...: runs these stages one after the other. Their output is shown after they have ended.
aside() {
    local name usual command
    while read -r name usual command; do
        # shellcheck disable=SC2086 -- $command contains a command and its arguments
        [[ " $* " != *" $name "* ]] || run_stage "$name" $command
    done <<<"$STAGES"
}

# after NAME: begins the stages that run in parallel after this stage.
after() {
    local others
    others=$(sed -n "s/^$1 //p" <<<"$BESIDE")
    [ -n "$others" ] && [ ${#beside[@]} -gt 0 ] || return 0
    # shellcheck disable=SC2086 -- $others contains several names of stages
    aside $others &
    lanes+=($!)
}

# ended_aside: shows the parallel stages that have ended since the last call.
ended_aside() {
    local name
    for name in "${beside[@]}"; do
        if [ -f "$LOGS/$name.end" ] && [ -z "${reported[$name]+set}" ]; then
            say "== $(title "$name"), beside the others"
            cat "$LOGS/$name.log"
            report "$name"
        fi
    done
}

# Prints the times and counts of all stages, the skipped tests, and the failures with their commands. The last line has the totals.
finish() {
    say "Summary: each stage with its time, its processor time and its cases"
    printf '%s' "$summary"
    for name in "${names[@]}"; do
        if [ -f "$LOGS/$name.end" ]; then
            grep -hE '^  skip  |^SKIPPED: |^test .* \.\.\. ignored' "$LOGS/$name.log" >>"$LOGS/skipped" || true
        else
            word="not run"
            [ ! -s "$LOGS/$name.log" ] || word=interrupted
            printf '%-10s %s\n' "$name" "$word"
            missed+=" $name"
        fi
    done
    say
    cat "$LOGS/skipped"
    if [ -n "$repeats" ]; then
        say
        say "Failures, each with the command that repeats it (all output is in $LOGS)"
        printf '%s' "$repeats"
    fi
    say
    say "$(time_of $((SECONDS - begin))), $(time_of "$processors") of processor time"
    say "$passed passed, $failed failed, $skipped skipped"
    [ -z "$missed" ] || { say "not run:$missed" && exit 1; }
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] || exit 1
    exit 0
}

interrupted() {
    trap '' INT TERM HUP
    # shellcheck disable=SC2046 -- jobs prints several process IDs
    kill $(jobs -p) 2>/dev/null || true
    say "== interrupted"
    failed=$((failed + 1))
    finish
}

case ${1:-} in
--run)
    shift
    "$@"
    exit
    ;;
list)
    awk 'NF { print $1 }' <<<"$STAGES"
    exit
    ;;
quick)
    STAGES=$QUICK
    BESIDE=$QUICK_BESIDE
    shift
    ;;
check)
    STAGES=$CHECK
    shift
    ;;
esac
# Selects the stages to run, in the order of the table. If arguments name tests of a stage, `chosen` has their names, one in each line, and
# the stage runs only these tests. An argument with the stage alone selects all its tests.
mapfile -t all < <(awk 'NF { print $1 }' <<<"$STAGES")
names=("${all[@]}")
declare -A chosen=()
for word; do
    name=${word%%:*}
    [[ " ${all[*]} " == *" $name "* ]] || die 3 "unknown stage $name; the stages are ${all[*]}"
    word=${word#"$name"}
    if [ -z "${word#:}" ] || [ "${chosen[$name]-none}" = "" ]; then
        chosen[$name]=
    else
        chosen[$name]=${chosen[$name]:+${chosen[$name]}$'\n'}${word#:}
    fi
done
if [ $# -gt 0 ]; then
    names=()
    for name in "${all[@]}"; do [ -z "${chosen[$name]+set}" ] || names+=("$name"); done
fi

mkdir -p "$LOGS"
plain_temporary_folder
# Git refuses a checkout that another user owns, which is common in containers. The tests only read this checkout. Their own clones and
# commits must not depend on the user's configuration of git, or on the variables of a hook that runs this script.
{
    say "[safe]"
    setting directory "$ROOT"
    setting directory "$ROOT/.git"
} >"$LOGS/gitconfig"
# shellcheck disable=SC2046 -- git prints names of variables
! command -v git >/dev/null || unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=$LOGS/gitconfig GIT_CONFIG_SYSTEM=/dev/null
trap interrupted INT TERM HUP

# If all stages run and the machine has several cores, the stages in BESIDE run in parallel with the other stages.
beside=()
if [ $# -eq 0 ] && [ "$(nproc)" -gt 1 ]; then
    for name in $(cut -s -d' ' -f2- <<<"$BESIDE"); do
        [[ " ${names[*]} " != *" $name "* ]] || beside+=("$name")
    done
fi
declare -A reported=()
for name in "${names[@]}"; do rm -f "$LOGS/$name.end" && : >"$LOGS/$name.log"; done
: >"$LOGS/skipped"
rm -f "$LOGS/built"
lanes=()
after -
while read -r name usual command; do
    [[ " ${names[*]} " == *" $name "* && " ${beside[*]} " != *" $name "* ]] || continue
    # shellcheck disable=SC2086 -- $command contains a command and its arguments
    stage "$name" "$usual" $command
    after "$name"
    ended_aside
done <<<"$STAGES"
for lane in "${lanes[@]}"; do
    wait "$lane" || true
    ended_aside
done
finish

#!/usr/bin/env bash
# Everything that CI checks, in stages. A failed stage does not stop the others; the last line counts all cases.
# Arguments: the stages to run; none means all. `quick` is another mode: four stages, each without what takes long.
. "$(dirname "$0")/common.sh"

# In seconds: all of it, so that a summary is always printed before CI's own limit.
BUDGET=1740
begin=$SECONDS
# In front of the functions of stages that have a quick form.
quick=
if [ "${1:-}" = quick ]; then
    quick=quick_
    set -- format lint unit behaviour
fi
wanted=" $* "
scratch=$(mktemp -d)
current=
trap 'rm -rf "$scratch"' EXIT
trap interrupted INT TERM HUP

passed=0 failed=0 skipped=0
summary=

# Counts the cases in a log: the closing lines of cargo's test programs and of bump-test.sh, the lines of tests/cases.py.
count() {
    awk '/^test result: / { pass += $4; fail += $6; skip += $8 }
         /^[a-z]+: [0-9]+ passed, [0-9]+ failed$/ { pass += $2; fail += $4 }
         /^SKIPPED: / { skip++ }
         /^  ok    / { pass++ } /^  FAIL  / { fail++ } /^  skip  / { skip++ }
         END { print pass + 0, fail + 0, skip + 0 }' "$1"
}

# stage NAME SECONDS COMMAND...: runs the command under a time limit and adds up what it reports.
stage() {
    local name=$1 limit=$2 log=$scratch/$1.log start=$SECONDS status=0 pass fail skip left
    shift 2
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    left=$((BUDGET - (SECONDS - begin)))
    [ "$limit" -le "$left" ] || limit=$((left > 1 ? left : 1))
    say "== $name"
    : >"$log"
    timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null &
    current=$!
    tail --silent --follow --lines=+1 --sleep-interval=0.2 --pid="$current" "$log" &
    wait "$current" || status=$?
    wait $! || true
    current=
    read -r pass fail skip < <(count "$log")
    # A stage without cases is one itself; a failure that no case explains is counted too.
    if [ "$status" -ne 0 ]; then
        [ "$fail" -gt 0 ] || fail=1
    elif [ $((pass + fail + skip)) -eq 0 ]; then
        pass=1
    fi
    local word=ok
    [ "$fail" -eq 0 ] || word=FAILED
    [ "$status" -ne 124 ] || word="FAILED, still running after $limit s"
    passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
    summary+=$(printf '%-10s %5d s %7d passed %4d failed %4d skipped  %s' \
        "$name" $((SECONDS - start)) "$pass" "$fail" "$skip" "$word")$'\n'
    say "== $name: $word in $((SECONDS - start)) s"
    say
}

# The times and counts of all stages, what failed or was skipped, and the totals in the last line.
finish() {
    say "Summary"
    printf '%s' "$summary"
    say
    grep -hE '^  (FAIL|skip)  |^(FAILED|SKIPPED): |^test .* \.\.\. (FAILED|ignored)' "$scratch"/*.log 2>/dev/null || true
    say "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] || exit 1
    exit 0
}

interrupted() {
    trap '' INT TERM HUP
    [ -z "$current" ] || kill "$current" 2>/dev/null || true
    say "== interrupted"
    failed=$((failed + 1))
    finish
}

formatted() {
    $CARGO fmt --all --check
    $CARGO fmt --manifest-path tests/fuzz/Cargo.toml --check
    $CARGO fmt --manifest-path tests/clients/rust/Cargo.toml --check
}
lint() {
    $CARGO clippy --locked --workspace --all-targets -- -D warnings
    # What ships has no standard library, not even that of the crates beside it.
    $CARGO clippy --locked --release -p vulkan-loader -- -D warnings
    make/fuzz.sh lint
    # What crates may be: licences, origins, bans.
    make/crates.sh
    # Which modules import each other.
    $CARGO test --locked -p structure
}
# Without the client of a driver service nothing of it is in the library, neither words nor functions.
features() {
    $CARGO build --locked --release -p vulkan-loader --no-default-features --target-dir "$TARGET/without"
    local library=$TARGET/without/release/libvulkan.so
    [ -f "$library" ] || die 1 "no $library"
    not grep --text --only-matching -E 'VKLS|service\.[a-z-]+|SERVICE_SOCKET|service:|wait_for_idle|proc/self/fd|[0-9]service[0-9]|sha256' "$library"
}
quick_lint() {
    $CARGO clippy --locked -p vulkan-loader-os -p vulkan-loader --all-targets -- -D warnings
}
# The documentation is for those who change the code: private items are in it, and may be linked to.
documentation() {
    RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" $CARGO doc --locked --workspace --no-deps --document-private-items
}
units() {
    $CARGO test --locked -p vk-registry -p vkgen -p round-trip -p vulkan-loader-os -p vulkan-loader-reasons -p vulkan-loader-wire -p vulkan-loader \
        -p vk-loader-service
}
quick_units() {
    $CARGO test --locked -p vulkan-loader-os -p vulkan-loader
}
libraries() {
    if [ -z "${VKL_LIBRARY:-}" ]; then
        $CARGO build --locked --release -p vulkan-loader
    fi
    $CARGO build --locked --release -p vkloader
    $CARGO build --locked --release -p vk-loader-service
    make/programs.sh
}
behaviour() {
    VKL_LIBRARY=$LIBRARY $CARGO test --locked --no-fail-fast -p loader-tests -p vkloader
}
# On the library built for debugging, which is there a few seconds after a change; without the modules that wait for the
# times of files, repeat what threads do, or try every allocation: one case in twenty, and half of the time.
quick_behaviour() {
    local module words=()
    for module in chains reentry scan_cache short_memory threads unasked wrong_drivers; do
        words+=(--skip "$module::")
    done
    [ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked -p vulkan-loader
    VKL_LIBRARY=${VKL_LIBRARY:-$TARGET/debug/libvulkan.so} $CARGO test --locked --no-fail-fast -p loader-tests -- "${words[@]}"
}
scripted() {
    VKL_LIBRARY=$LIBRARY VKL_PEER_LIBRARY=$(peer_library) VKL_PROGRAMS=$PROGRAMS \
        VKL_PICTURES=$TARGET/pictures VKL_VKLOADER=$TARGET/release/vkloader VKL_SERVICE=$TARGET/release/vk-loader-service \
        python3 "tests/$1"
}
interface() {
    if [ -n "${VKL_LIBRARY:-}" ]; then
        say "SKIPPED: what is promised of names and libc is promised of the library built here, and VKL_LIBRARY names another"
        return
    fi
    python3 make/interface.py "$LIBRARY"
}
gate() {
    if [ -n "${VKL_LIBRARY:-}" ]; then
        say "SKIPPED: the limits are those of the library built here, and VKL_LIBRARY names another"
        return
    fi
    build_programs tests/bench "$TARGET/bench"
    VKL_LIBRARY=$LIBRARY VKL_BENCH_PROGRAMS=$TARGET/bench python3 tests/bench/gate.py
}
# `timeout` runs programs, not functions: this script calls itself.
case ${1:-} in
--run)
    shift
    "$@"
    exit
    ;;
esac
# A name that is none would run nothing.
stages=$(sed -n 's/^stage \([a-z]*\) .*/\1/p' "$0")
for name; do
    grep --quiet --line-regexp --fixed-strings -e "$name" <<<"$stages" || die 3 "there is no stage $name, but $(xargs <<<"$stages")"
done
self=(make/test.sh --run)

stage setup 600 make/setup.sh test
stage registry 320 make/registry.sh
stage fixtures 320 registry/fetch.sh --fixtures
stage format 180 "${self[@]}" formatted
stage lint 600 "${self[@]}" "${quick}lint"
stage doc 300 "${self[@]}" documentation
stage generated 200 make/check-generated.sh
stage documents 30 python3 make/documents.py --check
stage unit 700 "${self[@]}" "${quick}units"
stage inputs 120 "${self[@]}" scripted inputs
stage bump 600 make/bump-test.sh
stage build 500 "${self[@]}" libraries
stage features 200 "${self[@]}" features
stage fuzz 500 make/fuzz.sh 12
stage behaviour 900 "${self[@]}" "${quick}behaviour"
stage catalogue 300 make/catalogue-cases.sh quick
stage windows 600 make/windows-cases.sh quick
stage gate 90 "${self[@]}" gate
stage interface 20 "${self[@]}" interface
stage abi 120 "${self[@]}" scripted abi
stage real 500 "${self[@]}" scripted real
stage sandbox 120 "${self[@]}" scripted sandbox

finish

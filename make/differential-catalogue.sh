#!/usr/bin/env bash
# The behaviour cases with a driver catalogue in place, which `vkloader` makes for each of them: once a current one, and once one whose every
# entry lies. What differs stands in tests/catalogue.txt, each case with its reason. Arguments are groups of cases (app, drivers, layers), all
# if none is named; `quick` is what `make test` runs: both for drivers and applications, without the modules of a group that wait long and
# make no instance from a catalogue.
. "$(dirname "$0")/common.sh"

slow=()
if [ "${1:-}" = quick ]; then
    set -- app drivers
    for module in odd_drivers wrong_drivers short_memory surface_gates threads waiting chains service_hostile; do
        slow+=(--skip "$module::")
    done
fi
[ $# -gt 0 ] || set -- app drivers layers
groups=()
for name; do
    case $name in
    app | drivers | layers) groups+=(--test "$name") ;;
    *) die 3 "there is no group $name, but app, drivers and layers" ;;
    esac
done
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
$CARGO build --locked --quiet --release -p vkloader
[ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
failed=0
for mode in current lying; do
    say "The cases of $* with a $mode driver catalogue"
    VKL_TEST_CATALOGUE=$mode VKL_LIBRARY=$(realpath "$LIBRARY") VKL_VKLOADER=$TARGET/release/vkloader \
        $CARGO test --locked --no-fail-fast -p loader-tests "${groups[@]}" -- "${slow[@]}" || failed=1
done
exit "$failed"

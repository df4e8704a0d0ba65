#!/usr/bin/env bash
# The behaviour cases with a driver catalogue in place, which `vkloader` makes for each of them: once a current one, and once one whose every
# entry lies. What cannot be the same stands in tests/catalogue.txt, each case with its reason. Arguments are groups of cases (app, drivers,
# layers), all if none is named. `quick` is what `make test` runs: applications and drivers, without the modules in SLOW. CASE names one case.
. "$(dirname "$0")/common.sh"

# What takes long with each driver asked once more, or is itself about catalogues.
SLOW="catalogue catalogue_file catalogue_image catalogue_machine catalogue_reading catalogue_verified many_devices real service service_hostile service_limits service_place service_server short_memory wrong_drivers"
skipped=()
if [ "${1:-}" = quick ]; then
    set -- app drivers
    for module in $SLOW; do skipped+=(--skip "$module::"); done
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
build_tools vkloader
[ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
failed=0
for mode in current lying; do
    say "The cases of $* with a $mode driver catalogue"
    VKL_TEST_CATALOGUE=$mode VKL_LIBRARY=$(realpath "$LIBRARY") VKL_VKLOADER=$RELEASE/vkloader \
        python3 make/cases.py -p loader-tests "${groups[@]}" -- "${skipped[@]}" || failed=1
done
exit "$failed"

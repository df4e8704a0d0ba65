#!/usr/bin/env bash
# Measures the library beside another loader, with the scripts in tests/bench. The arguments are:
#
#   (none)         Measures all cases, and makes plots.
#   quick          Measures a few cases.
#   drivers        Measures only the installed drivers. `drivers drop-caches` empties the page cache for them.
#   profile WORDS  Lists the most expensive functions of each case whose title contains the words.
#   figures        Compares sizes, times and code with the system's own loader. Needs a quiet machine.
#   limits         Writes the limits of the stage `gate` of `make test`.
. "$(dirname "$0")/../../make/common.sh"

if [ "${1:-}" = figures ]; then
    # Builds the library in a separate command, so that it shares no crate with programs that use the standard library.
    $CARGO build --locked --quiet --release -p vulkan-loader
    $CARGO build --locked --quiet --release -p vkgen -p mock-driver
    make/programs.sh
    # Uses an optimised mock driver, which adds little to the measured times.
    cp "$RELEASE/libmock_driver.so" "$PROGRAMS/mock/libmock_driver.so"
    VKL_LIBRARY=$LIBRARY VKL_PEER_LIBRARY=$(peer_library) VKL_PROGRAMS=$PROGRAMS VKL_VKGEN=$RELEASE/vkgen \
        exec python3 tests/bench/figures.py "${@:2}"
fi
check_peer
make/setup.sh bench
library_built
export VKL_BENCH_PROGRAMS=$TARGET/bench VKL_LIBRARY=$LIBRARY
build_programs tests/bench "$VKL_BENCH_PROGRAMS"

case ${1:-} in
limits) exec python3 tests/bench/gate.py refresh ;;
"")
    # Builds a second library without the reader of a driver catalogue.
    if [ -z "${VKL_PLAIN_LIBRARY:-}" ]; then
        CARGO_TARGET_DIR=$TARGET/plain $CARGO build --locked --quiet --release -p vulkan-loader \
            --no-default-features --features service
        VKL_PLAIN_LIBRARY=$(built_below "$TARGET/plain")/release/libvulkan.so
        export VKL_PLAIN_LIBRARY
    fi
    ;;
drivers | quick | profile) ;;
*) die 3 "which: drivers, quick, profile, figures, limits, or nothing?" ;;
esac
case ${1:-} in
"" | drivers)
    # An older vkloader may write catalogues that the library ignores.
    [ -n "${VKL_VKLOADER:-}" ] || build_tools vkloader
    export VKL_VKLOADER=${VKL_VKLOADER:-$RELEASE/vkloader}
    ;;
esac

use_peer
# Collects facts about this library for the page of results, because the benchmark may run in a root of Debian sid, which has neither a
# compiler nor the git history.
ours=(loader generated Cargo.toml Cargo.lock)
commit=$(git log -1 --format=%h -- "${ours[@]}" 2>/dev/null) || commit=unknown
[ -z "$(git status --porcelain -- "${ours[@]}" 2>/dev/null)" ] || commit+=" and changes"
export VKL_BENCH_OURS="commit $commit, $(rustc --version)" VKL_PEER_LIBRARY=$PEER_LIBRARY
exec "${PEER_RUN[@]}" python3 tests/bench "$@"

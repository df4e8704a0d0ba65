#!/usr/bin/env bash
# Measures the library beside another loader; tests/bench does the work. Arguments:
#   (none)         all cases, and plots
#   quick          a few cases
#   drivers        what concerns the installed drivers alone; `drivers drop-caches` empties the page cache for it
#   profile WORDS  where the instructions of each case go whose title contains the words
#   limits         writes what the gate of `make test` holds the library against
. "$(dirname "$0")/common.sh"

check_peer
make/setup.sh bench
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
[ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
export VKL_BENCH_PROGRAMS=$TARGET/bench VKL_LIBRARY=$LIBRARY
build_programs tests/bench "$VKL_BENCH_PROGRAMS"

case ${1:-} in
limits) exec python3 tests/bench/gate.py refresh ;;
"")
    # Beside it the same library without the reader of a driver catalogue.
    if [ -z "${VKL_PLAIN_LIBRARY:-}" ]; then
        CARGO_TARGET_DIR=$TARGET/plain $CARGO build --locked --quiet --release -p vulkan-loader \
            --no-default-features --features service
        export VKL_PLAIN_LIBRARY=$TARGET/plain/release/libvulkan.so
    fi
    ;;
drivers | quick | profile) ;;
*) die 3 "which: drivers, quick, profile, limits, or nothing?" ;;
esac
case ${1:-} in
"" | drivers)
    export VKL_VKLOADER=${VKL_VKLOADER:-$RELEASE/vkloader}
    [ -x "$VKL_VKLOADER" ] || build_tools vkloader
    ;;
esac

use_peer
# What the page says of our side; a root of its own has neither compiler nor history.
ours=(loader generated Cargo.toml Cargo.lock)
commit=$(git log -1 --format=%h -- "${ours[@]}" 2>/dev/null) || commit=unknown
[ -z "$(git status --porcelain -- "${ours[@]}" 2>/dev/null)" ] || commit+=" and changes"
export VKL_BENCH_OURS="commit $commit, $(rustc --version)" VKL_PEER_LIBRARY=$PEER_LIBRARY
exec "${PEER_RUN[@]}" python3 tests/bench "$@"

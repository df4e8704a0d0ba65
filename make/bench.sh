#!/usr/bin/env bash
# Measures the library beside another loader; tests/bench does the work. Arguments:
#   (none)         all cases, and plots
#   quick          a few cases
#   profile WORDS  where the instructions of each case go whose title contains the words
#   limits         writes what the gate of `make test` holds the library against
. "$(dirname "$0")/common.sh"

make/setup.sh bench
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
[ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
export VKL_BENCH_PROGRAMS=$TARGET/bench VKL_LIBRARY=$LIBRARY
make --silent -C tests/bench OUT="$VKL_BENCH_PROGRAMS"

case ${1:-} in
limits) exec python3 tests/bench/gate.py refresh ;;
"" | quick | profile) ;;
*) die 3 "which: quick, profile, limits, or nothing?" ;;
esac

VKL_PEER_LIBRARY=${PEER:-$(peer_library)}
[ -f "$VKL_PEER_LIBRARY" ] || die 2 "there is no library to compare with: make setup, or PEER=/path/to/libvulkan.so.1"
export VKL_PEER_LIBRARY
exec python3 tests/bench "$@"

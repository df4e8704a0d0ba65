#!/usr/bin/env bash
# soak.sh MINUTES [WORD...]: thousands of short processes with the real layers of this system; tests/soak does the work.
# VKL_LIBRARY names another library than the one built here, the system's own loader for example.
. "$(dirname "$0")/common.sh"

minutes=${1:-}
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || die 3 "for how many minutes: make soak MINUTES=10"
shift
make/setup.sh test
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
make/programs.sh
VKL_LIBRARY=$LIBRARY VKL_PROGRAMS=$PROGRAMS exec python3 tests/soak "$minutes" "$@"

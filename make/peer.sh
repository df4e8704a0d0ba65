#!/usr/bin/env bash
# The behaviour tests, run on the system's own loader: what they demand must be what is there to be replaced.
# Cases that it is known to fail are listed with reasons in tests/peer.txt; one that passes all the same is a failure.
. "$(dirname "$0")/common.sh"

peer=$(peer_library)
[ -n "$peer" ] || die 2 "the system has no libvulkan.so.1 (make setup)"
say "Behaviour tests on $peer"
VKL_PEER=1 VKL_LIBRARY=$peer exec timeout 1200 $CARGO test --locked --no-fail-fast -p loader-tests

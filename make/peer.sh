#!/usr/bin/env bash
# The behaviour tests, run on a Khronos loader: what they demand must be what is there to be replaced. PEER names it: a path,
# `sid`, or nothing for the system's own. Cases that it is known to fail are listed with reasons in tests/peer.txt; one that
# passes all the same is a failure. Arguments go to cargo.
. "$(dirname "$0")/common.sh"

use_peer
say "Behaviour tests on $PEER_LIBRARY${PEER:+ ($PEER)}"
VKL_PEER=1 VKL_LIBRARY=$PEER_LIBRARY CARGO="timeout 1800 $CARGO" cargo_beside_peer test --locked --no-fail-fast -p loader-tests "$@"

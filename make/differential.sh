#!/usr/bin/env bash
# Plays the scenes of tests/differential under the library and under a Khronos loader, and compares all that drivers, layers
# and the program can see. PEER names that loader: a path, or `sid`, which is the default here, since the explanations of
# tests/differential.txt are about the newest. Arguments are words: only scenes with one of them in their names.
. "$(dirname "$0")/common.sh"

PEER=${PEER:-sid}
check_peer
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
[ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
use_peer
say "$LIBRARY and $PEER_LIBRARY ($PEER)"
VKL_LIBRARY=$(realpath "$LIBRARY") VKL_PEER_LIBRARY=$PEER_LIBRARY cargo_beside_peer test --locked --quiet -p loader-tests --test differential -- "$@"

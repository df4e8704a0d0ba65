#!/usr/bin/env bash
# Removes what was built and fetched.
. "$(dirname "$0")/common.sh"
$CARGO clean --quiet
rm -rf "$TARGET" registry/input

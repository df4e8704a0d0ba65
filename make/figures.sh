#!/usr/bin/env bash
# Measures the library beside the system's own loader; figures.py does the work. Needs a quiet machine.
. "$(dirname "$0")/common.sh"

# The library alone: it shares no crate with programs that use the standard library.
$CARGO build --locked --quiet --release -p vulkan-loader
$CARGO build --locked --quiet --release -p vkgen -p mock-driver
make/programs.sh
# The mock driver with optimisation, so that it adds little to what is measured.
cp "$TARGET/release/libmock_driver.so" "$PROGRAMS/mock/libmock_driver.so"
VKL_LIBRARY=$LIBRARY VKL_PEER_LIBRARY=$(peer_library) VKL_PROGRAMS=$PROGRAMS VKL_VKGEN=$TARGET/release/vkgen \
    exec python3 make/figures.py "$@"

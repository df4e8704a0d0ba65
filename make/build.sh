#!/usr/bin/env bash
# The release library and the programs beside it. With MAPPED=1 no path of this machine is in them: the same sources give the same
# bytes in any folder (make/reproducible.sh shows it), as packages want it. That takes other flags, which cargo builds anew for.
# PAGES names a folder for manual pages and completions.
# SYSROOT names a folder with an older C library to link with, as make/sysroot.sh makes it.
. "$(dirname "$0")/common.sh"

if [ -n "${MAPPED:-}" ]; then
    # Crates are in vendor/ below the project, or where cargo unpacks them.
    crates=${CARGO_HOME:-~/.cargo}
    flags=(--remap-path-prefix="$crates/registry/src=/usr/src/crates" --remap-path-prefix="$ROOT=/usr/src/vulkan-loader-rs-$VERSION")
    for flag in ${RUSTFLAGS:-}; do
        flags+=("$flag")
    done
    # In this form a folder may have a blank in its name.
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
    export CARGO_ENCODED_RUSTFLAGS
fi
if [ -n "${SYSROOT:-}" ]; then
    [ -d "$SYSROOT/usr/include" ] || die 3 "SYSROOT=$SYSROOT has no C library to link with"
    libraries=$(dirname "$(compgen -G "$SYSROOT/usr/lib/*/libc.so")")
    mkdir -p "$TARGET"
    # In older ones these were libraries of their own.
    cat >"$TARGET/linker" <<END
#!/bin/sh
exec cc "--sysroot=$SYSROOT" "-L$SYSROOT/lib/${libraries##*/}" "-L$libraries" "\$@" -Wl,--push-state,--as-needed -ldl -lpthread -Wl,--pop-state
END
    chmod +x "$TARGET/linker"
    host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
    export "CARGO_TARGET_${host}_LINKER=$TARGET/linker"
fi
$CARGO build --locked --release -p vulkan-loader
$CARGO build --locked --release -p vkloader
# The service is a program of Linux.
if [ "$(uname -s)" = Linux ]; then
    $CARGO build --locked --release -p vk-loader-service
fi
if [ -n "${PAGES:-}" ]; then
    "$TARGET/release/vkloader" pages "$PAGES"
    $CARGO run --locked --release -p vulkan-loader-pages --example service -- "$PAGES"
fi

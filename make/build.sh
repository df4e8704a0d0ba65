#!/usr/bin/env bash
# The release library and the programs beside it, with their manual pages and completions. With MAPPED=1 no path of this machine is in
# them: the same sources give the same bytes in any folder (make/reproducible.sh shows it), as packages want it. That takes other flags,
# which cargo builds anew for.
# PAGES names a folder for manual pages and completions, in place of one beside the library; `no` means none.
# SYSROOT names a folder with an older C library to link with, as make/sysroot.sh makes it.
# CARGO_BUILD_TARGET names another processor or system, as for cargo.
. "$(dirname "$0")/common.sh"

# toml_strings TEXT...: texts as a list in TOML.
toml_strings() {
    local text list=
    for text; do
        text=${text//\\/\\\\}
        text=${text//\"/\\\"}
        list+="\"$text\", "
    done
    printf '[%s]' "${list%, }"
}

# Adds flags for rustc to those that a packager has given, in whichever of cargo's ways. Cargo takes the flags of one way only, so that
# ours have to go where the packager's are: a variable for all, or the configuration, whose tables of a target count together.
add_rustflags() {
    local flag own flags=("$@")
    if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}${RUSTFLAGS:-}" ]; then
        if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}" ]; then
            flags+=("$CARGO_ENCODED_RUSTFLAGS")
        else
            for flag in $RUSTFLAGS; do
                flags+=("$flag")
            done
        fi
        # In this form a folder may have a blank in its name.
        CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
        export CARGO_ENCODED_RUSTFLAGS
    else
        # Cargo takes build.rustflags only where no target has flags, and ours are a target's: they are taken over.
        own=$(RUSTC_BOOTSTRAP=1 $CARGO -Zunstable-options config get build.rustflags 2>/dev/null) || own=
        CARGO_OPTIONS+=(--config "target.'cfg(all())'.rustflags = $(toml_strings "${flags[@]}")")
        [ -z "$own" ] || CARGO_OPTIONS+=(--config "target.'cfg(not(any()))'.${own#build.}")
    fi
}

if [ -n "${MAPPED:-}" ]; then
    # Crates are in vendor/ below the project, or where cargo unpacks them.
    crates=${CARGO_HOME:-~/.cargo}
    add_rustflags --remap-path-prefix="$crates/registry/src=/usr/src/crates" --remap-path-prefix="$ROOT=/usr/src/vulkan-loader-rs-$VERSION"
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
$CARGO "${CARGO_OPTIONS[@]}" build --locked --release -p vulkan-loader
[ -f "$LIBRARY" ] || die 2 "cargo did not make $LIBRARY: a target in cargo's configuration is to be named in CARGO_BUILD_TARGET too"
programs=(vkloader)
# The service is a program of Linux.
case ${CARGO_BUILD_TARGET:-$(uname -s)} in
Linux | *-linux-*) programs+=(vk-loader-service) ;;
esac
build_tools "${programs[@]}"
if [ "$PAGES" != no ]; then
    # This machine runs what writes them.
    env -u CARGO_BUILD_TARGET $CARGO "${CARGO_OPTIONS[@]}" run --locked --profile tools -p vulkan-loader-pages --example write -- "$PAGES"
fi

# Functions for scripts that run tests in roots of other systems. `unpack` makes a root at its first use, and `links` prints arguments of
# bubblewrap for a root.

# Folder of the roots, which are kept between runs, and the packages in each.
ROOTS=${ROOTS:-$TARGET/roots}
PACKAGES=libc6,libgcc-s1,dash,libvulkan1,mesa-vulkan-drivers

# unpack NAME ARGUMENT...: makes the root NAME unless it exists. Its packages are unpacked but not configured. The ARGUMENTs are for
# mmdebstrap. The variable MIRROR can contain a line of sources.list.
unpack() {
    local root=$ROOTS/$1
    shift
    [ -d "$root" ] && return
    mkdir -p "$ROOTS"
    rm -rf "$root.new"
    mmdebstrap --variant=extract --include="$PACKAGES" --aptopt='Acquire::Check-Valid-Until "false"' "$@" "$root.new" \
        ${MIRROR:+"$MIRROR"} >"$root.log" 2>&1 || die 2 "cannot make $root: $(tail -n 1 "$root.log")"
    mv "$root.new" "$root"
}
# links ROOT: prints arguments of bubblewrap for the folders beside /usr, for example /bin. These folders are links if /usr is merged, or
# would be merged when the packages are configured.
links() {
    local name
    for name in bin sbin lib lib64; do
        if [ -d "$1/$name" ] && [ ! -L "$1/$name" ]; then
            printf -- '--ro-bind %s /%s ' "$1/$name" "$name"
        elif [ -d "$1/usr/$name" ]; then
            printf -- '--symlink usr/%s /%s ' "$name" "$name"
        fi
    done
}

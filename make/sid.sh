#!/usr/bin/env bash
# Makes and uses a root of Debian sid, which has the newest Khronos loader, drivers and layers. The libraries of the root need a newer libc
# than many systems have, so programs that use these libraries run inside the root. The root is made at its first use, and kept until `make
# clean`.
#
#   make/sid.sh                 Makes the root if it is missing. Prints the path of its libvulkan.so.1, as seen from inside.
#   make/sid.sh run COMMAND...  Runs a command in the root.
#   make/sid.sh root            Prints the path of the root, as seen from outside.
#
# A command keeps its arguments, variables, working folder, standard streams and exit status. The command is the process that was started,
# so signals reach it. The command sees /usr, /etc and /home of the root. It sees the project, CARGO_TARGET_DIR, /tmp, TMPDIR,
# XDG_RUNTIME_DIR, /proc, /dev and /sys of this system, under the same paths. It also uses the network of this system, and displays through
# /tmp. Programs that were built on this system run in the root, because a libc can run programs for older versions of the libc. The mounts
# are visible only to the command, and end with it. Making the root and running a command both need the superuser.
#
# Other scripts call `use_peer` of common.sh, and put "${PEER_RUN[@]}" before commands that run with the Khronos loader:
#
#   use_peer                    # PEER=sid make TARGET
#   "${PEER_RUN[@]}" vulkaninfo # in the root; on this system if PEER is another loader
here=$PWD
. "$(dirname "$0")/common.sh"

SID=$TARGET/sid
# The first packages have the loader, drivers and layers, and programs that list them. tests/bench and the tests of tests/tests need the
# packages below. If this list changes, the script makes another root.
PACKAGES="libvulkan1 mesa-vulkan-drivers vulkan-tools vulkan-validationlayers
python3-minimal libpython3-stdlib binutils valgrind strace xvfb"

make_root() {
    local log=$TARGET/sid.log made=$TARGET/sid.new
    [ "$(id -u)" = 0 ] || die 2 "making a root of Debian sid takes the superuser"
    make/setup.sh sid >"$log" 2>&1 || die 2 "cannot make a root of Debian sid: mmdebstrap is missing (see $log)"
    say "Making a root of Debian sid in $SID" >&2
    rm -rf "$made" "$SID"
    # A mirror of Debian can have an expired index, although its packages are still usable. shellcheck disable=SC2086 -- $PACKAGES contains
    # several names
    if ! mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
        --include="$(echo $PACKAGES | tr ' ' ,)" sid "$made" >"$log" 2>&1; then
        rm -rf "$made"
        die 2 "cannot make a root of Debian sid: $(grep --max-count=1 '^E: ' "$log") (see $log)"
    fi
    say "$PACKAGES" >"$made/packages"
    mv "$made" "$SID"
}

# Makes the root only once, even if two targets of the Makefile start at the same time.
need_root() {
    mkdir -p "$TARGET"
    exec 9>"$TARGET/sid.lock"
    flock 9
    [ "$(cat "$SID/packages" 2>/dev/null)" = "$PACKAGES" ] || make_root
    exec 9>&-
}

enter() {
    local place
    for place in /proc /dev /sys; do
        mount --rbind "$place" "$SID$place"
    done
    for place in "$ROOT" "$TARGET" /tmp "${TMPDIR:-}" "${XDG_RUNTIME_DIR:-}"; do
        [ -d "$place" ] || continue
        mkdir -p "$SID$place"
        mount --bind "$place" "$SID$place"
    done
    exec chroot "$SID" /usr/bin/env -C "$here" "$@"
}

case ${1:-} in
"")
    need_root
    library=$(compgen -G "$SID/usr/lib/*-linux-gnu*/libvulkan.so.1") || die 2 "$SID has no libvulkan.so.1"
    say "${library#"$SID"}"
    ;;
root)
    need_root
    say "$SID"
    ;;
run)
    shift
    [ $# -gt 0 ] || die 3 "which command?"
    need_root
    cd "$here"
    exec unshare --mount --propagation private "$ROOT/make/sid.sh" enter "$@"
    ;;
enter)
    shift
    enter "$@"
    ;;
*) die 3 "which: run, root or nothing?" ;;
esac

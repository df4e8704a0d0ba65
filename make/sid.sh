#!/usr/bin/env bash
# A root of Debian sid, which has the newest Khronos loader, drivers and layers. The libraries of the root need a newer libc than many
# systems have, so programs that use these libraries run inside the root. The root is made at first use and then kept (`make clean` removes
# it).
#
#   make/sid.sh                 Makes the root if it is missing. Prints the path of its libvulkan.so.1, as seen from inside.
#   make/sid.sh run COMMAND...  Runs a command in the root.
#   make/sid.sh root            Prints the path of the root, as seen from outside.
#
# A command keeps its arguments, variables, working folder, standard streams and exit status. The command is the process that was started,
# so signals reach it. /usr, /etc and /home are those of the root. The project, CARGO_TARGET_DIR, /tmp, TMPDIR, XDG_RUNTIME_DIR, /proc, /dev
# and /sys are those of this system, under the same paths. The network, and displays that are reached through /tmp, are those of this system
# too. Programs that were built on this system run in the root, because a libc is compatible with older ones. Only the command sees the
# mounts, and they end with the command. Making the root and running a command both need the superuser.
#
# Other scripts call `use_peer` of common.sh, and put "${PEER_RUN[@]}" before commands that run with the Khronos loader:
#
#   use_peer                    # PEER=sid make VERB
#   "${PEER_RUN[@]}" vulkaninfo # in the root; on this system if PEER is another loader
here=$PWD
. "$(dirname "$0")/common.sh"

SID=$TARGET/sid
# The loader, drivers and layers with the programs that show them. Below are the packages that tests/bench and the tests of tests/tests
# need. A changed list makes another root.
PACKAGES="libvulkan1 mesa-vulkan-drivers vulkan-tools vulkan-validationlayers
python3-minimal libpython3-stdlib binutils valgrind strace xvfb"

make_root() {
    local log=$TARGET/sid.log made=$TARGET/sid.new
    [ "$(id -u)" = 0 ] || die 2 "making a root of Debian sid takes the superuser"
    make/setup.sh sid >"$log" 2>&1 || die 2 "cannot make a root of Debian sid: mmdebstrap is missing (see $log)"
    say "Making a root of Debian sid in $SID" >&2
    rm -rf "$made" "$SID"
    # A copy of the archive may be past the date of its index, and still be good.
    # shellcheck disable=SC2086 -- $PACKAGES holds several names
    if ! mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
        --include="$(echo $PACKAGES | tr ' ' ,)" sid "$made" >"$log" 2>&1; then
        rm -rf "$made"
        die 2 "cannot make a root of Debian sid: $(grep --max-count=1 '^E: ' "$log") (see $log)"
    fi
    say "$PACKAGES" >"$made/packages"
    mv "$made" "$SID"
}

# Makes one root, even if two verbs begin at the same time.
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

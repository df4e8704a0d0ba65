#!/usr/bin/env bash
# Tests the driver service between systems: the driver is of one Debian, and the program is in a sandbox of another Debian. Each argument is
# a pair of such systems, for example `sid-bookworm`. The default is the list PAIRS. A driver works in each system whose C library is new
# enough; otherwise, the program must report the versions of both C libraries.
. "$(dirname "$0")/../make/common.sh"
. tests/roots.sh

PAIRS="bookworm-sid sid-bookworm bookworm-trixie trixie-bookworm sid-trixie"
GROUP=between HERE=$TARGET/between
SERVICE=$RELEASE/vk-loader-service
# Output of the program if all results of the driver are correct.
WORKS="0 wrong; triangle of"

need mmdebstrap mmdebstrap
need bwrap bubblewrap
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"
[ "$(id -u)" = 0 ] || die 2 "making roots and packages takes the superuser"
library_built
[ -x "$SERVICE" ] || die 2 "there is no $SERVICE: make build"
[ -x "$PROGRAMS/gpu" ] || die 2 "there is no $PROGRAMS/gpu: make/programs.sh"

# sandboxed SYSTEM ARGUMENT...: runs bubblewrap with the root of a system and with these arguments.
sandboxed() {
    local root=$ROOTS/$1
    shift
    # shellcheck disable=SC2046 -- links prints several arguments
    env -i PATH=/usr/bin:/bin bwrap --ro-bind "$root/usr" /usr $(links "$root") --proc /proc --dev /dev --unshare-all --die-with-parent "$@"
}
# package SYSTEM: makes a package of a system's software driver. The driver's libraries come from the same system.
package() {
    local manifest
    manifest=$(cd "$ROOTS/$1" && compgen -G "usr/share/vulkan/icd.d/lvp_icd*.json")
    rm -rf "$HERE/$1" && mkdir -p "$HERE/$1"
    sandboxed "$1" --ro-bind "$SERVICE" /service --bind "$HERE/$1" /packages \
        /service package libvulkan_lvp.so "/$manifest" /packages/lavapipe
    say "figure $(find "$HERE/$1/lavapipe/contents/needs" -type f | wc -l) libraries in the package"
}
# version SYSTEM: prints the version of a system's C library.
version() {
    sandboxed "$1" /lib64/ld-linux-x86-64.so.2 --version | sed -n '1s/.* version \([0-9.]*\)\.$/\1/p'
}
# stop: ends the daemon that `serve` started. `daemon` contains the process ID.
daemon=
stop() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon" || true; }
    daemon=
}
trap stop EXIT
# serve SYSTEM: starts a daemon with the package of a system.
serve() {
    local word words=()
    stop
    rm -rf "$HERE/run" && mkdir -p "$HERE"/{run,dri,sys}
    printf '{"user": 0}\n' >"$HERE/service.json"
    for word in run dri sys; do words+=("--$word" "$HERE/$word"); done
    "$SERVICE" --config "$HERE/service.json" --socket "$HERE/run/service.sock" --root "$HERE/$1" "${words[@]}" 2>"$HERE/log" &
    daemon=$!
    until [ -S "$HERE/run/service.sock" ]; do
        kill -0 "$daemon" || die 2 "the daemon ended: $(cat "$HERE/log")"
        sleep 0.1
    done
}
# used SYSTEM: runs the program in a sandbox of a system that has the daemon's socket and none of the system's own drivers.
used() {
    sandboxed "$1" --tmpfs /usr/share/vulkan/icd.d --tmpfs /run --ro-bind "$HERE/run/service.sock" /run/vulkan-loader/service.sock \
        --ro-bind "$PROGRAMS/gpu" /program --tmpfs /opt --ro-bind "$(realpath "$LIBRARY")" /opt/libvulkan.so.1 \
        --setenv LD_LIBRARY_PATH /opt --setenv VK_LOADER_DEBUG error,warn --setenv LD_DEBUG files /program >"$HERE/output" 2>&1
}
# pair DRIVER SANDBOX: runs the program in a sandbox of the system SANDBOX, and checks the result. The daemon provides the driver of the
# system DRIVER.
pair() {
    local driver=$1 sandbox=$2 status=0 own
    used "$sandbox" || status=$?
    own=$(version "$sandbox")
    grep --invert-match 'LD_DEBUG\|^ *[0-9]*:' "$HERE/output" | tail -n 20
    if [ "$status" -eq 0 ]; then
        grep --quiet --fixed-strings "$WORKS" "$HERE/output"
        say "figure works with C library $own; $(grep -c 'file=/proc/self/fd.*generating link map' "$HERE/output") libraries came from the service"
    else
        # The log must say that the driver needs a newer C library than the program has.
        grep --quiet "The driver service has a driver for version 2\.[0-9.]* of the C library, and this program has $own\." "$HERE/output"
        say "figure $(grep --only-matching 'has a driver for version .*' "$HERE/output" | head -n 1)"
    fi
    # The C library of Debian 12 is older than that of each later system, so drivers of Debian 12 work everywhere.
    [ "$driver" != bookworm ] || [ "$status" -eq 0 ]
    [ "$driver-$sandbox" != sid-bookworm ] || [ "$status" -ne 0 ]
}

mkdir -p "$HERE"
packaged=
for pair in ${*:-$PAIRS}; do
    driver=${pair%-*} sandbox=${pair#*-}
    unpack "$driver" "$driver"
    unpack "$sandbox" "$sandbox"
    if [[ " $packaged " != *" $driver "* ]]; then
        check "$driver: a package of its driver" package "$driver"
        packaged+=" $driver"
    fi
    serve "$driver"
    check "a driver of $driver in a sandbox of $sandbox" pair "$driver" "$sandbox"
done
exit "$failed"

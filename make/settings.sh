# Functions for the scripts of tests, which source this file after common.sh. They replace settings of the user and of the machine on which
# a result could depend.

# usual_settings: removes settings of the user that change what the tests build or read. These are flags, profiles and wrappers of the
# compiler, options of make, colours, and the language of messages. The stages for packagers (`check`) keep flags and profiles.
usual_settings() {
    local host
    unset CLICOLOR_FORCE FORCE_COLOR NO_COLOR GNUMAKEFLAGS LANGUAGE MAKEFILES MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS RUST_TEST_NOCAPTURE
    export CARGO_TERM_COLOR=never LC_ALL=C
    if [ "${1:-}" != check ]; then
        unset CARGO_ENCODED_RUSTFLAGS CARGO_ENCODED_RUSTDOCFLAGS RUSTC_BOOTSTRAP "${!CARGO_PROFILE_RELEASE_@}"
        # Empty variables also override cargo's configuration.
        export RUSTFLAGS= RUSTDOCFLAGS= RUSTC_WRAPPER= RUSTC_WORKSPACE_WRAPPER=
    fi
    [ -n "${CARGO_BUILD_TARGET:-}" ] || return 0
    host=$(rustc -vV | sed -n 's/^host: //p')
    case $CARGO_BUILD_TARGET in
    "$host" | host-tuple) ;;
    *) die 3 "the tests run on this machine, and cargo builds for $CARGO_BUILD_TARGET: set CARGO_BUILD_TARGET=$host" ;;
    esac
}

# open_to_others FOLDER: succeeds if all users can enter the folder.
open_to_others() {
    local folder
    folder=$(cd "$1" && pwd -P)
    while [ "$folder" != / ]; do
        [ -n "$(find "$folder" -prune -perm -001)" ] || return 1
        folder=$(dirname "$folder")
    done
}

# runs_programs FOLDER: succeeds if programs in the folder can be run, which a mount with the option noexec prevents.
runs_programs() {
    local file
    file=$(mktemp "$1/runs.XXXXXX" 2>/dev/null) || return
    printf '#!/bin/sh\n' >"$file"
    chmod 700 "$file"
    "$file" 2>/dev/null
    local status=$?
    rm -f "$file"
    return $status
}

# plain_temporary_folder: sets TMPDIR to a usual folder if its path is long or has special characters. The tests make sockets below this
# folder, whose paths have at most 107 bytes, and compare messages with paths. Tests about unusual paths make these paths themselves. The
# tests also run programs in this folder. Tests of root run programs as other users, which must be able to enter the folder.
plain_temporary_folder() {
    local place
    for place in "${TMPDIR:-/tmp}" /tmp /var/tmp "$TARGET/tmp"; do
        [ "$place" != "$TARGET/tmp" ] || mkdir -p "$place"
        if [[ "$place" =~ ^/[A-Za-z0-9/._+-]{0,40}$ ]] && [ -d "$place" ] && [ -w "$place" ] && runs_programs "$place" &&
            { [ "$(id -u)" != 0 ] || open_to_others "$place"; }; then
            export TMPDIR=$place
            return
        fi
    done
    die 1 "no folder for temporary files is suitable: set TMPDIR to a short path of a folder in which programs can run"
}

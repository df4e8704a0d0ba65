#!/usr/bin/env bash
# Brings what a bump made into the tree, so that an interruption at any point can be made good:
#
#   bump-deliver.sh deliver HEADER COPY FILE...   makes these files what they are in a copy of the tree, or takes them away
#   bump-deliver.sh recover                       finishes a delivery that was interrupted
#
# What changes is first copied below .bump/, beside a list of it with the checksums before and after. Until that list is
# called `journal` nothing has happened; from then on links and renames are all that is left, and each may be done again.
. "$(dirname "$0")/common.sh"

PLACE=.bump
JOURNAL=$PLACE/journal

# The checksum of a file, or - for none.
sum() {
    if [ -f "$1" ]; then
        sha256sum <"$1" | cut -d' ' -f1
    else
        echo -
    fi
}

# prepare HEADER COPY FILE...: copies of what differs, and the journal.
prepare() {
    local header=$1 copy=$2 path
    shift 2
    rm -rf "$PLACE"
    mkdir -p "$PLACE/new"
    printf 'header %s\n' "$header" >"$PLACE/list"
    for path; do
        if [ ! -f "$copy/$path" ]; then
            printf '%s - %s\n' "$(sum "$path")" "$path" >>"$PLACE/list"
        elif ! cmp -s "$path" "$copy/$path"; then
            mkdir -p "$(dirname "$PLACE/new/$path")"
            cp "$copy/$path" "$PLACE/new/$path"
            printf '%s %s %s\n' "$(sum "$path")" "$(sum "$copy/$path")" "$path" >>"$PLACE/list"
        fi
    done
    # A power failure may forget what is not on disk yet, and the order of what is.
    find "$PLACE" -exec sync {} +
    mv "$PLACE/list" "$JOURNAL"
    sync "$PLACE"
}

# put OLD NEW PATH: gives a file its new content, or takes it away.
put() {
    local new=$2 path=$3 folder
    folder=$(dirname "$path")
    if [ "$new" = - ]; then
        rm -f "$path"
        rmdir "$folder" 2>/dev/null || true
        return
    fi
    [ "$(sum "$path")" != "$new" ] || return 0
    [ -d "$folder" ] || mkdir -p "$folder"
    # A link needs no room on a disk that is full by now.
    ln -f "$PLACE/new/$path" "$PLACE/part" 2>/dev/null || cp "$PLACE/new/$path" "$PLACE/part"
    mv -f "$PLACE/part" "$path"
}

# The rest of a delivery whose journal is complete.
finish() {
    local old new path now header
    header=$(sed -n '1s/^header //p' "$JOURNAL")
    while read -r old new path; do
        now=$(sum "$path")
        [ "$now" = "$old" ] || [ "$now" = "$new" ] || die 2 \
            "$path was changed after the bump to $header was interrupted: undo that and call make bump, or drop the bump with rm -r $PLACE and git checkout"
    done < <(sed 1d "$JOURNAL")
    while read -r old new path; do
        put "$old" "$new" "$path"
    done < <(sed 1d "$JOURNAL")
    sed '1d; s/^[^ ]* [^ ]* //' "$JOURNAL" | while read -r path; do dirname "$path"; done | sort -u |
        while read -r path; do
            [ ! -d "$path" ] || sync "$path"
        done
    rm "$JOURNAL"
    rm -rf "$PLACE"
}

case ${1:-} in
deliver)
    shift
    trap '[ -f "$JOURNAL" ] || rm -rf "$PLACE"' EXIT
    prepare "$@"
    finish
    ;;
recover)
    if [ -f "$JOURNAL" ]; then
        say "Finishing the bump to $(sed -n '1s/^header //p' "$JOURNAL"), which was interrupted"
        finish
    else
        rm -rf "$PLACE"
    fi
    ;;
*) die 3 "which: deliver or recover?" ;;
esac

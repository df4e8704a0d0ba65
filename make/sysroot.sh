#!/usr/bin/env bash
# Unpacks the C library of an older Debian (argument: bullseye), and prints the folder for `make build SYSROOT=...`. The resulting programs
# run on systems with that glibc or a newer glibc.
. "$(dirname "$0")/common.sh"

release=${1:-bullseye}
folder=$TARGET/sysroot/$release
need mmdebstrap mmdebstrap
[ -z "$lacking" ] || die 2 "missing:$lacking"
if [ ! -d "$folder" ]; then
    mkdir -p "$TARGET/sysroot"
    rm -rf "$folder.new"
    mmdebstrap --variant=extract --include=libc6-dev,libgcc-s1 --aptopt='Acquire::Check-Valid-Until "false"' "$release" "$folder.new" \
        >"$folder.log" 2>&1 || die 2 "cannot get Debian's $release: $(tail -n 3 "$folder.log") (see $folder.log)"
    # The targets of absolute links are paths inside the root, so the script changes these links to relative links.
    find "$folder.new" -type l -lname '/*' | while read -r link; do
        ln -sfn --relative "$folder.new$(readlink "$link")" "$link"
    done
    mv "$folder.new" "$folder"
fi
say "$folder"

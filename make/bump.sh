#!/usr/bin/env bash
# bump.sh 1.4.N: moves the project to another header, or leaves everything as it is. `latest` stands for the newest.
#
# All work happens in a copy of the tree below target/bump/: fetch, pin, import, emit, test. Only when all of that
# went well are the pin, the snapshot, generated/ and the version copied back, ready to be committed, with
# registry-diff.md and registry-diff.html beside them. A failure at any point, even power loss, leaves the tree alone.
#
# BUMP_TEST is the command that tests the copy (default: make test).
. "$(dirname "$0")/common.sh"

# The newest header that the registry's package carries.
latest() {
    timeout 120 python3 -m pip --disable-pip-version-check --no-input index versions "$(pin package)" 2>/dev/null |
        sed -n 's/^Available versions: \([0-9.]*[0-9]\).*/\1/p'
}

NEW=${1:-}
[ "$NEW" != latest ] || NEW=$(latest)
[[ $NEW =~ ^1\.[0-9]+\.[0-9]+$ ]] || die 3 "which header? make bump VERSION=1.4.N"
# What a bump writes, and nothing else.
OUTPUTS=(registry/pin.toml registry/snapshot generated Cargo.toml Cargo.lock tests/fuzz/Cargo.lock)
WORK=$TARGET/bump
TREE=$WORK/tree
OLD=$VERSION

[ "$NEW" != "$OLD" ] || { say "The header is $NEW already"; exit 0; }
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || die 3 "a bump needs a git checkout"
[ -z "$(git status --porcelain -- "${OUTPUTS[@]}")" ] ||
    die 3 "commit or undo your changes in ${OUTPUTS[*]} first; a bump rewrites them"

# The tree as it is, uncommitted work elsewhere included.
copy_tree() {
    rm -rf "$TREE"
    mkdir -p "$TREE/registry/input"
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
    done | xargs -0 cp --parents --no-dereference --preserve=mode,timestamps --target-directory "$TREE"
    # Headers that were fetched before need not be fetched again.
    local folder
    for folder in registry/input/*/; do
        [ ! -d "$folder" ] || ln -s "$ROOT/${folder%/}" "$TREE/${folder%/}"
    done
}

vkgen() {
    "$TARGET/release/vkgen" "$@"
}

# The new XML in place of the pinned one.
fetch() {
    say "Fetching header $NEW"
    registry/fetch.sh "$NEW" || die 2 "header $NEW could not be fetched"
    local name
    for name in vk.xml video.xml; do
        [ -f "registry/input/$NEW/$name" ] || die 2 "header $NEW has no $name"
        cp "registry/input/$NEW/$name" "registry/input/$name"
    done
}

# The report first: it tells what to do when a later step stops.
report() {
    local format
    for format in markdown html; do
        vkgen diff "$ROOT/registry/snapshot" registry/input/vk.xml "--$format" >"$WORK/registry-diff.${format/markdown/md}"
    done
    vkgen diff "$ROOT/registry/snapshot" registry/input/vk.xml | sed -n 1p
}

# Header, checksums and the counts of the program that shares nothing with the parser.
write_pin() {
    local vk video
    vk=$(sha256sum <registry/input/vk.xml | cut -d' ' -f1)
    video=$(sha256sum <registry/input/video.xml | cut -d' ' -f1)
    {
        sed -e '/^\[counts\]$/,$d' \
            -e "s/^header = .*/header = \"$NEW\"/" \
            -e "s/^\"vk.xml\" = .*/\"vk.xml\" = \"$vk\"/" \
            -e "s/^\"video.xml\" = .*/\"video.xml\" = \"$video\"/" registry/pin.toml
        awk -f registry/count.awk registry/input/vk.xml
    } >"$WORK/pin.toml"
    cp "$WORK/pin.toml" registry/pin.toml
}

# The loader reports the header it was made from, and the crates have its number.
write_version() {
    sed -i "/^\[workspace.package\]/,/^\[/s/^version = .*/version = \"$NEW\"/" Cargo.toml
    $CARGO update --quiet --offline --workspace
    # A workspace of its own, whose other crates may not have been fetched yet.
    sed -i "/^name = \"loader-rlib\"\$/{n;s/.*/version = \"$NEW\"/}" tests/fuzz/Cargo.lock
}

# Copies what the bump made back into the tree. A copy of what was there undoes it if it is interrupted.
deliver() {
    local saved=$WORK/saved
    rm -rf "$saved"
    mkdir -p "$saved"
    cp --archive --parents "${OUTPUTS[@]}" "$saved"
    set -E
    trap 'say "undoing the bump" >&2; rm -rf registry/snapshot generated; cp --archive "$WORK/saved/." .; exit 1' ERR INT TERM
    local file
    # A file that stays the same is not touched, and one that is gone goes.
    diff -rq "${OUTPUTS[0]}" "$TREE/${OUTPUTS[0]}" >/dev/null || cp "$TREE/${OUTPUTS[0]}" "${OUTPUTS[0]}"
    for file in Cargo.toml Cargo.lock tests/fuzz/Cargo.lock; do
        cmp -s "$file" "$TREE/$file" || cp "$TREE/$file" "$file"
    done
    for folder in registry/snapshot generated; do
        (cd "$folder" && find . -type f) | while read -r file; do
            [ -f "$TREE/$folder/$file" ] || rm "$folder/$file"
        done
        (cd "$TREE/$folder" && find . -type f) | while read -r file; do
            mkdir -p "$(dirname "$folder/$file")"
            cmp -s "$folder/$file" "$TREE/$folder/$file" || cp "$TREE/$folder/$file" "$folder/$file"
        done
    done
    mkdir -p registry/input
    cp "$TREE/registry/input/vk.xml" "$TREE/registry/input/video.xml" registry/input/
    cp "$WORK/registry-diff.md" "$WORK/registry-diff.html" .
    trap - ERR INT TERM
    rm -rf "$saved" "$TREE"
}

mkdir -p "$WORK"
$CARGO build --locked --quiet --release -p vkgen
trap '[ $? = 0 ] || printf "%s\n" "The header stays $OLD; nothing was changed. What there is to read: $WORK" >&2' EXIT

copy_tree
(
    cd "$TREE"
    fetch
    report
    write_pin
    write_version
    vkgen import --vk-xml registry/input/vk.xml --video-xml registry/input/video.xml
    found=$(sed -n 's/^header //p' registry/snapshot/header.txt)
    [ "$found" = "$NEW" ] || die 2 "the XML says that it is header $found, not $NEW"
    vkgen emit
    say "Testing the copy"
    # Its own target folder: what is built from the copy must not be taken for what is built from the tree.
    CARGO_TARGET_DIR=$WORK/target ${BUMP_TEST:-make --no-print-directory test}
)
deliver
say "The header is $NEW. Read registry-diff.md or registry-diff.html, then commit:"
git status --short -- "${OUTPUTS[@]}" | sed -n '1,12p'

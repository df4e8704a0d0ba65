#!/usr/bin/env bash
# bump.sh 1.4.N: moves the project to another header, or leaves everything as it is. `latest` stands for the newest.
#
# All work happens in a copy of the tree below target/bump/: fetch, pin, import, emit, documents, test. Only when all of
# that went well is what it wrote brought back, ready to be committed, with registry-diff.md and registry-diff.html beside
# it. A failure at any point leaves the tree alone; one in the middle of bringing back, even a power failure, is made good
# by the next call (bump-deliver.sh). Without a version it does only that.
#
# BUMP_TEST is the command that tests the copy (default: make test). A header that breaks what was built for the old one is
# taken only with BREAKING=accept.
. "$(dirname "$0")/common.sh"

# What a bump writes in the repository, and nothing else.
OUTPUTS=(registry/pin.toml registry/snapshot generated Cargo.toml Cargo.lock tests/fuzz/Cargo.lock README.md MATRIX.md docs/*.md
    packaging/debian/libvulkan1-rs.symbols)
# And beside it, where git does not look.
BESIDE=(registry/input/vk.xml registry/input/video.xml registry-diff.md registry-diff.html)
WORK=$ROOT/target/bump
TREE=$WORK/tree
NEW=$*

# The newest header that the registry's package carries.
latest() {
    local found
    if ! found=$(timeout 120 python3 -m pip --disable-pip-version-check --no-input index versions "$(pin package)" 2>&1); then
        die 2 "there is no list of headers to take the newest of; name one with VERSION=1.4.N. pip says: $(tail -n 1 <<<"$found")"
    fi
    sed -n 's/^Available versions: \([0-9.]*[0-9]\).*/\1/p' <<<"$found"
}

# One bump of a tree at a time; the lock goes with the last process that works for this one.
lock() {
    local status=0
    exec {lock}<registry
    flock --nonblock --conflict-exit-code 75 "$lock" || status=$?
    [ $status != 75 ] || die 3 "another bump of this tree is at work"
    [ $status = 0 ] || die 3 "this tree cannot be locked, so that another bump might disturb this one"
}

# Whether the tree is one that a bump can change and that git can show the change of.
check_tree() {
    local answer path
    command -v git >/dev/null || die 3 "git is missing; a bump works on a checkout"
    answer=$(git rev-parse --is-inside-work-tree 2>&1) ||
        die 3 "a bump needs a git checkout, and git says of $ROOT: $(sed -n '1s/^fatal: //p' <<<"$answer")"
    answer=$(git status --porcelain -- "${OUTPUTS[@]}")
    [ -z "$answer" ] || die 3 "commit or undo your changes first, a bump rewrites these files: $(tr '\n' ' ' <<<"$answer")"
    path=$(find . "${OUTPUTS[@]}" -maxdepth 0 ! -writable -print -quit)
    [ -n "$path" ] || path=$(find "${OUTPUTS[@]}" ! -writable -print -quit)
    [ -z "$path" ] || die 3 "you may not write $path, which belongs to $(stat -c %U "$path")"
}

# The tree as it is, uncommitted work elsewhere included.
copy_tree() {
    rm -rf "$TREE" "$WORK"/registry-diff.*
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
    local format text
    for format in markdown html; do
        vkgen diff "$ROOT/registry/snapshot" registry/input/vk.xml "--$format" >"registry-diff.${format/markdown/md}"
        cp "registry-diff.${format/markdown/md}" "$WORK/"
    done
    text=$(vkgen diff "$ROOT/registry/snapshot" registry/input/vk.xml)
    sed -n 1p <<<"$text"
    if grep -q '^BREAKING (' <<<"$text" && [ "${BREAKING:-}" != accept ]; then
        sed -n '/^BREAKING (/,/^$/p' <<<"$text"
        die 2 "header $NEW breaks what was built for $OLD; if that must be, BREAKING=accept make bump VERSION=$NEW takes it"
    fi
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
    sed -E -i "/^name = \"(loader-rlib|vk-loader-service|vulkan-loader-[a-z]+)\"\$/{n;s/.*/version = \"$NEW\"/}" tests/fuzz/Cargo.lock
}

# What is said when the bump ends early.
stopped() {
    if [ -f .bump/journal ]; then
        say "The bump was interrupted while its files were brought back: make bump finishes it"
    else
        say "The header stays $OLD; nothing was changed. What there is to read: $WORK"
    fi
}

[[ $NEW =~ ^(latest)?$ || $NEW =~ ^1(\.(0|[1-9][0-9]*)){2}$ ]] ||
    die 3 "$NEW is no header: 1.4.N, without zeros before a number, or latest (make bump VERSION=1.4.N)"
[ -n "$NEW" ] || [ -d .bump ] || die 3 "which header? make bump VERSION=1.4.N"
lock
OLD=$VERSION
trap '[ $? = 0 ] || stopped >&2' EXIT
if [ -d .bump ]; then
    make/bump-deliver.sh recover
    OLD=$(pin header)
fi
[ -n "$NEW" ] || exit 0
[ "$NEW" != latest ] || NEW=$(latest)
[ -n "$NEW" ] || die 2 "pip lists no version of $(pin package); name one with VERSION=1.4.N"
[ "$NEW" != "$OLD" ] || { say "The header is $NEW already"; exit 0; }
check_tree

mkdir -p "$WORK"
$CARGO build --locked --quiet --release -p vkgen
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
    python3 make/interface.py --symbols
    python3 make/documents.py
    say "Testing the copy"
    # Its own target folder: what is built from the copy must not be taken for what is built from the tree.
    CARGO_TARGET_DIR=$WORK/target ${BUMP_TEST:-make --no-print-directory test} ||
        die 2 "the tests of the copy failed: ${BUMP_TEST:-make test}, in $TREE"
)
# Files that git knows here, and those that the copy has: what else lies in these folders is not the bump's.
mapfile -t changed < <(
    {
        git ls-files -- "${OUTPUTS[@]}"
        cd "$TREE"
        find "${OUTPUTS[@]}" "${BESIDE[@]}" -type f
    } | sort -u
)
make/bump-deliver.sh deliver "$NEW" "$TREE" "${changed[@]}"
rm -rf "$TREE"
say "The header is $NEW. Read registry-diff.md or registry-diff.html, then commit:"
git status --short -- "${OUTPUTS[@]}" | sed -n '1,12p'

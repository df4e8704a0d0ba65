#!/usr/bin/env bash
# bump.sh 1.4.N: updates the project to version 1.4.N of the Vulkan headers, or leaves everything unchanged. `latest` is the newest version.
#
# All work happens in a git worktree below target/bump/, from a snapshot of the tree: fetch, pin, import, emit, documents, test. If all
# steps succeed, the result becomes one commit, to which the ref PENDING points. One git command then copies the changes into the tree,
# ready to be committed, together with registry-diff.md and registry-diff.html. This git command can be repeated, so the next call of this
# script completes it after an interruption at any point, even a power failure. Without a version, the script only completes an interrupted
# bump.
#
# BUMP_TEST is the command that tests the worktree; the default is make test. BREAKING=accept accepts a header that breaks programs which
# were built for the old header. VKGEN and XTASK name programs that were built from these sources.
. "$(dirname "$0")/common.sh"

# Paths in the repository that a bump may write.
OUTPUTS=(registry/pin.toml registry/snapshot generated Cargo.toml Cargo.lock tests/fuzz/Cargo.lock README.md docs
    packaging/debian/libvulkan1-rs.symbols)
# Paths outside of git's control that a bump writes.
BESIDE=(registry/input/vk.xml registry/input/video.xml registry-diff.md registry-diff.html)
WORK=$ROOT/target/bump
TREE=$WORK/tree
NEW=$*
# Ref to the commit whose changes are not in the tree yet. The parent of the commit is the previous state of the tree. Each worktree has a
# separate ref.
PENDING=refs/worktree/bump

# Prints the newest header version for which pip lists the Python package that contains the XML.
latest() {
    local found
    if ! found=$(timeout 120 python3 -m pip --disable-pip-version-check --no-input index versions "$(pin package)" 2>&1); then
        die 2 "there is no list of headers to take the newest of; name one with VERSION=1.4.N. pip says: $(tail -n 1 <<<"$found")"
    fi
    sed -n 's/^Available versions: \([0-9.]*[0-9]\).*/\1/p' <<<"$found"
}

# Allows one bump of a tree at a time. The lock is released when the last process of this bump ends.
lock() {
    local status=0
    exec {lock}<registry
    flock --nonblock --conflict-exit-code 75 "$lock" || status=$?
    [ $status != 75 ] || die 3 "another bump of this tree is at work"
    [ $status = 0 ] || die 3 "this tree cannot be locked, so that another bump might disturb this one"
}

# Succeeds if a bump can change the tree, and git can show the change.
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

# Runs git without the user's hooks and name. Git also flushes all data to the disk.
own_git() {
    GIT_AUTHOR_NAME=bump GIT_AUTHOR_EMAIL=bump GIT_COMMITTER_NAME=bump GIT_COMMITTER_EMAIL=bump \
        git -c core.hooksPath=/dev/null -c core.fsync=all -c core.fsyncMethod=fsync -c gc.auto=0 "$@"
}

# snapshot FOLDER START PARENT [PATH...]: makes a commit with the parent PARENT. The commit has the tree of START, with the content of
# FOLDER at these paths, even if git ignores them. Without paths, the commit contains all files in FOLDER that git does not ignore.
snapshot() (
    folder=$1 start=$2 parent=$3
    shift 3
    export GIT_INDEX_FILE=$WORK/index
    cd "$folder"
    rm -f "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.lock"
    own_git read-tree "$start"
    [ $# -gt 0 ] || own_git add --all
    for path; do
        if [ -f "$path" ]; then own_git add --force -- "$path"; fi
    done
    own_git commit-tree -p "$parent" -m "bump to $NEW" "$(own_git write-tree)"
)

is_pending() {
    git rev-parse --quiet --verify "$PENDING" >/dev/null 2>&1
}
# Prints the header of the pending commit.
pending_header() {
    git cat-file blob "$PENDING:registry/pin.toml" | sed -n 's/^header = "\(.*\)"$/\1/p'
}

# read_changes: sets `was` and `will` to the blobs of each file that the pending commit changes, before and after the commit. A blob whose
# name is all zeros means that the file does not exist.
read_changes() {
    local entry path old new
    git diff-tree -r -z --no-renames "$PENDING^" "$PENDING" >"$WORK/changes"
    while IFS= read -r -d '' entry && IFS= read -r -d '' path; do
        read -r _ _ old new _ <<<"$entry"
        was[$path]=$old will[$path]=$new
    done <"$WORK/changes"
}
# read_tree: sets `has` to the blobs of the files in `was`, as they are in the tree. Calls git once for all files.
read_tree() {
    local path index paths=() blobs
    has=()
    for path in "${!was[@]}"; do
        [ ! -f "$path" ] || paths+=("$path")
    done
    [ ${#paths[@]} -gt 0 ] || return 0
    printf '%s\n' "${paths[@]}" | git hash-object --stdin-paths >"$WORK/blobs"
    mapfile -t blobs <"$WORK/blobs"
    for index in "${!paths[@]}"; do has[${paths[index]}]=${blobs[index]}; done
}
# ours PATH: succeeds if only the bump can have changed the file. The file then contains the text from before or after the bump. If git was
# interrupted during a write, the file contains the beginning of the new text.
ours() {
    case ${has[$1]:-none} in
    none | "${was[$1]}" | "${will[$1]}") ;;
    *) cmp --quiet --bytes="$(stat -c %s "$1")" <(git cat-file blob "$PENDING:$1" 2>/dev/null) "$1" ;;
    esac
}
# delivered PATH: succeeds if the file is as the bump leaves it: it has the new text, or the bump has removed it.
delivered() {
    case ${will[$1]} in
    *[!0]*) [ "${has[$1]:-}" = "${will[$1]}" ] ;;
    *) [ ! -e "$1" ] ;;
    esac
}

# Applies the changes of the pending commit to the tree.
deliver() {
    local path list=$WORK/changed
    local -A was=() will=() has=()
    mkdir -p "$WORK"
    read_changes
    read_tree
    for path in "${!was[@]}"; do
        ours "$path" || die 2 "$path was changed since the bump to $(pending_header) began: undo that and call make bump, \
or drop the bump with git update-ref -d $PENDING and git checkout"
    done
    printf '%s\0' "${!was[@]}" >"$list"
    # The two git commands use an index of their own, because a git command that was interrupted may have left a lock on the usual index.
    rm -f "$WORK/index" "$WORK/index.lock"
    GIT_INDEX_FILE=$WORK/index git read-tree "$PENDING^"
    GIT_INDEX_FILE=$WORK/index git --literal-pathspecs restore --source="$PENDING" --worktree --pathspec-from-file="$list" --pathspec-file-nul
    read_tree
    for path in "${!was[@]}"; do
        # Git only warns if it cannot remove a file, so the function checks the result.
        delivered "$path" || die 2 "$path could not be brought into the tree"
        path=./$path
        while [ ! -e "$path" ]; do path=${path%/*}; done
        printf '%s\0%s\0' "$path" "${path%/*}"
    done | sort --zero-terminated --unique | xargs -0 sync
    own_git update-ref -d "$PENDING"
}

# Makes the worktree of the bump. The worktree contains the files of the commit START, which includes uncommitted work of the tree.
make_worktree() {
    local folder
    drop_worktree
    START=$(snapshot "$ROOT" HEAD HEAD)
    own_git worktree add --quiet --detach "$TREE" "$START"
    mkdir -p "$TREE/registry/input"
    # The bump uses headers that were fetched before.
    for folder in registry/input/*/; do
        [ ! -d "$folder" ] || ln -s "$ROOT/${folder%/}" "$TREE/${folder%/}"
    done
}
drop_worktree() {
    rm -rf "$TREE" "$WORK"/registry-diff.*
    git worktree prune
}

# Replaces the pinned XML by the new XML.
fetch() {
    say "Fetching header $NEW"
    registry/fetch.sh "$NEW" || die 2 "header $NEW could not be fetched"
    local name
    for name in vk.xml video.xml; do
        [ -f "registry/input/$NEW/$name" ] || die 2 "header $NEW has no $name"
        cp "registry/input/$NEW/$name" "registry/input/$name"
    done
}

# Writes the report first, because the report contains the remedies if a later step fails.
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

# Writes the pin: header, checksums, and the counts of count.awk, which shares no code with the parser.
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

# Makes the header version the version of the crates, because the loader reports the header version from which it was generated.
write_version() {
    sed -i "/^\[workspace.package\]/,/^\[/s/^version = .*/version = \"$NEW\"/" Cargo.toml
    $CARGO update --quiet --offline --workspace
    # The workspace of the fuzz targets has other crates, which may not have been fetched yet.
    sed -i "s/^version = \"$OLD\"\$/version = \"$NEW\"/" tests/fuzz/Cargo.lock
}

# Prints a message if the bump ends early.
stopped() {
    if is_pending; then
        say "The bump was interrupted while its files were brought into the tree: make bump finishes it"
    else
        say "The header stays $OLD; nothing was changed. What there is to read: $WORK"
    fi
}

[[ $NEW =~ ^(latest)?$ || $NEW =~ ^1(\.(0|[1-9][0-9]*)){2}$ ]] ||
    die 3 "$NEW is no header: 1.4.N, without zeros before a number, or latest (make bump VERSION=1.4.N)"
[ -n "$NEW" ] || is_pending || die 3 "which header? make bump VERSION=1.4.N"
lock
OLD=$VERSION
trap '[ $? = 0 ] || stopped >&2' EXIT
if is_pending; then
    say "Finishing the bump to $(pending_header), which was interrupted"
    deliver
    OLD=$(pin header)
fi
[ -n "$NEW" ] || exit 0
[ "$NEW" != latest ] || NEW=$(latest)
[ -n "$NEW" ] || die 2 "pip lists no version of $(pin package); name one with VERSION=1.4.N"
[ "$NEW" != "$OLD" ] || { say "The header is $NEW already"; exit 0; }
check_tree

mkdir -p "$WORK"
build_vkgen
build_xtask
make_worktree
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
    xtask symbols
    xtask documents
    # The tests examine committed files, some in clones, so the worktree needs a commit.
    own_git update-ref --no-deref HEAD "$(snapshot "$TREE" "$START" "$START")"
    own_git reset --quiet
    say "Testing the header"
    # The worktree has its own target folder, so that its build does not replace the build of the tree.
    CARGO_TARGET_DIR=$WORK/target ${BUMP_TEST:-make --no-print-directory test} ||
        die 2 "the tests of the header failed: ${BUMP_TEST:-make test}, in $TREE"
)
# Saves the old and the new state of files that git ignores.
before=$(snapshot "$ROOT" "$START" HEAD "${BESIDE[@]}")
after=$(snapshot "$TREE" "$(git -C "$TREE" rev-parse HEAD)" "$before" "${BESIDE[@]}")
own_git update-ref "$PENDING" "$after"
deliver
drop_worktree
say "The header is $NEW. Read registry-diff.md or registry-diff.html, then commit:"
git status --short -- "${OUTPUTS[@]}" | sed -n '1,12p'

#!/usr/bin/env bash
# The source archive: what is committed, the crates of Cargo.lock beside it so that it builds without a network, and the list of
# what is inside. The same commit gives the same bytes, wherever and whenever it is packed.
. "$(dirname "$0")/common.sh"

NAME=vulkan-loader-rs-$VERSION
OUT=$TARGET/dist
[ -d .git ] || [ -f .git ] || die 2 "this is no git repository: the archive is made from a commit"
git diff --quiet HEAD || say "What is not committed will not be in the archive" >&2
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

mkdir -p "$OUT"
archive=$OUT/$NAME.tar.xz
# Packing takes a minute, which what is there for this commit saves.
made="$(git rev-parse HEAD) $SOURCE_DATE_EPOCH"
if [ "$(cat "$OUT/made" 2>/dev/null)" = "$made" ] && [ -f "$archive" ]; then
    say "$archive"
    exit
fi
scratch=$(mktemp -d "$OUT/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# As it is committed, whatever whoever packs it has git do to line ends and files.
git -c core.autocrlf=false -c core.eol=lf -c core.attributesFile=/dev/null archive --prefix="$NAME/" HEAD | tar -x -C "$scratch"
tree=$scratch/$NAME

# Everything in the lock file, as cargo takes no archive that lacks one of them, even one for another system.
(cd "$tree" && $CARGO vendor --quiet --locked --versioned-dirs vendor)
mkdir "$tree/.cargo"
cat >"$tree/.cargo/config.toml" <<'END'
# The crates are in vendor/: nothing is fetched.
[source.crates-io]
replace-with = "vendored"
[source.vendored]
directory = "vendor"
END
# An archive of sources holds sources: what some crates carry compiled, for other systems and for tests of their own, goes.
(cd "$tree/vendor" && python3 - <<'PYTHON'
import json, pathlib
for crate in sorted(pathlib.Path().iterdir()):
    sums = crate / ".cargo-checksum.json"
    known = json.loads(sums.read_text())
    for file in sorted(known["files"]):
        if file.endswith((".a", ".dll", ".exe", ".lib", ".o", ".so")):
            (crate / file).unlink()
            del known["files"][file]
            print(f"Left out: {crate}/{file}")
    sums.write_text(json.dumps(known, separators=(",", ":"), sort_keys=True))
PYTHON
)
(cd "$tree" && python3 make/contents.py "$SOURCE_DATE_EPOCH" >contents.spdx.json)

# What the packer's own environment says of tar and xz is not for this archive.
unset TAR_OPTIONS XZ_OPT XZ_DEFAULTS
# With more threads than one xz writes the same bytes for any number of them, but other ones than with one.
LC_ALL=C tar --create --directory "$scratch" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --mode=u+rw,go-w,a+rX "$NAME" | xz -6 --threads=2 >"$archive.new"
mv "$archive.new" "$archive"
cp "$tree/contents.spdx.json" "$OUT/$NAME.spdx.json"
say "$made" >"$OUT/made"
say "$archive"

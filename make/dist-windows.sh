#!/usr/bin/env bash
# Packs the files for Windows x86-64: the library with its symbols and import libraries, the licences, and a page that lists the parts that
# work.
. "$(dirname "$0")/common.sh"
. tests/windows/build.sh

need llvm-dlltool llvm
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"

NAME=vulkan-loader-rs-$VERSION-windows-x86_64
OUT=$TARGET/dist
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
mkdir -p "$OUT" "$WINDOWS"
scratch=$(mktemp -d "$OUT/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

build_library
for looked in exports imports; do
    python3 tests/windows/library.py "$looked" "$TRIPLE" "$DLL" || die 1 "the library is not as it should be"
done

tree=$scratch/$NAME
mkdir -p "$tree/lib"
cp "$DLL" "$WINDOWS/vulkan-1.pdb" LICENSE-APACHE LICENSE-MIT NOTICE packaging/windows/README.md "$tree"
# Microsoft's and GNU's linkers read the import libraries of llvm-dlltool. GNU's dlltool would write different bytes each time.
llvm-dlltool -m i386:x86-64 -D vulkan-1.dll -d generated/exports/windows.def -l "$tree/lib/vulkan-1.lib"
cp "$tree/lib/vulkan-1.lib" "$tree/lib/libvulkan-1.a"
python3 - "$scratch" "$OUT/$NAME.zip" <<'PYTHON'
import os, pathlib, sys, time, zipfile
folder, archive = pathlib.Path(sys.argv[1]), sys.argv[2]
date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(archive + ".new", "w") as out:
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), date)
        entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
        out.writestr(entry, file.read_bytes())
os.replace(archive + ".new", archive)
PYTHON
say "$OUT/$NAME.zip"

"""Checks the exports, imports, load commands and signature of a libvulkan.dylib.

python3 tests/targets/macos_library.py CHECK FILE

CHECK is one of CHECKS below. FILE is for one processor or for several. Prints the differences, and ends with status 1 if there are any.
"""

import hashlib
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "generated/exports/macos.txt"
ALLOWED = ROOT / "tests/targets/macos.txt"
NAME = "@rpath/libvulkan.1.dylib"
LIBRARIES = {
    "System": "/usr/lib/libSystem.B.dylib",
    "CoreFoundation": "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
}
# Oldest version of macOS that the compiler's targets support, by the number of the processor. The processors are x86-64 and arm64.
OLDEST = {0x0100_0007: (10, 12), 0x0100_000C: (11, 0)}
PROCESSORS = {0x0100_0007: "x86_64", 0x0100_000C: "arm64"}
FAT, SINGLE = 0xCAFE_BABE, 0xFEED_FACF
LIBRARY, TWO_LEVELS, NO_UNDEFINED = 6, 0x80, 0x1
# Kinds of load commands.
SYMBOLS, LOAD, OWN_NAME, SIGNATURE, VERSION_OLD, BUILD = 0x2, 0xC, 0xD, 0x1D, 0x24, 0x32
MACOS = 1
# Bits of symbols: the kind, the mark of external symbols, the kind of undefined symbols, and the mark of private symbols.
KIND, EXTERNAL, UNDEFINED, PRIVATE = 0x0E, 0x01, 0x0, 0x10
# Magic numbers of the whole signature and of its part about the code. AD_HOC is the flag of a signature without an identity, and SHA256 is
# the number of this type of hash.
WHOLE, CODE, AD_HOC, SHA256 = 0xFADE_0CC0, 0xFADE_0C02, 0x2, 2


def text(data, place):
    return data[place : data.index(b"\0", place)].decode()


class Image:
    """The part of a file for one processor."""

    def __init__(self, data):
        self.data = data
        magic, self.processor, _, self.kind, count, _, self.flags = struct.unpack_from("<7I", data)
        if magic != SINGLE:
            raise ValueError("not a library for macOS")
        self.commands, place = [], 32
        for _ in range(count):
            kind, size = struct.unpack_from("<2I", data, place)
            # Removes the highest bit, which only states that the system must know the load command.
            self.commands.append((kind & 0x7FFF_FFFF, place))
            place += size

    def all(self, kind):
        return [place for found, place in self.commands if found == kind]

    def number(self, place):
        return struct.unpack_from("<I", self.data, place)[0]

    def library(self, place):
        """Returns the name in a command about a library, the library's version, and its oldest compatible version."""
        offset, _, current, compatible = struct.unpack_from("<4I", self.data, place + 8)
        return text(self.data, place + offset), version(current), version(compatible)

    def symbols(self):
        """Yields the external symbols: pairs of the name and the number of the library that has the symbol. Symbols of the file itself
        have no number."""
        (place,) = self.all(SYMBOLS)
        table, count, strings, _ = struct.unpack_from("<4I", self.data, place + 8)
        for index in range(count):
            name, kind, _, description = struct.unpack_from("<IBBH", self.data, table + 16 * index)
            if kind & EXTERNAL and not kind & PRIVATE:
                yield text(self.data, strings + name), description >> 8 if kind & KIND == UNDEFINED else None


def version(number):
    return number >> 16, number >> 8 & 0xFF, number & 0xFF


def images(path):
    data = pathlib.Path(path).read_bytes()
    magic, count = struct.unpack_from(">2I", data)
    if magic != FAT:
        return [Image(data)]
    entries = [struct.unpack_from(">5I", data, 8 + 20 * index) for index in range(count)]
    return [Image(data[offset : offset + size]) for _, _, offset, size, _ in entries]


def exports(image):
    listed = {line for line in LIST.read_text().splitlines() if line.startswith("_")}
    found = {name for name, library in image.symbols() if library is None}
    for name in sorted(listed ^ found):
        yield f"{name} is {'not exported' if name in listed else 'exported, and not in the list'}"


def imports(image):
    rows = [line.split() for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    rows = [row for row in rows if PROCESSORS[image.processor] in row[2:] or not row[2:]]
    allowed = {(LIBRARIES[library], name) for library, name, *_ in rows}
    names = [image.library(place)[0] for place in image.all(LOAD)]
    found = {(names[library - 1], name) for name, library in image.symbols() if library is not None}
    for library, name in sorted(found - allowed):
        yield f"it takes {name} from {library}, which is not in {ALLOWED.relative_to(ROOT)}"
    for library, name in sorted(allowed - found):
        yield f"it does not take {name} from {library}: the row in {ALLOWED.relative_to(ROOT)} is stale"


def commands(image):
    if image.kind != LIBRARY or not image.flags & TWO_LEVELS or not image.flags & NO_UNDEFINED:
        yield f"it is of kind {image.kind}, with flags {image.flags:#x}"
    own = [image.library(place) for place in image.all(OWN_NAME)]
    major, minor = map(int, re.search(r'^version = "(\d+)\.(\d+)', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).groups())
    if own != [(NAME, (major, minor, 0), (1, 0, 0))]:
        yield f"its name and versions are {own}"
    libraries = sorted(image.library(place)[0] for place in image.all(LOAD))
    if libraries != sorted(LIBRARIES.values()):
        yield f"it needs {libraries}"
    built = [(image.number(place + 8), version(image.number(place + 12))[:2]) for place in image.all(BUILD)]
    built += [(MACOS, version(image.number(place + 8))[:2]) for place in image.all(VERSION_OLD)]
    if built != [(MACOS, OLDEST[image.processor])]:
        yield f"it is for the systems {built}"


def signature(image):
    places = image.all(SIGNATURE)
    if len(places) != 1:
        return (yield f"it has {len(places)} signatures")
    offset, size = struct.unpack_from("<2I", image.data, places[0] + 8)
    magic, _, count = struct.unpack_from(">3I", image.data, offset)
    parts = [struct.unpack_from(">2I", image.data, offset + 12 + 8 * index)[1] for index in range(count)]
    codes = [offset + part for part in parts if struct.unpack_from(">I", image.data, offset + part)[0] == CODE]
    if magic != WHOLE or len(codes) != 1 or offset + size > len(image.data):
        return (yield f"the signature has the magic number {magic:#x} and {len(codes)} parts about the code")
    code = codes[0]
    flags, hashes, _, _, slots, limit = struct.unpack_from(">6I", image.data, code + 12)
    hash_size, hash_kind, _, page = struct.unpack_from("4B", image.data, code + 36)
    if not flags & AD_HOC or hash_kind != SHA256 or limit != offset:
        yield f"the signature has the flags {flags:#x} and hashes of kind {hash_kind}, and ends at {limit} of {offset}"
    pages = [image.data[start : min(start + (1 << page), limit)] for start in range(0, limit, 1 << page)]
    wrong = [
        index
        for index, content in enumerate(pages)
        if hashlib.sha256(content).digest() != image.data[code + hashes + hash_size * index :][:hash_size]
    ]
    if len(pages) != slots or wrong:
        yield f"{len(wrong)} of {len(pages)} pages differ from their {slots} hashes"
    print(f"figure {len(pages)} pages are as signed")


CHECKS = {"exports": exports, "imports": imports, "commands": commands, "signature": signature}


def main():
    check, file = sys.argv[1:]
    wrong = [line for image in images(file) for line in CHECKS[check](image)]
    print("\n".join(wrong[:40]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

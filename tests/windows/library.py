"""Checks the file of a vulkan-1.dll: its exports, its imports, and its information for Windows and debuggers.

python3 tests/windows/library.py CHECK TRIPLE FILE

CHECK is one of CHECKS below, and TRIPLE is the target that FILE was built for. Prints the differences, and ends with status 1 if there are
any.
"""

import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "generated/exports/windows.def"
ALLOWED = ROOT / "tests/windows/imports.txt"
PAGE = ROOT / "docs/platforms.md"
NAME = "vulkan-1.dll"
# Versions of Windows, from the oldest to the newest.
VERSIONS = ("XP", "Vista", "7", "8", "8.1", "10", "11")
# Indices of tables in the header.
EXPORTS, IMPORTS, RESOURCES, DEBUG, LOAD_CONFIG, DELAYED_IMPORTS = 0, 1, 2, 6, 10, 13
# Flags in the header of a library.
HIGH_ENTROPY, DYNAMIC_BASE, NO_EXECUTION_OF_DATA, GUARD = 0x20, 0x40, 0x100, 0x4000
# Flags of the load configuration: the code checks calls, and the file contains a table of functions and a table of continuations.
INSTRUMENTED, FUNCTIONS, CONTINUATIONS = 0x100, 0x400, 0x40_0000
# Types of entries in the debug directory. The entry with the extended DLL characteristics has a bit for shadow stacks (CET).
CODE_VIEW, EXTENDED = 2, 20
SHADOW_STACK = 1
VERSION_RESOURCE = 16
# First instruction of each stub in machine code (endbr64, endbr32, bti c), and the distance in bytes between possible addresses of a stub.
LANDINGS = {"x86_64": (b"\xf3\x0f\x1e\xfa", 16), "i686": (b"\xf3\x0f\x1e\xfb", 16), "aarch64": (b"\x5f\x24\x03\xd5", 16)}
# Maximum number of stubs to which no pointer refers.
UNLISTED = 1


class Image:
    """A file in the form in which Windows loads it. Addresses are relative to the address at which Windows loads the file."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        header = self.number(0x3C, 4)
        if self.bytes[header : header + 4] != b"PE\0\0":
            raise ValueError(f"{path} is not a library for Windows")
        sections, size = self.number(header + 6, 2), self.number(header + 20, 2)
        optional = header + 24
        self.word = 8 if self.number(optional, 2) == 0x20B else 4
        self.base = self.number(optional + (24 if self.word == 8 else 28), self.word)
        self.characteristics = self.number(optional + 70, 2)
        tables = optional + (112 if self.word == 8 else 96)
        self.tables = [struct.unpack_from("<II", self.bytes, tables + 8 * index) for index in range(16)]
        self.sections = []
        for index in range(sections):
            virtual, address, raw, place = struct.unpack_from("<IIII", self.bytes, optional + size + 40 * index + 8)
            flags = self.number(optional + size + 40 * index + 36, 4)
            self.sections.append((address, max(virtual, raw), raw, place, flags))

    def number(self, place, size):
        return int.from_bytes(self.bytes[place : place + size], "little")

    def place(self, address):
        for start, size, _, place, _ in self.sections:
            if start <= address < start + size:
                return place + address - start
        raise ValueError(f"nothing lies at {address:#x}")

    def at(self, address, size=4):
        return self.number(self.place(address), size)

    def text(self, address):
        place = self.place(address)
        return self.bytes[place : self.bytes.index(b"\0", place)].decode()

    def exports(self):
        """Returns the name of the library, and the address of each exported function by its name."""
        table = self.tables[EXPORTS][0]
        count, functions, names, numbers = (self.at(table + offset) for offset in (24, 28, 32, 36))
        found = {}
        for index in range(count):
            found[self.text(self.at(names + 4 * index))] = self.at(functions + 4 * self.at(numbers + 2 * index, 2))
        return self.text(self.at(table + 12)), found

    def imports(self):
        """Returns the functions that the system looks up when it loads the library, as pairs of a library and a name."""
        table = self.tables[IMPORTS][0]
        while table and self.at(table + 12):
            library = self.text(self.at(table + 12)).lower()
            entry = self.at(table) or self.at(table + 16)
            while value := self.at(entry, self.word):
                is_number = value >> (8 * self.word - 1)
                yield library, f"#{value & 0xFFFF}" if is_number else self.text((value & 0x7FFF_FFFF) + 2)
                entry += self.word
            table += 20

    def guard(self):
        """Returns the flags of the load configuration, and the addresses that may be called through pointers."""
        table = self.tables[LOAD_CONFIG][0]
        if not table:
            return 0, set()
        first = 0x70 if self.word == 8 else 0x48
        functions, count = (self.at(table + first + index * self.word, self.word) for index in (2, 3))
        flags = self.at(table + first + 4 * self.word)
        stride = 4 + (flags >> 28)
        return flags, {self.at(functions - self.base + stride * index) for index in range(count)} if functions else set()

    def debug(self):
        """Returns the contents of the entries for debuggers, by their kinds."""
        table, size = self.tables[DEBUG]
        found = {}
        for entry in range(table, table + size, 28):
            kind, length, _, place = (self.at(entry + offset) for offset in (12, 16, 20, 24))
            found[kind] = self.bytes[place : place + length]
        return found

    def resources(self):
        """Returns the numbers of the kinds of resources."""
        table = self.tables[RESOURCES][0]
        if not table:
            return []
        count = self.at(table + 12, 2) + self.at(table + 14, 2)
        return [self.at(table + 16 + 8 * index) for index in range(count)]

    def code(self):
        """Yields the sections with machine code: the address and the bytes of each section."""
        for start, _, raw, place, flags in self.sections:
            if flags & 0x20:
                yield start, self.bytes[place : place + raw]


def exports(image, _):
    listed = {line.split()[0] for line in LIST.read_text().split("EXPORTS", 1)[1].splitlines() if line.strip()}
    name, found = image.exports()
    if name.lower() != NAME:
        yield f"its own name is {name}, not {NAME}"
    for function in sorted(listed ^ found.keys()):
        yield f"{function} is {'not exported' if function in listed else 'exported, and not in the list'}"


def imports(image, triple):
    lines = [line.split() for line in ALLOWED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    (_, lowest), *rows = lines
    rows = [row for row in rows if all(word in triple for word in row[3:])]
    allowed = {(library, function): since for since, library, function, *_ in rows}
    found = set(image.imports())
    for library, function in sorted(found - allowed.keys()):
        yield f"it takes {function} from {library}, which is not in {ALLOWED.relative_to(ROOT)}"
    for library, function in sorted(allowed.keys() - found):
        yield f"it does not take {function} from {library}: the row in {ALLOWED.relative_to(ROOT)} is stale"
    for (library, function), since in allowed.items():
        if VERSIONS.index(since) > VERSIONS.index(lowest):
            yield f"{function} of {library} needs Windows {since}, and {lowest} is to be enough"
    if image.tables[DELAYED_IMPORTS][0]:
        yield "it looks functions up on first use, which this does not check"
    if f"**Windows {lowest}** or newer" not in PAGE.read_text():
        yield f"{PAGE.relative_to(ROOT)} does not say that Windows {lowest} is enough"


def guard(image, triple):
    flags, targets = image.guard()
    if not image.characteristics & GUARD:
        yield "it does not say that it is guarded"
    wanted = [(INSTRUMENTED, "calls are checked"), (FUNCTIONS, "functions are listed")]
    # Libraries of 32 bits have no table of continuations.
    wanted += [(CONTINUATIONS, "continuations are listed")] if image.word == 8 else []
    for flag, what in wanted:
        if not flags & flag:
            yield f"it does not say that {what}: flags {flags:#x}"
    for name, address in image.exports()[1].items():
        if address not in targets:
            yield f"{name} is exported and may not be called through a pointer"
    landing, step = LANDINGS[triple.split("-")[0]]
    stubs = [
        start + match.start()
        for start, code in image.code()
        for match in re.finditer(re.escape(landing), code)
        if match.start() % step == 0
    ]
    unlisted = [stub for stub in stubs if stub not in targets]
    print(f"figure {len(targets)} functions may be called through pointers; {len(stubs) - len(unlisted)} of them are stubs")
    if len(unlisted) > UNLISTED or len(stubs) < 1000:
        yield f"{len(unlisted)} of {len(stubs)} stubs may not be called through a pointer"


def words(image, triple):
    wanted = DYNAMIC_BASE | NO_EXECUTION_OF_DATA | (HIGH_ENTROPY if image.word == 8 else 0)
    if image.characteristics & wanted != wanted:
        yield f"characteristics {image.characteristics:#x} lack some of {wanted:#x}"
    if VERSION_RESOURCE not in image.resources():
        yield "it has no version resource"
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    key, value = (f"{text}\0".encode("utf-16-le") for text in ("FileVersion", f"{version}.0"))
    # The value begins at a multiple of four bytes, so two bytes of padding can be between the key and the value.
    if not re.search(re.escape(key) + rb"(?:\0\0)?" + re.escape(value), image.bytes):
        yield f"its version resource does not say {version}.0"
    debug = image.debug()
    symbols = debug.get(CODE_VIEW, b"")[24:].rstrip(b"\0").decode()
    if symbols != "vulkan-1.pdb":
        yield f"its symbols are in '{symbols}'"
    if triple.startswith("x86_64") and not int.from_bytes(debug.get(EXTENDED, b"\0")[:4], "little") & SHADOW_STACK:
        yield "it does not say that it works with shadow stacks"


CHECKS = {"exports": exports, "imports": imports, "guard": guard, "words": words}


def main():
    check, triple, file = sys.argv[1:]
    wrong = list(CHECKS[check](Image(file), triple))
    print("\n".join(wrong[:40]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

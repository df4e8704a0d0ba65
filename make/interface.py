"""The binary interface of a built library: `interface.py LIBRARY`. `interface.py --symbols` adds what a header brought to the list of
released names, with that header as the version from which on programs may ask for it.

Its exported names are those of generated/exports and of the last release, without versions of their own, and it needs no newer libc
than docs/packaging.md says.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The oldest glibc that has all that is needed. By another compiler or linker it can be a lower one, and never a higher one.
GLIBC = (2, 34)
EXPORTS = "generated/exports/linux.txt"
# Programs that were built with the library depend on it by this list, in Debian.
RELEASED = "packaging/debian/libvulkan1-rs.symbols"


def objdump(flag, library):
    return subprocess.run(["objdump", flag, library], capture_output=True, text=True, check=True).stdout


def symbols(library):
    """Of each dynamic symbol whether it is defined here, its version and its name."""
    for line in objdump("-T", library).splitlines():
        found = re.match(r"[0-9a-f]{8,} (.{7}) (\S+)\s+[0-9a-f]{8,}\s+(?:\(?([A-Za-z]\S*?)\)?\s+)?(\S+)$", line)
        if found:
            yield found[2] != "*UND*", found[3], found[4]


def asked_of_libc(library):
    """The versions that the dynamic linker looks for in the C library, with or without a symbol that has them."""
    return set(re.findall(r"^\s+0x[0-9a-f]+ 0x[0-9a-f]+ \d+ (GLIBC_\S+)$", objdump("-p", library), re.MULTILINE))


def number(version):
    """What can be compared; a version without a number is that of something newer than all that are known."""
    numbers = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version)
    return tuple(map(int, numbers[1].split("."))) if numbers else (9999,)


def names(file, pattern):
    return set(re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE))


def judge(library):
    """For each promise what it is, and what breaks it."""
    table = list(symbols(library))
    exported = {name for defined, _, name in table if defined}
    listed = names(EXPORTS, r"^(vk\w+)$")
    released = names(RELEASED, r"^ (vk\w+)@Base")
    yield f"no name of {EXPORTS} is missing", listed - exported
    yield f"{len(exported)} exported names, each in {EXPORTS}", exported - listed
    yield f"all {len(released)} names of {RELEASED}", released - exported
    yield "no name that it lacks", exported - released
    yield "no name has a version", {f"{name}@{version}" for defined, version, name in table if defined and version not in (None, "Base")}
    asked = asked_of_libc(library)
    highest = max(map(number, asked), default=(0,))
    users = {version: [name for defined, other, name in table if not defined and other == version] for version in asked}
    yield (
        f"glibc {'.'.join(map(str, highest))} is the oldest that will do, and {'.'.join(map(str, GLIBC))} is promised: "
        + ", ".join(sorted(name for version in asked if number(version) == highest for name in users[version])),
        {f"{name}@{version}" for version in asked if number(version) > GLIBC for name in users[version] or ["no symbol"]},
    )


def add_symbols():
    header = re.search(r'^header = "(.*)"$', (ROOT / "registry/pin.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    file = ROOT / RELEASED
    lines = file.read_text(encoding="utf-8").splitlines()
    new = names(EXPORTS, r"^(vk\w+)$") - names(RELEASED, r"^ (vk\w+)@Base")
    # What is gone stays in the list: programs may ask for it.
    symbols = sorted([line for line in lines if line.startswith(" ")] + [f" {name}@Base {header}" for name in new])
    file.write_text("\n".join([line for line in lines if not line.startswith(" ")] + symbols) + "\n", encoding="utf-8")


def main():
    if sys.argv[1:] == ["--symbols"]:
        add_symbols()
        return
    if len(sys.argv) != 2:
        sys.exit("interface.py LIBRARY | --symbols")
    failed = False
    for promise, wrong in judge(sys.argv[1]):
        failed |= bool(wrong)
        print(f"  {'FAIL ' if wrong else 'ok   '} interface: {promise}" + (f"; but {', '.join(sorted(wrong))}" if wrong else ""))
    sys.exit(failed)


if __name__ == "__main__":
    main()

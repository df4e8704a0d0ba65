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


def symbols(library):
    """Of each dynamic symbol whether it is defined here, its version and its name."""
    table = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        found = re.match(r"[0-9a-f]{8,} (.{7}) (\S+)\s+[0-9a-f]{8,}\s+(?:\(?([A-Za-z]\S*?)\)?\s+)?(\S+)$", line)
        if found:
            yield found[2] != "*UND*", found[3], found[4]


def names(file, pattern):
    return set(re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE))


def judge(library):
    """A line for each promise: whether it is kept, and what it is."""
    table = list(symbols(library))
    exported = {name for defined, _, name in table if defined}
    wanted = names(EXPORTS, r"^(vk\w+)$")
    yield exported == wanted, f"{len(exported)} exported names, those of generated/exports", exported ^ wanted
    released = names(RELEASED, r"^ (vk\w+)@Base")
    yield released <= exported, f"all {len(released)} of {RELEASED}", released - exported
    yield exported <= released, "none that it lacks", exported - released
    versioned = {name for defined, version, name in table if defined and version not in (None, "Base")}
    yield not versioned, "none has a version", versioned
    needed = {}
    for defined, version, name in table:
        numbers = re.fullmatch(r"GLIBC_([\d.]+)", version or "")
        if not defined and numbers:
            needed.setdefault(tuple(map(int, numbers[1].split("."))), set()).add(name)
    highest = max(needed, default=(0,))
    text = ".".join(map(str, highest))
    yield highest <= GLIBC, f"glibc {text} is the oldest that will do, for {', '.join(sorted(needed.get(highest, ())))}", text


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
    for kept, text, wrong in judge(sys.argv[1]):
        failed |= not kept
        print(f"  {'ok   ' if kept else 'FAIL '} interface: {text}" + ("" if kept else f"; {wrong}"))
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""Tests of the data in the library file that the dynamic linker uses (APP-1 to APP-4, GEN-53)."""

import re
from collections import Counter

from cases import ROOT, expect, run, setting, tool

LIST = ROOT / "generated/exports/linux.txt"
# GEN-53: number of exported commands: the commands of core Vulkan, and of the window systems of Linux.
EXPORTS = 269
# Libraries that the library under test may need.
NEEDED = {"libc.so.6"}
LINKER = re.compile(r"ld-linux.*\.so\.\d+")


def names():
    """Returns the names in the committed list."""
    return [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def symbols():
    """Returns the dynamic symbols that the library defines: name, kind, address."""
    lines = run([tool("nm"), "-D", "--defined-only", setting("VKL_LIBRARY")], 30).splitlines()
    return [(name, kind, int(address, 16)) for address, kind, name in (line.split() for line in lines)]


def dynamic(tag):
    """Returns the values of a tag in the dynamic section."""
    text = run([tool("readelf"), "-d", "-W", setting("VKL_LIBRARY")], 30)
    return re.findall(rf"\({tag}\).*\[(.*)\]", text)


def the_list():
    """The committed list has as many names as GEN-53 requires, without duplicates."""
    expect(len(names()) == EXPORTS, f"{LIST.name} has {len(names())} names")
    expect(len(set(names())) == EXPORTS, "a name is listed twice")


def exports():
    """Every listed name is exported as a plain function, and no other name is exported."""
    found = {name: kind for name, kind, _ in symbols()}
    surplus, absent = set(found) - set(names()), set(names()) - set(found)
    expect(not surplus and not absent, f"surplus: {sorted(surplus)}, absent: {sorted(absent)}")
    odd = [f"{name} is of kind {kind}" for name, kind in found.items() if kind != "T"]
    expect(not odd, ", ".join(odd))


def addresses():
    """No two exported functions share an address: folding equal code would break programs (APP-25a)."""
    shared = [address for address, count in Counter(address for _, _, address in symbols()).items() if count > 1]
    clashes = [name for name, _, address in symbols() if address in shared]
    expect(not clashes, f"same address: {clashes}")


def soname():
    """The library has the name by which programs open it."""
    expect(dynamic("SONAME") == ["libvulkan.so.1"], f"SONAME {dynamic('SONAME')}")


def needed():
    """The library needs only the C library."""
    surplus = [name for name in dynamic("NEEDED") if name not in NEEDED and not LINKER.fullmatch(name)]
    expect(not surplus, f"needs {surplus}")


def undefined():
    """Each undefined symbol belongs to the C library and has a version. Lazy binding would hide any other undefined symbol."""
    lines = run([tool("nm"), "-D", "--undefined-only", setting("VKL_LIBRARY")], 30).splitlines()
    homeless = [name for kind, name in (line.split() for line in lines) if kind == "U" and "@" not in name]
    expect(not homeless, f"no library that it is linked with defines {homeless}")


def hardened():
    """The stack is not executable, and the code has no relocations. A single assembly file without a note about the stack would make the
    stack executable."""
    segments = run([tool("readelf"), "-l", "-W", setting("VKL_LIBRARY")], 30)
    stack = re.search(r"GNU_STACK.*", segments)
    expect(stack and "RWE" not in stack[0], f"stack: {stack and stack[0]}")
    expect("GNU_RELRO" in segments, "no read-only relocations")
    tags = run([tool("readelf"), "-d", "-W", setting("VKL_LIBRARY")], 30)
    expect("TEXTREL" not in tags, "relocations in code")


def frames():
    """An entry of the unwind table covers the first instruction of every exported function, so that debuggers and profilers find the
    caller from the first instruction."""
    text = run([tool("readelf"), "--debug-dump=frames", setting("VKL_LIBRARY")], 30)
    ranges = [(int(begin, 16), int(end, 16)) for begin, end in re.findall(r"FDE.*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)]
    bare = [name for name, _, at in symbols() if not any(begin <= at < end for begin, end in ranges)]
    expect(not bare, f"without an entry: {bare}")


CASES = [
    ("the list of exports", the_list),
    ("exports are the list and nothing else", exports),
    ("exports have addresses of their own", addresses),
    ("SONAME", soname),
    ("needed libraries", needed),
    ("what it takes from elsewhere", undefined),
    ("stack and relocations", hardened),
    ("frames of exported functions", frames),
]

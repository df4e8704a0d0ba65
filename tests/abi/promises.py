"""Tests of `xtask interface`, which checks exported names, symbol versions, and the required version of the C library.

Each test builds a library that breaks one of these promises, and the check must report the broken promise.
"""

import subprocess

from cases import HANG, ROOT, Skip, expect, program, run, scratch, tool
from library import names

# Source of a library that needs the C library, and has an address that the dynamic linker must fill in.
RELOCATED = """
int puts(const char *text);
static void *hidden(void) { puts(""); return hidden; }
__attribute__((visibility("hidden"))) void *(*relocated)(void) = hidden;
"""


def judged(status, *arguments, without=None, code="", versions=None):
    """Returns the messages about a library whose functions do nothing, with the changes of the case."""
    folder = scratch("interface")
    library, source = folder / "libvulkan.so", folder / "library.c"
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in names() if name != without) + code)
    if versions:
        (folder / "versions").write_text(versions)
        arguments = (*arguments, f"-Wl,--version-script={folder / 'versions'}")
    built = [tool("cc"), "-shared", "-fPIC", "-w", *arguments, "-o", library, source]
    if subprocess.run(built, capture_output=True, timeout=HANG).returncode:
        raise Skip("this compiler cannot build such a library")
    return run([*program("xtask"), "interface", library], HANG, status=status, cwd=ROOT)


def kept():
    output = judged(0)
    expect("FAIL" not in output and f"{len(names())} exported names" in output, output)


def refused(*words, **changes):
    """Returns a case: the check ends with status 1, and its error lines contain these words."""

    def case():
        output = judged(1, *changes.pop("arguments", ()), **changes)
        failures = [line for line in output.splitlines() if line.startswith("  FAIL  interface: ")]
        for word in words:
            expect(any(word in line for line in failures), f"no failure says {word!r}:\n{output}")

    return case


CASES = [
    ("a library that keeps them", kept),
    ("a name that is gone", refused("missing; but vkCmdDraw", "libvulkan1-rs.symbols; but vkCmdDraw", without="vkCmdDraw")),
    ("a name that nobody knows", refused("linux.txt; but vkJuggle", "lacks; but vkJuggle", code="void vkJuggle(void) {}\n")),
    ("a name with a version", refused("vkCmdDraw@OURS", versions="OURS { vkCmdDraw; };\n")),
    (
        "a function that only newer C libraries have",
        refused("but arc4random@GLIBC_2.36", code="unsigned arc4random(void);\nunsigned vkJuggle(void) { return arc4random(); }\n"),
    ),
    (
        "relocations that only newer C libraries know",
        refused("but no symbol@GLIBC_ABI_DT_RELR", arguments=["-Wl,-z,pack-relative-relocs"], code=RELOCATED),
    ),
]

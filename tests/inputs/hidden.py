"""Tests that the Vulkan files and variables of this machine are hidden from test programs (tests/apart.py)."""

import os

import apart
from cases import HANG, ROOT, Skip, expect, run, scratch


def empty():
    """A program finds no file in a filled folder, and an empty folder needs no mount namespace."""
    filled, empty = scratch("filled"), scratch("empty")
    (filled / "implicit_layer.d").mkdir()
    (filled / "implicit_layer.d/other.json").write_text("")
    words = apart.words((str(filled), str(empty), "/none/such"))
    if not words:
        raise Skip("this system permits no mount namespace")
    expect(str(filled) in words and str(empty) not in words, words)
    output = run([*words, "find", filled, "-mindepth", "1"], HANG)
    expect(output == "", output)
    expect(run([*words, "id", "-u"], HANG) == run(["id", "-u"], HANG), "the program has another user")
    expect((filled / "implicit_layer.d/other.json").exists(), "the file is gone for others")
    expect(apart.words((str(empty), "/none/such")) == [], "words without a reason")


def unset():
    """A program inherits no variable about Vulkan or the desktop, and inherits all others."""
    os.environ.update(VK_LOADER_DRIVERS_DISABLE="*", XDG_DATA_DIRS="/none/such", VKL_OTHER="1")
    left = apart.variables()
    expect("VK_LOADER_DRIVERS_DISABLE" not in left and "XDG_DATA_DIRS" not in left, left)
    expect(left["VKL_OTHER"] == "1" and left["PATH"] == os.environ["PATH"], left)
    for name in ("VK_LOADER_DRIVERS_DISABLE", "XDG_DATA_DIRS", "VKL_OTHER"):
        del os.environ[name]


def plain():
    """A long path of the folder for temporary files is replaced, and a usual path stays."""
    long = scratch("a long name " + "x" * 40)
    words = ["bash", "-c", '. make/common.sh; plain_temporary_folder; printf %s "$TMPDIR"']
    for folder, expected in ((long, "/tmp"), ("/var/tmp", "/var/tmp")):
        output = run(words, HANG, env={**os.environ, "TMPDIR": str(folder)}, cwd=ROOT)
        expect(output == expected, output)


CASES = [("the files of this machine are hidden", empty), ("the variables of this machine are hidden", unset), ("a long TMPDIR", plain)]

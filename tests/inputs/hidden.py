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


def git():
    """The stages of `make test` do not use the configuration of git of this user, or the variables of a hook."""
    folder = scratch("git")
    (folder / "config").write_text("[commit]\n\tgpgSign = true\n")
    (folder / "cargo").write_text("#!/bin/sh\ngit config --list --show-origin\nenv\n")
    (folder / "cargo").chmod(0o755)
    own = {"GIT_CONFIG_GLOBAL": folder / "config", "GIT_INDEX_FILE": folder / "index", "CARGO": folder / "cargo"}
    variables = {**os.environ, **{name: str(value) for name, value in own.items()}, "CARGO_TARGET_DIR": str(folder)}
    output = run([ROOT / "make/test.sh", "format"], HANG, env=variables, cwd=ROOT)
    expect("gpgsign" not in output and "GIT_INDEX_FILE" not in output and "safe.directory=" in output, output)


CASES = [
    ("the files of this machine are hidden", empty),
    ("the variables of this machine are hidden", unset),
    ("a long TMPDIR", plain),
    ("the configuration of git is not that of the user", git),
]

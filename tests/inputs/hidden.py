"""Tests that the Vulkan files of this machine are hidden from test programs (tests/apart.py)."""

import apart
from cases import HANG, Skip, expect, run, scratch


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


CASES = [("the files of this machine are hidden", empty)]

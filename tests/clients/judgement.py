"""Tests the comparison itself, with runs that it must reject."""

import re

import compare
import loader
from cases import Failure, expect
from client import Client, Run

INFO = ["vulkaninfo", "--summary"]


def refused(client, library, text):
    """Fails if the check accepts a run of this client. The check must reject the run because of its loader, with a message that contains
    the text."""
    run = Run(client, library)
    expect(not run.fault(), run.fault())
    try:
        run.check_loader()
    except Failure as failure:
        expect(re.search(text, str(failure)), str(failure))
        return
    raise Failure("the run was taken for one of the library under test")


def no_loader():
    """The check rejects a program without Vulkan."""
    refused(Client("none", [], ["true"], ""), loader.ours(), "never loaded")


def another_loader():
    """The check rejects a program that uses the Khronos loader instead of the library."""
    away = Client("peer", [], ["env", "-u", "LD_LIBRARY_PATH", *INFO], "", proof="llvmpipe")
    refused(away, loader.ours(), "not by")


def difference():
    """The check rejects a line that only one of two outputs contains."""
    try:
        compare.compare_text("a\nb\n", "a\nc\n", [])
    except Failure:
        pass
    else:
        raise Failure("other lines count as the same")


def pixel():
    """A single pixel with a different colour is within the tolerance."""
    ours, theirs = bytes(300), bytes(296) + b"\0\0\t\0"
    compare.compare_pixels("", ours, theirs, 4, (0.02, 0))
    compare.compare_pixels("", ours, theirs, 4, (0, 9))
    try:
        compare.compare_pixels("", ours, theirs, 4, (0, 8))
    except Failure:
        pass
    else:
        raise Failure("other pixels count as the same")


CASES = [
    ("a program without Vulkan does not pass", no_loader),
    ("a program on another loader does not pass", another_loader),
    ("another line is seen", difference),
    ("another pixel is seen", pixel),
]

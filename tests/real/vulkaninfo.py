"""Tests that the output of vulkaninfo is the same with the library and with the installed loader of the system, except for listed lines."""

import difflib
import re
from pathlib import Path

import loader
from cases import HANG, ROOT, Failure, expect, run, scratch, tool
from display import Display

LIST = Path(__file__).with_name("vulkaninfo_differences.txt")


class Allowed:
    """Row of the list: a permitted difference, and its reason."""

    def __init__(self, number, line):
        try:
            self.sign, pattern, self.reason = re.split(r"\s{2,}", line.strip(), maxsplit=2)
        except ValueError:
            raise Failure(f"{LIST.relative_to(ROOT)}:{number}: sign, pattern and reason, two spaces apart") from None
        self.place = f"{LIST.relative_to(ROOT)}:{number}"
        self.pattern = re.compile(pattern)
        self.used = False

    def matches(self, sign, line):
        """Returns True if the row permits this difference."""
        return self.sign == sign and self.pattern.fullmatch(line.strip()) is not None


def read_list():
    """Returns the rows of the list."""
    lines = enumerate(LIST.read_text().splitlines(), 1)
    return [Allowed(number, line) for number, line in lines if line.strip() and not line.startswith("#")]


ALLOWED = []


def differences(before, after):
    """Returns the lines that only one of two texts has at their place: `-` for the first, `+` for the second."""
    # The heuristic of difflib would ignore frequent lines, for example blank lines, so the test disables it.
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, first_end, second, second_end in matcher.get_opcodes():
        if kind != "equal":
            yield from (("-", line) for line in before[first:first_end])
            yield from (("+", line) for line in after[second:second_end])


def compare(library_text, peer_text):
    """Fails on the first lines that differ and are not in the list."""
    if not ALLOWED:
        ALLOWED.extend(read_list())
    surprising = []
    for sign, line in differences(peer_text.splitlines(), library_text.splitlines()):
        rows = [row for row in ALLOWED if row.matches(sign, line)]
        for row in rows:
            row.used = True
        if not rows:
            surprising.append(sign + line)
    expect(not surprising, f"{len(surprising)} lines differ that are not listed:\n" + "\n".join(surprising[:40]))


def outputs(*arguments, **variables):
    """Returns the output of vulkaninfo with the library and with the other loader, on a display for its windows."""
    texts = []
    with Display() as display:
        for library in (loader.ours(), loader.peer()):
            folder = scratch("vulkaninfo")
            environment = loader.environment(library, **display.variables, **variables)
            # XDG_RUNTIME_DIR has the same value in each run, because vulkaninfo prints it in messages about Wayland.
            environment["XDG_RUNTIME_DIR"] = str(display.file.parent)
            text = run([tool("vulkaninfo"), *arguments], HANG, env=environment, cwd=folder)
            files = sorted(folder.iterdir())
            texts.append(text + "".join(f"{file.name}\n{file.read_text()}" for file in files))
    return texts


def text():
    """The whole text is the same, including formats."""
    ours, theirs = outputs("--show-formats")
    expect("llvmpipe" in ours and len(ours.splitlines()) > 1000, ours[-2000:])
    compare(ours, theirs)


def text_with_layer():
    """The whole text is the same with the validation layer."""
    compare(*outputs(VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation"))


def summary():
    """The summary is the same."""
    compare(*outputs("--summary"))


def json():
    """The profile that `--json` writes is the same."""
    ours, theirs = outputs("--json")
    expect('"capabilities"' in ours, ours[-2000:])
    compare(ours, theirs)


def list_is_alive():
    """An earlier case used every row of the list. A difference that no longer exists must be removed from the list."""
    dead = [f"{row.place}: never needed" for row in ALLOWED if not row.used]
    expect(not dead, "\n".join(dead))


CASES = [
    ("text, with formats", text),
    ("text, with the validation layer", text_with_layer),
    ("summary", summary),
    ("--json", json),
]

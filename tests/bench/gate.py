"""Compares the instruction counts of some cases, and the size of the library, with the committed limits. The argument `refresh` writes new
limits.

The counts depend on the compiler and on libc. If the compiler or the libc is different from the compiler or libc of the limits, the script
compares no counts.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import catalogue  # noqa: E402
import tools  # noqa: E402
from campaign import COUNTED_REPEAT, OURS, Results, instructions  # noqa: E402
from catalogue import INSTRUCTIONS  # noqa: E402
from scene import Stage  # noqa: E402

LIMITS = Path(__file__).resolve().parent / "limits.txt"
# Permitted increase above a limit, as a fraction of the limit. The contents of paths and the addresses of objects change a count slightly.
MARGIN = 0.03
# Title of the limit that is not a count of instructions.
SIZE = "size of the library without symbols, in bytes"
HEAD = """\
# Instructions of the loader and of its calls to libc, counted by callgrind. `make test` fails if a count rises by more than 3 %.
# The last line has the size of the library, which includes all optional parts.
# `make bench-limits` writes this file. Commit the file with the change that moved a count, and give the reason in the message.
"""


def conditions():
    """Returns the conditions that affect the counts besides the code."""
    return {"rustc": tools.version_of("rustc"), "libc": tools.libc_version()}


def measure():
    """Returns each case's title with its instructions for one operation."""
    programs = Path(os.environ["VKL_BENCH_PROGRAMS"])
    scratch = cases.scratch("gate")
    names = scratch / "names"
    names.write_text("".join(tools.command_names(cases.ROOT / "registry/snapshot/commands.txt")))
    bench = tools.Bench(Stage(scratch, programs), programs, names)
    rows, results = catalogue.gate_rows(), Results()
    bench.stage.prepare({row.visit.scene for row in rows})
    for visit in dict.fromkeys(row.visit for row in rows):
        for label, pairs in bench.instructions(cases.setting("VKL_LIBRARY"), visit, COUNTED_REPEAT).items():
            numbers = [(instructions(cost, label), operations) for cost, operations in pairs]
            results.add(OURS, visit, INSTRUCTIONS, label, numbers)
    counts = {row.title: results.figure(OURS, row, INSTRUCTIONS) for row in rows}
    return {**counts, SIZE: size(scratch / "stripped")}


def size(copy):
    """Returns the size of the library in bytes, without symbols that are not used at run time."""
    subprocess.run(["strip", "-o", copy, cases.setting("VKL_LIBRARY")], check=True, timeout=60)
    return copy.stat().st_size


def refresh():
    """Writes the limits."""
    lines = [f"{key}: {value}\n" for key, value in conditions().items()]
    lines += [f"{count:12.2f}  {title}\n" for title, count in measure().items()]
    LIMITS.write_text(HEAD + "".join(lines))
    print(f"Written: {LIMITS.relative_to(cases.ROOT)}")


def read():
    """Returns the conditions and the limits of the committed file."""
    taken, limits = {}, {}
    for line in LIMITS.read_text().splitlines():
        if found := re.match(r" *([\d.]+)  (.*)$", line):
            limits[found[2]] = float(found[1])
        elif not line.startswith("#"):
            key, _, value = line.partition(": ")
            taken[key] = value
    return taken, limits


class Module:
    """Cases in the form of a module, which `cases.main` requires."""

    __name__ = "gate"

    def __init__(self):
        self.taken, self.limits = read()
        self.found = {}
        self.CASES = [("rows", self.rows), ("counting", self.count)]
        if self.taken == conditions():
            self.CASES += [(title, lambda title=title: self.compare(title)) for title in self.limits]

    def rows(self):
        """Each case has a limit, and each limit belongs to a case, on every machine. A line with another syntax would disable the check."""
        titles = {SIZE, *(row.title for row in catalogue.gate_rows())}
        odd = sorted(titles ^ self.limits.keys())
        cases.expect(not odd, f"without a case or without a limit: {odd}")
        odd = sorted(self.taken.keys() ^ conditions().keys())
        cases.expect(not odd, f"limits.txt lacks a condition, or has a line that says nothing: {odd}")

    def count(self):
        """Measures all cases."""
        if self.taken != conditions():
            here, there = (", ".join(which.values()) for which in (conditions(), self.taken))
            raise cases.Skip(f"the limits were taken with {there}; here is {here}")
        cases.tool("valgrind")
        cases.tool("strip")
        self.found = measure()

    def compare(self, title):
        """Compares one count with its limit."""
        if title not in self.found:
            raise cases.Skip("not counted")
        found, limit = self.found[title], self.limits[title]
        unit = "bytes" if title == SIZE else "instructions"
        text = f"{found:,.2f} {unit}, {found / limit - 1:+.1%} against the limit {limit:,.2f}"
        cases.expect(found <= limit * (1 + MARGIN), f"{text}; see tests/bench/README.md")
        if found < limit * (1 - MARGIN):
            print(f"  note: {title}: {text}: make bench-limits keeps the gain")


def main():
    """Compares the counts, or writes new limits."""
    if sys.argv[1:] == ["refresh"]:
        refresh()
    else:
        cases.main([Module()])


main()

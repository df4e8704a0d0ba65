"""Lists the possible mutants of the loader, and the functions that contain them. xtask reads the sources (tests/xtask/src/mutants.rs)."""

import json
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cases
import tree

# Pattern of the paths of tests, and of code that only tests use. This code is not shipped, so it is not mutated.
CASES = re.compile(r"(^|/)(tests|testing|\w+_tests|scratch)(/|\.rs$)")


@dataclass(frozen=True)
class Mutant:
    """Changed line of a file, with its number, counted from 1, and its new text."""

    file: str
    line: int
    kind: str
    old: str
    new: str

    def __str__(self):
        return f"{self.file}:{self.line} {self.kind}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


@dataclass(frozen=True)
class Function:
    """Function with a body: its first and last line, counted from 1, and the offset after its opening brace."""

    first: int
    last: int
    body: int
    # `True` if a call can be inserted after the opening brace of the body.
    open: bool


class Scanned:
    """Facts about a file: its mutants outside of test code, its functions in their order, and the numbers of the lines that only tests
    use."""

    def __init__(self, file, facts):
        lines = (tree.SOURCE / file).read_text().splitlines()
        self.mutants = [Mutant(file, each["line"], each["kind"], lines[each["line"] - 1], each["new"]) for each in facts["mutants"]]
        self.functions = [Function(**each) for each in facts["functions"]]
        self.lines_of_tests = {line for first, last in facts["tests"] for line in range(first, last + 1)}

    def innermost(self, line):
        """Returns the index of the innermost function that contains the line, or None if the line is outside of all functions."""
        holding = [place for place, each in enumerate(self.functions) if each.first <= line <= each.last]
        return max(holding, key=lambda place: self.functions[place].first, default=None)


@cache
def scanned():
    """Returns the facts about each source file of the crates in the library, without test files."""
    paths = (path for crate in tree.crates() for path in (tree.SOURCE / crate.sources).rglob("*.rs"))
    files = sorted(name for name in (str(path.relative_to(tree.SOURCE)) for path in paths) if not CASES.search(name))
    command = [*cases.program("xtask"), "mutants", str(Path(tree.SOURCE).resolve()), *files]
    facts = json.loads(subprocess.run(command, cwd=cases.ROOT, stdout=subprocess.PIPE, check=True).stdout)
    return {file: Scanned(file, facts[file]) for file in files}

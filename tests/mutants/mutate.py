"""Finds possible mutants. Each mutant changes a line in a file of the loader."""

import re
from dataclasses import dataclass
from pathlib import Path

import functions
import tree

# Pattern of the paths of tests, and of code that only tests use. This code is not shipped, so it is not mutated.
CASES = re.compile(r"(^|/)(tests|testing|\w+_tests|scratch)(/|\.rs$)")
# Attribute of a module, function or declaration that exists only in tests.
OF_TESTS = re.compile(r"#\[cfg\((?:all\()?test\b.*\]")
# Beginnings of lines that are not mutated. Assertions and hints for the compiler have no effect if their conditions are
# true.
UNSEEN = ("use ", "#", "//", "assert", "debug_assert", "core::hint::")
# Pattern of attributes, which are not mutated, like comments and texts.
ATTRIBUTE = re.compile(r"#!?\[.*\]")
# Pattern of the line that opens the body of a function, with the type that the function returns.
BODY = re.compile(r"^\s*(?:pub(?:\(.*?\))? )?(?:const )?(?:unsafe )?(?:extern \"\w+\" )?fn .*?(?:-> (?P<type>.+?) )?\{$")
DEFAULTS = (
    (re.compile(r"bool$"), ("true", "false")),
    (re.compile(r"Option<"), ("None",)),
    (re.compile(r"(?:\w+::)*Result<\(\)"), ("Ok(())",)),
    (re.compile(r"(?:usize|isize|[ui]\d+)$"), ("0",)),
    (re.compile(r"VkResult$"), ("VkResult::VK_SUCCESS", "VkResult::VK_ERROR_INITIALIZATION_FAILED")),
)
# Pattern of code that reserves space. No test can detect additional space for an element.
ROOM = re.compile(r"\.try_(?:exact_)?room\(.*\)|try_(?:with_capacity|reserve|reserve_exact)\(.*\)|^const USUAL_\w+: usize = \d+;")
# Pattern of a call or assignment on a separate line. A line that begins with one of the keywords in the pattern is neither.
STATEMENT = re.compile(r"^\s+(?!let |return|break|continue|use |pub |const |static |type |else|fn )[\w*&(].*;$")
SWAPS = {
    "comparison": {" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "},
    "connective": {" && ": " || ", " || ": " && "},
    "arithmetic": {" + ": " - ", " - ": " + ", " += ": " -= ", " -= ": " += ", " | ": " & ", " & ": " | "},
}


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


def changes(line, plain):
    """Returns all changes of a line, each with its kind and the new line. `plain` is the line with blanks in the parts that must not
    change."""
    for kind, swaps in SWAPS.items():
        for old, new in swaps.items():
            for at in _positions(plain, old):
                yield kind, line[:at] + new + line[at + len(old) :]
    for found in re.finditer(r"(?<![\w!])!(?=[\w(])", plain):
        yield "negation", line[: found.start()] + line[found.end() :]
    found = re.match(r"(\s*(?:\} else )?(?:if|while) )(?!let )(.+)( \{)$", plain)
    if found and " let " not in found[2]:
        yield "condition", f"{line[: found.end(1)]}!({line[found.start(2) : found.end(2)]}){found[3]}"
    room = ROOM.search(plain)
    for found in re.finditer(r"(?<![\w.#])(\d+)(?![\w.])", plain):
        if room and room.start() < found.start() < room.end():
            continue
        yield "constant", f"{line[: found.start()]}{int(found[1]) + 1}{line[found.end() :]}"
    if STATEMENT.match(plain) and plain.count("(") == plain.count(")") and plain.count("{") == plain.count("}"):
        yield "statement", ""
    found = BODY.match(line)
    if found:
        for value in _returned(found["type"]):
            yield "return", f"{line} return{value};"


def _positions(text, part):
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _returned(kind):
    if kind is None:
        return [""]
    return [f" {value}" for pattern, values in DEFAULTS if pattern.match(kind) for value in values]


def lines_of_tests(text):
    """Returns the numbers of the lines that only tests use, counted from 1."""
    lines = set()
    for found in OF_TESTS.finditer(text):
        end = functions.end_of_item(text, found.end())
        lines.update(range(text.count("\n", 0, found.start()) + 1, text.count("\n", 0, end) + 2))
    return lines


def mutants_of(root, file):
    """Returns all mutants of a file without its test code."""
    found = []
    text = (Path(root) / file).read_text()
    plain = ATTRIBUTE.sub(lambda found: " " * len(found[0]), functions.blank(text))
    skipped = lines_of_tests(text)
    for number, (line, bare) in enumerate(zip(text.splitlines(), plain.splitlines(), strict=True), 1):
        if number not in skipped and not line.lstrip().startswith(UNSEEN):
            found += [Mutant(file, number, kind, line, new) for kind, new in changes(line, bare)]
    return found


def files(root):
    """Returns the source files of the crates in the library, without test files."""
    found = [path for crate in tree.crates() for path in (Path(root) / crate.sources).rglob("*.rs")]
    paths = sorted(str(path.relative_to(root)) for path in found)
    return [path for path in paths if not CASES.search(path)]

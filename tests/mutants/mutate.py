"""Where a mutant can be made, and what it changes: one line of one file of the loader."""

import re
from dataclasses import dataclass
from pathlib import Path

# Not what ships: cases and what they are made with.
CASES = re.compile(r"(^|/)(tests|testing|\w+_tests|scratch)(/|\.rs$)")
# What is nowhere mutated: comments, texts, attributes.
MASKED = re.compile(r'//.*|b?c?"(?:\\.|[^"\\])*"|b?\'(?:\\.|[^\'\\])\'|#!?\[.*\]')
# A function's line that opens its body, and what it returns.
BODY = re.compile(r"^\s*(?:pub(?:\(.*?\))? )?(?:const )?(?:unsafe )?(?:extern \"\w+\" )?fn .*?(?:-> (?P<type>.+?) )?\{$")
DEFAULTS = (
    (re.compile(r"bool$"), ("true", "false")),
    (re.compile(r"Option<"), ("None",)),
    (re.compile(r"(?:\w+::)*Result<\(\)"), ("Ok(())",)),
    (re.compile(r"(?:usize|isize|[ui]\d+)$"), ("0",)),
    (re.compile(r"VkResult$"), ("VkResult::VK_SUCCESS", "VkResult::VK_ERROR_INITIALIZATION_FAILED")),
)
# One call or assignment on a line of its own; what begins with these words is no such thing.
STATEMENT = re.compile(r"^\s+(?!let |return|break|continue|use |pub |const |static |type |else|fn )[\w*&(].*;$")
SWAPS = {
    "comparison": {" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "},
    "connective": {" && ": " || ", " || ": " && "},
    "arithmetic": {" + ": " - ", " - ": " + ", " += ": " -= ", " -= ": " += ", " | ": " & ", " & ": " | "},
}


@dataclass(frozen=True)
class Mutant:
    """One line of a file, counted from 1, and what stands there instead."""

    file: str
    line: int
    kind: str
    old: str
    new: str

    def __str__(self):
        return f"{self.file}:{self.line} {self.kind}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


def mask(line):
    """The line with blanks where nothing is to be changed, as long as before."""
    return MASKED.sub(lambda found: " " * len(found[0]), line)


def changes(line):
    """All changes of one line, each with its kind and the new line."""
    plain = mask(line)
    for kind, swaps in SWAPS.items():
        for old, new in swaps.items():
            for at in _positions(plain, old):
                yield kind, line[:at] + new + line[at + len(old) :]
    for found in re.finditer(r"(?<![\w!])!(?=[\w(])", plain):
        yield "negation", line[: found.start()] + line[found.end() :]
    found = re.match(r"(\s*(?:\} else )?(?:if|while) )(?!let )(.+)( \{)$", plain)
    if found and " let " not in found[2]:
        yield "condition", f"{line[: found.end(1)]}!({line[found.start(2) : found.end(2)]}){found[3]}"
    for found in re.finditer(r"(?<![\w.#])(\d+)(?![\w.])", plain):
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


def mutants_of(root, file):
    """All mutants of one file, but for its cases."""
    found = []
    for number, line in enumerate((Path(root) / file).read_text().splitlines(), 1):
        if line.strip() == "#[cfg(test)]":
            break
        if not line.lstrip().startswith(("use ", "#", "//", "assert", "debug_assert")):
            found += [Mutant(file, number, kind, line, new) for kind, new in changes(line)]
    return found


def files(root, words):
    """The files of the loader whose path has one of the words; all if there are none."""
    found = [path for folder in ("loader/src", "loader/os/src") for path in (Path(root) / folder).rglob("*.rs")]
    paths = sorted(str(path.relative_to(root)) for path in found)
    return [path for path in paths if not CASES.search(path) and (not words or any(word in path for word in words))]

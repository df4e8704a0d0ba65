"""The numbers of docs/reference/: what defines each, who cites it, and which cases show it.

A page defines a number where it gives it an anchor. Code, tests and documents cite numbers; one that no page defines is an error. So
is a number that no case shows, unless its entry says why there is none, and an entry that says so of a number that has a case.

Documents write a number that they cite in brackets, as [APP-218], and have the place that it leads to at their ends.
"""

import posixpath
import re
from dataclasses import dataclass

FOLDER = "docs/reference"
KINDS = "APP|DRV|LAY|BI|GEN|LSV"
NUMBER = re.compile(rf"\b({KINDS})-(\d+)([a-z]?)\b")
DEFINITION = re.compile(rf"<a id=\"([a-z0-9-]+)\"></a>\*\*((?:{KINDS})-\d+[a-z]?)\*\*")
# At the end of an entry or row: why no case shows it.
NO_CASE = re.compile(r" \(no case: ([^()]+)\)$", re.M)
LINK = re.compile(r"\]\(([\w./-]*)#([\w-]+)\)")
# What may cite a number: these files, below these folders, and those of the root.
FOLDERS = ("docs", "generated", "generator", "loader", "make", "packaging", "registry", "tests")
SUFFIXES = (".c", ".h", ".html", ".in", ".json", ".md", ".py", ".rs", ".sh", ".toml", ".txt")
# Fetched, built, recorded or written from the rest, or about numbers themselves.
BESIDE = ("registry/input/", "registry/snapshot/", "tests/bench-runs/", "tests/inputs/", "/target/", "/MATRIX.md")
# Names of cases begin with the numbers they show: drv_131_..., app_194a_...
NAMED = re.compile(rf"(?<![a-z0-9])({KINDS.lower()})_0*(\d+[a-z]?)_")
# From one number to another of its kind: APP-180 to APP-182.
RANGE = re.compile(rf"\b({KINDS})-(\d+)[a-z]? to \1-(\d+)[a-z]?\b")
TEST = re.compile(r"^( *)#\[test\]$")


@dataclass
class Entry:
    """A number as its page defines it."""

    number: str
    page: str
    line: int
    # Why no case shows it, if the page says so.
    reason: str | None


def pages(root):
    return sorted((root / FOLDER).glob("*.md"))


def entries(root):
    """What the pages define, in their order."""
    for path in pages(root):
        text = path.read_text(encoding="utf-8")
        found = list(DEFINITION.finditer(text))
        for this, after in zip(found, [*found[1:], None]):
            part = text[this.end() : after.start() if after else len(text)]
            # An entry ends at a heading, an empty line or, in a table, with its row.
            row = text.rfind("\n", 0, this.start()) + 1
            part = part.split("\n", 1)[0].rstrip(" |") if text[row] == "|" else part.split("\n\n", 1)[0].split("\n#", 1)[0]
            # Behind the text of the entry there may be the beginning of the next one's line.
            reason = NO_CASE.search(part.rstrip(" -\n"))
            yield Entry(this[2], path.name, text.count("\n", 0, this.start()) + 1, reason[1] if reason else None)


def numbers(text, defined):
    """The numbers that a text cites, ranges with all that is defined between their ends."""
    found = {found[0] for found in NUMBER.finditer(text)}
    found |= {f"{kind.upper()}-{number}" for kind, number in NAMED.findall(text)}
    for kind, first, last in RANGE.findall(text):
        between = range(int(first), int(last) + 1)
        found |= {number for number in defined if number.startswith(f"{kind}-") and int(re.sub(r"\D", "", number)) in between}
    return found


def citing(root):
    """The files that may cite numbers, with their text."""
    paths = [*root.glob("*.md"), *(path for folder in FOLDERS for path in (root / folder).rglob("*"))]
    for path in sorted(path for path in paths if path.suffix in SUFFIXES and path.is_file()):
        name = path.relative_to(root).as_posix()
        if not any(part in f"/{name}" for part in BESIDE):
            yield name, path.read_text(encoding="utf-8", errors="replace")


def unit_tests(name, text):
    """The tests of a file, wherever it has them: from the comment in front to the brace that closes the function."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        found = TEST.match(line)
        if not found:
            continue
        first = index
        while first and lines[first - 1].startswith((f"{found[1]}///", f"{found[1]}#[")):
            first -= 1
        last = index
        while last < len(lines) and not lines[last].startswith(f"{found[1]}}}"):
            last += 1
        part = "\n".join(lines[first : last + 1])
        function = re.search(r"\bfn (\w+)", part)
        if function:
            yield f"{name}: {function[1]}", part


def shown(root, cases, defined):
    """For each number the names of the cases that show it: those of the loader first, then tests of parts and scripts."""
    found = {}
    parts = list(cases)
    for name, text in citing(root):
        if name.endswith(".rs") and not name.startswith(("tests/tests/", "generated/")):
            parts += unit_tests(name, text)
        elif name.startswith(("tests/abi/", "tests/real/", "tests/windows/")) and name.endswith((".py", ".c", ".h")):
            parts.append((name, text))
    for name, text in parts:
        for number in numbers(text, defined):
            found.setdefault(number, []).append(name)
    return found


# Code of a document, in blocks and within lines: what stands there is no link.
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)
# The places that the numbers of a document lead to, at its end.
BEGIN = "<!-- written by make documents: numbers -->"
PLACES = re.compile(rf"\n{BEGIN}\n.*?<!-- end -->\n", re.S)


def bracketed(text):
    """A text with its numbers in brackets, so that they are links."""
    return NUMBER.sub(r"[\g<0>]", text)


def with_places(path, text, entries):
    """A document's text with the places at its end that its numbers lead to, and a line for each number that does not lead there."""
    text = PLACES.sub("", text)
    prose = CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    pages = {entry.number: entry.page for entry in entries}
    cited, wrong = set(), []

    def place(found):
        return f"{path}:{prose.count(chr(10), 0, found.start()) + 1}"

    for found in NUMBER.finditer(prose):
        number = found[0]
        if prose[found.start() - 1] == "[" and re.match(r"\](?!\()", prose[found.end() :]):
            cited.add(number)
        else:
            wrong.append(f"{place(found)} cites {number} otherwise than as [{number}], which leads to it")
    for found in LINK.finditer(prose):
        number = found[2].upper()
        if NUMBER.fullmatch(number) and posixpath.basename(found[1]) != pages.get(number):
            wrong.append(f"{place(found)} links to {found[1]}#{found[2]}, which is not there")
    if cited:
        folder = posixpath.relpath(FOLDER, posixpath.dirname(path) or ".")
        order = sorted(cited, key=lambda number: (KINDS.index(number.split("-")[0]), int(re.sub(r"\D", "", number)), number))
        places = [f"[{number}]: {folder}/{pages[number]}#{number.lower()}" for number in order]
        text += "\n".join(["", BEGIN, "", *places, "", "<!-- end -->", ""])
    return text, wrong


def links(root, known):
    """A line for each link between pages of the reference whose anchor is not there."""
    for path in pages(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for page, anchor in LINK.findall(line):
                if NUMBER.fullmatch(anchor.upper()) and (page or path.name, anchor) not in known:
                    yield f"{FOLDER}/{path.name}:{number} links to {page}#{anchor}, which is not there"


def problems(root, cases):
    """A line for each number that is cited or defined in vain."""
    defined, known = {}, set()
    for entry in entries(root):
        place = f"{FOLDER}/{entry.page}:{entry.line}"
        if entry.number in defined:
            yield f"{place} defines {entry.number} again"
        defined[entry.number] = entry
        known.add((entry.page, entry.number.lower()))
    for path in pages(root):
        for anchor, number in DEFINITION.findall(path.read_text(encoding="utf-8")):
            if anchor != number.lower():
                yield f"{FOLDER}/{path.name} gives {number} the anchor {anchor}"
    yield from links(root, known)
    for name, text in citing(root):
        unknown = numbers(text, ()) - defined.keys()
        for number, line in enumerate(text.splitlines() if unknown else (), 1):
            for cited in sorted(numbers(line, ()) - defined.keys()):
                yield f"{name}:{number} cites {cited}, which no page of {FOLDER}/ defines"
    found = shown(root, cases, defined)
    for number, entry in defined.items():
        place = f"{FOLDER}/{entry.page}:{entry.line}"
        if entry.reason is None and number not in found:
            yield f"{place}: no case shows {number}: write one, or end its entry with (no case: REASON)"
        if entry.reason is not None and number in found:
            yield f"{place} says why no case shows {number}, but {found[number][0]} does"

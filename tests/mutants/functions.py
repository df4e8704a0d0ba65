"""The functions of a Rust source file, and the place in each where a call can be put in front of what it does."""

import re
from dataclasses import dataclass

# Comments, texts and characters, which may contain a brace that does not count. A lifetime is not a character.
TEXTS = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?c?r(?P<hashes>#*)".*?"(?P=hashes)|b?c?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:u\{\w+\}|x\w\w|.)|[^\'\\\n])\'',
    re.S,
)
NAMED = re.compile(r"\bfn\s+\$?\w+")
# In front of a function that is evaluated while compiling, or is machine code alone.
NO_CALLS = re.compile(r"\bconst\b|\bnaked\b")
PAIRS = {"(": 1, "[": 1, ")": -1, "]": -1}


@dataclass(frozen=True)
class Function:
    """A function with a body: its first and last line, counted from 1, and the offset behind the brace that opens the body."""

    first: int
    last: int
    body: int
    # `True` if a call may stand at that offset.
    open: bool


def blank(text):
    """The text with blanks in place of comments, texts and characters; lines stay where they are."""
    return TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def functions_of(text):
    """All functions of the text, in the order in which they begin."""
    plain = blank(text)
    found = []
    for named in NAMED.finditer(plain):
        begin = _body(plain, named.end())
        if begin is None:
            continue
        end = _closing(plain, begin)
        before = plain[max(plain.rfind(sign, 0, named.start()) for sign in ";{}") + 1 : named.start()]
        is_open = not NO_CALLS.search(before) and "naked_asm!" not in plain[begin:end]
        lines = (plain.count("\n", 0, offset) + 1 for offset in (named.start(), end))
        found.append(Function(*lines, begin + 1, is_open))
    return found


def end_of_item(text, offset):
    """Where the item ends that begins behind the offset: at its last brace, or its semicolon."""
    plain = blank(text)
    begin = _body(plain, offset)
    return _closing(plain, begin) if begin is not None else plain.find(";", offset)


def _body(plain, offset):
    """Where the body opens of what is declared there; None for what has none."""
    depth = 0
    for at in range(offset, len(plain)):
        depth += PAIRS.get(plain[at], 0)
        if depth == 0 and plain[at] in "{;":
            return at if plain[at] == "{" else None
    return None


def _closing(plain, begin):
    """Where the brace closes that opens there."""
    depth = 0
    for at in range(begin, len(plain)):
        depth += {"{": 1, "}": -1}.get(plain[at], 0)
        if depth == 0:
            return at
    return len(plain) - 1


def innermost(functions, line):
    """The place in the list of the innermost function that holds the line; None outside of all."""
    holding = [place for place, each in enumerate(functions) if each.first <= line <= each.last]
    return max(holding, key=lambda place: functions[place].first, default=None)

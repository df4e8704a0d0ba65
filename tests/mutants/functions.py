"""Finds the functions of a Rust source file, and the place in each at which a call can be inserted."""

import re
from dataclasses import dataclass

# Pattern of comments, strings and character literals. The search ignores braces in them. A lifetime is not a character
# literal.
TEXTS = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?c?r(?P<hashes>#*)".*?"(?P=hashes)|b?c?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:u\{\w+\}|x\w\w|.)|[^\'\\\n])\'',
    re.S,
)
NAMED = re.compile(r"\bfn\s+\$?\w+")
# Words before a function that is evaluated at compile time, or that consists of machine code. No call can be inserted
# into such a function.
NO_CALLS = re.compile(r"\bconst\b|\bnaked\b")
PAIRS = {"(": 1, "[": 1, ")": -1, "]": -1}


@dataclass(frozen=True)
class Function:
    """Function with a body: its first and last line, counted from 1, and the offset after its opening brace."""

    first: int
    last: int
    body: int
    # `True` if a call can be inserted after the opening brace of the body.
    open: bool


def blank(text):
    """Returns the text with blanks in place of comments, strings and characters. Line numbers do not change."""
    return TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def functions_of(text):
    """Returns all functions of the text in their order."""
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
    """Returns the end of the item that begins after the offset: its last brace or its semicolon."""
    plain = blank(text)
    begin = _body(plain, offset)
    return _closing(plain, begin) if begin is not None else plain.find(";", offset)


def _body(plain, offset):
    """Returns the offset of the opening brace of a declaration's body, or None if there is no body."""
    depth = 0
    for at in range(offset, len(plain)):
        depth += PAIRS.get(plain[at], 0)
        if depth == 0 and plain[at] in "{;":
            return at if plain[at] == "{" else None
    return None


def _closing(plain, begin):
    """Returns the offset of the matching closing brace."""
    depth = 0
    for at in range(begin, len(plain)):
        depth += {"{": 1, "}": -1}.get(plain[at], 0)
        if depth == 0:
            return at
    return len(plain) - 1


def innermost(functions, line):
    """Returns the index of the innermost function that contains the line, or None if the line is outside of all functions."""
    holding = [place for place, each in enumerate(functions) if each.first <= line <= each.last]
    return max(holding, key=lambda place: functions[place].first, default=None)

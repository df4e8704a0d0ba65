"""Checks that a run of the behaviour tests under a condition left out no test without a row in a list (tests/catalogue.txt).

In such a run, each test appends a line to the file in VKL_TEST_RAN: its path, and `used`, `aside` or `skipped`. A test is `aside` if children of
the test ran, and none of them had the condition. Rows below the heading [aside] list these tests, and tests that append no line.
"""

import re
import subprocess


def rows(text):
    """Yields the headings, the name and the reason of each row of a list."""
    heads = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            heads = line.strip("[]").split(", ")
        else:
            name, _, reason = line.partition(": ")
            yield heads, name, reason


def is_of(name, path):
    """Returns True if a row with this name is about the test with this path."""
    name = name.removesuffix("?")
    if name.endswith("::*"):
        return path.rpartition("::")[0] == name.removesuffix("::*")
    return path.rpartition("::")[2] == name


def listed(program, words):
    """Returns the paths of all tests of a program that the words select."""
    output = subprocess.run([program, "--list", "--format", "terse", *words], capture_output=True, text=True, check=True).stdout
    return [line.removesuffix(": test") for line in output.splitlines() if line.endswith(": test")]


def is_needed(state, is_of_run):
    """Returns True if a test in this state needs a row. A row of the run lists a test that must fail, which the test itself has checked."""
    if state == "skipped":
        return True
    return state is not None if is_of_run else state != "used"


def wrong(paths, lines, text, head):
    """Returns a message for each test that is left out without a row, and for each row that no test needs."""
    states = {}
    for path, state in (line.split("\t") for line in lines):
        states.setdefault(path, state)
    all_rows = list(rows(text))
    aside = [name for heads, name, _ in all_rows if "aside" in heads]
    found = []
    for path in paths:
        is_listed = any(is_of(name, path) for name in aside)
        if states.get(path) not in ("used", "skipped") and not is_listed:
            found.append(f"{path} (it {'ran without the condition' if path in states else 'did not run'}, and no row says why)")
        if states.get(path) == "used" and any(is_of(name, path) and not re.search(r"\?$|::\*$", name) for name in aside):
            found.append(f"{path} (a row below [aside] lists it, but it ran with the condition)")
    for heads, name, _ in all_rows:
        about = [path for path in paths if is_of(name, path)]
        needed = [path for path in about if is_needed(states.get(path), head in heads)]
        if about and not needed and (head in heads or "aside" in heads):
            found.append(f"{name} (no test needs this row)")
    return found

"""Documents count cases only in a generated table, or in a paragraph that names the commit of a run."""

import sys

from cases import ROOT, expect

sys.path.insert(0, str(ROOT / "make"))
import counts  # noqa: E402 -- found through the line above


def problems(text):
    """Returns the problems of a document with this text."""
    return list(counts.problems(lambda path: text, ["docs/page.md"]))


def told():
    """Reports a count in prose or in a table row, with its line."""
    for text in (
        "There are 942 cases.",
        "All 370 of `drivers` do what is expected.",
        "Of these, 144 of 146 of applications passed.",
        "| Linux | 1,024 behaviour cases |",
        "the 82 other killed mutants",
    ):
        lines = problems(f"# Page\n\n{text}\n")
        expect(len(lines) == 1 and lines[0].startswith("docs/page.md:3 counts"), f"{text}: {lines}")
    lines = problems("One.\n\nTwo, of\nwhich 12 cases are\nlong.\n")
    expect(len(lines) == 1 and "docs/page.md:4 counts `12 cases`" in lines[0], f"{lines}")


def passed_over():
    """Accepts numbers of other things, generated tables, and runs with their commit."""
    for text in (
        "Six cases are skipped; DRV-232 has cases, and APP-20 tests them.",
        "At most 16 patterns of one variable; 4 KiB of drivers.",
        "<!-- written by make documents: limits -->\n\n| cases | 12 cases |\n\n<!-- end -->",
        "The run of commit 0f086c15a was ended after 97 mutants.",
    ):
        expect(not problems(text), f"{text}: {problems(text)}")


CASES = [
    ("a count of cases in a document", told),
    ("what is no count of cases", passed_over),
]

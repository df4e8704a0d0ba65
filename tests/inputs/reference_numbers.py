"""Numbers of the reference: each is defined once and has a case or a reason, and nothing cites one that is not there."""

import sys

from cases import ROOT, expect, scratch
from scripts import documents, tracked

sys.path.insert(0, str(ROOT / "make"))
import reference  # noqa: E402 -- found through the line above

PAGE = "application.md"
# What is right: an entry with a case, one in two lines with a reason, and a row.
ENTRIES = """\
# What is seen

- <a id="app-1"></a>**APP-1** One thing, as in [APP-2](#app-2).
- <a id="app-2"></a>**APP-2** Another,
  of two lines (no case: needs Windows)

| Number | What |
|---|---|
| <a id="app-3a"></a>**APP-3a** | a third |
"""
CODE = """\
//! A part (APP-1 to APP-3a).

/// APP-3a
#[test]
fn app_001_a_thing() {
    assert!(true);
}
"""


def problems(entries=ENTRIES, code=CODE, cases=()):
    """What is said of a tree of one page and one file."""
    tree = scratch("numbers")
    for path, text in ((f"docs/reference/{PAGE}", entries), ("loader/src/part.rs", code)):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return list(reference.problems(tree, cases))


def said(words, *arguments, **named):
    """Fails unless one line is said, with these words."""
    lines = problems(*arguments, **named)
    expect(len(lines) == 1 and words in lines[0], f"{words!r}: {lines}")


def whole():
    """What is right is passed over."""
    expect(not problems(), f"{problems()}")


def cited():
    """A number that no page defines is told with its place, wherever it stands."""
    said("loader/src/part.rs:8 cites APP-4, which no page", code=CODE + "// APP-4\n")
    said("loader/src/part.rs:8 cites BI-4, which no page", code=CODE + "// As BI-4 and ABI-5 say.\n")
    # In the name of a case, with zeros in front.
    said("cites APP-5, which no page", code=CODE.replace("app_001_a_thing", "app_001_a_thing_and_app_005_another"))
    said("application.md:9 cites APP-6", ENTRIES.replace("a third |", "a third, as APP-6 |"))


def defined():
    """A number is defined once, under its own anchor, and links lead to one."""
    said("defines APP-1 again", ENTRIES + '\n- <a id="app-1"></a>**APP-1** Again.\n')
    said("gives APP-1 the anchor app-7", ENTRIES.replace('id="app-1"', 'id="app-7"'))
    said("links to #app-3, which is not there", ENTRIES.replace("(#app-2)", "(#app-3)"))
    said("links to drivers.md#app-2, which is not there", ENTRIES.replace("(#app-2)", "(drivers.md#app-2)"))


def shown():
    """A number has a case or a reason, and not both."""
    said("application.md:9: no case shows APP-3a", code=CODE.replace("/// APP-3a\n", ""))
    # What a module says of itself, or a function that is no test, shows nothing.
    said("no case shows APP-3a", code=CODE.replace("/// APP-3a\n", "") + "\n/// APP-3a\nfn helper() {}\n")
    said("no case shows APP-2", ENTRIES.replace(" (no case: needs Windows)", ""))
    said("says why no case shows APP-2, but loader/src/part.rs: app_001_a_thing does", code=CODE.replace("/// APP-3a", "/// APP-3a, APP-2"))
    said("says why no case shows APP-3a", ENTRIES.replace("a third |", "a third (no case: it is odd) |"))
    said("says why no case shows APP-2, but app::one::two does", cases=[("app::one::two", "/// APP-2")])
    # All between the ends of a range; a blank in front of the parenthesis and the end of the entry are part of the form.
    expect(not problems(code=CODE.replace("/// APP-3a", "/// APP-3 to APP-3a").replace("APP-3 to", "APP-3a to")), "a range")
    said("no case shows APP-2", ENTRIES.replace("(no case: needs Windows)", "(no case: needs Windows), or not"))


def matrix():
    """MATRIX.md has a row for each number, which leads to its entry and to its case, or gives the reason."""
    tree = tracked()
    page = tree / "docs/reference" / PAGE
    text = page.read_text()
    rows = (tree / "MATRIX.md").read_text()
    expect(f"| [APP-20](docs/reference/{PAGE}#app-20) | [`app::lookup::app_020_" in rows and "](tests/tests/app/lookup.rs)" in rows, "APP-20")
    page.write_text(text + '\n- <a id="app-9000"></a>**APP-9000** New (no case: it is new)\n')
    output = documents(tree, "--check", status=1)
    expect("MATRIX.md is not what the sources give" in output, output)
    documents(tree)
    documents(tree, "--check")
    expect(f"| [APP-9000](docs/reference/{PAGE}#app-9000) | no case: it is new |" in (tree / "MATRIX.md").read_text(), "the row")
    page.write_text(page.read_text().replace("it is new)", "it was new)"))
    expect("MATRIX.md is not" in documents(tree, "--check", status=1), "another reason")
    page.write_text(text)
    with (tree / "loader/src/lib.rs").open("a") as file:
        file.write("// APP-9000\n")
    output = documents(tree, "--check", status=1)
    expect("loader/src/lib.rs:" in output and "cites APP-9000" in output, output)


CASES = [
    ("numbers that are right", whole),
    ("a number that no page defines", cited),
    ("a number that is defined twice or badly", defined),
    ("a number without a case", shown),
    ("a row for each number", matrix),
]

"""Tests that verbs refuse invalid arguments immediately with a helpful message, and that the documents agree with their sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from cases import HANG, ROOT, Skip, built_below, expect, run, scratch

# Environment in which a build fails. The exit status of a script that reaches its build is therefore different from the
# status of a script that refuses an argument.
STOPPED = {"CARGO": "false"}


def refused(arguments, message, **variables):
    """Returns a case: the command ends with status 3 and prints one line with this text."""

    def case():
        environment = {**os.environ, **STOPPED, **variables}
        output = run([ROOT / arguments[0], *arguments[1:]], HANG, status=3, env=environment, cwd=ROOT)
        expect(message in output and len(output.splitlines()) == 1, output)

    return case


def tracked():
    """Returns a copy of the files that git tracks here, as in a clean clone."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, timeout=HANG)
    if listed.returncode:
        raise Skip("this is no git checkout")
    tree = scratch("tree")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    return tree


def content(tree):
    """Returns the files that may be documents."""
    return {path: path.read_bytes() for path in [*tree.glob("*.md"), *tree.glob("docs/**/*.md")]}


def documents(tree, *arguments, status=0):
    """Writes or checks the documents of a tree."""
    built = os.environ.get("XTASK")
    if not built:
        # xtask is built from the tree of this script, but runs in `tree`.
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        run([*os.environ.get("CARGO", "cargo").split(), "build", "--locked", "--quiet", "-p", "xtask"], HANG, cwd=ROOT)
        built = built_below((ROOT / target).resolve()) / "debug/xtask"
    return run([built, "documents", *arguments], HANG, status=status, cwd=tree)


def documents_agree():
    """The writing command does not change a tree that passes the check, and corrects every other tree."""
    tree = tracked()
    before = content(tree)
    documents(tree)
    expect(content(tree) == before, "make documents changes what is committed")
    spoiled = (("README.md", "\nHeader 1.", "\nHeader 0."), ("docs/limits.md", " MiB |", " MB |"))
    for name, old, new in spoiled:
        text = before[tree / name].decode()
        expect(old in text, f"{name} lacks {old!r}")
        (tree / name).write_text(text.replace(old, new))
    output = documents(tree, "--check", status=1)
    for name, *_ in spoiled:
        expect(f"error: {name} is not what the sources give" in output, output)
    documents(tree)
    expect(content(tree) == before, "make documents does not bring back what was committed")


def matrix():
    """target/MATRIX.md has a row for each number, with a link to its entry and the name of its case or the reason."""
    tree = tracked()
    page = tree / "docs/reference/application.md"
    page.write_text(page.read_text() + '\n- <a id="app-9000"></a>**APP-9000** New (no case: it is new)\n')
    documents(tree)
    rows = (tree / "target/MATRIX.md").read_text()
    expect("| [APP-20](../docs/reference/application.md#app-20) | `app::lookup::app_020_" in rows, "APP-20")
    expect("| [APP-9000](../docs/reference/application.md#app-9000) | no case: it is new |" in rows, "APP-9000")
    expect("\n| `vkCreateInstance` | `" in rows and "\n| `VK_DRIVER_FILES` | `" in rows, "a symbol and a variable")


def told():
    """The check reports every problem with its place."""
    tree = tracked()
    version = next(line for line in (tree / "registry/pin.toml").read_text().splitlines() if line.startswith("header"))
    number = version.split('"')[1]
    spoiled = (
        ("docs/limits.md", f"\nMeasured at {number}.\n", "names the header"),
        ("docs/limits.md", "\nSee [there](nowhere.md) or [here](using.md#nothing).\n", "links to nowhere.md, which is not there"),
        ("docs/limits.md", "\nSee [here](using.md#nothing).\n", "links to using.md#nothing, which is not there"),
        ("docs/limits.md", "\n    make juggle\n", "shows `make juggle`"),
        ("docs/limits.md", "\nThere are 942 cases.\n", "counts `942 cases`"),
        ("docs/limits.md", "\nAs APP-20 says.\n", "cites APP-20 otherwise than as [APP-20]"),
        ("loader/os/src/lib.rs", "// APP-9000\n", "cites APP-9000, which no page"),
        ("loader/os/src/lib.rs", "fn long() {\n" + "    drop(1);\n" * 60 + "}\n", "long has 62 lines"),
        ("loader/os/src/lib.rs", "\n" * 500, "lines, and 500 are promised"),
        ("loader/src/lib.rs", "use os::environment as other;\n", "loader/src/lib.rs names os::environment"),
        ("loader/src/lib.rs", "use libc::c_int as other;\n", "loader/src/lib.rs names libc::c_int"),
    )
    for name, text, _ in spoiled:
        with (tree / name).open("a") as file:
            file.write(text)
    output = documents(tree, "--check", status=1)
    for name, _, words in spoiled:
        expect(any(line.startswith(f"error: {name}") and words in line for line in output.splitlines()), f"{words}:\n{output}")


def mutants_listed():
    """Each row of tests/mutants/equivalent.txt matches a mutant of the present sources, so that a run of mutants can begin."""
    if not (ROOT / ".git").exists():
        raise Skip("this is no git checkout")
    output = run(["make", "--no-print-directory", "mutants", "N=3", "JOBS=0"], HANG, cwd=ROOT)
    expect("from 1 on" in output and len(output.splitlines()) == 4, output)


def two_cases():
    """Two arguments with cases of one stage select both cases. An argument with the stage alone selects all."""
    # No formatting runs, so the stage has no case at all, and the summary names the cases that it lacks.
    variables = {**os.environ, "CARGO": "true", "CARGO_TARGET_DIR": str(scratch("target"))}
    for arguments, text in (
        (["format:one", "format:two"], "no case of format is called one or two"),
        (["format:one", "format"], "== 1/1 format: ok"),
    ):
        output = run([ROOT / "make/test.sh", *arguments], HANG, status=None, env=variables, cwd=ROOT)
        expect(text in output, output)
    text = run([sys.executable, "tests/inputs", "VERSION with a zero", "PEER that is a word"], HANG, cwd=ROOT)
    expect(len(text.splitlines()) == 2, text)


def absent_case():
    """A name that no case has fails the run, also beside the name of another case."""
    text = run([sys.executable, "tests/inputs", "VERSION with a zero", "juggling"], HANG, status=1, cwd=ROOT)
    expect("FAILED: no case has juggling in its name" in text and "ok    scripts: VERSION with a zero" in text, text)
    variables = {**os.environ, "CASE": "what_is_right_is_passed_over\njuggling"}
    text = run([sys.executable, "tests/run.py", "-p", "xtask"], HANG, status=1, env=variables, cwd=ROOT)
    expect("FAILED: no case is called juggling" in text and "test result: ok. 1 passed" in text, text)
    run([sys.executable, "tests/run.py"], HANG, env=variables, cwd=ROOT)


CASES = [
    ("two cases of one stage", two_cases),
    ("a case that is not there", absent_case),
    ("an unknown stage", refused(["make/test.sh", "typo"], "test.sh: unknown stage typo; the stages are setup ")),
    ("an unknown stage after a valid one", refused(["make/test.sh", "format", "typo"], "unknown stage typo")),
    ("SECONDS_EACH that is no number", refused(["tests/fuzz/run.sh", "abc"], "SECONDS_EACH=600, and not abc")),
    ("PEER that is not there", refused(["tests/bench/run.sh"], "there is no library /none/such", PEER="/none/such")),
    ("PEER that is no library", refused(["tests/bench/run.sh"], "README.md is no Vulkan loader", PEER=str(ROOT / "README.md"))),
    ("PEER that is no loader", refused(["tests/bench/run.sh"], "is no Vulkan loader", PEER=os.path.realpath(sys.executable))),
    *[
        (f"PEER of {verb} that is no loader", refused(["make/runs.sh", verb], "README.md is no Vulkan loader", PEER=str(ROOT / "README.md")))
        for verb in ("peer", "differential", "clients")
    ],
    ("PEER that is a word", refused(["make/runs.sh", "peer"], "there is no library sit to compare", PEER="sit")),
    ("VERSION with a zero too many", refused(["make/bump.sh", "1.4.0366"], "1.4.0366 is no header: 1.4.N")),
    ("make documents agrees with its check", documents_agree),
    ("the list of mutants", mutants_listed),
    ("what does not hold is told", told),
    ("a row for each promise", matrix),
]

"""Bad arguments of the verbs end at once with a line that helps; the documents agree with their sources, and say what is run."""

import os
import shutil
import subprocess
import sys

from cases import HANG, ROOT, Skip, expect, run, scratch

sys.path.insert(0, str(ROOT / "make"))
import commands  # noqa: E402 -- found through the line above

# Whatever a script would build or start ends it with another status than a bad argument does.
STOPPED = {"CARGO": "false"}


def refused(arguments, message, **variables):
    """A case: the call ends with status 3 and one line of this text."""

    def case():
        environment = {**os.environ, **STOPPED, **variables}
        output = run([ROOT / arguments[0], *arguments[1:]], HANG, status=3, env=environment, cwd=ROOT)
        expect(message in output and len(output.splitlines()) == 1, output)

    return case


def tracked():
    """A copy of the files that git has here, as a clean clone would have them."""
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
    """The files that a document may be."""
    return {path: path.read_bytes() for path in [*tree.glob("*.md"), *tree.glob("docs/**/*.md")]}


def documents(tree, *arguments, status=0):
    """Runs the script of the documents in a tree."""
    return run([sys.executable, tree / "make/documents.py", *arguments], HANG, status=status)


def documents_agree():
    """What passes the check is not written anew, and what is written passes it."""
    tree = tracked()
    before = content(tree)
    documents(tree, "--check")
    for _ in range(2):
        documents(tree)
        expect(content(tree) == before, "make documents changes what its check accepts")
    for name, old, new in (
        ("MATRIX.md", "| `vkCreateInstance` |", "| `vkJuggle` |"),
        ("README.md", "\nHeader 1.", "\nHeader 0."),
        ("docs/limits.md", " MiB |", " MB |"),
    ):
        text = before[tree / name].decode()
        expect(old in text, f"{name} lacks {old!r}")
        (tree / name).write_text(text.replace(old, new))
        output = documents(tree, "--check", status=1)
        expect(f"error: {name} is not what the sources give" in output, output)
        documents(tree)
        documents(tree, "--check")


def header_is_known():
    """A document that names the header in a place of its own would not follow a bump."""
    tree = tracked()
    version = next(line for line in (tree / "registry/pin.toml").read_text().splitlines() if line.startswith("header"))
    number = version.split('"')[1]
    with (tree / "docs/limits.md").open("a") as file:
        file.write(f"\nMeasured at {number}.\n")
    output = documents(tree, "--check", status=1)
    expect("docs/limits.md:" in output and "names the header" in output, output)


def commands_are_run():
    """A command that a document shows needs a row, and a row needs a document and a test."""

    def found(text):
        read = {"a.md": text}.get
        # Of the rows themselves this document shows none, and their tests are not asked for.
        lines = commands.problems(lambda path: read(path) or (ROOT / path).read_text(), ["a.md"])
        return [line for line in lines if line.startswith("a.md")]

    expect(not found("```text\nmake juggle\n```\n"), "what is no shell's")
    expect(not found("    make run\n`make test`, or `vkgen`\n\n    LD_LIBRARY_PATH=/tmp/vulkan vulkaninfo --summary  # so\n"), "a known one")
    fenced = ("```\nmake juggle\n```\n", "```sh\n$ make juggle\n```\n", "So `make\njuggle` does.\n", "    a.txt      make juggle\n")
    for text in (*fenced, "    make juggle\n", "See `cargo juggle --fast`.\n", "    ldconfig && make juggle\n", "    A=1 B=2 make juggle\n"):
        expect(len(found(text)) == 1 and "juggle" in found(text)[0], f"{text!r}: {found(text)}")
    lines = list(commands.problems(lambda path: "", ["a.md"]))
    expect(any("which no document shows" in line for line in lines), "a row without a document")
    expect(any("does not run `make run` any more" in line for line in lines), "a row whose test is gone")


CASES = [
    ("an unknown stage", refused(["make/test.sh", "typo"], "test.sh: unknown stage typo; the stages are setup ")),
    ("an unknown stage after a valid one", refused(["make/test.sh", "format", "typo"], "unknown stage typo")),
    ("SECONDS_EACH that is no number", refused(["make/fuzz.sh", "abc"], "SECONDS_EACH=600, and not abc")),
    ("PEER that is not there", refused(["make/bench.sh"], "there is no library /none/such", PEER="/none/such")),
    ("PEER that is no library", refused(["make/bench.sh"], "README.md is no Vulkan loader", PEER=str(ROOT / "README.md"))),
    ("PEER that is no loader", refused(["make/bench.sh"], "is no Vulkan loader", PEER=os.path.realpath(sys.executable))),
    *[
        (f"PEER of {verb} that is no loader", refused([f"make/{verb}.sh"], "README.md is no Vulkan loader", PEER=str(ROOT / "README.md")))
        for verb in ("peer", "differential", "clients")
    ],
    ("PEER that is a word", refused(["make/peer.sh"], "there is no library sit to compare", PEER="sit")),
    ("VERSION with a zero too many", refused(["make/bump.sh", "1.4.0366"], "1.4.0366 is no header: 1.4.N")),
    ("make documents agrees with its check", documents_agree),
    ("a document that names the header", header_is_known),
    ("a command that no test runs", commands_are_run),
]

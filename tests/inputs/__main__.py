"""Tests that invalid registry input is refused with the name of the file, and that the verbs write no file."""

import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import hidden  # noqa: E402
import lock_files  # noqa: E402
import scripts  # noqa: E402
from cases import HANG, ROOT, Failure, Skip, expect, run, scratch  # noqa: E402

INPUT = ROOT / "registry/input"
NAMES = ("vk.xml", "video.xml")


def pinned():
    """Returns a copy of the pinned files, which the case may change."""
    folder = scratch("pinned")
    for name in NAMES:
        if not (INPUT / name).is_file():
            raise Skip("the registry is not fetched (make registry)")
        shutil.copy(INPUT / name, folder / name)
    return folder


def fetch(folder, status, **variables):
    """Runs the fetch script with another target folder, and returns its output."""
    environment = {**os.environ, "VKL_REGISTRY_INPUT": str(folder), **{k: str(v) for k, v in variables.items()}}
    return run([ROOT / "make/registry.sh"], HANG, status=status, env=environment)


def accepted():
    """With VK_XML set to the pinned file, both files are copied unchanged."""
    source, target = pinned(), scratch("input")
    fetch(target, 0, VK_XML=source / "vk.xml")
    for name in NAMES:
        expect((target / name).read_bytes() == (source / name).read_bytes(), f"{name} differs")
    expect(len(list(target.iterdir())) == 2, f"more than two files: {list(target.iterdir())}")


def refused(spoil, message):
    """Returns a case: after `spoil(folder)`, the files are refused with this message, and the target folder is unchanged."""

    def case():
        source, target = pinned(), scratch("input")
        (target / "vk.xml").write_text("what was there before")
        spoil(source)
        output = fetch(target, 2, VK_XML=source / "vk.xml")
        expect(re.search(message, output) and "nothing was written" in output, output)
        expect(str(source) in output, f"the message does not name the file:\n{output}")
        left = {path.name: path.read_text() for path in target.iterdir()}
        expect(left == {"vk.xml": "what was there before"}, f"written: {sorted(left)}")

    return case


def replace(name, old, new):
    """Replaces the first occurrence of a text in a file."""

    def spoil(folder):
        text = (folder / name).read_text()
        expect(old in text, f"{name} has no {old}")
        (folder / name).write_text(text.replace(old, new, 1))

    return spoil


def import_fails(spoil, message):
    """Returns a case: `vkgen import` ends with status 2, names the place, and writes no file."""

    def case():
        source, snapshot = pinned(), scratch("snapshot")
        spoil(source)
        files = ["--vk-xml", source / "vk.xml", "--video-xml", source / "video.xml", "--snapshot", snapshot]
        output = run([*cases.program("vkgen"), "import", *files], 3 * HANG, status=2, cwd=ROOT)
        place = re.escape(str(source / "vk.xml")) + r":\d+"
        expect(re.search(place, output), f"the message does not say where:\n{output}")
        expect(re.search(message, output), output)
        expect(not list(snapshot.iterdir()), f"written: {list(snapshot.iterdir())}")

    return case


def other_header(name, *script):
    """Returns a case: XML with another checksum than the pinned checksum stops the script before the script reads or writes a file."""

    def case():
        source = pinned()
        replace(name, "<", " <")(source)
        before = {path: path.stat().st_mtime_ns for path in written()}
        environment = {**os.environ, "VKL_REGISTRY_INPUT": str(source), "CARGO": "false"}
        output = run([ROOT / script[0], *script[1:]], HANG, status=2, env=environment)
        expect(f"{source / name}: sha256 is" in output, f"the message does not name the file:\n{output}")
        expect("make registry" in output and "make bump" in output, f"the message does not say what to do:\n{output}")
        expect(before == {path: path.stat().st_mtime_ns for path in written()}, "files were written")

    return case


def written():
    """Returns the files that the verbs `import` and `emit` write."""
    return [path for folder in ("registry/snapshot", "generated") for path in (ROOT / folder).rglob("*")]


def unreachable():
    """The script fails with a clear message if a package cannot be downloaded. An empty index replaces the network."""
    target = scratch("input")
    empty = scratch("index")
    output = fetch(target, 2, PIP_NO_INDEX="1", PIP_FIND_LINKS=empty, VK_XML="")
    expect("could not be fetched; nothing was written" in output, output)
    if list(target.iterdir()):
        raise Failure(f"written: {list(target.iterdir())}")


CASES = [
    ("VK_XML with the pinned checksum is taken", accepted),
    ("a missing vk.xml", refused(lambda folder: (folder / "vk.xml").unlink(), "vk.xml: no such file")),
    ("a missing video.xml", refused(lambda folder: (folder / "video.xml").unlink(), "video.xml: no such file")),
    ("a vk.xml with another checksum", refused(replace("vk.xml", "vkCmdDraw", "vkCmdPaint"), "vk.xml: sha256 is")),
    ("a video.xml with another checksum", refused(replace("video.xml", "<", " <"), "video.xml: sha256 is")),
    ("a package that cannot be fetched", unreachable),
    ("make generate with another vk.xml", other_header("vk.xml", "make/generate.sh")),
    ("make generate with another video.xml", other_header("video.xml", "make/generate.sh")),
    ("make check-generated with another vk.xml", other_header("vk.xml", "make/generate.sh", "check")),
    ("an unknown element", import_fails(replace("vk.xml", "<commands ", "<novelty/><commands "), "novelty")),
    ("XML that is cut off", import_fails(replace("vk.xml", "</registry>", ""), "")),
]

if __name__ == "__main__":
    cases.main([sys.modules[__name__], scripts, lock_files, hidden])

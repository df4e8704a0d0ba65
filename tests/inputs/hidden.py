"""Tests that the tests do not depend on the files, variables and permissions of this machine."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import apart
import opened
from cases import HANG, ROOT, Skip, expect, run, scratch, tool


def empty():
    """A program finds no file in a filled folder, and an empty folder needs no mount namespace."""
    filled, empty = scratch("filled"), scratch("empty")
    (filled / "implicit_layer.d").mkdir()
    (filled / "implicit_layer.d/other.json").write_text("")
    words = apart.words((str(filled), str(empty), "/none/such"))
    if not words:
        raise Skip("this system permits no mount namespace")
    expect(str(filled) in words and str(empty) not in words, words)
    output = run([*words, "find", filled, "-mindepth", "1"], HANG)
    expect(output == "", output)
    expect(run([*words, "id", "-u"], HANG) == run(["id", "-u"], HANG), "the program has another user")
    expect((filled / "implicit_layer.d/other.json").exists(), "the file is gone for others")
    expect(apart.words((str(empty), "/none/such")) == [], "words without a reason")


def unset():
    """A program inherits no variable about Vulkan or the desktop, and inherits all others."""
    os.environ.update(VK_LOADER_DRIVERS_DISABLE="*", XDG_DATA_DIRS="/none/such", VKL_OTHER="1")
    left = apart.variables()
    expect("VK_LOADER_DRIVERS_DISABLE" not in left and "XDG_DATA_DIRS" not in left, left)
    expect(left["VKL_OTHER"] == "1" and left["PATH"] == os.environ["PATH"], left)
    for name in ("VK_LOADER_DRIVERS_DISABLE", "XDG_DATA_DIRS", "VKL_OTHER"):
        del os.environ[name]


def plain():
    """A folder for temporary files is replaced if its path is long, or if it is missing. A usual path stays. Root's tests start programs as
    other users, so root also replaces a folder that is closed to them."""
    words = ["bash", "-c", '. make/common.sh; . make/settings.sh; plain_temporary_folder; printf %s "$TMPDIR"']

    def chosen(folder):
        return run(words, HANG, env={**os.environ, "TMPDIR": str(folder)}, cwd=ROOT)

    # The first folder of the system in which programs can run.
    usual = chosen("/tmp")
    for folder, expected in ((scratch("a long name " + "x" * 40), usual), ("/none/such", usual), ("/var/tmp", "/var/tmp")):
        expect(chosen(folder) == expected, f"{folder}: {chosen(folder)}")
    with tempfile.TemporaryDirectory(dir=usual) as closed:
        expected = closed if os.geteuid() else usual
        expect(chosen(closed) == expected, f"{closed}: {chosen(closed)}")


def copied():
    """Other users can read the copies of files in a closed folder. The path of a copy is plain. Other files are not copied."""
    odd = scratch("it's odd") / "library"
    odd.write_text("content")
    link = scratch("link") / "library"
    link.symlink_to(odd)
    for path in (odd, link):
        copy = opened.paths({"library": str(path)})["library"]
        expect("'" not in os.path.realpath(copy) and Path(copy).read_text() == "content", copy)
    if os.geteuid() != 0:
        raise Skip("only the superuser starts programs as other users")
    user = [tool("setpriv"), "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        (place / "programs").mkdir()
        for file in ("library", "programs/one"):
            (place / file).write_text("#!/bin/sh\necho read\n")
            (place / file).chmod(0o700)
        given = {"library": str(place / "library"), "programs": str(place / "programs"), "other": "/none/such"}
        found = opened.paths(given)
        expect(found["other"] == given["other"] and found["library"] != given["library"], found)
        for program in (found["library"], f"{found['programs']}/one"):
            expect(run([*user, program], HANG) == "read\n", found)
        place.chmod(0o755)
        for file in ("library", "programs", "programs/one"):
            (place / file).chmod(0o755)
        expect(opened.paths(given) == given, "a copy without a reason")


def git():
    """The stages of `make test` do not use the configuration of git of this user, or the variables of a hook."""
    folder = scratch("git")
    (folder / "config").write_text("[commit]\n\tgpgSign = true\n")
    (folder / "cargo").write_text("#!/bin/sh\ngit config --list --show-origin\nenv\n")
    (folder / "cargo").chmod(0o755)
    own = {"GIT_CONFIG_GLOBAL": folder / "config", "GIT_INDEX_FILE": folder / "index", "CARGO": folder / "cargo"}
    variables = {**os.environ, **{name: str(value) for name, value in own.items()}, "CARGO_TARGET_DIR": str(folder)}
    output = run([ROOT / "make/test.sh", "format"], HANG, env=variables, cwd=ROOT)
    expect("gpgsign" not in output and "GIT_INDEX_FILE" not in output and "safe.directory=" in output, output)


# Settings of a user that would change the results of a script.
ODD = {
    "BASH_ENV": "/none/such",
    "CARGO_ENCODED_RUSTFLAGS": "--cfg=odd",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_TERM_COLOR": "always",
    "CDPATH": "/usr:/tmp",
    "MAKEFLAGS": "-j8 --jobserver-auth=3,4",
    "POSIXLY_CORRECT": "1",
    "PYTHONOPTIMIZE": "2",
    "PYTHONPATH": "/none/such",
    "PYTHONSAFEPATH": "1",
    "RUSTC_WRAPPER": "/none/such",
    "RUSTFLAGS": "-C target-cpu=native",
}


def settings():
    """Cargo and Python get no setting of the user from the stages of `make test`, and packagers' stages keep the flags of the compiler."""
    folder = scratch("settings")
    (folder / "cargo").write_text("#!/bin/sh\nenv\n")
    (folder / "cargo").chmod(0o755)
    # The output belongs below the checkout, because the setting is relative.
    target = ROOT / "target" / folder.name
    variables = {**os.environ, **ODD, "CARGO": str(folder / "cargo"), "CARGO_TARGET_DIR": str(target.relative_to(ROOT))}
    try:
        run([ROOT / "make/test.sh", "format"], HANG, env=variables, cwd="/")
        seen = dict(line.split("=", 1) for line in (target / "test/format.log").read_text().splitlines() if "=" in line)
    finally:
        shutil.rmtree(target, ignore_errors=True)
    kept = {name: seen[name] for name, value in ODD.items() if seen.get(name) == value}
    expect(not kept, kept)
    expect(seen["CARGO_TARGET_DIR"] == str(target) and seen["RUSTFLAGS"] == "", seen)
    words = ["bash", "-c", '. make/common.sh; . make/settings.sh; usual_settings check; printf %s "$RUSTFLAGS"']
    expect(run(words, HANG, env={**os.environ, "RUSTFLAGS": "--cfg=one"}, cwd=ROOT) == "--cfg=one", "a packager's flags are lost")


def foreign():
    """The tests refuse to build for another machine, which a variable or cargo's configuration can name."""
    other = "riscv64gc-unknown-none-elf"
    home = scratch("cargo-home")
    (home / "config.toml").write_text(f'[build]\ntarget = "{other}"\n')
    for variables in ({"CARGO_BUILD_TARGET": other}, {"CARGO_HOME": str(home), "CARGO_BUILD_TARGET": ""}):
        output = run([ROOT / "make/test.sh", "format"], HANG, status=3, env={**os.environ, **variables}, cwd=ROOT)
        expect(f"cargo builds for {other}: set CARGO_BUILD_TARGET=" in output and len(output.splitlines()) == 1, output)


def homes():
    """Scripts know the folder of crates without HOME, and with another folder of cargo."""
    words = ["bash", "-c", '. make/common.sh; printf %s "$CRATES"']
    variables = {name: value for name, value in os.environ.items() if name not in ("HOME", "CARGO_HOME")}
    usual = run(words, HANG, env=variables, cwd=ROOT)
    expect(re.fullmatch(r"/.*/\.cargo/registry/src", usual), usual)
    other = scratch("cargo 'home")
    found = run(words, HANG, env={**variables, "CARGO_HOME": str(other)}, cwd=ROOT)
    expect(found == f"{other}/registry/src", found)
    for script in (path for path in (ROOT / "make").glob("*.sh")):
        expect("$HOME" not in script.read_text(), f"{script} fails without HOME")


CASES = [
    ("the files of this machine are hidden", empty),
    ("the variables of this machine are hidden", unset),
    ("an unusual TMPDIR", plain),
    ("files that tests cannot use in place are copied", copied),
    ("the settings of this user", settings),
    ("a target of another machine", foreign),
    ("the folders of cargo", homes),
    ("the configuration of git is not that of the user", git),
]

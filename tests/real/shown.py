"""Runs the commands in README.md and docs/. Commands that build run in a folder with special characters in its name."""

import os
import re
import shlex
import shutil
import subprocess

import installed
import loader
from cases import HANG, ROOT, Skip, built_below, expect, run, scratch, setting, tool

# Folder name with a quote and blanks, which a shell, make and a list of flags each interpret differently.
NAME = "it's a tree"


def shown(path, first, last):
    """Returns the indented lines of a document. The first line begins with a text, and the last line contains another text."""
    lines = (ROOT / path).read_text().splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"    {first}")), None)
    expect(start is not None, f"{path} shows no `{first}`")
    length = next(number for number, line in enumerate(lines[start:]) if last in line) + 1
    return "\n".join(line.strip() for line in lines[start : start + length])


def without_installing(path):
    """Returns a case: runs the lines of a document that use vulkaninfo with a library that is built but not installed."""

    def case():
        tool("vulkaninfo")
        text = shown(path, "mkdir -p /tmp/vulkan", "vulkaninfo --summary")
        text = text.replace("/tmp/vulkan", str(scratch("vulkan")))
        text = text.replace("$PWD/target/release/libvulkan.so", str(loader.ours()))
        output = run(["sh", "-euc", text], HANG, env=loader.environment(loader.ours(), VK_DRIVER_FILES=loader.lavapipe()))
        version = re.search(r'^header = "(.*)"', (ROOT / "registry/pin.toml").read_text(), re.MULTILINE)[1]
        expect(f"Vulkan Instance Version: {version}" in output, output)

    return case


# Program that replaces cargo, because all programs are already built, including the generator.
CARGO = """#!/bin/sh
[ "$1" != --version ] || echo "cargo 1.999.0"
[ "$1" = run ] || exit 0
while [ "$1" != -- ]; do shift; done
shift
exec {vkgen} "$@"
"""


def copy():
    """Returns a copy of the tree, with the results of a build, in a folder with special characters in its name."""
    programs = setting("VKL_PROGRAMS")
    built = built_below(programs.parent)
    generators = [path for path in (built / "release/vkgen", built / "debug/vkgen") if path.is_file()]
    if not generators:
        raise Skip("vkgen is not built")
    vkgen = max(generators, key=lambda path: path.stat().st_mtime)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, timeout=HANG)
    if not (ROOT / ".git").exists():
        raise Skip("this is not a git checkout")
    expect(listed.returncode == 0, listed.stderr.decode())
    tree = scratch("tree") / NAME
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    for name in ("vk.xml", "video.xml"):
        if not (ROOT / "registry/input" / name).is_file():
            raise Skip("the registry is not fetched (make registry)")
        (tree / "registry/input").mkdir(exist_ok=True)
        shutil.copy2(ROOT / "registry/input" / name, tree / "registry/input" / name)
    for source, target in (
        (loader.ours(), "release/libvulkan.so"),
        (programs / "mock/libmock_driver.so", "debug/libmock_driver.so"),
        (programs / "ash-client", "debug/ash-client"),
    ):
        copy = built_below(tree / "target") / target
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    cargo = scratch("cargo") / "cargo"
    cargo.write_text(CARGO.format(vkgen=shlex.quote(str(vkgen))))
    cargo.chmod(0o755)
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CARGO_TARGET_DIR", "VKL_LIBRARY", "LD_LIBRARY_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    return tree, environment | {"CARGO": str(cargo)}


def make_run():
    """`make run` builds a C program and runs it. The output mentions `make generate`, and this command then changes no file."""
    tree, environment = copy()
    output = run([tool("make"), "run"], HANG, env=environment, cwd=tree)
    expect(re.search(r"([1-9][0-9]*) of \1 devices worked", output), output)
    expect("make generate" in output, output)
    run([tool("make"), "generate"], HANG, env=environment, cwd=tree)
    run(["diff", "-r", ROOT / "generated", tree / "generated"], HANG)


def make_bench():
    """`make bench` finds all files that it needs, as one case shows."""
    tree, environment = copy()
    environment["PEER"] = str(loader.peer())
    output = run(["tests/bench/run.sh", "profile", "vkCmdDraw"], HANG, env=environment, cwd=tree)
    expect("vkCmdDraw" in output, output)


# Program that replaces cargo, if all programs are already built.
BUILT = """#!/bin/sh
[ "$1" != --version ] || echo "cargo 1.999.0"
"""
GUIDE = "docs/packaging.md"


def recipe(language):
    """Returns the code block of the guide for packagers in this language."""
    block = re.search(rf"^```{language}\n(.*?)^```", (ROOT / GUIDE).read_text(), re.MULTILINE | re.DOTALL)
    expect(block is not None, f"{GUIDE} has no recipe in {language}")
    return block[1]


def packager():
    """Returns the environment of a packager. Cargo has built all programs."""
    target = installed.fake_build("")
    (target / "tools").mkdir()
    for name in installed.PROGRAMS:
        shutil.copy2(target / "release" / name, target / "tools" / name)
    cargo = scratch("cargo") / "cargo"
    cargo.write_text(BUILT)
    cargo.chmod(0o755)
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VKL_LIBRARY", "PAGES", "CARGO_BUILD_TARGET", "RUSTFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    return environment | {"CARGO": str(cargo), "CARGO_TARGET_DIR": str(target)}


def complete(folder):
    """Fails unless the folder has the files of each part of the package."""
    found = installed.tree(folder)
    version = installed.version()
    for name in (
        *(f"lib/{file}" for file in (f"libvulkan.so.{version}", "libvulkan.so.1", "libvulkan.so", "pkgconfig/vulkan.pc")),
        *(f"bin/{program}" for program in installed.PROGRAMS),
        *(f"share/man/man{page[-1]}/{page}" for page in installed.OTHER_PAGES),
        "lib/systemd/system/vulkan-loader-catalogue.service",
        "lib/udev/rules.d/70-vulkan-loader-catalogue.rules",
    ):
        expect(name in found, f"{name} is missing: {found}")


def arch():
    """The functions of the PKGBUILD create a package. Its check runs stages of make test."""
    tool("make")
    sources, package = scratch("sources"), scratch("package")
    (sources / "PKGBUILD").write_text(recipe("bash"))
    (sources / "vulkan-loader-rs-1.4.N").symlink_to(ROOT)
    steps = '. ./PKGBUILD && declare -F check && (build) && (package)'
    run(["bash", "-euc", steps], HANG, env=packager() | {"pkgdir": str(package)}, cwd=sources)
    complete(package / "usr")
    found = installed.tree(package)
    expect("usr/share/licenses/vulkan-loader-rs/LICENSE-MIT" in found, found)
    expect(all((package / "etc/vulkan" / name).is_dir() for name in ("icd.d", "explicit_layer.d", "implicit_layer.d")), found)


def nix():
    """The flags of the derivation build the library, and install it into a separate folder."""
    out, text, environment = scratch("out"), recipe("nix"), packager()
    assignment = re.search(r'^  env\.(\w+) = "(.*)";$', text, re.MULTILINE)
    environment[assignment[1]] = assignment[2]
    flags = {name: re.findall(r'"(.*?)"', values) for name, values in re.findall(r"^  (\w+Flags) = \[ (.*) \];$", text, re.MULTILINE)}
    run([tool("make"), "-C", ROOT, *flags["buildFlags"]], HANG, env=environment)
    words = [word.replace("$(out)", str(out)) for word in flags["installFlags"]]
    run([tool("make"), "-C", ROOT, "install", *words], HANG, env=environment)
    complete(out)


CASES = [
    ("README.md, try it", without_installing("README.md")),
    ("docs/packaging.md, the PKGBUILD", arch),
    ("docs/packaging.md, the derivation", nix),
    ("make run", make_run),
    ("make bench", make_bench),
]

"""Copies of the tree, and their builds with cargo."""

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cases

CARGO = os.environ.get("CARGO", "cargo")
FOLDER = Path(os.environ["VKL_MUTANTS"])
# Copy of the tree from the beginning of the run, because developers may change the tree during a long run.
SOURCE = FOLDER / "source"
# Copies of the programs of the behaviour cases, which later builds of the developer do not change. The cases about closed drivers also need
# vkloader, and would be skipped without it.
PROGRAMS = FOLDER / "programs"
VKLOADER = PROGRAMS / "vkloader"
LIBRARY = "vulkan-loader"
MOCKS = ("mock_driver", "mock_layer", "sample_driver", "sample_layer")
# Time limit for a build with a mutant, in seconds, because the compiler may never end. A normal build is much faster, even on a busy
# machine.
BUILD_LIMIT = 3600


def take_source():
    """Updates SOURCE to the present files of the tree, tracked or new."""
    listed = ["git", "-c", f"safe.directory={cases.ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=cases.ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    copy({name: (cases.ROOT / name).read_bytes() for name in names if name and (cases.ROOT / name).is_file()}, SOURCE)


def source():
    """Returns the names of the files in SOURCE in alphabetical order."""
    return sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*") if path.is_file())


def copy(files, folder):
    """Changes a folder so that it contains exactly these files. The modification times of unchanged files do not change, so that cargo
    does not build them again."""
    for name, content in files.items():
        write(folder / name, content)
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in files:
            path.unlink()


def write(path, content):
    """Writes a file if the content is different."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def built(arguments, folder, variables, limit=None):
    """Returns cargo's message about each built artifact, or None if the build fails. Without a time limit, prints cargo's errors."""
    command = [CARGO, *arguments, "--locked", "--quiet", "--message-format=json"]
    errors = subprocess.DEVNULL if limit else None
    process = cases.start(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=errors)
    try:
        output = process.communicate(timeout=limit)[0].decode()
    except subprocess.TimeoutExpired:
        return None
    finally:
        cases.end(process)
    if process.returncode:
        return None
    made = (json.loads(line) for line in output.splitlines())
    return [each for each in made if each["reason"] == "compiler-artifact"]


def unit_programs(artifacts):
    """Returns the unit test programs among the artifacts: name, path, and working folder."""
    return {
        f"unit:{each['target']['name']}": (each["executable"], str(Path(each["manifest_path"]).parent))
        for each in artifacts
        if each["profile"]["test"] and each["executable"]
    }


def behaviour_programs():
    """Builds the behaviour cases and vkloader, and copies them. Returns the name, path and working folder of each program of cases."""
    artifacts = built(["test", "--no-run", "-p", "loader-tests"], cases.ROOT, os.environ)
    if artifacts is None:
        raise SystemExit("the behaviour cases cannot be built: cargo test --no-run -p loader-tests")
    tools = built(["build", "-p", "vkloader"], cases.ROOT, os.environ)
    if tools is None:
        raise SystemExit("vkloader cannot be built: cargo build -p vkloader")
    folder = PROGRAMS
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = {}
    for each in artifacts + tools:
        if each["target"]["kind"] == ["test"]:
            found[each["target"]["name"]] = (str(shutil.copy2(each["executable"], folder)), str(cases.ROOT / "tests"))
        elif each["target"]["name"] == VKLOADER.name and each["executable"]:
            shutil.copy2(each["executable"], VKLOADER)
        elif each["target"]["name"] in MOCKS:
            for file in each["filenames"]:
                if file.endswith(".so"):
                    shutil.copy2(file, folder)
    return found


@dataclass(frozen=True)
class Crate:
    """Crate of the library: its name and its source folder."""

    name: str
    sources: str


@cache
def crates():
    """Returns the crates of the library in SOURCE, sorted by name."""
    command = [CARGO, "metadata", "--no-deps", "--offline", "--locked", "--format-version=1"]
    listed = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, check=True).stdout
    packages = {package["name"]: package for package in json.loads(listed)["packages"]}
    waiting, found = [LIBRARY], set()
    while waiting:
        name = waiting.pop()
        if name in packages and name not in found:
            found.add(name)
            waiting += [each["name"] for each in packages[name]["dependencies"] if each["kind"] is None]
    folders = {name: Path(packages[name]["manifest_path"]).parent.relative_to(SOURCE) for name in found}
    return [Crate(name, str(folders[name] / "src")) for name in sorted(found)]


class Tree:
    """Copy of the tree with a separate build folder."""

    def __init__(self, number):
        self.root = FOLDER / f"tree-{number}"
        self.target = FOLDER / f"target-{number}"
        # A build without debugging information needs a quarter less time. Without this information, the library is also identical for
        # mutants that compile to the same code.
        self.variables = {**os.environ, "CARGO_TARGET_DIR": str(self.target), "CARGO_PROFILE_DEV_DEBUG": "0"}
        self.library = self.target / "debug/libvulkan.so"
        self.shipped = self.target / "release/libvulkan.so"
        self.restore()

    def restore(self):
        """Resets the copy to the source."""
        copy({name: (SOURCE / name).read_bytes() for name in source()}, self.root)

    def write(self, name, content):
        """Writes a file of the copy."""
        write(self.root / name, content)

    def build_library(self, limit=None):
        """Builds the library for debugging. Returns True if the build succeeded."""
        return built(["build", "-p", LIBRARY], self.root, self.variables, limit) is not None

    def shipped_digest(self, limit=None):
        """Builds the library as it is shipped. Returns its checksum, or None if the build fails."""
        artifacts = built(["build", "--release", "-p", LIBRARY], self.root, self.variables, limit)
        return artifacts and hashlib.sha256(self.shipped.read_bytes()).digest()

    def build_units(self, limit=None):
        """Builds the unit test programs. Returns them, or None if the build fails."""
        packages = (word for crate in crates() for word in ("-p", crate.name))
        artifacts = built(["test", "--no-run", *packages], self.root, self.variables, limit)
        return artifacts and unit_programs(artifacts)

    def has_compiled(self, name):
        """Returns True if the last built library was compiled from this file."""
        return f" {self.root / name}" in self.library.with_suffix(".d").read_text()

    def digest(self):
        """Returns a checksum of the built library."""
        return hashlib.sha256(self.library.read_bytes()).digest()

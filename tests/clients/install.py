"""Requirements of clients, from the system's packages or in separate folders below target/clients.

Each requirement has two functions. `install()` does nothing if the requirement is already installed, and raises `Skip` if it cannot be
installed. `version()` returns its version.
"""

import json
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cases import ROOT, Skip, setting

HERE = Path(__file__).resolve().parent
# Time limit for one download or build, in seconds.
LIMIT = 1500


def folder():
    """Returns the folder for clients that can run on any system."""
    return setting("VKL_CLIENTS")


def system_folder():
    """Returns the folder for clients that run only on this system, because another root has another libc and another Python."""
    return folder() / platform.freedesktop_os_release().get("VERSION_CODENAME", "system")


def places():
    """Returns the replacements for the placeholders in commands."""
    return {
        "programs": HERE / "programs",
        "own": setting("VKL_PROGRAMS"),
        "python": system_folder() / "python/bin/python",
        "scripts": system_folder() / "python/bin",
        "modules": system_folder() / "node/node_modules",
        "crates": folder() / "crates/bin",
        "rust": folder() / "rust/release",
        "windows": folder() / "windows",
        "system": system_folder(),
    }


def get(command, **options):
    """Runs an installer. If it fails, skips the case with the last line of its output."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise Skip(f"{command[0]} still ran after {LIMIT} s") from None
    except OSError as error:
        raise Skip(f"{command[0]}: {error.strerror}") from None
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        lines = [line for line in output.splitlines() if line.strip()] or ["it said nothing"]
        told = [line for line in lines if re.match(r"(E:|ERROR|error|npm error)", line)] or lines[-1:]
        raise Skip(f"{Path(command[0]).name} failed: {told[0][:200]}")
    return output


@dataclass
class Apt:
    """Debian package for a program, or for a file if the name has a slash. The program or file can also come from another source."""

    package: str
    looked_for: str
    updated = False

    def found(self):
        """Returns True if the program or file exists."""
        if "/" in self.looked_for:
            return bool(list(Path("/").glob(self.looked_for.lstrip("/"))))
        return shutil.which(self.looked_for) is not None

    def install(self):
        """Installs the package if the program or file is missing."""
        if self.found():
            return
        if not shutil.which("apt-get") or os.geteuid() != 0:
            raise Skip(f"Debian's package {self.package} is not installed")
        apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300"]
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        if not Apt.updated:
            Apt.updated = True
            get([*apt, "-o", "Acquire::Check-Valid-Until=false", "update"], env=environment)
        get([*apt, "install", "--no-install-recommends", self.package], env=environment)
        if not self.found():
            raise Skip(f"Debian's package {self.package} has no {self.looked_for}")

    def version(self):
        """Returns the version of the package, or `of the system` if the program comes from another source."""
        command = ["dpkg-query", "-W", "-f", "${Version}", self.package]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return re.sub(r"^\d+:", "", done.stdout.strip()) or "of the system"


@dataclass
class Copied(Apt):
    """Debian package that contains a loader. The test copies the folder of the package and replaces the loader in the copy."""

    place: str = ""

    def install(self):
        """Installs the package, and copies the folder again after a change of its version."""
        super().install()
        copy = system_folder() / self.package
        mark = copy / ".version"
        if mark.exists() and mark.read_text() == self.version():
            return
        shutil.rmtree(copy, ignore_errors=True)
        copy.parent.mkdir(parents=True, exist_ok=True)
        get(["cp", "--recursive", self.place, copy])
        mark.write_text(self.version())


@dataclass
class Pip:
    """Python packages in an environment that all clients share. The first package is the client."""

    requirements: tuple

    def install(self):
        """Creates the environment and installs the packages."""
        python = places()["python"]
        if not python.exists():
            if not _can_make_environments():
                Apt("python3-venv", "/usr/lib/python3*/ensurepip").install()
            get(["python3", "-m", "venv", python.parent.parent])
        get([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *self.requirements])

    def version(self):
        """Returns the version of the first package."""
        return self.requirements[0].partition("==")[2]


def _can_make_environments():
    done = subprocess.run(["python3", "-c", "import ensurepip"], capture_output=True, timeout=60, check=False)
    return done.returncode == 0


@dataclass
class Npm:
    """Package of npm."""

    package: str
    wanted: str

    def install(self):
        """Installs the package without running its scripts."""
        manifest = places()["modules"] / self.package / "package.json"
        if manifest.exists() and json.loads(manifest.read_text())["version"] == self.wanted:
            return
        prefix = places()["modules"].parent
        prefix.mkdir(parents=True, exist_ok=True)
        get(["npm", "install", "--ignore-scripts", "--prefix", prefix, f"{self.package}@{self.wanted}"])

    def version(self):
        """Returns the requested version."""
        return self.wanted


@dataclass
class Crate:
    """Program that cargo installs."""

    name: str
    wanted: str

    def install(self):
        """Builds the crate once."""
        root = folder() / "crates"
        record = root / ".crates.toml"
        if record.exists() and f'"{self.name} {self.wanted} ' in record.read_text():
            return
        environment = dict(os.environ, CARGO_TARGET_DIR=str(folder() / "crates-build"))
        cargo = os.environ.get("CARGO", "cargo")
        get([cargo, "install", "--locked", "--root", root, self.name, "--version", self.wanted], env=environment)

    def version(self):
        """Returns the requested version."""
        return self.wanted


@dataclass
class Built:
    """Program of this project that uses a crate, whose version is in the lock file."""

    crate: str
    lock: Path
    manifest: Path | None = None

    def install(self):
        """Builds the project. `make/programs.sh` builds the projects for which this requirement has no manifest."""
        if not self.manifest:
            return
        cargo = os.environ.get("CARGO", "cargo")
        if not shutil.which(cargo) and places()["rust"].exists():
            return
        target = places()["rust"].parent
        get([cargo, "build", "--locked", "--release", "--manifest-path", self.manifest, "--target-dir", target])

    def version(self):
        """Returns the version of the crate in the lock file."""
        found = re.search(rf'^name = "{self.crate}"\nversion = "(.*)"', self.lock.read_text(), re.MULTILINE)
        return found[1] if found else "unknown"


@dataclass
class Windows:
    """C programs for Windows, linked with the names that Wine's vulkan-1.dll exports."""

    def install(self):
        """Builds the programs with MinGW, unless they were built outside a root that lacks it."""
        built = places()["windows"] / "gpu.exe"
        if built.exists() and not shutil.which("x86_64-w64-mingw32-gcc"):
            return
        Apt("gcc-mingw-w64-x86-64", "x86_64-w64-mingw32-gcc").install()
        out = places()["windows"]
        get(["make", "--silent", "-C", HERE / "windows", f"OUT={out}", f"PROGRAMS={ROOT}/tests/programs"])

    def version(self):
        """Returns no version, because the programs have none."""
        return ""

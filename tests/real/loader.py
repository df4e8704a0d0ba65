"""Finds the two loaders, and creates environments in which a program finds one of them, without settings of the developer."""

import os
import re
from pathlib import Path

from cases import Failure, Skip, scratch, setting

DRIVERS = Path("/usr/share/vulkan/icd.d")
# Environment variables that a program receives from this process. Other variables could change the loaded libraries.
KEPT = ("PATH", "TMPDIR", "LANG")


def ours():
    """Returns the library under test."""
    return setting("VKL_LIBRARY")


def peer():
    """Returns the installed loader of the system."""
    return setting("VKL_PEER_LIBRARY")


def environment(library, **extra):
    """Returns the environment of a program that finds this library under both of its names. The home folder is empty, because the loader
    would find the user's drivers and layers there."""
    folder = scratch("library")
    for name in ("libvulkan.so.1", "libvulkan.so"):
        (folder / name).symlink_to(library.resolve())
    runtime = scratch("runtime")
    runtime.chmod(0o700)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    own = {"LD_LIBRARY_PATH": str(folder), "HOME": str(scratch("home")), "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8"}
    return {**kept, **own, **{name: str(value) for name, value in extra.items()}}


def lavapipe():
    """Returns the manifest of lavapipe."""
    manifests = sorted(DRIVERS.glob("lvp_icd*.json"))
    if not manifests:
        raise Skip("lavapipe is not installed (make setup)")
    return manifests[0]


def mapped(pid):
    """Returns the files that are mapped into a process. The result is empty after the end of the process."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return set()
    return set(re.findall(r"^(?:\S+ +){5}(/.*)$", maps, re.MULTILINE))


def check_mapped(files, library, layer=None):
    """Fails unless the process has mapped this library and the layer, and no other loader."""
    loaders = {file for file in files if "/libvulkan.so" in file or Path(file) == library.resolve()}
    if loaders != {str(library.resolve())}:
        raise Failure(f"the program ran on {sorted(loaders) or 'no loader'}, not on {library.resolve()}")
    if layer and not any(layer in file for file in files):
        raise Failure(f"{layer} was not loaded")

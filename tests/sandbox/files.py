"""Tests that a driver in a sandbox needs every library that `vkloader files` lists, and no other file."""

import functools
import json
import os
import shutil
from pathlib import Path

from bubble import PROGRAM, bubblewrap, flat, grouped, inside, pasted, sandboxed
from cases import HANG, Skip, expect, run, scratch, setting

DRIVERS = Path("/usr/share/vulkan/icd.d")
# Output of the compute program if all results are correct.
WORKS = "0 wrong; triangle of"
# Beginnings of the file names of the C library. Every container has its own C library.
C_LIBRARY = ("ld-linux", "ld-musl", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so")


def vkloader(*arguments, status=0, **variables):
    """Returns the standard output of `vkloader files`."""
    program = setting("VKL_VKLOADER")
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    environment = kept | {"HOME": "/none/such"} | {name: str(value) for name, value in variables.items()}
    words = " ".join(f'"{word}"' for word in (program, "files", "--library", setting("VKL_LIBRARY"), *arguments))
    # Standard error is discarded, because `vkloader files` writes remarks about its list of files there.
    return run(["sh", "-c", f"{words} 2>/dev/null"], HANG, status=status, env=environment)


@functools.cache
def of_lavapipe(form):
    """Returns the output of `vkloader files` for lavapipe."""
    if not list(DRIVERS.glob("lvp_icd*.json")):
        raise Skip("lavapipe is not installed (make setup)")
    bubblewrap()
    return vkloader("--driver", "lvp", "--format", form)


def listed():
    """Returns the listed files, each with its kind and reason."""
    return json.loads(of_lavapipe("json"))["files"]


def enough():
    """The compute program works on lavapipe in a sandbox with only the listed files."""
    output = pasted(of_lavapipe("bwrap"), inside("gpu"), [PROGRAM])
    expect("llvmpipe" in output and WORKS in output, output)


def without(paths):
    """Returns the program's output in a sandbox without the files at these paths."""
    gone = {str(path) for path in paths}
    options = grouped(of_lavapipe("bwrap"))
    kept = [option for option in options if option[-1] not in gone]
    expect(len(options) - len(kept) == len(gone), f"not one option for each of {sorted(gone)}")
    return sandboxed([*flat(kept), *inside("gpu")], [PROGRAM], status=None)


def tight():
    """The program fails if any one of the libraries is missing."""
    kinds = {file["path"]: file["kind"] for file in listed() if file["because"] in ("chosen", "needed")}
    names = [path for path, kind in kinds.items() if kind in ("library", "linker", "link")]
    needless = [name for name in names if WORKS in without([name])]
    expect(not needless, f"it works without {needless}")
    links = [name for name in names if kinds[name] == "link"]
    expect(len(names) - len(links) > 20, f"{names} are too few")
    print(f"        {len(names) - len(links)} libraries and {len(links)} links were left out in turn", flush=True)


def manifest():
    """The program finds no driver if the manifest is missing."""
    manifests = [file["path"] for file in listed() if file["kind"] == "manifest"]
    output = without(manifests)
    expect(WORKS not in output and len(manifests) == 1, output)


def optional():
    """The program works without `/sys`, and without files that are only known from similar drivers."""
    paths = [file["path"] for file in listed() if file["because"] in ("known", "asked")]
    output = without(paths)
    expect(paths and WORKS in output, output)
    print(f"        {len(paths)} files were left out together", flush=True)


def c_library():
    """Returns the options that mount only the C library of this system and the links to the C library's folders."""
    base = [option for option in grouped(of_lavapipe("bwrap")) if option[-1] in ("/lib", "/lib64", "/proc", "/dev")]
    own = [file["path"] for file in listed() if Path(file["path"]).name.startswith(C_LIBRARY)]
    return flat(base) + flat(["--ro-bind", os.path.realpath(path), path] for path in own)


def container():
    """The mounts and libraries of the container specification suffice for a container that has only the C library."""
    specification = json.loads(of_lavapipe("cdi"))
    device = next(device for device in specification["devices"] if device["name"] == "all")
    options = c_library()
    edits = [specification["containerEdits"], device["containerEdits"]]
    mounts = [mount for edit in edits for mount in edit.get("mounts", [])]
    # The test mounts the files that the hook would link, because the hook itself runs only in a container runtime.
    hook = device["containerEdits"]["hooks"][0]
    mounts += [{"hostPath": os.path.realpath(path), "containerPath": path} for path in hook["args"][2:]]
    for mount in mounts:
        options += ["--ro-bind", mount["hostPath"], mount["containerPath"]]
    for variable in (variable for edit in edits for variable in edit.get("env", [])):
        options += ["--setenv", *variable.split("=", 1)]
    expect(not any(Path(mount["containerPath"]).name.startswith(C_LIBRARY) for mount in mounts), "it brings a C library")
    output = sandboxed([*options, *inside("gpu")], [PROGRAM])
    expect(WORKS in output, output)


def strange_names():
    """The loader finds a driver in a folder with unusual characters, through a link and the variable in the list."""
    bubblewrap()
    folder = scratch("strange") / "it's a \"folder\" $HOME & more"
    shutil.copytree(setting("VKL_PROGRAMS") / "mock", folder)
    link = folder.parent / "a link"
    link.symlink_to(folder.name)
    found = link / "mock_driver.json"
    text = vkloader("--driver", "mock_driver*", "--format", "bwrap", VK_DRIVER_FILES=found)
    expect("--setenv VK_DRIVER_FILES" in text and "--symlink" in text, text)
    output = pasted(text, inside("hello"), [PROGRAM, "mock"])
    expect("Mock GPU" in output and "1 of 1 devices worked" in output, output)


CASES = [
    ("the compute program on lavapipe", enough),
    ("no library is too much", tight),
    ("no driver without its manifest", manifest),
    ("what is optional may be missing", optional),
    ("a container with its own C library", container),
    ("strange names and links", strange_names),
]

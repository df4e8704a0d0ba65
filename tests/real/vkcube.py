"""Tests that vkcube renders on lavapipe through the library, with and without layers, and that the picture shows its cube.

Two variants are tested too: vkcubepp, which calls through the C++ headers, and vkcube-wayland, under a compositor without a screen.
"""

import os
import subprocess
import time
from pathlib import Path

import loader
from cases import HANG, SCRATCH, Failure, end, expect, start, tool
from display import Compositor, Display

FRAMES = 100
# Distance of vkcube's window from the corner of the display, and width and height of the window, in pixels.
EDGE, SIDE = 100, 500
# Beginning of vkcube's line about the chosen driver. In a run without errors, vkcube prints no other line.
EXPECTED = ("Selected GPU ",)


class Run:
    """Results of a run: its output, its pictures, and the mapped files."""

    def __init__(self, library, *arguments, program="vkcube", screen=Display, frames=FRAMES, status=0, **variables):
        with screen() as display:
            environment = loader.environment(library, VK_DRIVER_FILES=loader.lavapipe(), **variables)
            environment.update(display.variables)
            output = SCRATCH / "vkcube.txt"
            command = [tool(program), "--c", frames, *arguments]
            with open(output, "wb") as file:
                process = start(command, env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
            self.pictures, self.mapped = watch(process, display)
            self.status = process.returncode
            self.output = output.read_text(errors="replace")
            end(process)
        expect(self.status == status, f"{program} ended with status {self.status}\n{self.output[-3000:]}")

    def messages(self):
        """Returns the lines of the output that vkcube does not print in a run without errors."""
        return [line for line in self.output.splitlines() if line.strip() and not line.startswith(EXPECTED)]


def watch(process, display):
    """Collects pictures and mapped files until the process ends."""
    pictures, mapped = [], set()
    deadline = time.monotonic() + HANG
    while process.poll() is None:
        if time.monotonic() > deadline:
            end(process)
            raise Failure(f"vkcube still ran after {HANG} s")
        mapped |= loader.mapped(process.pid)
        picture = display.picture()
        if picture and (not pictures or pictures[-1].pixels != picture.pixels):
            # The list contains only the first twenty and the last forty pictures.
            pictures[20:] = pictures[21:] if len(pictures) > 60 else pictures[20:]
            pictures.append(picture)
        time.sleep(0.002)
    return pictures, mapped


def shows_cube(picture):
    """Returns True if the window has a textured body in the middle of a background with a single colour."""
    near, far, margin = EDGE, EDGE + SIDE, 20
    colours = picture.colours(near, near, far, far)
    background = next(picture.rows(near, near, near + 1, near + 1))[0]
    edges = [
        (near, near, far, near + margin),
        (near, far - margin, far, far),
        (near, near, near + margin, far),
        (far - margin, near, far, far),
    ]
    free = all(set(picture.colours(*edge)) == {background} for edge in edges)
    covered = 1 - colours[background] / SIDE**2
    return free and 0.1 < covered < 0.8 and len(colours) > 100


def check_cube(run, name):
    """Fails unless at least two pictures show the cube, with different rotations. Saves one of these pictures for people."""
    cubes = [picture for picture in run.pictures if shows_cube(picture)]
    expect(len(cubes) > 1, f"{len(cubes)} of {len(run.pictures)} pictures show a cube")
    if "VKL_PICTURES" in os.environ:
        folder = Path(os.environ["VKL_PICTURES"])
        folder.mkdir(parents=True, exist_ok=True)
        cubes[len(cubes) // 2].write_png(folder / f"{name}.png")


def alone():
    """vkcube draws 100 frames without a layer."""
    run = Run(loader.ours())
    loader.check_mapped(run.mapped, loader.ours())
    expect(not run.messages(), "\n".join(run.messages()))
    check_cube(run, "vkcube")


def validated():
    """vkcube draws 100 frames with the validation layer, which vkcube itself requests. The layer reports no error."""
    run = Run(loader.ours(), "--validate")
    loader.check_mapped(run.mapped, loader.ours(), "libVkLayer_khronos_validation")
    expect(not run.messages(), "\n".join(run.messages()))
    check_cube(run, "vkcube-validation")


def validated_from_outside():
    """The validation layer works if only the environment requests it."""
    run = Run(loader.ours(), VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation")
    loader.check_mapped(run.mapped, loader.ours(), "libVkLayer_khronos_validation")
    expect(not run.messages(), "\n".join(run.messages()))
    check_cube(run, "vkcube-validation-variable")


def through_cpp():
    """vkcubepp draws the cube. Its calls use the dispatcher of the C++ headers."""
    run = Run(loader.ours(), "--validate", program="vkcubepp")
    loader.check_mapped(run.mapped, loader.ours(), "libVkLayer_khronos_validation")
    expect(not run.messages(), "\n".join(run.messages()))
    check_cube(run, "vkcubepp")


def on_wayland():
    """vkcube-wayland draws with the validation layer, through the surface, swapchain and presentation of the other window system."""
    run = Run(loader.ours(), "--validate", program="vkcube-wayland", screen=Compositor)
    loader.check_mapped(run.mapped, loader.ours(), "libVkLayer_khronos_validation")
    expect(not run.messages(), "\n".join(run.messages()))


def validation_speaks():
    """The layer reports the errors that vkcube causes on request. If the layer reports nothing in the other cases, they therefore have
    no errors."""
    run = Run(loader.ours(), "--validate", "--force_errors", frames=3, status=1)
    expect(any("VUID-VkFenceCreateInfo-sType-sType" in line for line in run.messages()), run.output[-2000:])


def blank_is_no_cube():
    """The check rejects an empty display."""
    with Display() as display:
        expect(not shows_cube(display.picture()), "an empty display counts as a cube")


CASES = [
    ("an empty display shows no cube", blank_is_no_cube),
    ("100 frames show the cube", alone),
    ("100 frames with the validation layer, no message", validated),
    ("100 frames with the validation layer by VK_INSTANCE_LAYERS, no message", validated_from_outside),
    ("the validation layer reports forced errors", validation_speaks),
    ("vkcubepp with the validation layer, no message", through_cpp),
    ("vkcube-wayland with the validation layer, no message", on_wayland),
]

"""Tests of Mesa's layers: overlay, which draws into the frames, and device-select, which is implicit."""

from pathlib import Path

import loader
import vkcube
import vulkaninfo
from cases import Skip, expect, run, scratch, tool

LAYERS = Path("/usr/share/vulkan")


def require(manifest):
    """Skips the case if the layer is not installed."""
    if not any(LAYERS.glob(manifest)):
        raise Skip(f"{manifest} is not installed (make setup)")


def overlay():
    """The overlay writes its figures to a file, with a line for each interval. The file shows that the presented frames passed through
    the layer."""
    require("explicit_layer.d/VkLayer_MESA_overlay.json")
    figures = scratch("overlay") / "figures.csv"
    variables = {
        "VK_INSTANCE_LAYERS": "VK_LAYER_MESA_overlay",
        "VK_LAYER_MESA_OVERLAY_CONFIG": f"output_file={figures},frame,fps_sampling_period=20",
    }
    seen = vkcube.Run(loader.ours(), **variables)
    loader.check_mapped(seen.mapped, loader.ours(), "libVkLayer_MESA_overlay")
    lines = figures.read_text().splitlines()
    head = [word.strip() for word in lines[0].split(",")] if lines else []
    expect("frame" in head, f"the overlay's figures are {lines}")
    frames = sum(int(line.split(",")[head.index("frame")]) for line in lines[1:])
    # The overlay may report fewer frames than vkcube draws, because vkcube ends before the overlay's last interval is complete.
    expect(vkcube.FRAMES // 2 < frames <= vkcube.FRAMES, f"the overlay saw {frames} frames: {lines}")


def overlay_draws():
    """The text of the overlay hides the cube's background in a corner in which vkcube draws nothing."""
    require("explicit_layer.d/VkLayer_MESA_overlay.json")
    corner = (vkcube.EDGE, vkcube.EDGE, vkcube.EDGE + 200, vkcube.EDGE + 40)

    def most_colours(seen):
        return max(len(picture.colours(*corner)) for picture in seen.pictures)

    plain = most_colours(vkcube.Run(loader.ours()))
    drawn = most_colours(vkcube.Run(loader.ours(), VK_INSTANCE_LAYERS="VK_LAYER_MESA_overlay"))
    expect(plain <= 3 and drawn > plain + 10, f"{plain} colours in the corner without the overlay, {drawn} with it")


def device_select():
    """On request, the layer lists the devices and ends the program. The output is the same with both loaders."""
    require("implicit_layer.d/VkLayer_MESA_device_select.json")
    lists = [
        run(
            [tool("vulkaninfo"), "--summary"],
            60,
            env=loader.environment(library, MESA_VK_DEVICE_SELECT="list", VK_DRIVER_FILES=loader.lavapipe()),
        )
        for library in (loader.ours(), loader.peer())
    ]
    expect("selectable devices:" in lists[0] and "llvmpipe" in lists[0], lists[0][-2000:])
    vulkaninfo.compare(*lists)


def device_select_disabled():
    """The layer's disable variable prevents the output of the list."""
    require("implicit_layer.d/VkLayer_MESA_device_select.json")
    variables = {"MESA_VK_DEVICE_SELECT": "list", "NODEVICE_SELECT": "1", "VK_DRIVER_FILES": loader.lavapipe()}
    output = run([tool("vulkaninfo"), "--summary"], 60, env=loader.environment(loader.ours(), **variables))
    expect("selectable devices:" not in output and "deviceName" in output, output[-2000:])


CASES = [
    ("the overlay layer counts the frames of vkcube", overlay),
    ("the overlay layer draws into the frames of vkcube", overlay_draws),
    ("the device-select layer lists devices", device_select),
    ("the device-select layer is kept out by its variable", device_select_disabled),
]

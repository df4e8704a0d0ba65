"""Tests widely used layers, first separately and then together. vkcube and vulkaninfo must behave in the same way as with the other
loader."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import loader
import vkcube
import vulkaninfo
from cases import Skip, expect

MANIFESTS = Path("/usr/share/vulkan")
# Variable that disables Debian's implicit layer, which is otherwise active in every process.
QUIET = {"NODEVICE_SELECT": "1"}
# Part of vkcube's window in which vkcube itself draws nothing: left, top, right, bottom.
CORNER = (vkcube.EDGE, vkcube.EDGE, vkcube.EDGE + 200, vkcube.EDGE + 40)
# Maximum number of colours in an area in which nothing is drawn, and the largest number of further runs if no picture shows the layer's
# drawing.
FEW, TRIES = 10, 3
# Pattern of handles and addresses, which differ between runs.
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Layer:
    """Real layer: its name, manifest and library, and the variables with which a program loads it."""

    name: str
    manifest: str
    library: str
    source: str = "make setup"
    explicit: bool = True
    # True if the layer draws into the frames.
    draws: bool = False
    variables: dict = field(default_factory=dict)

    def require(self):
        """Skips the case if the layer is not installed."""
        if not (MANIFESTS / self.manifest).exists():
            raise Skip(f"{self.manifest} is not installed ({self.source})")


# VK_LAYER_INTEL_nullhw, which Debian has too, is not in the list. This layer is only for Intel's driver, and crashes on lavapipe with both
# loaders.
LAYERS = (
    Layer(
        "VK_LAYER_KHRONOS_validation",
        "explicit_layer.d/VkLayer_khronos_validation.json",
        "libVkLayer_khronos_validation",
    ),
    Layer("VK_LAYER_MESA_overlay", "explicit_layer.d/VkLayer_MESA_overlay.json", "libVkLayer_MESA_overlay", draws=True),
    Layer(
        "VK_LAYER_MESA_device_select",
        "implicit_layer.d/VkLayer_MESA_device_select.json",
        "libVkLayer_MESA_device_select",
        explicit=False,
        variables={"NODEVICE_SELECT": None},
    ),
    Layer(
        "VK_LAYER_MANGOHUD_overlay",
        "implicit_layer.d/MangoHud.json",
        "libMangoHud",
        explicit=False,
        draws=True,
        # The messages of MangoHud contain the time, so the test disables them. This configuration replaces the user's configuration.
        variables={"MANGOHUD": "1", "MANGOHUD_LOG_LEVEL": "off", "MANGOHUD_CONFIG": "fps,frame_timing,engine_version"},
    ),
    Layer(
        "VK_LAYER_LUNARG_api_dump",
        "explicit_layer.d/VkLayer_api_dump.json",
        "libVkLayer_api_dump",
        source="no package of Debian 12 has it",
        # The layer's output contains many addresses and times, so the test does not compare it.
        variables={"VK_APIDUMP_LOG_FILENAME": "/dev/null"},
    ),
)


def variables_of(layers):
    """Returns the variables with which a program loads only these layers."""
    asked = ":".join(layer.name for layer in layers if layer.explicit)
    merged = dict(QUIET, **({"VK_INSTANCE_LAYERS": asked} if asked else {}))
    for layer in layers:
        merged.update(layer.variables)
    return {name: value for name, value in merged.items() if value is not None}


def colours(run):
    """Returns the largest number of colours in the corner among the pictures of a run."""
    return max(len(picture.colours(*CORNER)) for picture in run.pictures)


def most_colours(run, library, variables):
    """Returns the largest number of colours in several runs. On a busy machine, the test can read a picture before the layer draws."""
    count = colours(run)
    for _ in range(TRIES):
        if count > FEW:
            break
        count = colours(vkcube.Run(library, **variables))
    return count


def on_vkcube(layers):
    """Runs vkcube with these layers. The layers must be loaded and work, and the output must be the same as with the other loader."""
    variables = variables_of(layers)
    libraries = (loader.ours(), loader.peer())
    ours, theirs = (vkcube.Run(library, **variables) for library in libraries)
    for layer in layers:
        loader.check_mapped(ours.mapped, loader.ours(), layer.library)
    # Only these layers may be loaded, because any other layer would make the comparison worthless.
    others = [layer.library for layer in LAYERS if layer not in layers]
    strays = [file for file in ours.mapped if any(library in file for library in others)]
    expect(not strays, f"{strays} are loaded too")
    texts = [ADDRESS.sub("0x*", run.output) for run in (ours, theirs)]
    expect(texts[0] == texts[1], f"vkcube printed\n{texts[0]}\nand under the other loader\n{texts[1]}")
    if any(layer.draws for layer in layers):
        counts = [most_colours(run, library, variables) for run, library in zip((ours, theirs), libraries)]
        expect(min(counts) > FEW, f"{counts} colours where the layers draw")
    else:
        vkcube.check_cube(ours, "vkcube-" + "-".join(layer.name for layer in layers))


def on_vulkaninfo(layers):
    """With these layers, vulkaninfo prints the same as with the other loader, except for the listed lines."""
    ours, theirs = vulkaninfo.outputs(**variables_of(layers))
    expect("llvmpipe" in ours and len(ours.splitlines()) > 1000, ours[-2000:])
    vulkaninfo.compare(ours, theirs)
    # vulkaninfo requests the newest version, so the loader warns that each of these layers is older. The warning shows that a layer was
    # active.
    silent = [layer.name for layer in layers if f"Layer {layer.name} uses API version" not in ours]
    expect(not silent, f"nothing shows that {silent} worked")


def alone(check, layer):
    """Returns a case with a single layer."""

    def case():
        layer.require()
        check([layer])

    return case


def stacked(check):
    """Returns a case with all installed layers. At least four layers must be installed."""

    def case():
        installed = [layer for layer in LAYERS if (MANIFESTS / layer.manifest).exists()]
        if len(installed) < 4:
            raise Skip(f"{len(installed)} layers are installed (make setup)")
        check(installed)

    return case


PROGRAMS = {"vkcube": on_vkcube, "vulkaninfo": on_vulkaninfo}
CASES = [(f"{layer.name} on {name}", alone(check, layer)) for layer in LAYERS for name, check in PROGRAMS.items()]
CASES += [(f"all layers stacked on {name}", stacked(check)) for name, check in PROGRAMS.items()]
# This test comes last, because it checks that the tests above used every row of the list.
CASES += [("every listed difference of vulkaninfo occurs", vulkaninfo.list_is_alive)]

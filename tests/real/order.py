"""Tests both orders of MangoHud and vkBasalt. The order determines whether effects change the text of the overlay."""

import os
from pathlib import Path

import layers
import loader
import vkcube
from cases import Skip, expect, scratch

OVERLAY, EFFECTS = "VK_LAYER_MANGOHUD_overlay", "VK_LAYER_VKBASALT_post_processing"
MANIFEST = layers.MANIFESTS / "implicit_layer.d/vkBasalt.json"
MANGOHUD = next(layer for layer in layers.LAYERS if layer.name == OVERLAY)
# Table of colours that removes all colours except red.
RED = "LUT_3D_SIZE 2\n" + "".join(f"{red} 0 0\n" for _ in range(4) for red in (0, 1))


def variables():
    """Returns the variables with which both layers work. vkBasalt has an effect that removes green and blue."""
    MANGOHUD.require()
    if not MANIFEST.exists():
        raise Skip(f"{MANIFEST.name} is not installed (apt-get install vkbasalt)")
    folder = scratch("effects")
    (folder / "red.cube").write_text(RED)
    (folder / "vkBasalt.conf").write_text(f'effects = lut\nlutFile = "{folder}/red.cube"\nenableOnLaunch = True\n')
    own = {"ENABLE_VKBASALT": "1", "VKBASALT_CONFIG_FILE": folder / "vkBasalt.conf", "VKBASALT_LOG_LEVEL": "error"}
    return {**layers.QUIET, **MANGOHUD.variables, **own}


def is_red(colour):
    """Returns True if a colour contains only red."""
    return colour & 0xFFFF == 0


def others(picture):
    """Returns the number of pixels of the window that contain green or blue."""
    near, far = vkcube.EDGE, vkcube.EDGE + vkcube.SIDE
    return sum(count for colour, count in picture.colours(near, near, far, far).items() if not is_red(colour))


def drawn(order):
    """Returns the last picture of a run that shows the overlay, and the number of pixels that contain green or blue."""
    settings = variables()
    for _ in range(layers.TRIES):
        run = vkcube.Run(loader.ours(), VK_LOADER_LAYERS_ORDER=order, VK_LOADER_DEBUG="layer", **settings)
        for library in ("libMangoHud", "libvkbasalt"):
            loader.check_mapped(run.mapped, loader.ours(), library)
        names = [line.split()[-1] for line in run.output.splitlines() if line.split()[-1:] in ([OVERLAY], [EFFECTS])]
        shown = [picture for picture in run.pictures if len(picture.colours(*layers.CORNER)) > layers.FEW]
        if shown:
            if "VKL_PICTURES" in os.environ:
                folder = Path(os.environ["VKL_PICTURES"])
                folder.mkdir(parents=True, exist_ok=True)
                shown[-1].write_png(folder / f"order-{names[0]}.png")
            return names[:2], others(shown[-1])
    raise Skip("no picture shows the overlay on this machine")


def compared():
    """If the overlay is drawn before the effects, it becomes red like the other parts of the picture. If the overlay is drawn after the
    effects, its colours do not change."""
    above, changed = drawn(f"{OVERLAY}>{EFFECTS}")
    below, kept = drawn(f"{EFFECTS}>{OVERLAY}")
    expect(above == [OVERLAY, EFFECTS] and below == [EFFECTS, OVERLAY], f"{above} {below}")
    expect(changed == 0, f"{changed} pixels have green or blue below the effects")
    expect(kept > 100, f"{kept} pixels of the overlay keep their colours")


CASES = [("MangoHud above and below vkBasalt", compared)]

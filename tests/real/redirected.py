"""Tests with a preloaded library that redirects paths, as in some sandboxes. The loader must find drivers and layers for which stat
fails (APP-217, APP-218)."""

import json
import shutil
from pathlib import Path

import loader
from cases import ROOT, Skip, expect, run, scratch, tool

PREFIX = "/vkl-elsewhere"
LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")


def library_of(path, manifest):
    """Returns the file of a manifest's library path. For a bare name, asks the system."""
    if "/" not in path:
        found = [folder / path for folder in Path("/usr/lib").glob("*-linux-gnu*")]
        path = next((file for file in found if file.exists()), path)
    return manifest.parent / path


def move(manifest, member, root, folder):
    """Copies a manifest and its library into a folder that the redirection shows. The copied manifest names the copied library."""
    content = json.loads(manifest.read_text())
    library = library_of(content[member]["library_path"], manifest)
    (root / "lib").mkdir(exist_ok=True)
    shutil.copy(library, root / "lib")
    content[member]["library_path"] = f"{PREFIX}/lib/{library.name}"
    (root / folder).mkdir()
    (root / folder / manifest.name).write_text(json.dumps(content))


def summary(root, preload):
    """Returns the output of vulkaninfo about the driver and the layer that are visible only through the redirection."""
    variables = {
        "LD_PRELOAD": preload,
        "VKL_ELSEWHERE": root,
        "VK_DRIVER_FILES": f"{PREFIX}/drivers",
        "VK_LAYER_PATH": f"{PREFIX}/layers",
        "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
    }
    environment = loader.environment(loader.ours(), **variables)
    return run([tool("vulkaninfo"), "--summary"], 60, status=None, env=environment)


def opened_only():
    """Folders, manifests and libraries are opened only through calls that can be redirected."""
    if not LAYER.exists():
        raise Skip("the validation layer is not installed (make setup)")
    root = scratch("elsewhere")
    move(loader.lavapipe(), "ICD", root, "drivers")
    move(LAYER, "layer", root, "layers")
    library = root / "redirect.so"
    source = ROOT / "tests/real/elsewhere.c"
    run([tool("cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source], 60)
    output = summary(root, library)
    expect("llvmpipe" in output, output[-3000:])
    expect("Layer VK_LAYER_KHRONOS_validation uses API version" in output, output[-3000:])
    # Tests the check itself: without the redirection, vulkaninfo must not find the driver.
    expect("llvmpipe" not in summary(root, ""), "the driver is found without the redirection")


CASES = [("what can be opened and not seen is used", opened_only)]

"""Tests that real programs print the same text with and without the policy `lazy`. With this policy, drivers remain closed until a
program uses them."""

import re
import sys

import loader
import vulkaninfo
from cases import HANG, SCRATCH, expect, run, scratch, setting, tool
from display import Display
from layers import ADDRESS, LAYERS, variables_of

# Pattern of lines of vulkaninfo with values that a driver measures.
MEASURED = re.compile(r"^\s*(budget|usage)\s*=.*$", re.MULTILINE)
# Pattern of frame rates and frame times in the output of layers.
COUNTED = re.compile(r"\b\d+(\.\d+)? ?(fps|FPS|ms)\b")

_made = {}


def environments():
    """Returns the variables without the policy and the variables with it. Both use the same catalogue of the installed drivers, which
    the first call makes."""
    if not _made:
        plain = loader.environment(loader.ours(), XDG_CACHE_HOME=scratch("caches"), VK_LOADER_CATALOGUE="on", NODEVICE_SELECT="1")
        update = [setting("VKL_VKLOADER"), "catalogue", "update", "--user", "--timeout", HANG, "--library", loader.ours()]
        updated = run(update, HANG, env=plain)
        # A driver without an entry or a record is opened by every program, which these cases would report without the reason.
        skipped = re.findall(r"^vkloader: .*lvp.*$", updated, re.MULTILINE)
        expect(not skipped, updated[-3000:])
        _made.update(plain=plain, lazy={**plain, "VK_LOADER_DRIVER_POLICY": "lazy"})
    return _made["plain"], _made["lazy"]


def printed(command, environment, **variables):
    """Returns the output of a program on a separate display, without addresses and measured values."""
    with Display() as display:
        variables = {name: str(value) for name, value in variables.items()}
        output = run(command, HANG, env={**environment, **display.variables, **variables}, cwd=SCRATCH)
    for pattern in (ADDRESS, MEASURED, COUNTED):
        output = pattern.sub("*", output)
    return output


def same(command, contains, **variables):
    """Fails if the output of a program is different with and without the policy, or does not contain `contains`."""
    plain, lazy = (printed(command, environment, **variables) for environment in environments())
    expect(contains in plain, plain[-3000:])
    differing = [sign + line for sign, line in vulkaninfo.differences(plain.splitlines(), lazy.splitlines())]
    expect(not differing, f"{len(differing)} lines differ:\n" + "\n".join(differing[:30]))


def on(name, *arguments, contains="llvmpipe", **variables):
    """Returns a case that runs a program of this project or an installed program."""

    def case():
        own = setting("VKL_PROGRAMS") / name
        command = own if own.exists() else tool(name)
        same([command, *arguments], contains, **variables)

    return case


def under(layer, name, *arguments, contains):
    """Returns a case: runs an installed program with a layer."""

    def case():
        layer.require()
        # A driver stays closed only if the program has the variables that were set during the update of the catalogue. The update therefore
        # also runs with the layer's variables.
        same([tool(name), *arguments], contains, **variables_of([layer]))

    return case


# Program that prints the names of all devices and opens no driver. `vulkaninfo --summary` would open drivers, because it also queries the
# free memory.
LISTING = """
import ctypes
vulkan = ctypes.CDLL("libvulkan.so.1")
instance, count = ctypes.c_void_p(), ctypes.c_uint32(16)
devices, properties = (ctypes.c_void_p * 16)(), ctypes.create_string_buffer(1024)
assert vulkan.vkCreateInstance((ctypes.c_uint64 * 8)(1), None, ctypes.byref(instance)) == 0
assert vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices) == 0
for device in devices[: count.value]:
    vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
    print(properties.raw[20:276].split(bytes(1))[0].decode())
vulkan.vkDestroyInstance(instance, None)
"""


def listing_opens_nothing():
    """A program that lists the devices opens no driver, and `gpu` opens the one that it uses."""
    _, lazy = environments()
    listed = run([sys.executable, "-c", LISTING], HANG, env={**lazy, "VK_LOADER_DEBUG": "info"})
    expect("its devices are listed from the record" in listed and "Opening driver" not in listed, listed[-3000:])
    expect("\nllvmpipe" in listed, listed[-3000:])
    used = printed([setting("VKL_PROGRAMS") / "gpu"], lazy, VK_LOADER_DEBUG="info")
    expect(re.search(r"Opening driver \S*lvp\S* now, for vkCreateDevice", used), used[-3000:])


VALIDATION = next(layer for layer in LAYERS if layer.name == "VK_LAYER_KHRONOS_validation")
MANGOHUD = next(layer for layer in LAYERS if layer.name == "VK_LAYER_MANGOHUD_overlay")

CASES = [
    ("lazy: a list of devices opens no driver", listing_opens_nothing),
    ("lazy: vulkaninfo prints the same", on("vulkaninfo")),
    ("lazy: vulkaninfo --summary prints the same", on("vulkaninfo", "--summary")),
    ("lazy: hello prints the same", on("hello")),
    ("lazy: ash-client prints the same", on("ash-client")),
    ("lazy: gpu computes and draws the same", on("gpu")),
    ("lazy: vkcube prints the same", on("vkcube", "--c", 30, contains="Selected GPU")),
    ("lazy: vulkaninfo under the validation layer prints the same", under(VALIDATION, "vulkaninfo", contains="llvmpipe")),
    ("lazy: vkcube under the validation layer prints the same", under(VALIDATION, "vkcube", "--c", 30, "--validate", contains="Selected GPU")),
    ("lazy: vkcube under MangoHud prints the same", under(MANGOHUD, "vkcube", "--c", 30, contains="Selected GPU")),
]

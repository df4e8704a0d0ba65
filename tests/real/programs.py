"""The project's own Vulkan programs, each of which reaches the library in another way and does the same work."""

import re

import loader
from cases import ROOT, expect, run, setting

LIMIT = 60


def work(arguments, **variables):
    """Runs a program on the library under test and returns what it printed."""
    program = setting("VKL_PROGRAMS") / arguments[0]
    return run([program, *arguments[1:]], LIMIT, env=loader.environment(loader.ours(), **variables))


def version():
    """The version the library under test is to report; another loader reports its own."""
    return re.search(r'^header = "(.*)"', (ROOT / "registry/pin.toml").read_text(), re.MULTILINE)[1]


def on_real_drivers(*arguments):
    """A case: the work on lavapipe is read back right."""

    def case():
        output = work(arguments, VK_DRIVER_FILES=loader.lavapipe())
        expect("llvmpipe" in output, output)
        expect("and read all of them back" in output, output)
        expect("1 of 1 devices worked" in output, output)
        expect(f"Vulkan loader {version()}\n" in output, f"not version {version()}:\n{output}")

    return case


CASES = [
    ("linked with -lvulkan", on_real_drivers("hello")),
    ("dlopen and vkGetInstanceProcAddr", on_real_drivers("dlopen")),
    ("dlopen and vkGetDeviceProcAddr", on_real_drivers("dlopen", "device")),
    ("in Rust on the ash crate", on_real_drivers("ash-client")),
]

"""Tests of the project's own Vulkan programs, which do the same work, and reach the library in different ways."""

import re

import loader
from cases import HANG, ROOT, expect, run, setting

# Pattern of the beginnings of the validation layer's messages.
MESSAGE = re.compile(r"VUID|UNASSIGNED|Validation (Error|Warning|Performance)")


def work(arguments, **variables):
    """Runs a program with the library under test, and returns its output."""
    program = setting("VKL_PROGRAMS") / arguments[0]
    return run([program, *arguments[1:]], HANG, env=loader.environment(loader.ours(), **variables))


def version():
    """Returns the version that the library under test must report. Other loaders report different versions."""
    return re.search(r'^header = "(.*)"', (ROOT / "registry/pin.toml").read_text(), re.MULTILINE)[1]


def on_lavapipe(*arguments, **variables):
    """Returns a case: the results of the work on a real driver are correct, and the program prints no other text."""

    def case():
        output = work(arguments, VK_DRIVER_FILES=loader.lavapipe(), **variables)
        expect("llvmpipe" in output, output)
        expect("and read all of them back" in output and "1 of 1 devices worked" in output, output)
        expect(not MESSAGE.search(output), output)

    return case


def reported_version():
    """Every program reports the version of the registry from which the library was generated."""
    for program in ("hello", "dlopen", "ash-client"):
        output = work([program], VK_DRIVER_FILES=loader.lavapipe())
        expect(f"Vulkan loader {version()}\n" in output, f"{program} was not told {version()}:\n{output}")


def on_mock(*arguments):
    """Returns a case: the same calls reach a mock driver."""

    def case():
        manifest = setting("VKL_PROGRAMS") / "mock/mock_driver.json"
        output = work([*arguments, "mock"], VK_DRIVER_FILES=manifest)
        expect("Mock GPU" in output and "1 of 1 devices worked" in output, output)

    return case


def on_all_installed():
    """Without variables, the loader finds the drivers of the system. Some of these drivers have no device on this machine."""
    output = work(["hello"])
    found = re.search(r"Drivers found: (\d+)", output)
    installed = list(loader.DRIVERS.glob("*.json"))
    expect(found and int(found[1]) >= len(installed), f"{len(installed)} installed:\n{output}")
    expect("lvp_icd" in output and "llvmpipe" in output, output)


def no_driver():
    """Without a driver, the loader reports the missing driver, and the program ends normally."""
    program = setting("VKL_PROGRAMS") / "hello"
    environment = loader.environment(loader.ours(), VK_DRIVER_FILES="/nonexistent.json")
    output = run([program], HANG, status=1, env=environment)
    expect("vkCreateInstance returned -9" in output, output)


def shaders(**variables):
    """Returns a case: the numbers of a compute shader, and a triangle that is drawn without a display, are correct."""

    def case():
        output = work(["gpu"], VK_DRIVER_FILES=loader.lavapipe(), **variables)
        expect(re.search(r"^llvmpipe.* 0 wrong; triangle of \d+ pixels: ok$", output, re.MULTILINE), output)
        expect(not MESSAGE.search(output), output)

    return case


VALIDATION = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}

CASES = [
    ("the version reported", reported_version),
    ("linked with -lvulkan", on_lavapipe("hello")),
    ("linked, all installed drivers", on_all_installed),
    ("linked, through the validation layer", on_lavapipe("hello", **VALIDATION)),
    ("compute and a headless render", shaders()),
    ("compute and a headless render, through the validation layer", shaders(**VALIDATION)),
    ("linked, without a driver", no_driver),
    ("dlopen and vkGetInstanceProcAddr", on_lavapipe("dlopen")),
    ("dlopen and vkGetDeviceProcAddr", on_lavapipe("dlopen", "device")),
    ("dlopen twice, the library having left the process", on_lavapipe("dlopen", "again")),
    ("in Rust on the ash crate", on_lavapipe("ash-client")),
    ("linked, on the mock driver", on_mock("hello")),
    ("dlopen, on the mock driver", on_mock("dlopen", "device")),
    ("in Rust on the ash crate, on the mock driver", on_mock("ash-client")),
]

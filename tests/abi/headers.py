"""Compares the emitted types with the C headers of the system, as far as the headers contain them (GEN-40).

`xtask abi` prints facts about the Rust sources. The script turns these facts into assertions in C, which the C compiler checks. The headers
may be older than the registry. The output contains the number and the names of the types that the headers lack.
"""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

from cases import HANG, ROOT, Skip, expect, program, run, scratch, tool

HEADERS = Path("/usr/include/vulkan")
PREAMBLE = Path(__file__).with_name("platform.h")

# Function types whose Rust declaration deliberately differs from the C header, each with the reason why the difference does not affect
# callers.
LOOSER = {
    "PFN_vkNegotiateLoaderLayerInterfaceVersion": "a pointer to a structure that only the hand-written runtime knows",
}


@cache
def known():
    """Returns every identifier in the headers."""
    if not HEADERS.is_dir():
        raise Skip(f"{HEADERS} is not there (make setup)")
    text = "\n".join(path.read_text() for path in sorted(HEADERS.glob("*.h")))
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return set(re.findall(r"\w+", code))


@cache
def facts():
    """Returns the facts of the Rust sources: structures, constants and functions, in the notation of C."""
    output = subprocess.run([*program("xtask"), "abi"], cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=HANG).stdout
    return json.loads(output)


def errors(assertions):
    """Returns the C compiler's errors: the text of each assertion that is false, and other messages."""
    source = scratch("headers") / "assertions.c"
    source.write_text(f'#include "{PREAMBLE}"\n' + "".join(f'_Static_assert({c}, "{text}");\n' for text, c in assertions))
    output = run([tool("cc"), "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", source], 60, status=None)
    lines = [line for line in output.splitlines() if "error:" in line]
    return [re.sub(r'.*static assertion failed: "(.*)"', r"\1", line) for line in lines]


def check(what, assertions, least):
    """Fails if an assertion is false, or if there are fewer than `least` assertions. Too few assertions show that facts are missing."""
    expect(len(assertions) >= least, f"only {len(assertions)} {what} were compared")
    wrong = errors(assertions)
    expect(not wrong, f"{len(wrong)} {what} differ:\n" + "\n".join(wrong[:30]))


def c_name(member):
    """Returns a member's name in C. In Rust, `r#` precedes names that are keywords."""
    return member.removeprefix("r#")


def compared(structures):
    """Returns assertions about the structures that the headers contain."""
    assertions = []
    for one in structures:
        name, size, alignment, platform = (one[key] for key in ("name", "size", "alignment", "platform"))
        if name not in known():
            continue
        assertions.append((f"size of {name} is {size}", f"sizeof({name}) == {size}"))
        if alignment is not None:
            assertions.append((f"alignment of {name} is {alignment}", f"_Alignof({name}) == {alignment}"))
        if platform is not None:
            number = "VK_ICD_WSI_PLATFORM_" + name.removeprefix("VkIcdSurface").upper().replace("IMAGEPIPE", "FUCHSIA")
            assertions.append((f"{number} is {platform}", f"{number} == {platform}"))
        for member, offset in one["members"]:
            field = c_name(member)
            assertions.append((f"offset of {name}.{field} is {offset}", f"offsetof({name}, {field}) == {offset}"))
    return assertions


def layouts():
    """Compares sizes, alignments and offsets of structures."""
    check("sizes and offsets", compared(facts()["emitted"]), 500)


def by_hand():
    """Compares the handwritten structures of the layer and driver interfaces."""
    check("facts of hand-written structures", compared(facts()["handwritten"]), 60)


def constants():
    """Compares values of enumerators and constants."""
    found = facts()["constants"]
    assertions = [(f"{name} is {value}", f"{name} == {value}") for name, value in found if name in known()]
    check("constants", assertions, 300)


def is_known(function):
    """Returns True if the headers contain a function and all its types. Returns False for a function that was renamed later."""
    words = " ".join([function["name"], *function["parameters"], function["result"]])
    return all(word in known() for word in re.findall(r"\b(?:Vk|PFN_)\w+", words))


def signatures():
    """Compares parameters and results of the commands."""
    assertions = []
    for function in filter(is_known, facts()["functions"]):
        name = function["name"]
        if name in LOOSER:
            continue
        own = f"{function['result']} (*)({', '.join(function['parameters']) or 'void'})"
        assertions.append((f"{name}: {own}", f"__builtin_types_compatible_p({name}, {own})"))
    check("command signatures", assertions, 550)


def control():
    """Tests the check itself: the compiler reports each of three false assertions."""
    false = [
        ("size", "sizeof(VkExtent2D) == 9"),
        ("offset", "offsetof(VkApplicationInfo, apiVersion) == 40"),
        ("type", "__builtin_types_compatible_p(PFN_vkDestroyDevice, void (*)(VkInstance, VkAllocationCallbacks *))"),
    ]
    reported = errors(false)
    expect(reported == ["size", "offset", "type"], f"reported: {reported}")


def unknown():
    """Lists the items that these headers lack, because they are too old. Only assertions in the emitted Rust code check these items."""
    structures, functions = facts()["emitted"], facts()["functions"]
    names = [one["name"] for one in structures if one["name"] not in known()]
    names += [function["name"] for function in functions if not is_known(function)]
    version = re.search(r"#define VK_HEADER_VERSION (\d+)", (HEADERS / "vulkan_core.h").read_text())[1]
    if names:
        shown = ", ".join(names[:12])
        raise Skip(f"{len(names)} of {len(structures) + len(functions)} types are newer than header revision {version}: {shown}, ...")


CASES = [
    ("false assertions are reported", control),
    ("structures", layouts),
    ("structures of the layer and driver interfaces", by_hand),
    ("constants", constants),
    ("command signatures", signatures),
    ("types unknown to the headers", unknown),
]

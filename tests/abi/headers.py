"""Compares the emitted types with the C headers of the system, as far as the headers contain them (GEN-40).

The script turns the emitted types into assertions in C, which the C compiler checks. The headers may be older than the registry. The output
contains the number and the names of the types that the headers lack.
"""

import re
from functools import cache
from pathlib import Path

from cases import ROOT, Failure, Skip, expect, run, scratch, tool

GENERATED = ROOT / "generated"
HEADERS = Path("/usr/include/vulkan")
PREAMBLE = Path(__file__).with_name("platform.h")
# C spelling of types whose names differ from Rust: Rust's own types, and types that C names with the word `struct`.
C_TYPES = {
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "f32": "float",
    "usize": "size_t",
    "c_char": "char",
    "c_int": "int",
    "c_void": "void",
    "wl_display": "struct wl_display",
    "wl_surface": "struct wl_surface",
    "_screen_window": "struct _screen_window",
    "_screen_buffer": "struct _screen_buffer",
    "AHardwareBuffer": "struct AHardwareBuffer",
}

# Function types whose Rust form is deliberately different, each with the reason why callers see no difference.
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


def emitted(name):
    """Returns an emitted file without comments."""
    return re.sub(r"//.*", "", (GENERATED / name).read_text())


def errors(assertions):
    """Returns the C compiler's errors: the text of each assertion that is false, and other messages."""
    source = scratch("headers") / "assertions.c"
    source.write_text(f'#include "{PREAMBLE}"\n' + "".join(f'_Static_assert({c}, "{text}");\n' for text, c in assertions))
    output = run([tool("cc"), "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", source], 60, status=None)
    lines = [line for line in output.splitlines() if "error:" in line]
    return [re.sub(r'.*static assertion failed: "(.*)"', r"\1", line) for line in lines]


def check(what, assertions, least):
    """Fails if an assertion is false, or if there are fewer than `least` assertions. Too few assertions show that the files were not
    parsed correctly."""
    expect(len(assertions) >= least, f"only {len(assertions)} {what} were compared; the emitted files read otherwise?")
    wrong = errors(assertions)
    expect(not wrong, f"{len(wrong)} {what} differ:\n" + "\n".join(wrong[:30]))


@cache
def structures():
    """Returns the rows of layout.rs: the name, the size, the alignment, and the offset of each member."""
    text = emitted("types/layout.rs")
    rows = re.findall(r"^    (\w+)(?:<\w+>)?: (\d+), (\d+)((?:,\s*[\w#]+\s+\d+)*);", text, re.MULTILINE)
    return [(name, size, align, re.findall(r"([\w#]+)\s+(\d+)", members)) for name, size, align, members in rows]


def c_name(member):
    """Returns a member's name in C. In Rust, `r#` precedes names that are keywords."""
    return member.removeprefix("r#")


def layouts():
    """Compares sizes, alignments and offsets of structures."""
    assertions = []
    for name, size, align, members in structures():
        if name in known():
            assertions.append((f"size of {name} is {size}", f"sizeof({name}) == {size}"))
            assertions.append((f"alignment of {name} is {align}", f"_Alignof({name}) == {align}"))
            for member, offset in members:
                field = c_name(member)
                assertions.append((f"offset of {name}.{field} is {offset}", f"offsetof({name}, {field}) == {offset}"))
    check("sizes and offsets", assertions, 500)


def by_hand():
    """Compares the handwritten structures of the layer and driver interfaces with the assertions in the loader's sources."""
    layers = (ROOT / "loader/src/ffi/layer_interface.rs").read_text()
    found = re.findall(r"assert!\(size_of::<(\w+)>\(\) == (\d+)\);", layers)
    assertions = [(f"size of {name} is {size}", f"sizeof({name}) == {size}") for name, size in found if name in known()]
    row = r"/// Structure `(VkIcdSurface\w+)` of `vk_icd.h`\.\s+(\w+) = (\d+), (\d+) \{(.*?)\}"
    for name, _, number, size, members in re.findall(row, (ROOT / "loader/src/window_system/layout.rs").read_text(), re.DOTALL):
        if name not in known():
            continue
        platform = "VK_ICD_WSI_PLATFORM_" + name.removeprefix("VkIcdSurface").upper().replace("IMAGEPIPE", "FUCHSIA")
        assertions.append((f"size of {name} is {size}", f"sizeof({name}) == {size}"))
        assertions.append((f"{platform} is {number}", f"{platform} == {number}"))
        for member, offset in re.findall(r"(\w+): [^;]*, (\d+);", members):
            assertions.append((f"offset of {name}.{member} is {offset}", f"offsetof({name}, {member}) == {offset}"))
    check("facts of hand-written structures", assertions, 30)


def constants():
    """Compares values of enumerators and constants."""
    found = re.findall(r"pub const (VK_\w+): Self = Self\((-?\w+)\);", emitted("types/enums.rs"))
    found += re.findall(r"pub const (VK_\w+): Self = Self\((-?\w+)\);", emitted("types/flags.rs"))
    for name, bits, value in re.findall(r"pub const (VK_\w+): u(\d+) = (!?\d+);", emitted("types/constants.rs")):
        # Rust writes `!1` for `~1` of C, and C needs the width `bits` of the number.
        inverse = f"~(uint{bits}_t){value[1:]}"
        found.append((name, inverse if value.startswith("!") else value))
    assertions = [(f"{name} is {value}", f"{name} == {value}") for name, value in found if name in known()]
    check("constants", assertions, 300)


def c_type(rust):
    """Returns the C spelling of a Rust type."""
    rust = re.sub(r"<\w+>", "", rust.strip())
    pointer = re.fullmatch(r"\*(const|mut) (.*)", rust)
    if pointer:
        const = " const" if pointer[1] == "const" else ""
        return f"{c_type(pointer[2])}{const} *"
    if not re.fullmatch(r"\w+", rust):
        raise Failure(f"what is `{rust}` in C?")
    return C_TYPES.get(rust, rust)


@cache
def functions():
    """Returns the function-pointer types of pfn.rs: name, parameter types, return type."""
    text = re.sub(r"\s+", " ", emitted("pfn.rs"))
    form = r'pub type (PFN_\w+)(?:<\w+>)? = (?:Option<\s*)?unsafe extern "system" fn\((.*?)\)(?: -> (\w+))?\s*,?\s*>?;'
    found = []
    for name, parameters, result in re.findall(form, text):
        types = [parameter.split(": ", 1)[1] for parameter in parameters.split(", ") if ": " in parameter]
        found.append((name, [c_type(one) for one in types], c_type(result or "c_void")))
    return found


def is_known(function):
    """Returns True if the headers contain a function and all its types. Returns False for a function that was renamed later."""
    name, parameters, result = function
    return all(word in known() for word in re.findall(r"\b(?:Vk|PFN_)\w+", " ".join([name, *parameters, result])))


def signatures():
    """Compares parameters and results of the commands."""
    assertions = []
    for name, parameters, result in filter(is_known, functions()):
        if name in LOOSER:
            continue
        own = f"{result} (*)({', '.join(parameters) or 'void'})"
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
    names = [name for name, *_ in structures() if name not in known()]
    names += [function[0] for function in functions() if not is_known(function)]
    version = re.search(r"#define VK_HEADER_VERSION (\d+)", (HEADERS / "vulkan_core.h").read_text())[1]
    if names:
        shown = ", ".join(names[:12])
        raise Skip(f"{len(names)} of {len(structures()) + len(functions())} types are newer than header revision {version}: {shown}, ...")


CASES = [
    ("false assertions are reported", control),
    ("structures", layouts),
    ("structures of the layer and driver interfaces", by_hand),
    ("constants", constants),
    ("command signatures", signatures),
    ("types unknown to the headers", unknown),
]

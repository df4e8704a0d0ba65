"""Tests that the library of a bundle passes all calls to the system's library if that library is not older (APP-300)."""

import shutil

from bubble import PROGRAM, sandboxed
from cases import HANG, expect, run, scratch, setting

# Library folder of the sandbox's system, in which each test places files, and the folder of the bundle.
SYSTEM, BUNDLE = "/usr/local/lib", "/opt/bundle"
# Output of the program if its device worked.
WORKED = "1 of 1 devices worked"


def bundle():
    """Returns the path of the bundle's library."""
    return setting("VKL_PROGRAMS") / "aside/libvulkan.so.1"


def peer():
    """Returns the path of an older library of another loader."""
    return setting("VKL_PEER_LIBRARY").resolve()


def options(*placed, library=None, variables=()):
    """Returns options for a sandbox that contains the folders of this machine and the given files. Each file is a pair of file and path."""
    mock = setting("VKL_PROGRAMS") / "mock"
    made = ["--ro-bind", "/usr", "/usr", "--tmpfs", SYSTEM]
    made += [word for name in ("bin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    made += ["--ro-bind", setting("VKL_PROGRAMS") / "hello", PROGRAM, "--ro-bind", library or bundle(), f"{BUNDLE}/libvulkan.so.1"]
    made += ["--ro-bind", mock, "/opt/mock", "--setenv", "VK_DRIVER_FILES", "/opt/mock/mock_driver.json"]
    made += ["--setenv", "LD_LIBRARY_PATH", BUNDLE, "--setenv", "VK_LOADER_DEBUG", "info"]
    for file, path in placed:
        made += ["--ro-bind", file, path]
    for name, value in variables:
        made += ["--setenv", name, value]
    return made


def told(*placed, status=0, **more):
    """Returns the output of the program and the loaders."""
    made = options(*placed, **more)
    # Standard error is redirected into the output, because the loaders write their messages to it.
    return sandboxed(made, ["/bin/sh", "-c", f"{PROGRAM} mock 2>&1"], status=status)


def versions(output):
    """Returns the versions of the opened loaders in the order of the output."""
    return [line.rpartition(" ")[2] for line in output.splitlines() if "Vulkan Loader Version" in line]


def older():
    """If the system's library is older, the bundle's own library serves the program."""
    output = told()
    expect(WORKED in output and "Stepping aside" not in output, output)
    expect("is older" in output, output)
    expect(len(versions(output)) == 1, output)


def newer():
    """If the file name of the system's library has a newer version, all calls go to this library. Here the library is another loader."""
    folder = scratch("newer")
    shutil.copy(peer(), folder / "libvulkan.so.1.9.0")
    (folder / "libvulkan.so.1").symlink_to("libvulkan.so.1.9.0")
    output = told((folder, SYSTEM))
    expect(f"Stepping aside for {SYSTEM}/libvulkan.so.1, which is not older" in output and WORKED in output, output)
    found = versions(output)
    expect(len(found) == 2 and found[0] != found[1], output)


def asked():
    """If a library's file name has no version, the bundle's library asks the other library for its version."""
    library = setting("VKL_LIBRARY").resolve()
    output = told((library, f"{SYSTEM}/libvulkan.so.1"))
    expect("Stepping aside" in output and WORKED in output and len(versions(output)) == 2, output)
    output = told((peer(), f"{SYSTEM}/libvulkan.so.1"))
    expect("Stepping aside" not in output and WORKED in output, output)


def itself():
    """The system's library can be the bundle's library under another path."""
    folder = scratch("itself")
    shutil.copy(bundle(), folder / "libvulkan.so.1.9.0")
    (folder / "libvulkan.so.1").symlink_to("libvulkan.so.1.9.0")
    output = told((folder, SYSTEM), library=folder / "libvulkan.so.1.9.0")
    expect("Stepping aside" not in output and WORKED in output and len(versions(output)) == 1, output)


def spoilt():
    """A file that cannot be opened or is not a loader is reported, and the bundle's library serves the program."""
    folder = scratch("spoilt")
    (folder / "libvulkan.so.1.9.0").write_bytes(b"\x7fELF")
    (folder / "libvulkan.so.1").symlink_to("libvulkan.so.1.9.0")
    output = told((folder, SYSTEM))
    expect(f"Not stepping aside for {SYSTEM}/libvulkan.so.1: " in output and WORKED in output, output)
    driver = setting("VKL_PROGRAMS") / "mock/libmock_driver.so"
    output = told((driver, f"{SYSTEM}/libvulkan.so.1"))
    expect("it lacks vk" in output and WORKED in output, output)


def beside():
    """The loader finds a driver with a bare file name next to the driver's manifest, although the bundle's folders hide the driver
    (DRV-56a)."""
    folder = scratch("beside")
    shutil.copytree(setting("VKL_PROGRAMS") / "mock", folder / "lib")
    (folder / "libmock_driver.so").write_text("no library")
    manifest = (folder / "lib/mock_driver.json").read_text().replace("./libmock_driver.so", "libmock_driver.so")
    (folder / "icd.d").mkdir()
    (folder / "icd.d/mock_driver.json").write_text(manifest)
    placed = [
        (folder / "lib", SYSTEM),
        (folder / "libmock_driver.so", f"{BUNDLE}/libmock_driver.so"),
        (folder / "icd.d", "/opt/root/share/vulkan/icd.d"),
        (folder / "lib", "/opt/root/lib"),
    ]
    variables = [("VK_DRIVER_FILES", "/opt/root/share/vulkan/icd.d/mock_driver.json")]
    output = told(*placed, variables=variables)
    expect(WORKED in output, output)
    output = told(*placed, variables=variables, library=setting("VKL_LIBRARY").resolve(), status=None)
    expect(WORKED not in output, f"another build finds it too: {output}")


def jumps():
    """Checks that an exported function consists of one jump."""
    code = run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=vkQueueSubmit", bundle()], HANG)
    lines = [line.split("\t")[1].split()[0] for line in code.splitlines() if "\t" in line]
    expect(lines[:2] == ["endbr64", "jmp"] or lines[:4] == ["bti", "adrp", "ldr", "br"], code)


CASES = [
    ("app_300 the system's library is older", older),
    ("app_300 the system's library is newer", newer),
    ("app_300 a file without a version in its name", asked),
    ("app_300 the system's library is this one", itself),
    ("app_300 damaged files, and other libraries", spoilt),
    ("app_300 an exported function is one jump", jumps),
    ("drv_56a a bare name that the bundle's folders hide", beside),
]

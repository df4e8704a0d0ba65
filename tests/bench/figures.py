"""Measures the library and the installed loader of the system in the same run, and prints the figures as text. The argument `quick`
omits the clean build."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TRAMPOLINES = ("vkCmdDraw", "vkQueueSubmit", "vkGetPhysicalDeviceProperties")
# Number of measurements. The number is odd, so that a median is one of the measurements.
ROUNDS = 31
# Number of vkCreateInstance calls in one process. The first call reads the driver's file into memory, and later calls
# find it there.
CALLS = 11
LIMIT = 900


def capture(*arguments, **options):
    """Returns the output of a program, which must succeed."""
    options = {"timeout": LIMIT, "check": True, "capture_output": True, "text": True, **options}
    return subprocess.run([str(a) for a in arguments], **options).stdout


def sides():
    """Returns the two libraries with their names in the tables."""
    return {"ours": Path(os.environ["VKL_LIBRARY"]), "peer": Path(os.environ["VKL_PEER_LIBRARY"])}


def disassembly(library, symbol):
    """Returns the instructions of an exported function without padding, each as an address and a text."""
    table = capture("nm", "-D", "-S", "--defined-only", library)
    found = re.search(rf"^(\w+) (\w+) T {symbol}$", table, re.MULTILINE)
    begin, size = (int(word, 16) for word in found.groups())
    bounds = (f"--start-address={begin}", f"--stop-address={begin + size}")
    text = capture("objdump", "-d", "--no-show-raw-insn", *bounds, library)
    lines = re.findall(r"^\s+([0-9a-f]+):\t(.*)$", text, re.MULTILINE)
    assert lines, f"no code for {symbol}"
    return [(int(address, 16), code.strip()) for address, code in lines if not code.startswith(("nop", "xchg   %ax,%ax"))]


def way(code):
    """Returns the number of instructions on the shortest path from the entry to the jump or call through a dispatch table. A valid call
    executes these instructions.

    A jump relative to %rip has a fixed target in the library, and the function uses this jump only after it has refused the handle.
    """
    place = {address: number for number, (address, _) in enumerate(code)}
    reached, seen, steps = {0}, set(), 0
    while reached:
        steps += 1
        following = set()
        for number in reached:
            text = code[number][1]
            if re.match(r"(jmp|call|notrack jmp|bnd jmp)\s+\*(?!.*%rip)", text):
                return steps
            target = re.match(r"(j\w+)\s+([0-9a-f]+)", text)
            if target and int(target[2], 16) in place:
                following.add(place[int(target[2], 16)])
            ends = text.startswith(("jmp", "ret", "ud2", "hlt"))
            if not ends and number + 1 < len(code):
                following.add(number + 1)
        seen |= reached
        reached = following - seen
    return None


def trampolines():
    """Prints the instructions of the emitted trampolines, and their code."""
    for symbol in TRAMPOLINES:
        for side, library in sides().items():
            code = disassembly(library, symbol)
            print(f"\n{symbol}, {side}: {len(code)} instructions, {way(code)} on the way to the next function")
            for _, text in code:
                print(f"    {text}")


def emit():
    """Prints the time and memory of vkgen, for a run that writes all files and for a run that writes no file."""
    for what, fresh in (("all files new", True), ("no file changed", False)):
        times, memory = [], []
        with tempfile.TemporaryDirectory() as scratch:
            for number in range(ROUNDS):
                folder = Path(scratch) / (str(number) if fresh else "same")
                begin = time.perf_counter()
                process = subprocess.Popen(
                    [os.environ["VKL_VKGEN"], "emit", "--generated", folder], cwd=ROOT, stdout=subprocess.DEVNULL
                )
                _, status, usage = os.wait4(process.pid, 0)
                assert status == 0, "vkgen emit failed"
                times.append((time.perf_counter() - begin) * 1e3)
                memory.append(usage.ru_maxrss / 1024)
        print(
            f"vkgen emit, {what}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms (limit 300); "
            f"peak {max(memory):.1f} MiB (limit 150)"
        )


def size():
    """Prints the sizes of the files and of their loaded parts."""
    for side, library in sides().items():
        text, data, bss = capture("size", library).splitlines()[1].split()[:3]
        print(f"{side}: file {library.stat().st_size} bytes; code and constants {text}, data {data}, zeroed {bss}")


def instance_times(library, scratch):
    """Returns the microseconds of the first vkCreateInstance in a process, and the median of later calls."""
    folder = scratch / "lib"
    folder.mkdir(exist_ok=True)
    (folder / "libvulkan.so.1").unlink(missing_ok=True)
    (folder / "libvulkan.so.1").symlink_to(library.resolve())
    programs = Path(os.environ["VKL_PROGRAMS"])
    environment = {
        "LD_LIBRARY_PATH": str(folder),
        "VK_DRIVER_FILES": str(programs / "mock/mock_driver.json"),
        # The library searches for layers only in this empty folder, so it finds no layers.
        **{name: str(scratch) for name in ("HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS")},
    }
    lines = capture(programs / "bench", CALLS, env=environment).splitlines()
    made = [int(line.split()[0]) / 1e3 for line in lines]
    return made[0], statistics.median(made[1:])


def instances():
    """Measures vkCreateInstance with one mock driver on both sides alternately."""
    found = {side: [] for side in sides()}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            for side, library in sides().items():
                found[side].append(instance_times(library, Path(scratch)))
    for side, times in found.items():
        first, later = ([pair[column] for pair in times] for column in (0, 1))
        print(
            f"{side}: vkCreateInstance median {statistics.median(first):.0f} us for the first in a process "
            f"(best {min(first):.0f}, worst {max(first):.0f}), {statistics.median(later):.0f} us for later ones; "
            f"{ROUNDS} processes"
        )


def build():
    """Measures a clean build of the release library. The crates are already downloaded."""
    with tempfile.TemporaryDirectory() as target:
        begin = time.perf_counter()
        cargo = os.environ.get("CARGO", "cargo").split()
        arguments = ["build", "--locked", "--quiet", "--release", "-p", "vulkan-loader"]
        capture(*cargo, *arguments, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": target})
        print(f"cargo build --release -p vulkan-loader from clean: {time.perf_counter() - begin:.1f} s")


def main():
    """Prints all figures."""
    for side, library in sides().items():
        print(f"{side}: {library.resolve()}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    parts = [("Sizes", size), ("vkCreateInstance", instances), ("vkgen emit", emit), ("Trampolines", trampolines)]
    if "quick" not in sys.argv[1:]:
        parts.insert(0, ("Build", build))
    for title, part in parts:
        print(f"\n== {title}")
        part()


main()

"""Counts the instructions inside the library for single calls. An emulator executes one instruction after another.

instructions.py LIBRARY PROGRAM EMULATOR ARGUMENT...

PROGRAM is program.c, built for the emulator's processor. The script counts an instruction if its number of executions is a multiple of the
number of calls. Instructions of the C library and of the driver are excluded.
"""

import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CALLS = 1000
# Value of `PT_LOAD`, the type of the segments that the system maps into memory.
LOAD = 1
STEP = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.MULTILINE)
KINDS = {
    "draw": "a device command, exported",
    "query": "a physical-device command, exported, with its terminator",
    "instance": "vkGetInstanceProcAddr of a device command",
    "device": "vkGetDeviceProcAddr",
}


def mapped(library):
    """Returns the size of a library in memory. Higher addresses belong to other files."""
    data = Path(library).read_bytes()
    order, wide = {1: "<", 2: ">"}[data[5]], data[4] == 2
    start, at, size, count = (("Q", 32, 54, 56) if wide else ("I", 28, 42, 44))
    headers, size, count = (struct.unpack_from(order + kind, data, place)[0] for kind, place in ((start, at), ("H", size), ("H", count)))
    ends = []
    for header in range(headers, headers + size * count, size):
        kind = struct.unpack_from(order + "I", data, header)[0]
        address, memory = (struct.unpack_from(order + start, data, header + place)[0] for place in ((16, 40) if wide else (8, 20)))
        if kind == LOAD:
            ends.append(address + memory)
    return max(ends)


def counted(library, program, emulator, kind):
    """Returns the number of instructions for one call."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        steps = ["-singlestep", "-d", "exec,nochain", "-D", log]
        command = [emulator[0], *steps, *emulator[1:], program, library, kind, str(CALLS)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        base = int(re.search(r"^library at 0x([0-9a-f]+)$", output, re.MULTILINE)[1], 16)
        times = Counter(int(place, 16) for place in STEP.findall(log.read_text()))
    inside = range(base, base + mapped(library))
    return sum(times[place] // CALLS for place in times if place in inside)


def main():
    library, program, *emulator = sys.argv[1:]
    for kind, text in KINDS.items():
        print(f"figure {counted(library, program, emulator, kind)} instructions: {text}")


main()

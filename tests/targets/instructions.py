"""Instructions of single calls inside the library, counted by an emulator that steps through them.

    instructions.py LIBRARY PROGRAM EMULATOR ARGUMENT...

PROGRAM is program.c, built for the emulator's processor. Instructions that ran as often as the calls, or a multiple of that,
count; what functions of the C library or the driver take is left out.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CALLS = 1000
STEP = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.MULTILINE)
KINDS = {
    "draw": "a device command, exported",
    "query": "a physical-device command, exported, with its terminator",
    "instance": "vkGetInstanceProcAddr of a device command",
    "device": "vkGetDeviceProcAddr",
}


def counted(library, program, emulator, kind):
    """Instructions of one call."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        steps = ["-singlestep", "-d", "exec,nochain", "-D", log]
        command = [emulator[0], *steps, *emulator[1:], program, library, kind, str(CALLS)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        base = int(re.search(r"^library at 0x([0-9a-f]+)$", output, re.MULTILINE)[1], 16)
        times = Counter(int(place, 16) for place in STEP.findall(log.read_text()))
    inside = range(base, base + Path(library).stat().st_size)
    return sum(times[place] // CALLS for place in times if place in inside)


def main():
    library, program, *emulator = sys.argv[1:]
    for kind, text in KINDS.items():
        print(f"figure {counted(library, program, emulator, kind)} instructions: {text}")


main()

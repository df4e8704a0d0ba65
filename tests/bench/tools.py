"""Runs measurements in three ways: with the clock, under callgrind, and under strace."""

import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = 300
LIBC = re.compile(r"/libc(\.so|-)[^/]*$")
# Pattern of libc's functions that call the dynamic linker. The cost of the loader excludes calls of these functions, because the dynamic
# linker also runs code of the libraries that it loads.
LINKER = re.compile(r"^_*dl")


class Failed(Exception):
    """Error for a measurement that did not end, or ended with an error."""


@dataclass
class Cost:
    """Instructions of one measured step."""

    # Path of the library under test.
    loader: str
    # Maps (object, function) to the number of its instructions.
    own: dict = field(default_factory=lambda: defaultdict(int))
    # Maps caller and callee to the number of instructions between all calls and their returns.
    calls: dict = field(default_factory=lambda: defaultdict(int))

    def _serves(self, caller, callee):
        """Returns True if the loader itself calls a function of libc."""
        return caller[0] == self.loader and bool(LIBC.search(callee[0])) and not LINKER.search(callee[1])

    def parts(self):
        """Maps (object, function) to the cost of the loader: the cost of its own functions, and of its calls to libc. The result
        excludes drivers, layers, the dynamic linker, and their calls to libc."""
        found = defaultdict(int, {place: cost for place, cost in self.own.items() if place[0] == self.loader})
        for (caller, callee), cost in self.calls.items():
            if self._serves(caller, callee):
                found[callee] += cost
        return found

    def total(self):
        """Returns the number of instructions of the loader."""
        return sum(self.parts().values())

    def everything(self):
        """Returns all instructions of the process."""
        return sum(self.own.values())

    def inclusive(self):
        """Maps each function of the loader to the counted cost of the function and its callees.

        A dump has the total cost of the calls from one function to another, but not the loader's part of this cost. The calculation
        therefore assumes that each call of a function costs the average.
        """
        whole = defaultdict(int, self.own)
        for (caller, _), cost in self.calls.items():
            whole[caller] += cost
        parts = {place: cost if place[0] == self.loader else 0 for place, cost in self.own.items()}
        share = {}
        # Each pass corrects one more level of calls. 60 passes are enough for the deepest call stack.
        for _ in range(60):
            counted = defaultdict(float, parts)
            for (caller, callee), cost in self.calls.items():
                counted[caller] += cost if self._serves(caller, callee) else cost * share.get(callee, 0)
            share = {place: min(1, counted[place] / whole[place]) for place in whole if whole[place]}
        return {place: round(cost) for place, cost in counted.items() if place[0] == self.loader}


class Bench:
    """Runs the measuring program on one library in one scene."""

    def __init__(self, stage, programs, names):
        self.stage, self.program, self.names = stage, Path(programs) / "measure", names

    def output(self, wrapper, library, visit, repeat, extra=None):
        """Returns the output of the measuring program. The variables in `extra` are added to the variables of the scene."""
        options = ("-r", repeat, "-l", visit.scene.layers, "-n", self.names)
        command = [*wrapper, self.program, *options, library, *visit.steps]
        environment = {**self.stage.environment(visit.scene), **(extra or {})}
        try:
            done = subprocess.run(
                [str(word) for word in command], env=environment, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{visit} on {library}: still running after {LIMIT} s") from None
        if done.returncode != 0:
            raise Failed(f"{visit} on {library}: status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def _run(self, wrapper, library, visit, repeat, extra=None):
        found = defaultdict(list)
        for line in self.output(wrapper, library, visit, repeat, extra).splitlines():
            label, figure, operations = line.split()
            found[label].append((int(figure), int(operations)))
        return found

    def clock(self, library, visit, repeat, extra=None):
        """Maps each label to a list of (nanoseconds, operations) in the order of measurement."""
        return self._run((), library, visit, repeat, extra)

    def instructions(self, library, visit, repeat):
        """Maps each label to a list of (Cost, operations)."""
        with tempfile.TemporaryDirectory(dir=self.stage.folder) as folder:
            wrapper = ("valgrind", "--tool=callgrind", "--collect-atstart=no", "--dump-line=no")
            wrapper += ("--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={folder}/out")
            found = self._run(wrapper, library, visit, repeat)
            parts = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
            costs = defaultdict(list)
            for part in parts:
                label, cost = read_callgrind(part, os.path.realpath(library))
                if label:
                    costs[label].append(cost)
        return {
            label: [(cost, operations) for cost, (_, operations) in zip(of_label, found[label], strict=True)]
            for label, of_label in costs.items()
        }

    def system_calls(self, library, visit, repeat, extra=None):
        """Maps each label to a list of (number of system calls, operations)."""
        path = self.stage.folder / "strace"
        wrapper = ("strace", "-f", "-o", path)
        found = self._run(wrapper, library, visit, repeat, {**(extra or {}), "MEASURE_TRACED": "1"})
        counts = count_calls(path.read_text(errors="replace"))
        return {label: [(n, found[label][i][1]) for i, n in enumerate(of_label)] for label, of_label in counts.items()}


def read_callgrind(path, loader):
    """Returns the label of a callgrind dump and its Cost."""
    label, cost, at, calling = None, Cost(loader), {}, False
    with open(path, errors="replace") as file:
        for line in file:
            key, mark, value = line.rstrip("\n").partition("=")
            if mark and key in ("ob", "fn", "cob", "cfn"):
                at[key] = value
            elif key == "calls":
                calling = True
            elif line[:1].isdigit():
                place, count = (at["ob"], at["fn"]), int(line.split()[1])
                if calling:
                    # If callgrind's output names no object for a callee, the callee belongs to the object of the caller.
                    cost.calls[place, (at.pop("cob", at["ob"]), at.pop("cfn"))] += count
                else:
                    cost.own[place] += count
                calling = False
            elif line.startswith("desc: Trigger: Client Request: "):
                label = line.rsplit(": ", 1)[1].strip()
    return label, cost


def count_calls(text):
    """Maps each label to the numbers of system calls between the marks of the measuring program."""
    counts, open_count = defaultdict(list), None
    for line in text.splitlines():
        mark = re.search(r'write\(-1, "([^"]+)"', line)
        if mark and mark[1] == "begin":
            open_count = 0
        elif mark:
            counts[mark[1]].append(open_count)
            open_count = None
        elif open_count is not None and re.match(r"\d+\s+\w+\(", line):
            open_count += 1
    return counts


def command_names(snapshot):
    """Returns lines `LEVEL NAME` for the commands of this system: commands without a platform, and commands of Linux's platforms."""
    here = {"xcb", "xlib", "xlib_xrandr", "wayland", "provisional"}
    lines = []
    for block in re.split(r"^command ", Path(snapshot).read_text(), flags=re.MULTILINE)[1:]:
        level = re.search(r"^  level (\w+)", block, re.MULTILINE)
        platform = re.search(r"^  platform (\w+)", block, re.MULTILINE)
        if level and (not platform or platform[1] in here):
            lines.append(f"{level[1]} {block.split(None, 1)[0]}\n")
    return lines


def version_of(program):
    """Returns the first line of a program's output with `--version`. The line is empty if the program is not installed."""
    if not shutil.which(program):
        return ""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()[0]


def libc_version():
    """Returns the version of the libc. Its instructions are part of the loader's instructions."""
    return os.confstr("CS_GNU_LIBC_VERSION")

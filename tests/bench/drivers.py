"""Measures the cost of the installed drivers in a program's first calls, and the part that a driver catalogue saves (docs/catalogue.md).

The rows name the installed drivers. The script needs the measuring program, two libraries and `vkloader`. Without strace, the columns of
system calls are empty.
"""

import ctypes
import json
import mmap
import os
import shutil
import statistics
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import tools
from campaign import progress
from catalogue import CALLS, CLOCK, INSTALLED, Visit
from report import grid
from scene import Scene

WARM, COLD = "warm", "cold"
# Number of measurements. Each measurement has a separate process. The number is odd, so that a median is one of the
# measurements.
PROCESSES = {WARM: 21, COLD: 7}
KHRONOS, OURS, KNOWN, KEPT, LAZY, ALONE = COLUMNS = ("Khronos", "ours", "with a catalogue", "and keep-open", "and lazy", "drivers alone")
FOLDERS = ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d")
MESA = ("libvulkan_lvp", "libvulkan_radeon", "libvulkan_intel.", "libvulkan_intel_hasvk")
NVIDIA = "libGLX_nvidia"
# Imitation of a launcher of games: the number of folders in its library search path, the number of files in each folder, and its
# preloaded library. The folders contain no library of a driver. The preloaded library belongs to the C library, and no driver needs it.
LAUNCHER_FOLDERS, LAUNCHER_FILES, PRELOADED = 3, 500, "libBrokenLocale.so.1"
# Number of drivers of the scene with many manifests, and the number of processes for each column of the table.
MANY, MANY_PROCESSES = Scene(drivers=1000), 7
OFF = {"VK_LOADER_CATALOGUE": "off"}
# Number of processes in which system calls are counted, for each way to run a program without a catalogue.
COUNTS = 7
ARCHITECTURE = {"i686": "x86", "armv7l": "arm", "ppc64le": "powerpc64le"}


@dataclass(frozen=True)
class Case:
    """Row of the table: the steps of a process, the figures that are added up, and the side to which they belong."""

    title: str
    steps: tuple
    labels: tuple
    columns: tuple
    files: tuple = (WARM, COLD)
    # Labels of the figures to add, in the output of a process that calls the drivers without a loader.
    alone: tuple = ("opened", "asked")
    # `True` if the process has the variables that a launcher of games sets.
    launched: bool = False
    # `True` to run without the implicit layers of the machine, whose libraries every loader opens for an instance.
    bare: bool = False


QUERY = Case("first extension query", ("extensions",), ("extensions",), (KHRONOS, OURS, KNOWN))
LAUNCHED = replace(QUERY, title="the same with the variables of a launcher", files=(WARM,), launched=True)
CREATION = Case("create an instance and enumerate", ("enumerate",), ("enumerate",), (KHRONOS, OURS, KNOWN, ALONE))
# Processor time of the process and its threads, without the time in which the process waits.
COMPUTED = Case("the same, processor time", ("enumerate",), ("processor",), CREATION.columns, (WARM,), ("processor",))
PROBES = ("probes",), (KHRONOS, OURS, KNOWN, KEPT), (WARM,)
AGAIN = Case("the same again, after destroying it", PROBES[0], ("again",), *PROBES[1:])
BOTH = Case("destroy, and the same again", PROBES[0], ("destroy", "again"), *PROBES[1:])
DESCRIBED = (KHRONOS, OURS, KNOWN, LAZY), (WARM,)
LOOK = Case("query, create, describe each device, destroy", ("look",), ("looked",), *DESCRIBED)
BARE = replace(LOOK, title="the same without implicit layers", bare=True)
USE = Case("the same with layers and a logical device of each", ("use",), ("used",), *DESCRIBED)
CASES = (QUERY, LAUNCHED, CREATION, COMPUTED, AGAIN, BOTH, LOOK, BARE, USE)
# Cases for which the bench counts system calls.
COUNTED = (QUERY, LAUNCHED, CREATION, BOTH, LOOK, BARE, USE)


@dataclass
class Driver:
    """Driver that is installed on this machine."""

    manifest: str
    library: str
    # Number of devices that the driver lists without a loader, or None if the driver cannot be opened or ends the
    # process.
    devices: int | None = None
    # End of the process's output if the driver could not list its devices.
    problem: str = ""


@dataclass
class Found:
    """Figures of the installed drivers."""

    drivers: list
    # Method of removing files from the page cache, and its result.
    eviction: str = ""
    # Maps (column, case, files) to a list with one element for each process: milliseconds, or numbers of system calls.
    times: dict = field(default_factory=lambda: defaultdict(list))
    calls: dict = field(default_factory=dict)
    # Milliseconds of the first extension query in the scene with many manifests, by column.
    many: dict = field(default_factory=lambda: defaultdict(list))
    # System calls of the first extension query without a catalogue, by the reason why it uses none (see `without_catalogue`).
    bare: dict = field(default_factory=dict)
    # Reasons why entries of the catalogue are not used on this machine.
    doubts: list = field(default_factory=list)
    # Reasons why figures were not measured.
    skipped: list = field(default_factory=list)

    def time(self, column, case, files=WARM):
        """Returns the median in milliseconds, or None if there is no measurement."""
        values = self.times.get((column, case, files))
        return statistics.median(values) if values else None

    def ratio(self, case):
        """Returns the time with a catalogue divided by the time of the other loader, or None if one of them was not measured."""
        known, other = (self.time(column, case) for column in (KNOWN, KHRONOS))
        return known / other if known is not None and other else None

    def has(self, *libraries):
        """Returns `True` if each name is a prefix of the library name of a working driver."""
        names = [Path(driver.library).name for driver in self.drivers if driver.devices is not None]
        return all(any(name.startswith(library) for name in names) for library in libraries)


def installed():
    """Returns the drivers in the system's folders, in their order."""
    found = []
    for folder in FOLDERS:
        for manifest in sorted(Path(folder).glob("*.json")):
            try:
                library = json.loads(manifest.read_text())["ICD"]["library_path"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if "/" in library:
                library = os.path.normpath(Path(folder) / library)
            found.append(Driver(str(manifest), library))
    return found


def visit(steps):
    """Returns a process that uses the installed drivers."""
    return Visit(INSTALLED, steps, (CLOCK, CALLS), repeat=1)


def alone(drivers):
    """Returns a process that opens the drivers directly. Its cost is the cost without a loader."""
    return visit(("direct=" + ":".join(driver.library for driver in drivers),))


class Cold:
    """Removes files from the page cache."""

    def __init__(self, paths, everything):
        self.paths, self.everything = sorted(paths), everything
        self.before, self.after = [], []

    def evict(self):
        """Removes the files, and records the bytes of them that are in the page cache before and after."""
        self.before.append(self._resident())
        if self.everything:
            os.sync()
            Path("/proc/sys/vm/drop_caches").write_text("3")
        for path in self.paths:
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.after.append(self._resident())

    def _resident(self):
        """Returns the bytes of the files in the page cache, or an estimate if the system does not report them."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        pages = 0
        for path in self.paths:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size == 0:
                    continue
                address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
                if address in (None, ctypes.c_void_p(-1).value):
                    continue
                states = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
                if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), states) == 0:
                    pages += sum(state & 1 for state in states)
                libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
        return pages * mmap.PAGESIZE

    def __str__(self):
        way = "`/proc/sys/vm/drop_caches`" if self.everything else "`posix_fadvise` (`POSIX_FADV_DONTNEED`)"
        before, after = (statistics.median(which) / 2**20 if which else 0 for which in (self.before, self.after))
        return (
            f"Cold: before each process {way} for {len(self.paths)} files: manifests, the catalogue, and all that a process maps that "
            f"uses the drivers, {before:.0f} MiB in the page cache before it and {after:.0f} MiB after it: what other processes use stays"
        )


class Machine:
    """The installed drivers, and a catalogue of them in a scratch folder."""

    def __init__(self, bench, libraries, scratch):
        self.bench, self.libraries, self.scratch = bench, libraries, Path(scratch)
        self.caches = self.scratch / "caches"
        self.caches.mkdir()
        self.launcher = {"LD_LIBRARY_PATH": ":".join(self._searched()), "LD_PRELOAD": PRELOADED}

    def _searched(self):
        """Makes the folders of a launcher's search path, and returns their paths."""
        for number in range(LAUNCHER_FOLDERS):
            folder = self.scratch / f"searched{number}"
            folder.mkdir()
            for file in range(LAUNCHER_FILES):
                (folder / f"libunrelated{number}_{file}.so.1").touch()
            yield str(folder)

    def make_catalogue(self, program, scene=INSTALLED, *options):
        """Makes the catalogue of a scene. Returns the file, and the output of `vkloader` about entries that the loader ignores."""
        caches = self.caches_of(scene)
        environment = {**self.bench.stage.environment(scene), "XDG_CACHE_HOME": str(caches)}

        def run(*words):
            command = [program, "catalogue", *words, "--user"]
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=tools.LIMIT)

        done = run("update", "--library", self.libraries[OURS], *options)
        made = list(caches.glob("*/catalogue-*.bin"))
        if done.returncode != 0 or not made:
            raise tools.Failed(f"vkloader catalogue update: status {done.returncode}\n{done.stderr[-2000:]}")
        doubts = [line.strip() for line in run("show").stdout.splitlines() if "does not count" in line]
        return made[0], doubts

    def caches_of(self, scene):
        """Returns the folder for caches of a scene."""
        return self.caches if scene == INSTALLED else self.scratch / "caches-of-many"

    def environment(self, column, scene=INSTALLED, case=QUERY):
        """Returns the variables of a column and a case, without those of the scene."""
        known = {"VK_LOADER_CATALOGUE": "on", "XDG_CACHE_HOME": str(self.caches_of(scene))}
        launcher = self.launcher if case.launched else {}
        layers = {"VK_LOADER_LAYERS_DISABLE": "~implicit~"} if case.bare else {}
        architecture = ARCHITECTURE.get(os.uname().machine, os.uname().machine)
        is_made = os.path.exists(f"/var/cache/vulkan-loader/catalogue-{architecture}.bin")
        variables = {
            # In the column without a catalogue, the library must not use the system's catalogue.
            OURS: OFF if is_made else {},
            KNOWN: known,
            KEPT: {**known, "VK_LOADER_DRIVER_POLICY": "keep-open"},
            LAZY: {**known, "VK_LOADER_DRIVER_POLICY": "lazy"},
        }.get(column, {})
        return {**variables, **launcher, **layers}

    def library(self, column):
        """Returns the library of a column."""
        return self.libraries[KHRONOS if column == KHRONOS else OURS]

    def run(self, column, cases, drivers):
        """Runs one process for cases with the same steps, and returns the milliseconds of each case."""
        what = alone(drivers) if column == ALONE else visit(cases[0].steps)
        variables = self.environment(column, case=cases[0])
        found = self.bench.clock(self.library(column), what, 1, variables)
        for case in cases:
            labels = case.alone if column == ALONE else case.labels
            yield case, sum(found[label][0][0] for label in labels) / 1e6

    def calls(self, column, case):
        """Returns the system calls of a process."""
        variables = self.environment(column, case=case)
        return self.counted(self.library(column), case, variables)

    def counted(self, library, case, variables):
        """Returns the system calls of a process with these variables."""
        found = self.bench.system_calls(library, visit(case.steps), 1, variables)
        return sum(found[label][0][0] for label in case.labels)

    def without_catalogue(self):
        """Returns the system calls of the first extension query without a catalogue, by the way to have none. `VKL_PLAIN_LIBRARY` names a
        library that was built without the reader of catalogues."""
        libraries = {"no catalogue": self.libraries[OURS], "switched off": self.libraries[OURS]}
        if plain := os.environ.get("VKL_PLAIN_LIBRARY"):
            libraries["built without"] = plain
        found = self.environment(OURS)
        if found:
            # The system's catalogue exists, so every process on this machine finds a catalogue.
            libraries.pop("no catalogue")
        # The home folder of the other rows contains the marker file of a user's own catalogue.
        home = self.scratch / "home-without-catalogue"
        home.mkdir()
        other = {"HOME": str(home)}
        # The number of calls that request memory depends on the length of the library's path, so all copies have paths of one length.
        for number, (way, library) in enumerate(libraries.items()):
            libraries[way] = self.scratch / f"library{number}.so"
            shutil.copy(library, libraries[way])
        # The number of system calls that return memory depends on random addresses, so the smallest of several counts is used.
        return {
            way: min(self.counted(library, QUERY, {**other, **(OFF if way == "switched off" else {})}) for _ in range(COUNTS))
            for way, library in libraries.items()
        }

    def many(self, program, found):
        """Measures the first extension query with many manifests of small drivers."""
        self.bench.stage.prepare({MANY})
        self.caches_of(MANY).mkdir()
        self.make_catalogue(program, MANY, "--no-records")
        for number in range(MANY_PROCESSES):
            progress(f"{MANY}, process {number + 1}/{MANY_PROCESSES} of each")
            for column in QUERY.columns[:: 1 if number % 2 == 0 else -1]:
                what = Visit(MANY, QUERY.steps, (CLOCK,), repeat=1)
                spent = self.bench.clock(self.library(column), what, 1, self.environment(column, MANY))
                found.many[column].append(sum(spent[label][0][0] for label in QUERY.labels) / 1e6)

    def files(self, drivers, catalogue):
        """Returns the files of drivers and of the libraries that they need."""
        paths = {catalogue, *(Path(driver.manifest) for driver in drivers)}
        for column in (KHRONOS, OURS):
            text = self.bench.output((), self.library(column), visit(("mapped",)), 1, self.environment(column))
            paths |= {Path(line.partition(" ")[2]) for line in text.splitlines() if line.startswith("mapped ")}
        # A driver without devices is closed before an instance exists, so ldd must list the libraries that this driver
        # needs.
        known = [driver.library for driver in drivers if "/" in driver.library]
        if known and shutil.which("ldd"):
            done = subprocess.run(["ldd", *known], capture_output=True, text=True, timeout=60)
            paths |= {Path(word) for word in done.stdout.split() if word.startswith("/")}
        return {path for path in paths if path.is_file()}


def ask(bench, library, drivers):
    """Calls each driver in a separate process, and stores the number of its devices."""
    for driver in drivers:
        try:
            driver.devices = bench.clock(library, alone([driver]), 1)["devices"][0][0]
        except tools.Failed as failure:
            driver.problem = str(failure).strip().rpartition("\n")[2]


def measure(bench, libraries, program, scratch, everything=False):
    """Measures all cases on all sides alternately. `libraries` has the two libraries, and `program` is the path of vkloader."""
    found = Found(installed())
    ask(bench, libraries[OURS], found.drivers)
    with_devices = [driver for driver in found.drivers if driver.devices]
    if not with_devices:
        found.skipped.append("no installed driver has a device: none of these rows")
        return found
    machine = Machine(bench, libraries, scratch)
    catalogue, found.doubts = machine.make_catalogue(program)
    cold = Cold(machine.files(found.drivers, catalogue), everything)
    for files in (WARM, COLD):
        for number in range(PROCESSES[files]):
            progress(f"installed drivers, {files}, process {number + 1}/{PROCESSES[files]} of each")
            for cases in ((QUERY,), (LAUNCHED,), (CREATION, COMPUTED), (AGAIN, BOTH), (LOOK,), (BARE,), (USE,)):
                columns = cases[0].columns if files in cases[0].files else ()
                for column in columns[:: 1 if number % 2 == 0 else -1]:
                    if files == COLD:
                        cold.evict()
                    for case, milliseconds in machine.run(column, cases, with_devices):
                        if files in case.files:
                            found.times[column, case, files].append(milliseconds)
    machine.many(program, found)
    progress("")
    found.eviction = str(cold)
    if shutil.which("strace"):
        for case in COUNTED:
            for column in case.columns:
                if column != ALONE:
                    found.calls[column, case] = machine.calls(column, case)
        found.bare = machine.without_catalogue()
    else:
        found.skipped.append("no strace: no system calls are counted")
    return found


def page(found):
    """Returns the section of the page as lines of Markdown."""
    lines = ["Manifests: " + (", ".join(map(described, found.drivers)) or "none"), ""]
    if found.times:
        head = ["milliseconds, median (best)", "files", *COLUMNS]
        rows = [head]
        for case in CASES:
            for files in case.files:
                rows.append([case.title, files, *(shown(found.times.get((column, case, files))) for column in COLUMNS)])
        rows.append([f"{QUERY.title}, {MANY.drivers} manifests", WARM, *(shown(found.many.get(column)) for column in COLUMNS)])
        lines += [*grid(rows), ""]
        if found.calls:
            rows = [["system calls, files warm", *COLUMNS[:-1]]]
            for case in COUNTED:
                words = (str(found.calls.get((column, case), "")) for column in COLUMNS[:-1])
                rows.append([case.title, *words])
            lines += [*grid(rows), ""]
            ways = ", ".join(f"{count} ({way})" for way, count in found.bare.items())
            lines.append(f"System calls of the {QUERY.title} without a catalogue: {ways}.")
        lines.append(
            f"The variables of a launcher are `LD_LIBRARY_PATH` with {LAUNCHER_FOLDERS} folders of {LAUNCHER_FILES} files, and `LD_PRELOAD`."
        )
        lines.append(
            "`drivers alone` opens the libraries of those that have devices, makes an instance of each and lists its devices, without a loader."
        )
        lines.append(f"{found.eviction}. Names of files and folders stay known to the kernel, unless drop_caches was used.")
    lines += [f"- an entry of the catalogue {doubt}" for doubt in found.doubts]
    return lines + [f"- skipped: {why}" for why in found.skipped]


def described(driver):
    """Returns a line about a driver."""
    words = driver.problem if driver.devices is None else "1 device" if driver.devices == 1 else f"{driver.devices} devices"
    return f"{driver.manifest} ({words})"


def shown(values):
    """Returns the text of the median and the minimum of values in milliseconds."""
    return f"{statistics.median(values):.3g} ({min(values):.3g})" if values else ""


def write(found, path):
    """Writes all figures, one line for each case."""
    with open(path, "w") as file:
        file.write("column,case,files,milliseconds\n")
        for column, values in found.many.items():
            file.write(f"{column},{QUERY.title} of {MANY.drivers} manifests,{WARM},{' '.join(f'{value:.4g}' for value in values)}\n")
        for (column, case, files), values in found.times.items():
            file.write(f"{column},{case.title.replace(',', ';')},{files},{' '.join(f'{value:.4g}' for value in values)}\n")

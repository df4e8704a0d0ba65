"""Records the functions of the loader that each test reaches.

In an instrumented copy of the tree, each function begins with a call of `probe.rs`. Each behaviour case and unit test runs once on this
copy, in a separate process, and writes a byte for each function that it reached. The map is stored between runs. If a file of cases
changes, its rows are recorded again. If a unit test changes, the rows of all unit tests are recorded again. Any other change renews the
whole map. This module also stores the unchanged library and unit tests, on which a failed test runs again.
"""

import hashlib
import json
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import cases
import mutate
from runs import Programs, Test
from tree import FOLDER, SOURCE, behaviour_programs, crates, source

HERE = cases.ROOT / "tests/mutants"
NOTES = FOLDER / "notes"
PLAIN = FOLDER / "plain"
PROBED = FOLDER / "probed"
LIBRARY = "libvulkan.so"
KEPT = FOLDER / "map.json"
# Patterns of paths. The coverage map depends on files that match SOURCES, unless they also match OTHERS.
SOURCES = re.compile(r"Cargo\.(lock|toml)$|(generated|loader|tests)/.*\.(rs|toml)$")
OTHERS = re.compile(r"loader/(service|vkloader|pages)/|tests/(ash_client|browser|clients|differential|fuzz|structure|targets)/")
CASE_FILE = re.compile(r"tests/tests/(\w+)/(\w+)\.rs$")
# Time limit for one test in seconds. The limit is long enough for a busy machine.
LIMIT = 300
# Maximum number of tests that may fail without a mutant. If more tests fail, the cause is the machine or the tree.
BROKEN = 20
# Number of tests that run before their rows of the map are saved.
AT_ONCE = 64


def digests():
    """Returns checksums of the sources: a checksum for each file of cases, a checksum for the unit tests, and a checksum for all other
    sources. The key for a file of cases is the prefix of its cases' names."""
    files, units, others = {}, hashlib.sha256(), hashlib.sha256()
    mutated = mutate.scanned()
    folders = tuple(f"{crate.sources}/" for crate in crates())
    for name in source():
        if SOURCES.match(name) and not OTHERS.match(name):
            content = (SOURCE / name).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            found = CASE_FILE.match(name)
            if found and b"#[test]" in content:
                files[f"{found[1]} {found[2]}"] = digest
            elif name.startswith(folders):
                units.update(f"{name} {digest}\n".encode())
                if name in mutated:
                    others.update(f"{name} {without_tests(content.decode(), mutated[name].lines_of_tests)}\n".encode())
            else:
                others.update(f"{name} {digest}\n".encode())
    for program in ("mutants/mutate.py", "mutants/probe.rs", "xtask/src/mutants.rs"):
        others.update((cases.ROOT / "tests" / program).read_bytes())
    return {"files": files, "units": units.hexdigest(), "others": others.hexdigest()}


def without_tests(text, skipped):
    """Returns the text without the lines of test code and blank lines."""
    return "\n".join(line for number, line in enumerate(text.splitlines(), 1) if line and number not in skipped)


class Map:
    """Functions that tests may reach, and for each test the functions that it reached."""

    def __init__(self, kept):
        # Functions of each file, with their numbers, or None for a function whose calls cannot be recorded.
        self.numbers = {}
        number = 0
        for file, facts in mutate.scanned().items():
            rows = []
            for function in facts.functions:
                noted = function.open and function.first not in facts.lines_of_tests
                rows.append((function, number if noted else None))
                number += noted
            self.numbers[file] = rows
        self.count = number
        self.tests = []
        self.reaching = {}
        for program, name, seconds, reached in kept:
            test = Test(program, name, seconds)
            self.tests.append(test)
            for each in reached:
                self.reaching.setdefault(each, []).append(test)
        self.breadth = {f"{program} {name}": len(reached) for program, name, _, reached in kept}

    def _specific_first(self, tests):
        return sorted(tests, key=lambda test: (self.breadth[str(test)], str(test)))

    def _number(self, mutant):
        place = mutate.scanned()[mutant.file].innermost(mutant.line)
        return None if place is None else self.numbers[mutant.file][place][1]

    def tests_for(self, mutant):
        """Returns the tests that reach the mutant's function, beginning with the most specific test. If the function is unknown, returns
        all tests. Tests that reach another function of the file then come first."""
        number = self._number(mutant)
        if number is not None:
            return self._specific_first(self.reaching.get(number, ()))
        near = {test for _, number in self.numbers[mutant.file] for test in self.reaching.get(number, ())}
        return self._specific_first(near) + self._specific_first(set(self.tests) - near)


def instrument(tree, map_):
    """Inserts the calls of `probe.rs` into the copy."""
    for file, rows in map_.numbers.items():
        text = (SOURCE / file).read_text()
        for function, number in reversed(rows):
            if number is not None:
                text = f"{text[: function.body]} crate::vkl_probe::reached({number});{text[function.body :]}"
        tree.write(file, text.encode())
    probe = (HERE / "probe.rs").read_text().replace("@FOLDER@", str(NOTES)).replace("@FUNCTIONS@", str(map_.count))
    for crate in crates():
        tree.write(f"{crate.sources}/vkl_probe.rs", probe.encode())
        root = tree.root / crate.sources / "lib.rs"
        # Removes the attribute that forbids unsafe code, because the probe contains unsafe code.
        text = root.read_text().replace("#![forbid(unsafe_code)]", "") + "\n/// Notes what tests reach.\npub mod vkl_probe;\n"
        tree.write(f"{crate.sources}/lib.rs", text.encode())


class Kept:
    """Files that are stored for later runs: the programs of the behaviour cases, the unchanged library with its unit tests, and the rows
    of the map."""

    def __init__(self, kept):
        self.behaviour, self.units, self.rows = kept["behaviour"], kept["units"], kept["rows"]
        self.plain = Programs({**self.behaviour, **self.units}, {"VKL_LIBRARY": str(PLAIN / LIBRARY)})


def kept(tree, jobs):
    """Returns the stored files that belong to the present sources. Builds missing files in this copy of the tree, and restores the copy
    afterwards. Runs `jobs` tests at a time."""
    old = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    now = {"digests": digests(), "whole": False, "rows": []}
    if old.get("whole") and old["digests"] == now["digests"]:
        return Kept(old)
    now["behaviour"] = behaviour_programs()
    same = {name for name in ("units", "others") if old.get("probed") and old["digests"].get(name) == now["digests"][name]}
    if len(same) == 2:
        now["units"], now["probed"] = old["units"], old["probed"]
    else:
        now["units"], now["probed"] = keep(tree, PLAIN), keep_probed(tree)
        tree.restore()
    if "others" in same:
        same |= {file for file, digest in now["digests"]["files"].items() if old["digests"]["files"].get(file) == digest}
        now["rows"] = [row for row in old["rows"] if ("units" if row[0] in old["units"] else f"{row[0]} {row[1].split('::')[0]}") in same]
    record(now, jobs)
    return Kept(now)


def record(now, jobs):
    """Adds missing rows, and saves them repeatedly, so that the next run continues after an interruption."""
    programs = Programs({**now["behaviour"], **now["probed"]}, {"VKL_LIBRARY": str(PROBED / LIBRARY)})
    recording = Recording(programs, Kept(now).plain, Map([]).count)
    for rows in recording.run({(row[0], row[1]) for row in now["rows"]}, jobs):
        now["rows"] += rows
        KEPT.write_text(json.dumps(now))
    for test in recording.broken:
        print(f"left out, as it fails without a mutant: {test}", flush=True)
    if len(recording.broken) > BROKEN:
        raise SystemExit(f"{len(recording.broken)} tests fail without a mutant")
    KEPT.write_text(json.dumps({**now, "whole": True}))


def keep_probed(tree):
    """Builds and stores the library with probes. Returns the paths of its unit test programs."""
    instrument(tree, Map([]))
    return keep(tree, PROBED)


def keep(tree, folder):
    """Builds the library and its unit test programs, and stores them in a folder. Returns the paths of the programs."""
    units = tree.build_units() if tree.build_library() else None
    if units is None:
        raise SystemExit(f"the loader cannot be built without a mutant: {tree.root}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy2(tree.library, folder / LIBRARY)
    return {name: (str(shutil.copy2(path, folder)), place) for name, (path, place) in units.items()}


def names_of(programs, program):
    """Returns the tests of a program."""
    path, folder = programs.places[program]
    listed = subprocess.run([path, "--list", "--format=terse"], cwd=folder, stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]


class Recording:
    """Run of all tests on the instrumented library."""

    def __init__(self, programs, plain, count):
        self.programs = programs
        self.plain = plain
        self.count = count
        self.broken = []

    def run(self, known, jobs):
        """Runs all tests except the known tests, `jobs` at a time. Yields a row for each test, with the functions that the test reached.
        Tests that also fail on the unchanged tree have no row."""
        shutil.rmtree(NOTES, ignore_errors=True)
        NOTES.mkdir(parents=True)
        # Children of tests about privileges run as another user, and must be able to write into this folder.
        NOTES.chmod(0o777)
        listed = ((program, name) for program in self.programs.places for name in names_of(self.programs, program))
        tests = [Test(*row, 0) for row in listed if row not in known]
        print(f"which test reaches which of {self.count} functions: a run of {len(tests)} tests", flush=True)
        with ThreadPoolExecutor(jobs) as pool:
            for begin in range(0, len(tests), AT_ONCE):
                yield [row for row in pool.map(self._row, tests[begin : begin + AT_ONCE]) if row]

    def _row(self, test):
        notes = NOTES / test.name
        notes.write_bytes(bytes(self.count))
        notes.chmod(0o666)
        begin = time.monotonic()
        passed = self.programs.run(test.program, [test.name], LIMIT, lambda _: None) is None
        seconds = time.monotonic() - begin
        reached = [number for number, byte in enumerate(notes.read_bytes()) if byte]
        if not passed and not self.plain.passes(Test(test.program, test.name, seconds)):
            self.broken.append(test)
            return None
        if not passed:
            # The test failed only on the instrumented library, so its record may be incomplete. The map assumes that the test reaches every
            # function.
            reached = list(range(self.count))
        return test.program, test.name, round(seconds, 2), reached

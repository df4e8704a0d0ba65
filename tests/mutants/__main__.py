"""Mutants of the loader: each changes one line, is built, and should be killed by a case.

Arguments: how many mutants that build are tried, the seed of their order, the place of the first one in it, then words;
only files whose path has one of them are mutated. All work is done in copies of the tree, two at a time."""

import atexit
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cases  # noqa: E402 -- found through the line above
import mutate  # noqa: E402

JOBS = 2
CARGO = os.environ.get("CARGO", "cargo")
FOLDER = Path(os.environ["VKL_MUTANTS"])
# In seconds; several times what the step takes on a machine that is busy with something else.
LIMITS = {"build": 600, "units": 600, "fitting": 300, "all": 900}
# A mutant that allocates for ever ends by itself: 16 GiB of address space, which sanitizers and lavapipe stay below.
SPACE = 16 << 30
FAILED = re.compile(r"^test (\S+).* \.\.\. FAILED")
MOCKS = ("mock_driver", "mock_layer", "sample_layer")


def limited():
    """In the child: it may not take all of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def first_failure(command, limit, **options):
    """Runs tests until one fails; returns its name, or how else they failed, or None."""
    process = cases.start(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limited, **options
    )
    late = threading.Event()
    timer = threading.Timer(limit, lambda: (late.set(), cases.end(process)))
    timer.start()
    last = ""
    try:
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").rstrip()
            found = FAILED.match(line)
            if found:
                return found[1]
            last = line or last
        process.wait()
    finally:
        timer.cancel()
        cases.end(process)
    if late.is_set():
        return f"still running after {limit} s"
    return f"status {process.returncode}: {last}" if process.returncode else None


class Programs:
    """The test programs of the behaviour cases, copied so that no build of the developer's changes them meanwhile."""

    def __init__(self):
        self.folder = FOLDER / "programs"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        build = [CARGO, "test", "--locked", "--no-run", "-p", "loader-tests", "--message-format=json-render-diagnostics"]
        output = subprocess.run(build, cwd=cases.ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
        made = [json.loads(line) for line in output.splitlines()]
        artifacts = [each for each in made if each["reason"] == "compiler-artifact"]
        self.paths = []
        for each in artifacts:
            if each["target"]["kind"] == ["test"]:
                self.paths.append(self._copy(each["executable"]))
            elif each["target"]["name"] in MOCKS:
                for file in each["filenames"]:
                    if file.endswith(".so"):
                        self._copy(file)

    def _copy(self, path):
        return shutil.copy2(path, self.folder)

    def first_failure(self, library, limit, words):
        """The first behaviour case that fails on the library; those whose name has one of the words, or all."""
        variables = {**os.environ, "VKL_LIBRARY": str(library)}
        for path in self.paths:
            failure = first_failure([path, *words], limit, env=variables, cwd=cases.ROOT / "tests")
            if failure:
                return failure
        return None


class Tree:
    """A copy of the tree with a build folder of its own."""

    def __init__(self, number, programs):
        self.root = FOLDER / f"tree-{number}"
        self.programs = programs
        self.variables = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / f"target-{number}")}
        self.library = FOLDER / f"target-{number}/debug/libvulkan.so"
        shutil.rmtree(self.root, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=cases.ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0"):
            if name and (cases.ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(cases.ROOT / name, self.root / name)
        failure = self.build() or self.units() or self.programs.first_failure(self.library, LIMITS["all"], [])
        if failure:
            sys.exit(f"without a mutant there is a failure already: {failure}")
        self.plain = self.digest()

    def build(self):
        """Builds the library for debugging; returns how that failed, or None."""
        command = [CARGO, "build", "--locked", "--quiet", "-p", "vulkan-loader"]
        return first_failure(command, LIMITS["build"], cwd=self.root, env=self.variables)

    def units(self):
        """The first unit test that fails, or None."""
        command = [CARGO, "test", "--locked", "--quiet", "-p", "vulkan-loader", "-p", "vulkan-loader-os", "--", "--format=pretty"]
        return first_failure(command, LIMITS["units"], cwd=self.root, env=self.variables)

    def digest(self):
        """Tells two libraries apart."""
        return hashlib.sha256(self.library.read_bytes()).digest()

    def verdict(self, mutant):
        """What becomes of the mutant, and through what."""
        path = self.root / mutant.file
        text = path.read_text()
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.new
        path.write_text("\n".join(lines))
        try:
            return self._verdict(mutant)
        finally:
            path.write_text(text)

    def _verdict(self, mutant):
        if self.build():
            return "unbuildable", ""
        if self.digest() == self.plain:
            return "unchanged", ""
        words = fitting(mutant.file)
        failure = words and self.programs.first_failure(self.library, LIMITS["fitting"], words)
        failure = failure or self.units() or self.programs.first_failure(self.library, LIMITS["all"], [])
        return ("killed", failure) if failure else ("survived", "")


def fitting(file):
    """Words in the names of the behaviour cases to try first on a mutant of this file."""
    inner = file.removeprefix("loader/").replace("src/", "", 1).removesuffix(".rs")
    best = []
    for line in (HERE / "fitting.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        row = line.split()
        if f"{inner}/".startswith(f"{row[0]}/") and (not best or len(row[0]) > len(best[0])):
            best = row
    return best[1:]


def equivalents():
    """What equivalent.txt lists: file, line, and line of the mutant."""
    lines = [line for line in (HERE / "equivalent.txt").read_text().splitlines() if line and not line.startswith("#")]
    found = set()
    for file, old, new, reason in zip(*[iter(lines)] * 4, strict=True):
        if not (old.startswith("- ") and new[:2] in ("+ ", "+") and reason):
            sys.exit(f"equivalent.txt: {file}: not four lines")
        found.add((file, old[2:].strip(), new[2:].strip()))
    return found


class Hunt:
    """The mutants still to try, and what became of the others."""

    def __init__(self, mutants, first, wanted):
        self.mutants = iter(mutants[first - 1 :])
        self.first = first
        self.wanted = wanted
        self.known = equivalents()
        self.lock = threading.Lock()
        self.running = 0
        self.counts = Counter()
        self.survivors = []

    def decided(self):
        """How many of those that build and change the library have their verdict."""
        return self.counts["killed"] + self.counts["survived"]

    def take(self):
        """The next mutant; None when there are enough."""
        while True:
            with self.lock:
                if self.decided() >= self.wanted:
                    return None
                if self.decided() + self.running < self.wanted:
                    mutant = next(self.mutants, None)
                    self.running += mutant is not None
                    return mutant
            time.sleep(0.2)

    def work(self, tree):
        """Tries one mutant after the other in this tree."""
        while mutant := self.take():
            begin = time.monotonic()
            if (mutant.file, mutant.old.strip(), mutant.new.strip()) in self.known:
                word, by = "equivalent", ""
            else:
                word, by = tree.verdict(mutant)
            with self.lock:
                self.running -= 1
                self.counts[word] += 1
                if word == "survived":
                    self.survivors.append(mutant)
                number = self.decided()
                print(f"{number:>4} {word:<11} {time.monotonic() - begin:4.0f} s  {mutant}  {by}", flush=True)

    def summary(self):
        """The survivors, the counts and the rate."""
        print("\nSurvivors" if self.survivors else "\nNo survivor")
        for mutant in sorted(self.survivors, key=lambda each: (each.file, each.line)):
            print(f"  {mutant}")
        counts = ", ".join(f"{self.counts[word]} {word}" for word in ("killed", "survived", "equivalent"))
        print(f"{counts}, {self.counts['unbuildable']} unbuildable, {self.counts['unchanged']} without effect on the library")
        print(f"{self.counts['killed']} of {self.decided()} killed; FIRST={self.first + sum(self.counts.values())} goes on from here")


def shuffled(mutants, seed):
    """The mutants in an order of this seed. It hangs on each one's own text, so that other lines of the loader may change."""

    def key(mutant):
        return hashlib.sha256(f"{seed}\n{mutant.file}\n{mutant.old}\n{mutant.new}".encode()).digest()

    return sorted(mutants, key=key)


def main():
    atexit.register(cases.clean_up)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, frame: sys.exit(128 + number))
    wanted, seed, first = (int(number) for number in sys.argv[1:4])
    words = sys.argv[4:]
    mutants = [mutant for file in mutate.files(cases.ROOT, words) for mutant in mutate.mutants_of(cases.ROOT, file)]
    print(f"{len(mutants)} mutants can be made; seed {seed}, from {first} on", flush=True)
    hunt = Hunt(shuffled(mutants, seed), first, wanted)
    programs = Programs()
    trees = [Tree(number, programs) for number in range(JOBS)]
    with ThreadPoolExecutor(JOBS) as pool:
        workers = [pool.submit(hunt.work, tree) for tree in trees]
        try:
            for worker in workers:
                worker.result()
        finally:
            hunt.wanted = 0
            hunt.summary()
    sys.exit(bool(hunt.survivors) or hunt.decided() == 0)


main()

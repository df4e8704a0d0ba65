"""Tries mutants of the loader. A mutant changes one line, and a test should fail on it.

Arguments: COUNT SEED FIRST JOBS [WORD...]. COUNT is the number of mutants to try that can be built, SEED determines their order, and FIRST
is the place of the first mutant. JOBS is the number of mutants that are tried at the same time. With JOBS 0, the script only lists mutants.
WORDs select files whose paths contain one of the words. The script changes only copies of the tree. The tests that reach the function of a
mutant run on it (coverage.py). Only a test that distinguishes the mutant from the unchanged tree kills it (runs.py).
"""

import atexit
import hashlib
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cases  # noqa: E402 -- found through the line above
import coverage  # noqa: E402
import mutate  # noqa: E402
import runs  # noqa: E402
import tree  # noqa: E402

# Numbers of behaviour tests in the first two runs with a mutant, which come before the unit tests are built. After these runs, each run has
# MORE_CASES tests.
FIRST_CASES = (12, 48)
MORE_CASES = 200


class Worker:
    """Copy of the tree in which the script tries mutants one after another."""

    def __init__(self, copy, kept, map_, flakes):
        self.copy = copy
        self.kept = kept
        self.map = map_
        self.flakes = flakes
        if not copy.build_library():
            sys.exit("the loader cannot be built without a mutant")
        self.plain = copy.digest()
        # Checksum of the library as it is shipped, without a mutant. The first survivor sets it.
        self.shipped = None

    def verdict(self, mutant):
        """Returns the result for a mutant, and the test or build that decided the result."""
        if not self.copy.has_compiled(mutant.file):
            return "unchanged", "of another system"
        content = (self.copy.root / mutant.file).read_bytes()
        lines = content.decode().split("\n")
        lines[mutant.line - 1] = mutant.new
        self.copy.write(mutant.file, "\n".join(lines).encode())
        try:
            if not self.copy.build_library(tree.BUILD_LIMIT):
                return "unbuildable", ""
            if self.copy.digest() == self.plain:
                return "unchanged", ""
            tests = self.map.tests_for(mutant)
            killer = self._killer(tests)
            if killer:
                return "killed", killer
            digest = self.copy.shipped_digest(tree.BUILD_LIMIT)
        finally:
            self.copy.write(mutant.file, content)
        if self.shipped is None:
            self.shipped = self.copy.shipped_digest()
        # The optimised library has no code that cannot run on this system, and no conditions that are always true or always false.
        is_same = digest is not None and digest == self.shipped
        return ("unchanged", "as shipped") if is_same else ("survived", f"{len(tests)} tests reach it")

    def _killer(self, tests):
        """Returns the first test that fails on the mutant. Behaviour cases run first, beginning with the most specific case, then unit
        tests, and then other cases."""
        behaviour = [test for test in tests if test.program in self.kept.behaviour]
        units = [test for test in tests if test.program not in self.kept.behaviour]
        mutated = runs.Programs(self.kept.behaviour, {"VKL_LIBRARY": str(self.copy.library)})
        begin = 0
        for size in FIRST_CASES:
            killer = runs.killer(behaviour[begin : begin + size], mutated, self.kept.plain, self.flakes)
            if killer:
                return killer
            begin += size
        if units:
            built = self.copy.build_units(tree.BUILD_LIMIT)
            killer = built and runs.killer(units, runs.Programs(built, {}), self.kept.plain, self.flakes)
            if killer:
                return killer
        for begin in range(begin, len(behaviour), MORE_CASES):
            killer = runs.killer(behaviour[begin : begin + MORE_CASES], mutated, self.kept.plain, self.flakes)
            if killer:
                return killer
        return None


def texts(mutant):
    """Returns a mutant in the form of equivalent.txt: the file, the line, and the changed line."""
    return mutant.file, mutant.old.strip(), mutant.new.strip()


def equivalents(mutants):
    """Returns the mutants that equivalent.txt lists. Each row must match one of these mutants."""
    lines = [line for line in (HERE / "equivalent.txt").read_text().splitlines() if line and not line.startswith("#")]
    found = set()
    for file, old, new, reason in zip(*[iter(lines)] * 4, strict=True):
        if not (old.startswith("- ") and new[:2] in ("+ ", "+") and reason):
            sys.exit(f"equivalent.txt: {file}: not four lines")
        found.add((file, old[2:].strip(), new[2:].strip()))
    stale = found - {texts(mutant) for mutant in mutants}
    if stale:
        sys.exit("\n".join(f"equivalent.txt: {file} has no mutant that makes `{new}` of `{old}`" for file, old, new in sorted(stale)))
    return found


class Hunt:
    """Mutants that have not been tried, and the results of the other mutants."""

    def __init__(self, mutants, first, wanted, known):
        self.mutants = mutants
        # Index of the next mutant in the list, from 0, and the indices of the mutants that are being tried.
        self.next = first - 1
        self.running = set()
        self.wanted = wanted
        self.known = known
        self.lock = threading.Lock()
        self.counts = Counter()
        self.survivors = []
        self.flakes = runs.Flakes()

    def decided(self):
        """Returns the number of mutants that could be built, changed the library, and have a result."""
        return self.counts["killed"] + self.counts["survived"]

    def take(self):
        """Returns the number of the next mutant, or None after the requested number of results."""
        while True:
            with self.lock:
                if self.decided() >= self.wanted or self.next == len(self.mutants):
                    return None
                if self.decided() + len(self.running) < self.wanted:
                    self.next += 1
                    self.running.add(self.next - 1)
                    return self.next - 1
            time.sleep(0.2)

    def work(self, worker):
        """Tries one mutant after another in this copy."""
        while (place := self.take()) is not None:
            begin = time.monotonic()
            mutant = self.mutants[place]
            if texts(mutant) in self.known:
                word, by = "equivalent", ""
            else:
                word, by = worker.verdict(mutant)
            with self.lock:
                self.running.remove(place)
                self.counts[word] += 1
                if word == "survived":
                    self.survivors.append(mutant)
                number = self.decided()
                print(f"{number:>4} {word:<11} {time.monotonic() - begin:4.0f} s  {mutant}  {by}", flush=True)

    def summary(self):
        """Prints the survivors, the counts and the rate."""
        with self.lock:
            self.flakes.summary()
            print("\nSurvivors" if self.survivors else "\nNo survivor")
            for mutant in sorted(self.survivors, key=lambda each: (each.file, each.line)):
                print(f"  {mutant}")
            counts = ", ".join(f"{self.counts[word]} {word}" for word in ("killed", "survived", "equivalent"))
            print(f"{counts}, {self.counts['unbuildable']} unbuildable, {self.counts['unchanged']} without effect on the library")
            place = min(self.running, default=self.next) + 1
            print(f"{self.counts['killed']} of {self.decided()} killed; FIRST={place} goes on from here", flush=True)


def shuffled(mutants, seed):
    """Returns the mutants in an order that the seed determines. The order depends only on each mutant's text, so that changes to other
    lines do not affect it."""

    def key(mutant):
        return hashlib.sha256(f"{seed}\n{mutant.file}\n{mutant.old}\n{mutant.new}".encode()).digest()

    return sorted(mutants, key=key)


def main():
    atexit.register(cases.clean_up)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, frame: sys.exit(128 + number))
    wanted, seed, first, jobs = (int(number) for number in sys.argv[1:5])
    words = sys.argv[5:]
    tree.take_source()
    every = [mutant for facts in mutate.scanned().values() for mutant in facts.mutants]
    mutants = [mutant for mutant in every if not words or any(word in mutant.file for word in words)]
    if not mutants:
        refuse(f"no file of the loader that can be mutated has {' or '.join(words)} in its path")
    if first > len(mutants):
        refuse(f"FIRST={first} is beyond the list, which has {len(mutants)} mutants")
    print(f"{len(mutants)} mutants can be made; seed {seed}, from {first} on", flush=True)
    order, known = shuffled(mutants, seed), equivalents(every)
    if jobs == 0:
        show(order[first - 1 : first - 1 + wanted], first, known)
        return
    hunt = Hunt(order, first, wanted, known)
    copies = [tree.Tree(number) for number in range(jobs)]
    kept = coverage.kept(copies[0], jobs)
    map_ = coverage.Map(kept.rows)
    with ThreadPoolExecutor(jobs) as pool:
        workers = list(pool.map(lambda copy: Worker(copy, kept, map_, hunt.flakes), copies))
        running = [pool.submit(hunt.work, worker) for worker in workers]
        try:
            for each in running:
                each.result()
        except BaseException as error:
            # The summary omits the mutants that were still being tried, because their processes have been ended without a result.
            hunt.summary()
            if not isinstance(error, SystemExit):
                traceback.print_exc()
            cases.clean_up()
            os._exit(130)
    hunt.summary()
    sys.exit(bool(hunt.survivors) or hunt.decided() == 0)


def show(mutants, first, known):
    """Prints mutants with their numbers. Does not try them."""
    for place, mutant in enumerate(mutants, first):
        print(f"{place:>4} {'equivalent' if texts(mutant) in known else '':<10} {mutant}")


def refuse(reason):
    """Ends the program with the exit status for an invalid argument."""
    print(f"mutants: {reason}", file=sys.stderr)
    sys.exit(3)


main()

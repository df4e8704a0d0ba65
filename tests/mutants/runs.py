"""Runs tests by their names, and finds failures that occur again."""

import os
import re
import resource
import subprocess
import threading
from dataclasses import dataclass

import apart
import cases
import tree

# Maximum address space of a test in bytes. The limit ends a mutant that allocates without end. Tests with lavapipe need less than 16 GiB.
SPACE = 16 << 30
RESULT = re.compile(r"^test (\S+).* \.\.\. (ok|FAILED|ignored)")
# Shortest time limit for one test, in seconds. The script stops a test that runs longer. On a busy machine, a shorter limit would count tests
# that are only slow as failed.
SHORTEST_LIMIT = 60


@dataclass(frozen=True)
class Test:
    """Test of a program, and the seconds that it needs on the unchanged tree."""

    program: str
    name: str
    seconds: float

    def __str__(self):
        return f"{self.program} {self.name}"

    def limit(self):
        """Returns the time limit of the test in seconds."""
        return max(SHORTEST_LIMIT, 10 * self.seconds)


class Programs:
    """Test programs, each with its working folder and its variables."""

    def __init__(self, places, variables):
        self.places = places
        self.before = apart.words()
        self.variables = {**os.environ, "VKL_VKLOADER": str(tree.VKLOADER), **variables}

    def run(self, program, names, limit, seen):
        """Runs these tests of a program until one fails. Calls `seen` with the name of each test that passes. Returns the name of the
        failed test, "" if the process ended without a failed test or too late, or None if all tests passed."""
        path, folder = self.places[program]
        process = cases.start(
            [*self.before, path, "--exact", *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=limited,
            env=self.variables,
            cwd=folder,
        )
        late = threading.Event()
        timer = threading.Timer(limit, lambda: (late.set(), cases.end(process)))
        timer.start()
        try:
            for raw in process.stdout:
                found = RESULT.match(raw.decode("utf-8", "replace"))
                if found and found[2] == "FAILED":
                    return found[1]
                if found:
                    seen(found[1])
            process.wait()
        finally:
            timer.cancel()
            cases.end(process)
        return "" if late.is_set() or process.returncode else None

    def passes(self, test):
        """Returns True if this test passes when it runs alone in a process."""
        return self.run(test.program, [test.name], test.limit(), lambda _: None) is None

    def first_failure(self, tests):
        """Returns the first test that fails. The tests of each program run in one process. If this process ends without the name of a
        failed test, each test runs in a separate process."""
        for program in dict.fromkeys(test.program for test in tests):
            waiting = {test.name: test for test in tests if test.program == program}
            limit = SHORTEST_LIMIT + 5 * sum(test.seconds for test in waiting.values())
            failed = self.run(program, list(waiting), limit, lambda name: waiting.pop(name, None))
            if failed:
                return waiting[failed]
            if failed is not None:
                # The program ended without naming the failed test. The tests without a result run again one at a time, in the order of
                # their names, because the program started them in this order.
                for test in sorted(waiting.values(), key=lambda test: test.name):
                    if not self.passes(test):
                        return test
        return None


def limited():
    """Limits the resources of a child process."""
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Flakes:
    """Record of unreliable tests. Such a test failed once without a cause."""

    def __init__(self):
        self.lock = threading.Lock()
        self.told = {}

    def add(self, test, reason):
        """Records a failure that did not repeat, or that also occurs without a mutant."""
        with self.lock:
            self.told.setdefault((str(test), reason), []).append(1)
        print(f"     flaky: {test} {reason}", flush=True)

    def summary(self):
        """Prints a line for each unreliable test."""
        for (test, reason), times in sorted(self.told.items()):
            print(f"  {test} {reason}, {len(times)} times")


def killer(tests, mutated, plain, flakes):
    """Returns the first test that fails on the mutant, passes on the unchanged tree, and fails on the mutant again. Returns None if
    there is no such test."""
    tests = list(tests)
    while tests:
        test = mutated.first_failure(tests)
        if test is None:
            return None
        if not plain.passes(test):
            flakes.add(test, "failed on the unchanged tree too")
        elif mutated.passes(test):
            flakes.add(test, "passed on the same mutant when run again")
        else:
            return test
        tests.remove(test)
    return None

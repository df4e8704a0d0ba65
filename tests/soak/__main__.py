"""Runs thousands of short processes, two at a time. In each process, threads create and destroy instances and devices with the layers that
people install. Every process must end without help and report success.

The first argument is the number of minutes. Other arguments are words, and the test uses only settings whose text contains all of these
words.
"""

import atexit
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "real")]

import cases  # noqa: E402 -- found through the line above
import loader  # noqa: E402
import settings  # noqa: E402

AT_ONCE = 2
# Wrapper command before each command, as for the behaviour tests, for example valgrind. With a wrapper, a process may run thirty times as
# long.
WRAP = os.environ.get("VKL_WRAP", "").split()
# Time limit in seconds. The slowest process takes one second on a busy machine.
LIMIT = 60 * (30 if WRAP else 1)
# Kinds of failures of a process, each with its plural.
OUTCOMES = {"crash": "crashes", "hang": "hangs", "failure": "failures"}


class Soak:
    """The processes that the test has yet to run, and the results of the other processes."""

    def __init__(self, matrix, minutes):
        self.end = time.monotonic() + 60 * minutes
        self.lock = threading.Lock()
        self.counts = Counter()
        self.program = cases.setting("VKL_PROGRAMS") / "soak"
        self.turns = self._turns(matrix)

    @staticmethod
    def _turns(matrix):
        """Yields all settings without end, in a different order in each round."""
        shuffle = random.Random(0)
        for turn in itertools.count():
            for setting, variables in shuffle.sample(matrix, len(matrix)):
                yield setting, variables, settings.ROUNDS[turn % len(settings.ROUNDS)]

    def work(self):
        """Runs one process after another until the time is over. Two threads execute this method at the same time."""
        while time.monotonic() < self.end:
            with self.lock:
                setting, variables, rounds = next(self.turns)
            outcome, text = self.run([*WRAP, str(self.program), *setting.arguments(rounds)], variables)
            with self.lock:
                self.counts[setting.stack, setting.threads, "processes"] += 1
                if outcome:
                    self.counts[setting.stack, setting.threads, outcome] += 1
                    self.report(outcome, setting, rounds, text)

    @staticmethod
    def run(command, variables):
        """Runs a process. Returns the kind of failure or None, and details."""
        process = cases.start(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables
        )
        try:
            output = process.communicate(timeout=LIMIT)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            cases.end(process)
            return "hang", f"still running after {LIMIT} s"
        status = process.returncode
        cases.end(process)
        if status < 0:
            return "crash", signal.Signals(-status).name
        return "failure" if status else None, f"status {status}\n{output[-2000:]}"

    @staticmethod
    def report(outcome, setting, rounds, text):
        """Prints one failure with its settings."""
        print(f"  {outcome}: {setting}, {rounds} rounds: {text.rstrip()}", flush=True)

    def table(self):
        """Prints a row for each set of layers and each number of threads."""
        print(f"\n{'layers':<24}{'threads':>8}{'processes':>11}" + "".join(f"{word:>10}" for word in OUTCOMES.values()))
        rows = {key[:2]: None for key in self.counts}
        for stack, threads in sorted(rows):
            self.row(stack, threads, lambda kind: self.counts[stack, threads, kind])
        self.row("all", "", self.total)

    @staticmethod
    def row(stack, threads, count):
        """Prints one row of the table."""
        print(f"{stack:<24}{threads:>8}{count('processes'):>11}" + "".join(f"{count(word):>10}" for word in OUTCOMES))

    def total(self, kind):
        """Returns the number of processes with this result."""
        return sum(number for key, number in self.counts.items() if key[2] == kind)


def main():
    atexit.register(cases.clean_up)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, frame: sys.exit(128 + number))
    skipped = []
    matrix = settings.matrix(sys.argv[2:], skipped)
    for text in dict.fromkeys(skipped):
        print(f"SKIPPED: {text}")
    if not matrix:
        sys.exit(f"no setting has all of: {' '.join(sys.argv[2:])}")
    soak = Soak(matrix, float(sys.argv[1]))
    print(f"{loader.ours()}: {len(matrix)} settings for {sys.argv[1]} minutes", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        workers = [pool.submit(soak.work) for _ in range(AT_ONCE)]
        try:
            for worker in workers:
                worker.result()
        finally:
            soak.end = 0  # an interrupted run ends now, and its table is printed
            wait(workers)
            soak.table()
    sys.exit(any(soak.total(word) for word in OUTCOMES) or soak.total("processes") == 0)


main()

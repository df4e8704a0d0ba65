"""Runs the measurements of both libraries alternately, and stores the figures."""

import csv
import statistics
import sys
from collections import defaultdict

from catalogue import CALLS, CLOCK, FIRST, INSTRUCTIONS, LATER, OPEN

OURS, PEER = SIDES = ("ours", "peer")
# Name of the build of this library without the reader of a driver catalogue. The bench counts its instructions, but does not measure its
# time.
PLAIN = "plain"
# Number of processes for each measurement. The number is odd, so that a median is one of the measurements.
PROCESSES = 15
# Number of measurements of a step when instructions are counted. The first and the second measurement can be different, and the third
# represents all later measurements.
COUNTED_REPEAT = 3


def instructions(cost, label):
    """Returns the counted instructions of a measurement. For the step that opens the library, the result includes the dynamic linker.
    For other steps, the result includes only the loader."""
    return cost.everything() if label == OPEN.label else cost.total()


class Results:
    """Figures of a run. `figures` maps (side, visit, tool, label, which) to a list with one element for each process."""

    def __init__(self):
        self.figures = defaultdict(list)
        # Maps (side, visit, label, which) to the Cost, for reports about the functions that execute the instructions.
        self.costs = {}
        # Maps (side, visit, label) to the number of operations in one measurement, if instructions are counted.
        self.operations = {}

    def add(self, side, visit, tool, label, pairs):
        """Adds the measurements of one process for a label, which are pairs (figure, operations). The first step opens the library, and
        only one visit counts this step."""
        if label == OPEN.label and visit != OPEN.visit:
            return
        values = [figure / operations for figure, operations in pairs]
        later = values[1:] or values
        self.figures[side, visit, tool, label, FIRST].append(values[0])
        self.figures[side, visit, tool, label, LATER].append(statistics.median(later) if tool == CLOCK else later[-1])

    def figure(self, side, row, tool):
        """Returns the median over all processes, or None if there is no measurement."""
        found = self.figures.get((side, row.visit, tool, row.label, row.which))
        return statistics.median(found) if found else None

    def cost(self, side, row):
        """Returns the Cost of a row."""
        return self.costs[side, row.visit, row.label, row.which]

    def alone(self, side, visit, label, symbol):
        """Returns the instructions of one call of the loader's function with this name, or None if they were not counted."""
        cost = self.costs.get((side, visit, label, LATER))
        return cost and cost.own[cost.loader, symbol] / self.operations[side, visit, label]

    def ratio(self, row, tool, other=PEER):
        """Returns the figure of this library divided by the figure of the other loader. Returns None if a figure is missing or the
        divisor is zero."""
        ours, peer = (self.figure(side, row, tool) for side in (OURS, other))
        return ours / peer if ours is not None and peer else None

    def write(self, path):
        """Writes all figures, one line for each label."""
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(("side", "scene", "steps", "tool", "label", "which", "figures"))
            for (side, visit, tool, label, which), values in self.figures.items():
                # Counts are exact and need ten digits. Times are not exact, because the machine may be busy, so they need only four.
                shown = " ".join(f"{value:.4g}" if tool == CLOCK else f"{value:.10g}" for value in values)
                out.writerow((side, visit.scene, " ".join(visit.steps), tool, label, which, shown))


def count(bench, libraries, visit, results):
    """Counts instructions and system calls of a visit."""
    for side in libraries:
        if INSTRUCTIONS in visit.tools:
            for label, pairs in bench.instructions(libraries[side], visit, COUNTED_REPEAT).items():
                results.costs[side, visit, label, FIRST] = pairs[0][0]
                results.costs[side, visit, label, LATER] = pairs[-1][0]
                results.operations[side, visit, label] = pairs[-1][1]
                numbers = [(instructions(cost, label), operations) for cost, operations in pairs]
                results.add(side, visit, INSTRUCTIONS, label, numbers)
        if CALLS in visit.tools:
            for label, pairs in bench.system_calls(libraries[side], visit, COUNTED_REPEAT).items():
                results.add(side, visit, CALLS, label, pairs)


def run(bench, libraries, visits):
    """Runs all visits and returns the results."""
    visits, results = list(dict.fromkeys(visits)), Results()
    bench.stage.prepare({visit.scene for visit in visits})
    for number, visit in enumerate(visits):
        progress(f"counting {number + 1}/{len(visits)}: {visit}")
        count(bench, libraries, visit, results)
    # The outer loop counts processes, so that a busy minute of the machine affects all measurements equally.
    for number in range(PROCESSES):
        progress(f"timing, process {number + 1}/{PROCESSES} of each")
        order = SIDES if number % 2 == 0 else SIDES[::-1]
        for visit in visits:
            if visit.repeat > 1 or number == 0:
                for side in order:
                    for label, pairs in bench.clock(libraries[side], visit, visit.repeat).items():
                        results.add(side, visit, CLOCK, label, pairs)
    progress("")
    return results


def progress(text):
    """Prints the progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

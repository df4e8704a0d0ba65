"""The goals, which are bounds on figures, and their comparison with a run."""

import statistics
from dataclasses import dataclass

import catalogue
import drivers
from campaign import OURS, PLAIN, SIDES
from catalogue import AXES, BASE, CALLS, CLOCK, FIRST, INSTRUCTIONS, LATER, MANIFESTS, Row
from scene import Scene

KIB = 1024
# Milliseconds that `dlopen` and `dlclose` take for the layer of Mesa's drivers and eleven libraries that the layer needs.
LAYER = 1.15
# Largest permitted distance of a measured point from the line that is fitted to all points, as a fraction of the line's rise.
BEND = 0.1


@dataclass
class Verdict:
    """Result for a goal: the limit, the measured value, and a row of the table. If the goal is missed, the report lists the instructions
    of this row."""

    title: str
    found: float | None
    limit: float
    unit: str = ""
    row: Row | None = None
    # `False` if a condition in addition to the limit is not met. `note` explains that condition.
    also: bool = True
    note: str = ""

    @property
    def met(self):
        """Returns True if the goal is met, False if it is missed, and None without a measurement."""
        return None if self.found is None else self.found <= self.limit and self.also


def line(points):
    """Returns slope, value at zero, and largest deviation of the least-squares line."""
    count = len(points)
    middle_x, middle_y = (sum(point[i] for point in points) / count for i in (0, 1))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / spread
    base = middle_y - slope * middle_x
    return slope, base, max(abs(y - base - slope * x) for x, y in points)


def _ratios(results, title, row, tools, limit):
    words = {INSTRUCTIONS: "instructions", CLOCK: "time", CALLS: "system calls"}
    for tool in tools:
        verdict = Verdict(f"{title}, {words[tool]}", results.ratio(row, tool), limit)
        verdict.row = row if tool == INSTRUCTIONS else None
        yield verdict


def _trampolines(results):
    exported = (("draw-exported", "vkCmdDraw", 7), ("properties-exported", "vkGetPhysicalDeviceProperties", 10))
    for label, symbol, limit in exported:
        # The count excludes the loader's terminator at the end of the layer chain.
        found = results.alone(OURS, catalogue.CALL_ROUND, label, symbol)
        yield Verdict(f"{symbol}, exported trampoline alone", found, limit, "instructions a call")


def _look_ups(results):
    visit = catalogue.look_ups(BASE)
    for label, title in catalogue.LOOK_UP_TITLES.items():
        yield from _ratios(results, title, Row(title, visit, label), (CLOCK,), 0.03)
    for label, title in (("gdpa", "vkGetDeviceProcAddr"), ("gipa", "vkGetInstanceProcAddr")):
        points, row = [], None
        for side, of, hit, which in results.costs:
            if side == OURS and of == visit and which == LATER and hit.startswith(f"{label}-hit:"):
                row = Row(f"{title}, a hit", visit, hit)
                parts = results.cost(OURS, row).parts()
                reading = sum(cost for (_, function), cost in parts.items() if "strlen" in function)
                points.append((int(hit.partition(":")[2]), sum(parts.values()) - reading, reading))
        if points:
            slope, base, _ = line([(length, rest) for length, rest, _ in points])
            reading = sum(reading for *_, reading in points) / len(points)
            note = f"a hit costs {base:.0f} + {slope:.1f} for each character of the name, and {reading:.0f} in strlen"
            yield Verdict(f"{title}, a hit beyond reading the name", base, 40, "instructions", row, note=note)


def _queries(results):
    for count in MANIFESTS:
        scene = Scene(manifests=count)
        for title, visit in (("extension", catalogue.extensions(scene)), ("layer", catalogue.layers(scene))):
            row = Row(title, visit, visit.steps[0].partition("=")[0])
            title = f"later {title} queries, layer manifests {count}"
            yield from _ratios(results, title, row, (INSTRUCTIONS, CLOCK), 0.1)


def _instances(results):
    for which in (FIRST, LATER):
        row = Row(which, catalogue.instance(BASE), "instance", which)
        yield from _ratios(results, f"{which} instance, 1 driver, 0 layers", row, (INSTRUCTIONS,), 0.2)
    first = Row(FIRST, catalogue.instance(BASE), "instance", FIRST)
    yield from _ratios(results, "first instance, 1 driver, 0 layers", first, (CALLS,), 0.6)


def _slopes(results):
    for axis in AXES[:3]:
        rows = {point: [row for row in axis.rows(point) if row.label == "instance"] for point in axis.points}
        for number, which in enumerate((FIRST, LATER)):
            slopes, bends = [], []
            for side in SIDES:
                points = [(point, results.figure(side, rows[point][number], INSTRUCTIONS)) for point in axis.points]
                if any(y is None for _, y in points):
                    break
                slope, _, far = line(points)
                slopes.append(slope)
                bends.append(far / (abs(slope) * (axis.points[-1] - axis.points[0]) or 1))
            if len(slopes) == len(SIDES):
                note = f"{slopes[0]:,.0f} against {slopes[1]:,.0f} for each; {bends[0]:.0%} off the line"
                title = f"{which} instance, growth with {axis.name}, instructions"
                row = rows[axis.points[-1]][number]
                yield Verdict(title, slopes[0] / slopes[1], 1, row=row, also=bends[0] <= BEND, note=note)


def _file(results, stripped):
    # The limit of 830 KiB allows 700 KiB for the library without its three optional parts. The trace needs 38 KiB, the client of a driver
    # service with its checksums 37 KiB, and the reader of the driver catalogue 39 KiB.
    yield Verdict("size of the library, stripped", stripped[OURS] / KIB, 830, "KiB")
    yield from _ratios(results, "opening the library", catalogue.OPEN, (INSTRUCTIONS, CLOCK), 1)


def _without_catalogue(results):
    rows = [row for row in catalogue.ROWS if results.figure(PLAIN, row, INSTRUCTIONS) is not None]
    if not rows:
        return
    costly = max(rows, key=lambda row: results.ratio(row, INSTRUCTIONS, PLAIN) or 0)
    found = results.ratio(costly, INSTRUCTIONS, PLAIN)
    title = "no driver catalogue, what its reader costs, instructions"
    yield Verdict(title, found, 1.02, "of the library built without it", costly, note=f"most in: {costly.title}")
    more = max(results.figure(OURS, row, CALLS) - results.figure(PLAIN, row, CALLS) for row in rows)
    yield Verdict("no driver catalogue, system calls more in any call", more, 1, "system calls")


def of_drivers(found):
    """Returns the goals of the installed drivers. Goals of drivers that are not installed are noted as skipped."""
    goals = []

    def goal(title, figure, limit, note=""):
        goals.append(Verdict(f"installed drivers, {title}", figure, limit, "ms", note=note))

    def query(limit):
        goal("first extension query, with a catalogue", found.time(drivers.KNOWN, drivers.QUERY), limit)

    def ratio(title, case, limit):
        goals.append(Verdict(f"installed drivers, {title}", found.ratio(case), limit))

    has_nvidia, has_mesa = found.has(drivers.NVIDIA), found.has(*drivers.MESA)
    if has_nvidia:
        query(0.6)
        goal("destroy, and the same again, with keep-open", found.time(drivers.KEPT, drivers.BOTH), 6)
        goal("query, create, describe and destroy, lazy", found.time(drivers.LAZY, drivers.LOOK), 2)
    else:
        found.skipped.append("two goals with NVIDIA's driver: it is not installed, or does not open")
        if has_mesa:
            # The limits are 0.35 and 0.45 ms on a machine on which the Khronos loader takes 20 ms.
            ratio("first extension query, with a catalogue", drivers.QUERY, 0.35 / 20)
            ratio("the same with the variables of a launcher", drivers.LAUNCHED, 0.45 / 20)
            goal("query, create, describe and destroy, lazy, without implicit layers", found.time(drivers.LAZY, drivers.BARE), 1)
            note = "the limit is 1 ms, and what Mesa's layer and its libraries take to be opened and closed"
            goal("query, create, describe and destroy, lazy", found.time(drivers.LAZY, drivers.LOOK), 1 + LAYER, note)
    if not has_mesa:
        found.skipped.append("the goals with Mesa's four drivers: not all of them are installed, or open")
    known, alone = (found.time(column, drivers.COMPUTED) for column in (drivers.KNOWN, drivers.ALONE))
    if alone is not None:
        # The goal compares processor times. On a busy machine, the elapsed times of two runs differ by more than the 1 ms that the limit
        # allows, because opening libraries takes long.
        note = "the limit is what the drivers that have devices take alone, and 1 ms; of both the processor time"
        goal("create and enumerate, with a catalogue", known, alone + 1, note)
    used = found.time(drivers.KNOWN, drivers.USE)
    if used is not None:
        note = "the limit is the time without the policy, and 1 ms"
        goal("the same with a logical device of each, lazy", found.time(drivers.LAZY, drivers.USE), used + 1, note)
    many = {column: statistics.median(values) for column, values in found.many.items()}
    if many:
        title = f"first extension query, {drivers.MANY.drivers} manifests, with a catalogue"
        note = "the limit is the time without a catalogue"
        goals.append(Verdict(title, many[drivers.KNOWN], many[drivers.OURS], "ms", note=note))
    bare = dict(found.bare)
    if "no catalogue" in bare:
        more = bare.pop("no catalogue") - min(bare.values())
        goals.append(Verdict("no driver catalogue, system calls more in the first extension query", more, 1, "system calls"))
    return [verdict for verdict in goals if verdict.met is not None]


def _growth(results):
    for label, title in (("growth-heap", "heap"), ("growth-resident", "resident memory")):
        found = results.figure(OURS, Row(label, catalogue.MEMORY, label, FIRST), CLOCK)
        # A leaked block would need at least 16 bytes in each round. An allocator's caches need far less.
        found = None if found is None else found / catalogue.GROWTH_ROUNDS
        yield Verdict(f"{title}, growth with each instance made and destroyed", found, 1, "bytes")


def verdicts(results, stripped):
    """Returns all goals for which this run has figures."""
    parts = (_trampolines, _look_ups, _queries, _instances, _slopes, _growth, _without_catalogue)
    found = [verdict for part in parts for verdict in part(results)] + list(_file(results, stripped))
    return [verdict for verdict in found if verdict.met is not None]

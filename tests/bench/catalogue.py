"""Defines the measurements: visits (a visit is one process), rows of the table, axes of the plots, and cases of the stage `gate`."""

from dataclasses import dataclass

from scene import Scene

CLOCK, INSTRUCTIONS, CALLS = TOOLS = ("clock", "instructions", "calls")
FIRST, LATER = "first", "later"


@dataclass(frozen=True)
class Visit:
    """Process of a measurement: its scene, and the steps that it runs."""

    scene: Scene
    steps: tuple
    tools: tuple = TOOLS
    # Number of times that a process measures the time of each step. With 1, the process runs only once.
    repeat: int = 21

    def __str__(self):
        return f"{' '.join(self.steps)} ({self.scene})"


@dataclass(frozen=True)
class Row:
    """Row of the table: one label of a visit, from its first or its later measurements."""

    title: str
    visit: Visit
    label: str
    which: str = LATER


BASE = Scene()
INSTALLED = Scene(installed=True)
MANIFESTS = (0, 10, 100)


def extensions(scene):
    """Returns a visit that queries the instance extensions."""
    return Visit(scene, ("extensions",))


def layers(scene):
    """Returns a visit that queries the instance layers. These layers come from the manifests."""
    return Visit(scene, (f"layers={scene.shown_manifests}",))


def instance(scene):
    """Returns a visit that creates and destroys instances."""
    return Visit(scene, ("instance",))


def device(scene):
    """Returns a visit that creates and destroys devices."""
    return Visit(scene, ("device",))


def look_ups(scene):
    """Returns a visit that looks up all entry points."""
    return Visit(scene, ("look-ups",))


def threads(count):
    """Returns a visit that creates and destroys instances in several threads at the same time."""
    return Visit(BASE, (f"threads={count}",), (CLOCK,), repeat=101)


OPEN = Row("open the library", extensions(BASE), "open", FIRST)
CALL_ROUND = Visit(BASE, ("calls",))
GROWTH_ROUNDS = 10000
MEMORY = Visit(BASE, ("memory", f"growth={GROWTH_ROUNDS}"), (CLOCK,), repeat=1)
LOOK_UP_TITLES = {
    "gdpa": "vkGetDeviceProcAddr, all names",
    "gdpa-miss": "vkGetDeviceProcAddr, misses",
    "gipa": "vkGetInstanceProcAddr, all names",
    "gipa-miss": "vkGetInstanceProcAddr, misses",
}
CALL_TITLES = {
    "draw-exported": "vkCmdDraw, exported symbol",
    "draw-instance": "vkCmdDraw, instance pointer",
    "draw-device": "vkCmdDraw, device pointer",
    "properties-exported": "vkGetPhysicalDeviceProperties, exported symbol",
    "properties-instance": "vkGetPhysicalDeviceProperties, instance pointer",
}


def _pair(title, visit, label):
    """Returns the rows for the first and for the later measurements of a process."""
    return [Row(f"{title}: {which}", visit, label, which) for which in (FIRST, LATER)]


def _rows():
    rows = [OPEN]
    for count in MANIFESTS:
        rows += _pair(f"extension query, {count} manifests", extensions(Scene(manifests=count)), "extensions")
    for count in MANIFESTS:
        rows += _pair(f"layer query, {count} manifests", layers(Scene(manifests=count)), "layers")
    for drivers in (1, 8):
        for count in (0, 8, 32):
            scene = Scene(drivers, layers=count)
            rows += _pair(f"instance, drivers {drivers}, layers {count}", instance(scene), "instance")
    installed = Visit(INSTALLED, ("instance",), repeat=5)
    rows += _pair("instance, installed drivers", installed, "instance")
    rows += [Row(f"device, layers {count}", device(Scene(layers=count)), "device") for count in (0, 8, 32)]
    rows += [Row(title, look_ups(BASE), label) for label, title in LOOK_UP_TITLES.items()]
    rows += [Row(title, CALL_ROUND, label) for label, title in CALL_TITLES.items()]
    rows += [Row(f"instance, threads {count}", threads(count), "threads", FIRST) for count in (1, 2, 4)]
    return rows


ROWS = _rows()
QUICK = [row for row in ROWS if row.visit.scene == BASE and row.label != "threads"]


@dataclass(frozen=True)
class Axis:
    """Number that grows along the plots of one file, with the cases of these plots."""

    name: str
    points: tuple
    # Function that returns the rows for a point of the axis. The rows have the same titles at each point.
    rows: object


def _along(scene, queries):
    rows = []
    if queries:
        rows += _pair("extension query", extensions(scene), "extensions")
        rows += _pair("layer query", layers(scene), "layers")
    rows += _pair("instance", instance(scene), "instance")
    rows.append(Row("device", device(scene), "device"))
    return rows + [Row(title, look_ups(scene), label) for label, title in LOOK_UP_TITLES.items()]


AXES = (
    Axis("manifests", (0, 10, 30, 100), lambda count: _along(Scene(manifests=count), True)),
    # The axis starts at one layer, because without layers the library under test does not read the manifests.
    Axis("layers", (1, 4, 8, 16, 32), lambda count: _along(Scene(manifests=32, layers=count), False)),
    Axis("drivers", (1, 2, 4, 8, 16), lambda count: _along(Scene(count), True)),
    Axis("threads", (1, 2, 4), lambda count: [Row("instance", threads(count), "threads", FIRST)]),
)


def gate_rows():
    """Returns the cases whose instructions `make test` compares with committed limits."""
    hundred = Scene(manifests=100)
    return [
        Row("second extension query", extensions(BASE), "extensions"),
        Row("first layer query, 100 manifests", layers(hundred), "layers", FIRST),
        Row("second layer query, 100 manifests", layers(hundred), "layers"),
        Row("first instance, drivers 1, layers 0", instance(BASE), "instance", FIRST),
        Row("later instance, drivers 1, layers 0", instance(BASE), "instance"),
        Row("later instance, drivers 8, layers 8", instance(Scene(8, layers=8)), "instance"),
        Row("device, drivers 1, layers 8", device(Scene(layers=8)), "device"),
        *(Row(title, look_ups(BASE), label) for label, title in LOOK_UP_TITLES.items()),
        *(Row(CALL_TITLES[label], CALL_ROUND, label) for label in ("draw-exported", "properties-exported")),
    ]

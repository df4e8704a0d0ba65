"""Measures the library beside another loader, prints the table, and writes raw data, summary and plots.

Without arguments, the script measures all cases. `quick` measures a few cases and writes no files. `profile WORDS` shows the functions with
the most instructions, for each case whose title contains the words. `drivers` measures the installed drivers alone, and needs neither
callgrind nor strace. `drivers drop-caches` empties the page cache of the whole machine for the cold cases, which needs root.
"""

import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import campaign
import catalogue
import drivers
import plot
import report
import targets
import tools
from campaign import OURS, PEER, PLAIN
from catalogue import INSTRUCTIONS
from scene import Stage

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = ROOT / "tests/bench-runs"


def stripped_sizes(libraries, scratch):
    """Returns the sizes of the files in bytes, without symbols that are not used at run time."""
    sizes = {}
    for side, library in libraries.items():
        copy = scratch / "stripped"
        subprocess.run(["strip", "-o", copy, library], check=True, timeout=60)
        sizes[side] = copy.stat().st_size
    return sizes


def processor():
    """Returns the name of the processor, if the system reports it."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "processor unknown"


def about(libraries):
    """Returns the conditions of a run that readers need to know."""
    return [
        f"- ours: {os.environ.get('VKL_BENCH_OURS', 'commit unknown')}",
        f"- peer: {libraries['peer'].resolve().name}",
        f"- {processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start",
        f"- {tools.libc_version()}, {tools.version_of('valgrind') or 'no valgrind'}, "
        f"{campaign.PROCESSES} processes a case and library",
    ]


def stage(scratch):
    """Returns the environment for measurements. All files are in a scratch folder."""
    programs = Path(os.environ["VKL_BENCH_PROGRAMS"])
    names = scratch / "names"
    names.write_text("".join(tools.command_names(ROOT / "registry/snapshot/commands.txt")))
    return tools.Bench(Stage(scratch, programs), programs, names)


def profile(scratch, library, words):
    """Prints the most expensive functions of the cases whose titles contain the words."""
    results = campaign.Results()
    rows = [row for row in catalogue.ROWS if words in row.title and INSTRUCTIONS in row.visit.tools]
    bench = stage(scratch)
    bench.stage.prepare({row.visit.scene for row in rows})
    for visit in dict.fromkeys(row.visit for row in rows):
        campaign.count(bench, {OURS: library}, visit, results)
    for row in rows:
        print(f"{row.title}: {results.figure(OURS, row, INSTRUCTIONS):,.2f} instructions")
        print("\n".join(report.where(results.cost(OURS, row))))
    return 0 if rows else f"no case has {words!r} in its title"


def of_drivers(scratch, libraries, everything):
    """Returns the figures of the installed drivers."""
    scratch.mkdir()
    programs = Path(os.environ["VKL_BENCH_PROGRAMS"])
    # The list of command names is empty, so no measurement looks up commands.
    bench = tools.Bench(Stage(scratch, programs), programs, os.devnull)
    program = os.environ.get("VKL_VKLOADER") or libraries[OURS].parent / "vkloader"
    both = {drivers.OURS: libraries[OURS], drivers.KHRONOS: libraries[PEER]}
    return drivers.measure(bench, both, program, scratch, everything)


def only_drivers(scratch, libraries, everything):
    """Measures only the installed drivers, and prints the figures."""
    print("\n".join(about(libraries)), end="\n\n")
    found = of_drivers(scratch / "drivers", libraries, everything)
    print("\n".join([*drivers.page(found), "", *report.goals(targets.of_drivers(found))]))
    return 0


def compare(scratch, libraries, quick):
    """Runs the whole measurement. Prints the page and, except in quick mode, writes the page, the raw data and the plots."""
    conditions = about(libraries)
    rows = catalogue.QUICK if quick else catalogue.ROWS
    installed = None if quick else of_drivers(scratch / "drivers", libraries, False)
    visits = [row.visit for row in rows]
    if not quick:
        visits.append(catalogue.MEMORY)
        visits += [row.visit for axis in catalogue.AXES for point in axis.points for row in axis.rows(point)]
    results = campaign.run(stage(scratch), libraries, visits)
    stripped = stripped_sizes(libraries, scratch)
    verdicts = targets.verdicts(results, stripped)
    if installed:
        verdicts += targets.of_drivers(installed)
    text = report.page(conditions, results, verdicts, stripped, rows, installed and drivers.page(installed))
    print(text, end="")
    if not quick:
        folder = RUNS / datetime.date.today().isoformat()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.md").write_text(text)
        results.write(folder / "raw.csv")
        drivers.write(installed, folder / "drivers.csv")
        for axis in catalogue.AXES:
            (folder / f"{axis.name}.svg").write_text(plot.draw(results, axis))
        print(f"\nWritten: {folder.relative_to(ROOT)}")
    return 0


def main():
    """Runs the mode that the arguments select."""
    scratch = Path(tempfile.mkdtemp(prefix="vkl-bench-"))
    try:
        libraries = {OURS: Path(os.environ["VKL_LIBRARY"]), PEER: Path(os.environ["VKL_PEER_LIBRARY"])}
        if plain := os.environ.get("VKL_PLAIN_LIBRARY"):
            libraries[PLAIN] = Path(plain)
        if sys.argv[1:2] == ["profile"]:
            return profile(scratch, libraries[OURS], " ".join(sys.argv[2:]))
        if sys.argv[1:2] == ["drivers"]:
            return only_drivers(scratch, libraries, "drop-caches" in sys.argv[2:])
        return compare(scratch, libraries, "quick" in sys.argv[1:])
    except tools.Failed as failure:
        return f"bench: {failure}"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


sys.exit(main())

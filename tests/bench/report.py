"""Writes the text of a run: the table, the goals, and the most expensive functions of each missed goal."""

import re

import catalogue
from campaign import OURS, PLAIN, SIDES
from catalogue import CALLS, CLOCK, FIRST, INSTRUCTIONS, Row

# Columns of the table. Each column has a tool, a heading, and the size of a unit.
COLUMNS = ((INSTRUCTIONS, "instructions", 1), (CLOCK, "time in us", 1e3), (CALLS, "system calls", 1))
TOP = 14


def number(value, unit=1):
    """Formats a number with three or more digits, and None as an empty text."""
    if value is None:
        return ""
    value /= unit
    if abs(value) >= 1e5:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(ratio):
    """Formats a ratio, and None as an empty text."""
    return "" if ratio is None else f"{ratio:.3f}" if ratio < 10 else f"{ratio:.0f}"


def grid(rows):
    """Returns rows of words as a Markdown table: the first row is the header, and all but the first column are aligned right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def shown(row):
        cells = [word.ljust(width) if i == 0 else word.rjust(width) for i, (word, width) in enumerate(zip(row, widths))]
        return f"| {' | '.join(cells)} |"

    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return [shown(rows[0]), shown(rule), *(shown(row) for row in rows[1:])]


def table(results, rows):
    """Returns the figures of both sides and their ratio, for each row and each way to measure."""
    head = ["case"]
    for _, title, _ in COLUMNS:
        head += [f"{title}, ours", "peer", "ratio"]
    lines = [head]
    for row in rows:
        words = [row.title]
        for tool, _, unit in COLUMNS:
            words += [number(results.figure(side, row, tool), unit) for side in SIDES]
            words.append(share(results.ratio(row, tool)))
        lines.append(words)
    return grid(lines)


def memory(results, stripped):
    """Returns the figures in bytes, which are not part of the table."""
    lines = [["bytes", "ours", "peer"]]
    lines.append(["size of the library, stripped", *(number(stripped[side]) for side in SIDES)])
    titles = {
        "memory": "heap for each live instance",
        "growth-heap": "heap, growth over 10,000 rounds",
        "growth-resident": "resident memory, growth over 10,000 rounds",
    }
    for label, title in titles.items():
        row = Row(title, catalogue.MEMORY, label, FIRST)
        if results.figure(OURS, row, CLOCK) is not None:
            lines.append([title, *(number(results.figure(side, row, CLOCK)) for side in SIDES)])
    return grid(lines)


def goals(verdicts):
    """Returns each goal with the measured value. A value without a unit is divided by the other loader's value."""
    lines = [["goal", "limit", "found", "met", "unit"]]
    for verdict in verdicts:
        words = [verdict.title, number(verdict.limit), number(verdict.found)]
        lines.append([*words, "met" if verdict.met else "NOT MET", verdict.unit or "of the peer's"])
    notes = [f"- {verdict.title}: {verdict.note}" for verdict in verdicts if verdict.note]
    return [*grid(lines), "", *notes]


def plain(function):
    """Returns a function's name without its hash, and without folders in generic arguments."""
    name = re.sub(r"::h[0-9a-f]{16}\b|'\d+$", "", function)
    return name if len(name) <= 110 else name[:107] + "..."


def where(cost):
    """Returns the most expensive functions, by their own cost and by the cost that includes their callees."""
    total = cost.total() or 1
    lines = []
    for title, costs in (("in themselves", cost.parts()), ("with what they call", cost.inclusive())):
        lines.append(f"{title}:")
        # The inclusive cost of a recursive function counts nested calls several times, and can exceed the total, so it is not shown.
        found = ((count, name) for (_, name), count in costs.items() if count <= total)
        for count, name in sorted(found, reverse=True)[:TOP]:
            lines.append(f"    {count:>10,} {count / total:>6.1%}  {plain(name)}")
    return lines


def profiles(results, verdicts):
    """Returns the expensive functions for each missed goal about instructions."""
    lines, seen = [], set()
    for verdict in verdicts:
        row = verdict.row
        key = row and (row.visit, row.label, row.which)
        if verdict.met or not row or key in seen:
            continue
        seen.add(key)
        cost = results.cost(OURS, row)
        lines += ["", f"### {verdict.title}", ""]
        lines.append(f"{row.visit}; {cost.total():,} instructions")
        lines += ["", "```", *where(cost), "```"]
    return lines


def without_catalogue(results, rows, stripped):
    """Compares the library without a catalogue file with a library that was built without the reader of catalogues."""
    lines = [["case", "instructions", "without the reader", "ratio", "system calls", "without the reader"]]
    for row in rows:
        if results.figure(PLAIN, row, INSTRUCTIONS) is not None:
            words = [number(results.figure(side, row, INSTRUCTIONS)) for side in (OURS, PLAIN)]
            words.append(share(results.ratio(row, INSTRUCTIONS, PLAIN)))
            lines.append([row.title, *words, *(number(results.figure(side, row, CALLS)) for side in (OURS, PLAIN))])
    taken = (stripped[OURS] - stripped[PLAIN]) / 1024
    return [*grid(lines), "", f"It is {taken:.1f} KiB of the library."]


def page(about, results, verdicts, stripped, rows, installed):
    """Returns the summary of a run in Markdown."""
    text = ["# Measured beside another loader", "", *about, ""]
    text += ["Time is the median over processes. Instructions are those of the loader and of its calls to libc without"]
    text += ["the dynamic linker, drivers and layers; for opening the library they are all that were executed.", ""]
    text += ["## Table", "", *table(results, rows), "", *memory(results, stripped)]
    if PLAIN in stripped:
        text += ["", "## Without a driver catalogue", "", *without_catalogue(results, rows, stripped)]
    if installed:
        text += ["", "## Installed drivers", "", *installed]
    text += ["", "## Goals", "", *goals(verdicts)]
    missed = profiles(results, verdicts)
    if missed:
        text += ["", "## Where the instructions of missed goals go", *missed]
    return "\n".join(text) + "\n"

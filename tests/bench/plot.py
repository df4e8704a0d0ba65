"""Writes plots as SVG: a file for each axis, with a row of panels for each case, and a line for each library."""

from xml.sax.saxutils import escape

from campaign import OURS, SIDES
from catalogue import CALLS, CLOCK, INSTRUCTIONS
from report import number

KINDS = ((INSTRUCTIONS, "instructions", 1), (CLOCK, "time in us", 1e3), (CALLS, "system calls", 1))
COLOURS = {"ours": "#0b6e99", "peer": "#c4622d"}
WIDTH, HEIGHT, TITLE, LEFT, GAP, TOP = 300, 120, 34, 62, 26, 62


def _panel(left, top, lines, points, title):
    """Returns one diagram. `lines` maps a side to its values."""
    inner, floor = WIDTH - LEFT - GAP, top + HEIGHT
    high = max((value for values in lines.values() for value in values), default=0) or 1
    span = points[-1] - points[0]

    def place(x, y):
        return f"{left + LEFT + inner * (x - points[0]) / span:.1f},{floor - HEIGHT * y / high:.1f}"

    out = [f'<text x="{left + LEFT}" y="{top - 8}" class="t">{escape(title)}</text>']
    for part in (0, 0.5, 1):
        y = floor - HEIGHT * part
        out.append(f'<path d="M{left + LEFT} {y:.1f}h{inner}" class="g"/>')
        out.append(f'<text x="{left + LEFT - 5}" y="{y + 4:.1f}" class="y">{number(high * part)}</text>')
    for x in points:
        at = place(x, 0).partition(",")[0]
        out.append(f'<text x="{at}" y="{floor + 14}" class="x">{x}</text>')
    for side, values in lines.items():
        places = [place(x, y) for x, y in zip(points, values)]
        out.append(f'<polyline points="{" ".join(places)}" fill="none" stroke="{COLOURS[side]}" stroke-width="2"/>')
        for at in places:
            x, y = at.split(",")
            out.append(f'<circle cx="{x}" cy="{y}" r="2.5" fill="{COLOURS[side]}"/>')
    return out


def _values(results, rows, tool, unit):
    """Returns the values of each side along the axis, or an empty result if a value is missing."""
    found = {side: [results.figure(side, row, tool) for row in rows] for side in SIDES}
    if any(value is None for values in found.values() for value in values):
        return {}
    return {side: [value / unit for value in values] for side, values in found.items()}


def draw(results, axis):
    """Returns the text of the SVG file of an axis."""
    cases = list(zip(*(axis.rows(point) for point in axis.points)))
    body, top, widest = [], TOP, 1
    for rows in cases:
        shown = [(kind[1], _values(results, rows, kind[0], kind[2])) for kind in KINDS]
        shown = [(title, lines) for title, lines in shown if lines]
        for column, (title, lines) in enumerate(shown):
            body += _panel(column * WIDTH, top + TITLE, lines, axis.points, f"{rows[0].title}: {title}")
        widest = max(widest, len(shown))
        top += HEIGHT + TITLE + 24
    style = (
        "text{font:11px sans-serif;fill:#222}.t{font-weight:bold;font-size:10px}.y{text-anchor:end}"
        ".x{text-anchor:middle}.h{font-size:15px}.g{stroke:#ddd}"
    )
    # The minimum width leaves space for the titles of a single panel.
    size = f'width="{max(widest * WIDTH, 420)}" height="{top + 10}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<style>{style}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="14" y="24" class="h">Cost against the number of {escape(axis.name)}</text>',
    ]
    for place, side in enumerate(SIDES):
        name = "this loader" if side == OURS else "the peer"
        head.append(f'<rect x="{14 + 120 * place}" y="36" width="14" height="4" fill="{COLOURS[side]}"/>')
        head.append(f'<text x="{34 + 120 * place}" y="42">{name}</text>')
    return "\n".join([*head, *body, "</svg>"]) + "\n"

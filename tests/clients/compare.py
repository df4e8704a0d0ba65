"""Compares two runs of a client. differences.txt lists the permitted differences."""

import re
from pathlib import Path

from cases import Failure, ROOT, expect
from client import COMMON
from vulkaninfo import LIST as OF_VULKANINFO, differences

LIST = Path(__file__).with_name("differences.txt")


class Listed:
    """Row of the list: the client, the versions of the Khronos loader, the line that may differ, and the reason."""

    def __init__(self, place, client, peer, sign, pattern, reason):
        self.place, self.client, self.sign, self.reason = place, client, sign, reason
        self.peer, self.pattern = re.compile(peer), re.compile(pattern)
        self.used = False

    def concerns(self, client, peer):
        """Returns true if the row applies to this client in comparison with a Khronos loader of this version."""
        return self.client == client and self.peer.fullmatch(peer) is not None


def read_list():
    """Returns the rows of the list, and the rows for vulkaninfo from tests/real."""
    rows = []
    for number, line in _lines(LIST):
        place = f"{LIST.relative_to(ROOT)}:{number}"
        columns = re.split(r"\s{2,}", line.strip(), maxsplit=4)
        expect(len(columns) == 5, f"{place}: client, peer, sign, pattern and reason, two spaces apart")
        rows.append(Listed(place, *columns))
    for number, line in _lines(OF_VULKANINFO):
        sign, pattern, reason = re.split(r"\s{2,}", line.strip(), maxsplit=2)
        row = Listed(f"{OF_VULKANINFO.relative_to(ROOT)}:{number}", "vulkaninfo", r"1\.3\.239", sign, pattern, reason)
        # This row counts as used, because the tests in tests/real already report unused rows of the list for vulkaninfo.
        row.used = True
        rows.append(row)
    return rows


def _lines(path):
    lines = enumerate(path.read_text().splitlines(), 1)
    return [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]


def compare_text(ours, theirs, rows):
    """Fails if a differing line is not listed. Returns the number of listed lines that differ."""
    surprising, listed = [], 0
    for sign, line in differences(theirs.splitlines(), ours.splitlines()):
        fitting = [row for row in rows if row.sign == sign and row.pattern.fullmatch(line.strip())]
        for row in fitting:
            row.used = True
        if fitting:
            listed += 1
        else:
            surprising.append(f"    {sign} {line[:300]}")
    count = f"{len(surprising)} lines of output differ (+ ours, - the peer's):"
    expect(not surprising, "\n".join([count, *surprising[:30]]))
    return listed


def compare_files(ours, theirs, tolerance):
    """Fails unless both runs wrote the same files. Pictures may differ within the tolerance."""
    expect(ours.keys() == theirs.keys(), f"files: {sorted(ours)} here and {sorted(theirs)} beside the peer")
    for name, content in ours.items():
        if name.endswith(".ppm"):
            head, pixels = _ppm(content)
            other, others = _ppm(theirs[name])
            expect(head == other, f"{name}: {head} here, {other} beside the peer")
            compare_pixels(name, pixels, others, 3, tolerance)
        else:
            expect(content == theirs[name], f"{name} differs ({len(content)} and {len(theirs[name])} bytes)")


def _ppm(content):
    found = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", content)
    if not found:
        raise Failure("not a picture in the format P6 with 255 shades")
    return (int(found[1]), int(found[2])), content[found.end() :]


def compare_pixels(name, ours, theirs, width, tolerance):
    """Fails if too many pixels differ by more than the tolerance allows. A pixel has `width` bytes."""
    share, levels = tolerance
    if ours == theirs:
        return
    expect(len(ours) == len(theirs), f"{name}: {len(ours)} and {len(theirs)} bytes")
    wrong = 0
    for i in range(0, len(ours), width):
        if any(abs(a - b) > levels for a, b in zip(ours[i : i + width], theirs[i : i + width])):
            wrong += 1
    total = len(ours) // width
    expect(wrong <= share * total, f"{name}: {wrong} of {total} pixels differ by more than {levels}")


def compare_windows(ours, theirs, client):
    """Fails unless both runs showed the same window."""
    if client.window == "still":
        compare_pixels("the window", ours.picture.pixels, theirs.picture.pixels, 4, client.tolerance)
    elif client.window == "frames":
        common = len(ours.seen & theirs.seen)
        seen = f"{len(ours.seen)} and {len(theirs.seen)} pictures seen"
        expect(common >= COMMON, f"{seen}, {common} of them the same in both runs")


def compare(ours, theirs, rows):
    """Compares all results of two runs. Returns a text with the kinds of results, and the number of listed differences."""
    client = ours.client
    listed = compare_text(ours.text(), theirs.text(), rows)
    files = ours.files()
    compare_files(files, theirs.files(), client.tolerance)
    compare_windows(ours, theirs, client)
    words = [_count(len(ours.text().splitlines()), "line")]
    words += [f"`{name}`" for name in files] if len(files) < 4 else [_count(len(files), "file")]
    words += {"still": ["the window"], "frames": ["frames of the window"], "moving": ["that the window moves"]}.get(
        client.window, []
    )
    return ", ".join(words), listed


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"

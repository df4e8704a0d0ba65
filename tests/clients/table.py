"""The table of a run, tests/clients.md."""

import platform
import re
from pathlib import Path

from cases import ROOT
from install import Apt, Crate, Npm, Pip

# Upper bound on the length of an explanation, in characters.
WIDTH = 160
PLACE = ROOT / "tests/clients.md"
HEAD = """# Real programs under both loaders

Written by `make clients`, which runs every program of a table twice under the library and twice under the loader that is
to be replaced, on lavapipe. It compares what they print, the files they write and the pictures they show, and checks each
time that this loader and no other opened the driver. Seconds are those of the shorter run, until the program ended or had
shown enough.
[clients/](clients/README.md) says how. The last whole run beside each Khronos loader:
"""
SECTION = """
## Beside {theirs}, on {system}

The library is {ours}; lavapipe is that of Mesa {mesa}.

| client | version | from | what it does | compared | result | library, s | Khronos loader, s |
|---|---|---|---|---|---|---|---|
"""


class Entry:
    """The results of a client's run."""

    def __init__(self, client):
        self.client = client
        self.version = self.compared = self.word = ""
        self.listed = 0
        self.ours = self.theirs = None

    def times(self, ours, theirs):
        """Stores the shorter time with each loader."""
        self.ours = min(run.seconds for run in ours)
        self.theirs = min(run.seconds for run in theirs)

    def result(self):
        """Returns a text that describes the result."""
        if self.listed and self.word == "same":
            return f"same, but for {self.listed} listed line{'' if self.listed == 1 else 's'}"
        said = self.word.splitlines()[0] if self.word else "broke off"
        return said if len(said) <= WIDTH else said[:WIDTH] + " ..."

    def line(self):
        """Returns the row of the table."""
        seconds = ["" if time is None else f"{time:.2f}" for time in (self.ours, self.theirs)]
        client = self.client
        columns = [client.name, self.version, origin(client), client.does, self.compared, self.result(), *seconds]
        return "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |\n"


def origin(client):
    """Returns the name of the package manager that installs the client itself."""
    first = client.needs[0]
    names = {Apt: "apt", Pip: "pip", Npm: "npm", Crate: "cargo"}
    return next((name for kind, name in names.items() if isinstance(first, kind)), "cargo, a program of ours")


def write(state):
    """Writes the section of this run. The section replaces the section for the same version of the Khronos loader."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    mesa = Apt("mesa-vulkan-drivers", "/").version()
    section = SECTION.format(ours=state.ours, theirs=state.peer, system=system, mesa=mesa)
    section += "".join(entry.line() for entry in state.entries)
    words = [entry.word.partition(":")[0] for entry in state.entries]
    counts = {word: words.count(word) for word in ("same", "skipped", "DIFFERS")}
    section += f"\n{len(state.entries)} clients: {counts['same']} the same, {counts['DIFFERS']} different,"
    section += f" {counts['skipped']} skipped.\n"
    others = re.split(r"(?=^## )", PLACE.read_text(), flags=re.MULTILINE)[1:] if PLACE.exists() else []
    kept = [other for other in others if not other.startswith(f"## Beside {state.peer},")]
    PLACE.write_text(HEAD + "\n" + "\n".join(part.strip() + "\n" for part in sorted([*kept, section.strip()])))

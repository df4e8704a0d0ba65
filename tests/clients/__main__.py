"""Runs real programs from package registries with the library and with another loader, and compares the results.

Arguments select clients by parts of their names. Without arguments, all clients run, and tests/clients.md is written again. With `prepare`
as the first argument, the script only installs the requirements that are built from source and run on any system.
"""

import os
import re
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "real")]

import cases  # noqa: E402 -- found through the lines above
import compare  # noqa: E402
import judgement  # noqa: E402
import loader  # noqa: E402
import table  # noqa: E402
from cases import Failure, Skip, expect  # noqa: E402
from client import Run  # noqa: E402
from install import Apt, Npm, Pip  # noqa: E402
from rows import CLIENTS  # noqa: E402

# Number of runs of each client with each loader. The table contains the shorter time. Two runs show which part of the output is different
# in each run.
ROUNDS = 2


def loader_version(library):
    """Returns the version that a loader reports."""
    code = (
        "import ctypes, sys; n = ctypes.c_uint32()\n"
        "assert ctypes.CDLL(sys.argv[1]).vkEnumerateInstanceVersion(ctypes.byref(n)) == 0\n"
        "print(f'{n.value >> 22 & 127}.{n.value >> 12 & 1023}.{n.value & 4095}')"
    )
    return cases.run([sys.executable, "-c", code, library], 60).strip()


def run(client, library):
    """Runs a client once. Returns the run, and the reason if the run does not test the loader."""
    try:
        done = Run(client, library)
    except Failure as failure:
        return None, str(failure)
    return done, done.fault()


def judge(client, peer, listed, entry):
    """Runs a client with both loaders alternately, and fails unless the results are equal."""
    # The installation is in reverse order, because the first requirement can need the other requirements.
    for need in reversed(client.needs):
        need.install()
    entry.version = client.needs[0].version()
    rows = [row for row in listed if row.concerns(client.name, peer)]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        reference, fault = run(client, loader.peer())
        if fault:
            raise Skip(f"it fails under the peer too: {fault}")
        reference.check_loader()
        done, fault = run(client, loader.ours())
        expect(not fault, f"under the library, not under the peer: {fault}")
        done.check_loader()
        theirs.append(reference)
        ours.append(done)
        entry.times(ours, theirs)
    for other in theirs[1:]:
        try:
            compare.compare(theirs[0], other, [])
        except Failure as failure:
            raise Failure(f"two runs under the peer differ: the row must leave out what does\n{failure}") from None
    for done in ours:
        entry.compared, entry.listed = compare.compare(done, theirs[0], rows)
    keep_picture(ours[0])
    ran.append(client.name)


def keep_picture(run):
    """Saves a picture of the window for people."""
    if "VKL_PICTURES" in os.environ and run.picture:
        folder = Path(os.environ["VKL_PICTURES"])
        folder.mkdir(parents=True, exist_ok=True)
        run.picture.write_png(folder / f"{re.sub(r'[^a-z0-9]+', '-', run.client.name.lower())}.png")


# Names of the clients that were compared.
ran = []


def case(client, state):
    """Returns the case of a client, which fills the client's row of the table."""

    def tried():
        entry = table.Entry(client)
        state.entries.append(entry)
        try:
            judge(client, state.peer, state.listed, entry)
            entry.word = "same"
        except Skip as skip:
            entry.word = f"skipped: {skip}"
            raise
        except Exception as error:
            entry.word = f"DIFFERS: {error}"
            raise

    return tried


def list_is_alive(state):
    """Checks that every row of the list was used, if it is about a client of this run and this version of the Khronos loader."""
    tried = [row for row in state.listed if row.client in ran and row.concerns(row.client, state.peer)]
    dead = [row.place for row in tried if not row.used]
    expect(not dead, f"never needed: {', '.join(dead)}")


def prepare(wanted):
    """Installs the requirements of the selected clients that run on any system. Prints the requirements that cannot be installed."""
    for client in CLIENTS:
        if wanted and not any(part in f"clients: {client.name}" for part in wanted):
            continue
        for need in client.needs:
            if not isinstance(need, (Apt, Pip, Npm)):
                try:
                    need.install()
                except Skip as skip:
                    print(f"{client.name}: {skip}")


def main():
    """Runs the clients."""
    if sys.argv[1:2] == ["prepare"]:
        prepare(sys.argv[2:])
        return
    state = types.SimpleNamespace(peer=loader_version(loader.peer()), listed=compare.read_list(), entries=[])
    state.ours = loader_version(loader.ours())
    chosen = [(client.name, case(client, state)) for client in CLIENTS]
    module = types.SimpleNamespace(__name__="clients", __file__=__file__, CASES=chosen)
    module.CASES.append(("every listed difference is one", lambda: list_is_alive(state)))
    try:
        cases.main([judgement, module])
    finally:
        if not sys.argv[1:]:
            table.write(state)


main()

"""Runs the cases of the scripted tests.

Each case is a function. A case passes when it returns, fails when it raises `Failure`, and is skipped when it raises `Skip`. `main` runs
the cases of the given modules. For each case, `main` prints a line that begins with `ok`, `FAIL` or `skip`, and `make test` counts these
lines.
"""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

# Programs of other users must be able to read the files of a test, also if the user's umask would prevent this.
os.umask(0o022)
ROOT = Path(__file__).resolve().parent.parent
SCRATCH = Path(tempfile.mkdtemp(prefix="vkl-cases-"))
# Time in seconds after which a program is reported as hanging. The limit is long, so that a slow machine does not fail a test.
HANG = 300
# Processes that this program has started and that can still run. This program ends them at its own end.
_running = set()


class Failure(Exception):
    """Raised when a case fails. The text contains the observed result."""


class Skip(Exception):
    """Raised when a case cannot run on this machine. The text names the missing program or device."""


def expect(condition, text):
    """Fails the case with this text if the condition is false."""
    if not condition:
        raise Failure(text)


def setting(name):
    """Returns a path that `make` passes in an environment variable. Skips the case if the variable is missing."""
    value = os.environ.get(name)
    if not value:
        raise Skip(f"{name} is not set")
    return Path(value)


def scratch(name):
    """Returns a new empty folder, which is removed when the program ends."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=SCRATCH))


def tool(name):
    """Returns the path of a program, or skips the case if the program is not installed."""
    path = shutil.which(name)
    if not path:
        raise Skip(f"the program {name} is not installed (make setup)")
    return path


def built_below(target):
    """Returns the folder with the folders of cargo's profiles below a target folder."""
    return target / Path(os.environ.get("CARGO_BUILD_TARGET", "")).stem


def program(package):
    """Returns the command that runs vkgen or xtask. VKGEN or XTASK can name the program, and otherwise cargo builds the program."""
    built = os.environ.get(package.upper())
    return [built] if built else [*os.environ.get("CARGO", "cargo").split(), "run", "--locked", "--quiet", "-p", package, "--"]


def start(arguments, **options):
    """Starts a process in a new group, so that it can be ended with all its descendants."""
    process = subprocess.Popen([str(a) for a in arguments], start_new_session=True, **options)
    _running.add(process)
    return process


def end(process):
    """Ends a process and its descendants, and waits for their end."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            pass
        try:
            process.wait(5)
            break
        except subprocess.TimeoutExpired:
            continue
    _running.discard(process)


def run(arguments, timeout, status=0, **options):
    """Runs a program to its end, and returns its output and errors as one text. Fails on a time-out or another exit status."""
    process = start(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options)
    shown = " ".join(str(a) for a in arguments)
    try:
        output = process.communicate(timeout=timeout)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        end(process)
        raise Failure(f"{shown}: still running after {timeout} s") from None
    end(process)
    expect(status is None or process.returncode == status, f"{shown}: status {process.returncode}\n{output[-3000:]}")
    return output


def clean_up():
    """Ends remaining processes, and removes the scratch folders. `main` calls this function at the end."""
    for process in list(_running):
        end(process)
    if os.environ.get("VKL_KEEP"):
        print(f"kept {SCRATCH}")
    else:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _run_case(name, function):
    """Runs one case and prints its line. Returns the first word of the line."""
    begin = time.monotonic()
    try:
        function()
        word, reason = "ok", ""
    except Skip as skip:
        word, reason = "skip", f": {skip}"
    except Failure as failure:
        word, reason = "FAIL", f": {failure}"
    except Exception:  # a defect of the case must not end the other cases
        word, reason = "FAIL", ":\n" + traceback.format_exc()
    print(f"  {word:<5} {name} ({time.monotonic() - begin:.1f} s){reason}", flush=True)
    return word


def _title(module):
    """Returns the name of a module. For a program with only one file, returns the name of its folder."""
    return Path(module.__file__).parent.name if module.__name__ == "__main__" else module.__name__


def main(modules):
    """Runs the cases of the modules, or only those whose names contain an argument. The exit status is 1 if a case failed, or if no case
    has an argument in its name."""
    atexit.register(clean_up)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, frame: sys.exit(128 + number))
    wanted = sys.argv[1:]
    words = []
    names = [f"{_title(module)}: {name}" for module in modules for name, _ in module.CASES]
    for part in wanted:
        if not any(part in name for name in names):
            print(f"FAILED: no case has {part} in its name", flush=True)
            words.append("FAIL")
    for module in modules:
        for name, function in module.CASES:
            full = f"{_title(module)}: {name}"
            if not wanted or any(part in full for part in wanted):
                words.append(_run_case(full, function))
    sys.exit("FAIL" in words)

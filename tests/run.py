"""Runs the test programs of the workspace, several at the same time.

run.py [--alone] [--strict] [--rows HEAD] [-p PACKAGE]... [--built PACKAGE]... [--test PROGRAM]... [-- WORD...]

One call of cargo builds all programs of the workspace, so that each crate is compiled once. `--alone` builds only the named packages, which
is faster after a change in one of them; `--built` adds packages to the build that do not run. If CLIPPY_DRIVER names clippy's compiler, the build also lints each crate and checks its comments
(make/rustc.sh), and `--strict` fails on warnings. The script passes the words after `--` to each program, like `cargo test`. The variable
CASE names the cases to run, one in each line. `--rows` checks that each case ran with the catalogue of the kind HEAD, or has a row in
tests/catalogue.txt. The output is the same as for cargo test, but contains only the number of passed cases, and the reasons of skipped
cases. Without a package, the script builds all programs and runs none.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import apart
import opened
import ran

# Programs of other users must be able to read the built programs and the files of a test, also if the user's umask would prevent this.
os.umask(0o022)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
CARGO = os.environ.get("CARGO", "cargo").split()
# Words for programs that no stage runs, but that must compile.
ALL = ["--examples", "--test", "differential"]
# Pattern of the lines that are printed from the output of a test program that passed.
TELLING = re.compile(r"SKIPPED: |  skip  |test result: |test \S+ \.\.\. ignored")


def built(packages, others, names, alone, strict):
    """Builds the workspace, or only the packages and others. Returns the test programs of the packages, each with the folder of its
    manifest."""
    selection = [word for package in (*packages, *others) for word in ("-p", package)] if alone else ["--workspace", *ALL]
    form = "json" if strict else "json-render-diagnostics"
    command = [*CARGO, "build", "--locked", *selection, "--lib", "--bins", "--tests", f"--message-format={form}"]
    variables = dict(os.environ)
    if "CLIPPY_DRIVER" in variables:
        variables["RUSTC_WORKSPACE_WRAPPER"] = str(Path(__file__).resolve().parent.parent / "make/rustc.sh")
    cargo = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=variables)
    messages = [json.loads(line) for line in cargo.stdout.decode().splitlines()]
    told = [message["message"]["rendered"] for message in messages if message["reason"] == "compiler-message"]
    if told or cargo.returncode:
        sys.exit("".join(told) or cargo.returncode)
    programs = []
    for message in messages:
        if message["reason"] != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
            continue
        # The id is path+file:///folder#version, or path+file:///folder#name@version if the name of the folder differs from the package's
        # name.
        folder, _, version = message["package_id"].rpartition("#")
        package = version.rpartition("@")[0] or folder.rpartition("/")[2]
        name = message["target"]["name"]
        if package in packages and (not names or name in names):
            programs.append((package, name, message["executable"], Path(message["manifest_path"]).parent))
    # Large test programs have many tests and run longest. They start first, so that no long program runs alone at the end.
    return sorted(programs, key=lambda each: -os.stat(each[2]).st_size)


def run(program, words, before):
    """Runs one program with the words `before` in front of its command, and returns its title, output, exit status and seconds."""
    package, name, executable, folder = program
    begin = time.monotonic()
    threads = os.environ.get("RUST_TEST_THREADS", str(CORES + 1))
    variables = {**apart.variables(), "RUST_TEST_THREADS": threads, "CARGO_MANIFEST_DIR": str(folder)}
    # The output goes to a file, because a pipe would remain open until the last process of the test ends.
    with tempfile.TemporaryFile() as output:
        command = [*before, executable, *words]
        done = subprocess.run(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        seconds = time.monotonic() - begin
        output.seek(0)
        return f"{name} of {package}", output.read().decode("utf-8", "replace"), done.returncode, seconds


def open_to_others(programs):
    """Names the vkloader and the library under test in variables, with copies where tests cannot use them in place (tests/opened.py)."""
    built_beside = [Path(executable).parent.parent for package, _, executable, _ in programs if package == "vkloader"]
    if built_beside:
        tested = {"VKL_VKLOADER": str(built_beside[0] / "vkloader")}
        if os.environ.get("VKL_LIBRARY"):
            tested["VKL_LIBRARY"] = os.environ["VKL_LIBRARY"]
        os.environ.update(opened.paths(tested))


def main():
    """Builds and runs the programs. Exits with 1 if a program failed, or if no program ran."""
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[2].strip())
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--rows")
    parser.add_argument("-p", dest="packages", action="append", default=[])
    parser.add_argument("--built", dest="others", action="append", default=[])
    parser.add_argument("--test", dest="names", action="append", default=[])
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    # A call without a package only builds.
    chosen = os.environ.get("CASE", "").splitlines() if options.packages else []
    words = options.words + (["--exact", *chosen] if chosen else [])
    programs = built(options.packages, options.others, options.names, options.alone, options.strict)
    absent = set(options.packages) - {package for package, *_ in programs}
    if absent or (options.names and not programs):
        sys.exit(f"no test program belongs to {', '.join(sorted(absent) + options.names)}")
    failed = False
    paths = [path for _, _, executable, _ in programs for path in ran.listed(executable, words)] if chosen or options.rows else []
    for name in chosen:
        if name not in paths:
            failed = True
            print(f"FAILED: no case is called {name}", flush=True)
    before = apart.words()
    open_to_others(programs)
    # Tests let programs crash, and a core dump can be written to the folder of the program.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    lines = tempfile.NamedTemporaryFile("r")
    os.environ["VKL_TEST_RAN"] = lines.name
    # Some programs wait most of the time, for example for a driver that hangs, so one more program runs than there are processors.
    with ThreadPoolExecutor(CORES + 1) as pool:
        for done in as_completed([pool.submit(run, program, words, before) for program in programs]):
            title, output, status, seconds = done.result()
            ok = status == 0 and "\ntest result: ok. " in output
            failed |= not ok
            print(f"     Running {title} ({seconds:.1f} s)")
            print("\n".join(line for line in output.splitlines() if not ok or TELLING.match(line)), flush=True)
            if not ok and "test result: " not in output:
                print(f"  FAIL  {title}: status {status}", flush=True)
    if options.rows:
        text = (Path(__file__).parent / "catalogue.txt").read_text()
        for message in ran.wrong(paths, lines.read().splitlines(), text, options.rows):
            failed = True
            print(f"  FAIL  catalogue.txt: {message}", flush=True)
    sys.exit(failed)


main()

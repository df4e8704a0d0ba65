"""Makes sandboxes with bubblewrap. Every sandbox contains a program and the library under test."""

import functools
import shlex
import subprocess

from cases import HANG, Skip, expect, run, setting, tool

# Paths of the program and of the library's folder in a sandbox.
PROGRAM, LIBRARIES = "/program", "/opt/loader"
# Number of words that follow each option of bubblewrap. Only options that the tests use are in the list.
WORDS = {"--proc": 1, "--dev": 1, "--tmpfs": 1, "--dir": 1, "--setenv": 2, "--symlink": 2, "--ro-bind": 2, "--ro-bind-try": 2, "--dev-bind": 2}
# The sandbox shares nothing with the system, ends with this process, and has none of this process's environment
# variables.
ALONE = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]


@functools.cache
def bubblewrap():
    """Returns the program, or skips the case if no sandbox can be created here."""
    program = tool("bwrap")
    tried = subprocess.run([program, *ALONE, "--ro-bind", "/", "/", "true"], capture_output=True, text=True, timeout=HANG, check=False)
    if tried.returncode:
        raise Skip(f"no user namespaces for this user: {tried.stderr.strip()}")
    return program


def inside(program, library=None):
    """Returns options that mount a program of the tests, and the library under test under the name that programs open."""
    library = library or setting("VKL_LIBRARY")
    return [
        "--ro-bind", setting("VKL_PROGRAMS") / program, PROGRAM,
        "--ro-bind", library.resolve(), f"{LIBRARIES}/libvulkan.so.1",
        "--setenv", "LD_LIBRARY_PATH", LIBRARIES,
    ]  # fmt: skip


def sandboxed(options, command, status=0):
    """Returns the output of a command in a sandbox with these options. The exit status must be `status`, and `None` permits every
    status."""
    return run([bubblewrap(), *ALONE, *options, "--", *command], HANG, status=status)


def pasted(text, options, command, status=0):
    """Returns the output of a command in a sandbox. A shell reads the options from a text, as in `$(...)`."""
    words = " ".join(shlex.quote(str(word)) for word in [*ALONE, *options])
    line = f"exec {bubblewrap()} {words} {text.rstrip()} -- {shlex.join(command)}"
    return run(["bash", "-c", line], HANG, status=status)


def grouped(text):
    """Returns the options in a text. Each option is a list of words."""
    words, options = shlex.split(text), []
    while words:
        count = WORDS.get(words[0])
        expect(count is not None, f"no option of bubblewrap that is known here: {words[0]}")
        options.append(words[: count + 1])
        words = words[count + 1 :]
    return options


def flat(options):
    """Returns all words of the options as one list."""
    return [word for option in options for word in option]

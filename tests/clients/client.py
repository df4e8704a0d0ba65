"""Defines a client, and the results of its run: output, files and window, and the loader that opened the driver."""

import hashlib
import itertools
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import loader
from cases import Failure, end, expect, run, scratch, start
from display import Display
from install import places

# Seconds for which a picture must not change before the test uses it as a still picture. The time is long enough for a busy machine.
STILL = 2.0
# Numbers of pictures. A window with moving content must show MOVES different pictures. For a window with the same frames in each run, the
# test examines FRAMES pictures, and COMMON pictures must be equal in two runs. The other pictures may differ, because the test misses some
# frames, and takes pictures of half-drawn frames.
MOVES, FRAMES, COMMON = 10, 120, 10


@dataclass
class Client:
    """Real program, with its requirements, its steps, and the compared results."""

    name: str
    # Packages that the client needs. The first package is the client itself.
    needs: list
    command: list
    # Description of the client's work, for the table of clients.
    does: str
    # Text that the output must contain with both loaders. The text shows that the client worked and used lavapipe.
    proof: str = ""
    # Kind of window: `still` has a last picture that remains on the screen, `frames` has the same pictures in every run, and `moving` has
    # changing pictures. The test ends the client after enough pictures.
    window: str = ""
    # `True` if the client needs a display but shows no picture to examine.
    display: bool = False
    variables: dict = field(default_factory=dict)
    # Commands before and after the client, in the same environment.
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)
    # Replacements for text that is different in each run, which are applied before the outputs are compared.
    normalise: list = field(default_factory=list)
    # Pattern of lines without a fixed order. Neighbouring lines that match are sorted before the comparison.
    unordered: str = ""
    # Number of pixels of a picture that may differ, and the largest difference of a channel. By default, no pixel may differ, because
    # lavapipe draws the same picture each time.
    tolerance: tuple = (0, 0)
    # Files of the client that are not compared.
    ignored: str = ""
    # Time limit in seconds.
    limit: int = 90

    def words(self, words, library=""):
        """Returns a command in which the placeholders are replaced."""
        known = {**places(), "device": device, "library": library}
        return [re.sub(r"\{(\w+)\}", lambda found: _text(known[found[1]]), word) for word in words]


def _text(value):
    return str(value() if callable(value) else value)


def _sorted(text, pattern):
    """Sorts each block of lines that match the pattern."""
    lines = text.splitlines(keepends=True)
    blocks = itertools.groupby(lines, lambda line: bool(pattern and re.fullmatch(pattern, line.rstrip("\n"))))
    return "".join("".join(sorted(block) if match else block) for match, block in blocks)


def device():
    """Returns the name of lavapipe's device, which some programs need as an argument."""
    if not _device:
        environment = loader.environment(loader.peer(), VK_DRIVER_FILES=loader.lavapipe())
        output = run(["vulkaninfo", "--summary"], 60, env=environment)
        found = re.search(r"deviceName\s*= (.*)", output)
        expect(found, f"vulkaninfo names no device:\n{output}")
        _device.append(found[1].strip())
    return _device[0]


_device = []


class Run:
    """Run of a client with one loader."""

    def __init__(self, client, library):
        self.client = client
        self.folder = scratch("client")
        self.work = self.folder / "work"
        for name in ("work", "home", "linker"):
            (self.folder / name).mkdir()
        # Last picture, and digests of all pictures.
        self.picture = None
        self.seen = set()
        # `True` if the test ended the client. The test ends each client with a window, so the exit status of such a client has no meaning.
        self.ended = False
        if client.window or client.display:
            with Display() as display:
                self._run(library, display)
        else:
            self._run(library, None)

    def _run(self, library, display):
        client = self.client
        own = {name: "".join(client.words([value])) for name, value in client.variables.items()}
        environment = loader.environment(library, HOME=self.folder / "home", VK_DRIVER_FILES=loader.lavapipe())
        environment.update(display.variables if display else {})
        environment.update(own)
        self.library = Path(environment["LD_LIBRARY_PATH"]) / "libvulkan.so.1"
        self.runtime = environment["XDG_RUNTIME_DIR"]
        for words in client.before:
            self._aside(words, environment)
        traced = dict(environment, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(self.folder / "linker/trace"))
        output = [self.folder / name for name in ("stdout", "stderr")]
        begin = time.monotonic()
        with open(output[0], "wb") as out, open(output[1], "wb") as err:
            process = start(
                client.words(client.command, self.library),
                cwd=self.work,
                env=traced,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        try:
            self._watch(process, display, begin + client.limit)
        finally:
            self.seconds = time.monotonic() - begin
            end(process)
            for words in client.after:
                self._aside(words, environment)
        self.status = process.returncode
        self.output = "".join(file.read_text(errors="replace") for file in output)

    def _aside(self, words, environment):
        """Runs a command before or after the client. Fails if the command does not exist, but ignores its exit status."""
        nothing = subprocess.DEVNULL
        streams = {"stdin": nothing, "stdout": nothing, "stderr": nothing}
        words, limit = self.client.words(words, self.library), self.client.limit
        try:
            subprocess.run(words, cwd=self.work, env=environment, timeout=limit, check=False, **streams)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"{words[0]}: {error}") from None

    def _watch(self, process, display, deadline):
        """Waits until the process has ended, or has shown its window long enough."""
        before = blank = display.picture().pixels if self.client.window else None
        since = time.monotonic()
        while process.poll() is None:
            now = time.monotonic()
            if now > deadline:
                self.output = (self.folder / "stdout").read_text(errors="replace")
                raise Failure(f"still running after {self.client.limit} s\n{self.output[-1000:]}")
            if blank is not None:
                picture = display.picture()
                if picture.pixels != before:
                    before, since = picture.pixels, now
                    if before != blank:
                        self.picture = picture
                        self.seen.add(hashlib.sha1(before).digest())
                if before != blank and self._shown(now - since):
                    self.ended = True
                    return
            time.sleep(0.003)

    def _shown(self, still_for):
        if self.client.window == "still":
            return still_for > STILL
        return len(self.seen) >= {"frames": FRAMES, "moving": MOVES}[self.client.window]

    def fault(self):
        """Returns the reason why this run does not test the loader, or an empty text."""
        client = self.client
        said = re.sub(r"\s+", " ", self.output.strip())
        said = said if len(said) < 400 else f"{said[:200]} ... {said[-200:]}"
        if not self.ended and self.status != 0:
            return f"status {self.status}: {said}"
        if not re.search(client.proof, self.output):
            return f"its output lacks `{client.proof}`: {said}"
        if client.window and not self.ended:
            return f"it ended after {len(self.seen)} pictures: {said}"
        return ""

    def check_loader(self):
        """Fails if another loader opened the driver, or if this library did not open it."""
        callers = set()
        for trace in (self.folder / "linker").iterdir():
            text = trace.read_text(errors="replace")
            callers |= set(re.findall(r"file=\S*libvulkan_lvp\.so \[\d+\];  dynamically loaded by (\S+)", text))
        other = {caller for caller in callers if Path(caller).resolve() != self.library.resolve()}
        expect(callers, "the driver was never loaded: the client used no Vulkan")
        expect(not other, f"the driver was loaded by {', '.join(sorted(other))}, not by {self.library.resolve()}")

    def text(self):
        """Returns the output after normalisation, for the comparison."""
        text = self.output
        for place, name in ((self.library.parent, "LIBRARIES"), (self.runtime, "RUNTIME"), (self.folder, "FOLDER")):
            text = text.replace(str(place), f"<{name}>")
        for pattern, replacement in self.client.normalise:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        return _sorted(text, self.client.unordered)

    def files(self):
        """Returns the files in the working folder by name."""
        found = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if path.is_file() and not (self.client.ignored and re.match(self.client.ignored, name)):
                found[name] = path.read_bytes()
        return found

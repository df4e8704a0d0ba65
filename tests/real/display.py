"""Display servers without a screen for X11 and Wayland, and pictures of the X11 display.

Xvfb stores its picture in a file that can be read at every moment, so the test can read many pictures during a short run of a program.
"""

import os
import struct
import subprocess
import time
import zlib
from collections import Counter

from cases import HANG, Failure, end, scratch, start, tool

WIDTH, HEIGHT = 640, 640


class Display:
    """Running Xvfb, for use in a `with` statement."""

    def __enter__(self):
        folder = scratch("display")
        reader, writer = os.pipe()
        size = f"{WIDTH}x{HEIGHT}x24"
        arguments = [tool("Xvfb"), "-displayfd", writer, "-screen", "0", size, "-noreset", "-nolisten", "tcp"]
        with open(folder / "log", "wb") as log:
            self.process = start(
                [*arguments, "-fbdir", folder], pass_fds=[writer], stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        os.close(writer)
        # Xvfb writes the number of its display when it accepts connections. If the pipe ends without a number, Xvfb
        # failed.
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        if not number:
            end(self.process)
            raise Failure(f"Xvfb did not start: {(folder / 'log').read_text()}")
        self.variables = {"DISPLAY": f":{number}"}
        self.file = folder / "Xvfb_screen0"
        return self

    def __exit__(self, *_):
        end(self.process)

    def picture(self):
        """Returns a picture of the present screen."""
        return Picture(self.file.read_bytes())


class Compositor:
    """Running Weston without a screen, for use in a `with` statement. This server has no pictures."""

    def __enter__(self):
        folder = scratch("wayland")
        folder.chmod(0o700)
        self.variables = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-test"}
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        arguments = [tool("weston"), "--backend=headless-backend.so", "--socket=wayland-test", "--idle-time=0"]
        with open(folder / "log", "wb") as log:
            self.process = start(arguments, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + HANG
        while not (folder / "wayland-test").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                end(self.process)
                raise Failure(f"weston did not start: {(folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        end(self.process)

    def picture(self):
        """Returns None, because there is no screen."""
        return None


class Picture:
    """Content of an X window dump of a screen with 32 bits for each pixel."""

    def __init__(self, dump):
        words = struct.unpack(">20I", dump[:80])
        self.width, self.height, self.line = words[4], words[5], words[12]
        begin = words[0] + words[19] * 12
        self.pixels = dump[begin : begin + self.line * self.height]

    def rows(self, left, top, right, bottom):
        """Returns the pixels of a rectangle, as a list of 24-bit numbers for each row."""
        for y in range(top, bottom):
            row = self.pixels[y * self.line + left * 4 : y * self.line + right * 4]
            yield [word & 0xFFFFFF for word in struct.unpack(f"<{right - left}I", row)]

    def colours(self, left, top, right, bottom):
        """Returns the number of pixels of each colour in a rectangle."""
        count = Counter()
        for row in self.rows(left, top, right, bottom):
            count.update(row)
        return count

    def write_png(self, path):
        """Saves the picture as a file for people."""

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        lines = b"".join(
            b"\0" + b"".join(pixel.to_bytes(3, "big") for pixel in row)
            for row in self.rows(0, 0, self.width, self.height)
        )
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)

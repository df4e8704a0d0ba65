"""Tests that programs in sandboxes without their own driver receive the drivers of the driver service. The programs continue when the
service starts, ends or crashes."""

import contextlib
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from bubble import ALONE, LIBRARIES, PROGRAM, bubblewrap, flat, grouped, inside, sandboxed
from cases import HANG, ROOT, Failure, Skip, end, expect, run, scratch, setting, start, tool
from files import DRIVERS, WORKS, c_library, listed, of_lavapipe

# Path of the socket at which programs in a sandbox search for the driver service.
SOCKET = "/run/vulkan-loader/service.sock"
# Folder in a sandbox for the libraries that a program of this machine needs.
NEEDED = "/opt/needed"
# Texts in the names of the two drivers' devices.
FIRST, SECOND = "llvmpipe", "for any target"
# Lines of vulkaninfo that are different outside the sandbox, because they depend on the folders of layers and drivers.
DIFFERS = re.compile(r"^VK_LAYER_|^Instance Layers: count = |^'DISPLAY'|^-+$|^$")
# ID of a user without privileges.
USER = 1000
# ID of the user, other than root, under whom a test runs a service.
OTHER = 20_005
# First of the IDs that a container has for its users.
CONTAINER = 200_000
# Part of the message about a service of a user whom the program does not trust.
UNTRUSTED = "who is not trusted"
# Seconds that a loader waits for the service's answer.
UNANSWERED = 6


def closure(program):
    """Returns the options that mount the libraries of a program in a separate folder. The program belongs to this machine."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(0x", run(["ldd", program], HANG), re.M))
    options = [word for name, path in found.items() if "libvulkan" not in name for word in ("--ro-bind", os.path.realpath(path), f"{NEEDED}/{name}")]
    return [*options, "--setenv", "LD_LIBRARY_PATH", f"{LIBRARIES}:{NEEDED}"]


def beneath():
    """Returns the options that mount the files that lavapipe needs, without the driver and its manifest."""
    own = [file["path"] for file in listed() if file["kind"] == "manifest" or "libvulkan_lvp" in file["path"]]
    expect(len(own) in (2, 4), f"a manifest and a library of each word size, and not {own}")
    return flat(option for option in grouped(of_lavapipe("bwrap")) if option[-1] not in own)


class Service:
    """A driver service with separate folders and the given packages. Each package belongs to one device, or is the fallback for all
    devices."""

    def __init__(self, *packages, fallback=None):
        if os.geteuid() != 0:
            raise Skip("packages must be root's")
        self.program = setting("VKL_SERVICE")
        # Words of a command that runs the service as another user. By default, root runs the service.
        self.wrap = []
        self.folder = scratch("service")
        self.socket = self.folder / "run/service.sock"
        for name in ("dri", "sys/class/drm", "run", "packages"):
            (self.folder / name).mkdir(parents=True)
        self.process = None
        rules = [f'{{"driver": "{name}", "icds": ["{name}"]}}' for name in ("first", "second")]
        allowed = "true" if fallback else "false"
        (self.folder / "service.json").write_text(
            f'{{"devices": [{", ".join(rules)}], "fallback": "{fallback or "none"}", "allow_fallback": {allowed}, "user": 0}}'
        )
        for name in packages:
            self.add(name)
        if fallback:
            self.package(fallback)

    def package(self, name):
        """Makes a package of a driver. The driver is the installed lavapipe, or the small driver in C for the name `second`."""
        library, manifest = lavapipe() if name != "second" else small()
        run([self.program, "package", library, manifest, self.folder / "packages" / name], HANG)

    def add(self, name):
        """Adds a driver, and then a device that needs this driver."""
        self.package(name)
        node = f"renderD{128 + len(list((self.folder / 'dri').iterdir()))}"
        device = self.folder / f"sys/class/drm/{node}/device"
        device.mkdir(parents=True)
        (device / "driver").symlink_to(f"../../bus/drivers/{name}")
        (device / "vendor").write_text("0x1002\n")
        (self.folder / "dri" / node).write_text("")

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.stop()

    def begin(self):
        """Starts the service, and waits until it is ready."""
        places = [word for name in ("sys", "dri", "run") for word in (f"--{name}", self.folder / name)]
        options = ["--config", self.folder / "service.json", "--socket", self.socket, "--root", self.folder / "packages"]
        self.log = (self.folder / "log").open("ab")
        self.process = start([*self.wrap, self.program, *options, *places], stderr=self.log, stdout=self.log)
        until = time.monotonic() + HANG
        while not self.socket.exists():
            expect(time.monotonic() < until and self.process.poll() is None, (self.folder / "log").read_text())
            time.sleep(0.02)
        self.is_hardened()

    def is_hardened(self):
        """Checks that the service restricts itself in the same way as the unit file, although no unit starts the service here."""
        deadline = time.monotonic() + HANG
        while True:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            if re.search(r"^Seccomp:\s+2$", status, re.M) and re.search(r"^NoNewPrivs:\s+1$", status, re.M):
                return
            expect(time.monotonic() < deadline, status)
            time.sleep(0.02)

    def stop(self):
        """Ends the service."""
        end(self.process)
        self.log.close()

    def brought(self):
        """Returns the options that mount the socket at its usual path."""
        return ["--ro-bind", self.socket, SOCKET]


def lavapipe():
    """Returns the library and the manifest of lavapipe."""
    manifest = next((path for path in DRIVERS.glob("lvp_icd*.json") if "i686" not in path.name), None)
    if manifest is None:
        raise Skip("lavapipe is not installed (make setup)")
    return "libvulkan_lvp.so", manifest


def small():
    """Builds a driver in C that has one device and needs no other files. Returns the library and the manifest."""
    folder = scratch("small")
    run([tool("cc"), "-O1", "-fPIC", "-shared", ROOT / "tests/targets/driver.c", "-o", folder / "libsmall.so"], HANG)
    manifest = '{"file_format_version": "1.0.0", "ICD": {"library_path": "libsmall.so", "api_version": "1.0.0"}}'
    (folder / "small.json").write_text(manifest)
    return folder / "libsmall.so", folder / "small.json"


class Looking:
    """A program that continues to run, and lists devices each time the test asks. The program's sandbox has the dependencies of
    lavapipe."""

    def __init__(self, service):
        command = [bubblewrap(), *ALONE, *beneath(), *inside("again"), *service.brought(), "--", PROGRAM]
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)

    def look(self, limit=HANG):
        """Asks the program for devices, and returns the names."""
        self.ask()
        return self.answer(limit)

    def ask(self):
        """Asks the program to list devices."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def answer(self, limit=HANG):
        """Returns the next answer of the program. The answer must come within `limit` seconds."""
        timer = threading.Timer(limit, self.process.kill)
        timer.start()
        try:
            words = self.process.stdout.readline().split()
            if not words:
                raise Failure(f"it ended, or did not answer in {limit} s")
            count = int(words[1]) if words[0] == "devices" else 0
            return [self.process.stdout.readline().strip() for _ in range(count)]
        finally:
            timer.cancel()

    def until(self, wanted):
        """Asks the program until it finds exactly these devices, because the loader finds a new device only after some time."""
        deadline = time.monotonic() + HANG
        while not same(found := self.look(), wanted):
            self.check_trust()
            expect(time.monotonic() < deadline, f"{found} instead of {wanted}")
            time.sleep(0.1)

    def check_trust(self):
        """Fails if the program does not trust the service, because waiting does not change this. A program without a log tells nothing."""


def same(found, wanted):
    """Returns `True` if there are as many names as words, and each word is the beginning of a name."""
    return len(found) == len(wanted) and all(any(name.startswith(word) for name in found) for word in wanted)


def computes():
    """LSV-37, LSV-39: the compute program works in a sandbox without a driver or manifest."""
    with Service(fallback="lavapipe") as service:
        output = sandboxed([*beneath(), *inside("gpu"), *service.brought()], [PROGRAM])
        expect(FIRST in output and WORKS in output, output)
        output = sandboxed([*beneath(), *inside("gpu")], [PROGRAM], status=None)
        expect(WORKS not in output, f"without the socket it works too:\n{output}")


def brought_along():
    """LSV-66: the service passes the libraries that the driver needs to a sandbox that has only the C library."""
    with Service(fallback="lavapipe") as service:
        output = sandboxed([*c_library(), *inside("gpu"), *service.brought()], [PROGRAM])
        expect(FIRST in output and WORKS in output, output)
        path = service.folder / "packages/lavapipe/metadata/metadata.json"
        metadata = json.loads(path.read_text())
        expect(len(metadata["needs"]) > 10, metadata)
        # LSV-67: the loader refuses a driver for a newer C library.
        metadata["c_library"] = "2.999"
        path.write_text(json.dumps(metadata))
        deadline = time.monotonic() + HANG
        words = "has a driver for version 2.999 of the C library, and this program has 2."
        while words not in (output := sandboxed([*c_library(), *inside("gpu"), *service.brought(), "--setenv", "VK_LOADER_DEBUG", "warn"], [PROGRAM], status=None)):
            expect(time.monotonic() < deadline, output)
            time.sleep(0.2)


def open_to_all(place, library):
    """Lets all users enter the folder, which only its owner can enter by default. Copies the compute program to the folder, and the library
    under the name `library`."""
    place.chmod(0o755)
    for name, original in (("gpu", setting("VKL_PROGRAMS") / "gpu"), (library, setting("VKL_LIBRARY"))):
        shutil.copyfile(original, place / name)
        (place / name).chmod(0o755)


def for_a_user():
    """LSV-47: a user without privileges makes the sandbox, and the sandbox has no root user. The test mounts only the socket, or the
    folder of the socket."""
    user = [tool("setpriv"), "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--"]
    begin = [*user, bubblewrap(), *ALONE]
    tried = subprocess.run([*begin, "--ro-bind", "/", "/", "true"], capture_output=True, text=True, timeout=HANG, check=False)
    if tried.returncode:
        raise Skip(f"no user namespaces for a user without privileges: {tried.stderr.strip()}")
    service = Service(fallback="lavapipe")
    with tempfile.TemporaryDirectory(prefix="service-") as name:
        place = Path(name)
        open_to_all(place, "lib")
        service.socket = place / "run/service.sock"
        own = [
            "--ro-bind", place / "gpu", PROGRAM,
            "--ro-bind", place / "lib", f"{LIBRARIES}/libvulkan.so.1",
            "--setenv", "LD_LIBRARY_PATH", LIBRARIES,
        ]  # fmt: skip
        with service:
            folder = ["--ro-bind", service.socket.parent, str(Path(SOCKET).parent)]
            for brought in (service.brought(), folder):
                output = run([*begin, *beneath(), *own, *brought, "--", PROGRAM], HANG)
                expect(FIRST in output and WORKS in output, output)
            # The sandbox shows one user ID for root and for all other users. If nothing shows that the service is root's, or if others can
            # write to the folder, the program does not use the service.
            own += ["--setenv", "VK_LOADER_DEBUG", "error,warn"]
            output = run([*begin, *beneath(), *own, *folder, "--tmpfs", "/proc/sys", "--", PROGRAM], HANG, status=None)
            expect(UNTRUSTED in output and FIRST not in output, output)
            service.socket.parent.chmod(0o777)
            output = run([*begin, *beneath(), *own, *folder, "--", PROGRAM], HANG, status=None)
            expect(UNTRUSTED in output and FIRST not in output, output)


def for_a_user_of_a_container():
    """LSV-47: a container has its own root and other users, and a name for users of outside. Only the socket is mounted. Root of the container
    owns the socket's folder, and the program belongs to another user."""
    if os.geteuid() != 0:
        raise Skip("only root may map many users")
    service = Service(fallback="lavapipe")
    with tempfile.TemporaryDirectory(prefix="service-") as name:
        place = Path(name)
        open_to_all(place, "libvulkan.so.1")
        service.socket = place / "run/service.sock"
        line = f"""
            mount -t tmpfs -o mode=755 none /usr/share/vulkan; mount --bind {place} /mnt; mount -t tmpfs -o mode=755 none /run
            mkdir /run/vulkan-loader; : >{SOCKET}; mount --bind /mnt/run/service.sock {SOCKET}; chmod "$1" /run/vulkan-loader
            exec setpriv --reuid {USER} --regid {USER} --clear-groups env LD_LIBRARY_PATH=/mnt VK_LOADER_DEBUG=error,warn /mnt/gpu"""
        holder = start(["unshare", "--user", "sleep", str(10 * HANG)])
        deadline = time.monotonic() + HANG
        while os.readlink(f"/proc/{holder.pid}/ns/user") == os.readlink("/proc/self/ns/user"):
            expect(time.monotonic() < deadline and holder.poll() is None, "no user namespace")
            time.sleep(0.02)
        for kind in ("uid", "gid"):
            Path(f"/proc/{holder.pid}/{kind}_map").write_text(f"0 {CONTAINER} 65536\n")
        enter = ["nsenter", "--user", "--target", str(holder.pid), "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        # Linux refuses a new /proc if a part of the present one is hidden.
        tried = subprocess.run([*enter, "true"], capture_output=True, text=True, timeout=HANG, check=False)
        if tried.returncode:
            raise Skip(f"no containers here: {tried.stderr.strip()}")
        with service:
            for mode, works in (("755", True), ("777", False)):
                output = run([*enter, "sh", "-ec", line, "sh", mode], HANG, status=None)
                expect((FIRST in output and WORKS in output) == works and (UNTRUSTED in output) != works, output)


def whose_it_is():
    """LSV-47: a sandbox shows one number for all users that it does not contain. If root has this number, it owns `/proc/sys`. A sandbox
    of root contains root, so a service with this number is not a service of root. The program accepts such a service only if the variable
    names the socket, and only if no other user can write to the folder of the socket."""
    service = Service(fallback="lavapipe")
    with tempfile.TemporaryDirectory(prefix="service-") as name:
        place = Path(name)
        place.chmod(0o755)
        # The user without privileges needs access to the copies of the program and the service's folder.
        shutil.copytree(service.folder, place / "service", symlinks=True)
        (place / "service").chmod(0o755)
        shutil.copyfile(service.program, place / "program")
        (place / "program").chmod(0o755)
        run_folder = place / "service/run"
        os.chown(run_folder, OTHER, OTHER)
        service.folder, service.program, service.socket = place / "service", place / "program", run_folder / "service.sock"
        service.wrap = [tool("setpriv"), "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups", "--"]
        options = [*beneath(), *inside("gpu"), "--ro-bind", run_folder, str(Path(SOCKET).parent)]
        options += ["--setenv", "VK_LOADER_DEBUG", "error,warn"]
        named = ["--setenv", "VK_LOADER_SERVICE_SOCKET", SOCKET]
        with service:
            for more, mode, is_accepted in ((named, 0o755, True), ([], 0o755, False), (named, 0o777, False), (named, 0o755, True)):
                run_folder.chmod(mode)
                output = sandboxed([*options, *more], [PROGRAM], status=None)
                expect((FIRST in output) == is_accepted and (UNTRUSTED in output) != is_accepted, f"{more}, {mode:o}:\n{output}")


def the_same_information():
    """The output of vulkaninfo is the same as outside the sandbox. Only lines about the folders of layers are different."""
    program = tool("vulkaninfo")
    folder = scratch("outside")
    for name in ("libvulkan.so", "libvulkan.so.1"):
        (folder / name).symlink_to(setting("VKL_LIBRARY").resolve())
    manifest = lavapipe()[1]
    environment = {"LD_LIBRARY_PATH": str(folder), "VK_DRIVER_FILES": str(manifest), "HOME": str(folder), "PATH": os.environ["PATH"]}
    outside = run([program], HANG, env=environment | {"VK_LOADER_LAYERS_DISABLE": "~all~", "XDG_DATA_DIRS": str(folder)})
    with Service(fallback="lavapipe") as service:
        options = [*beneath(), *inside("gpu"), *closure(program), "--ro-bind", program, "/vulkaninfo", *service.brought()]
        within = sandboxed(options, ["/vulkaninfo"])
    kept = [[line for line in text.splitlines() if not DIFFERS.match(line)] for text in (outside, within)]
    lines = [line for line in difflib.unified_diff(*kept, "outside", "within", lineterm="", n=0)]
    expect(len(kept[1]) > 300 and any(FIRST in line for line in kept[1]), within[-2000:])
    expect(not lines, "\n".join(lines[:40]))
    print(f"        {len(kept[1])} lines are the same", flush=True)


def two_drivers():
    """LSV-11: the service serves a separate driver for each of two devices, and the program finds both devices."""
    with Service("first", "second") as service, Looking(service) as looking:
        looking.until([FIRST, SECOND])


def narrow():
    """Builds a library without functions for 32-bit programs. Returns the library and a manifest."""
    folder = scratch("narrow")
    words = [tool("cc"), "-m32", "-shared", "-nostdlib", "-x", "c", os.devnull, "-o", folder / "libnarrow.so"]
    if subprocess.run(words, capture_output=True, timeout=HANG, check=False).returncode:
        raise Skip("the C compiler makes no libraries for 32-bit programs")
    (folder / "narrow.json").write_text(small()[1].read_text().replace("libsmall", "libnarrow"))
    return folder / "libnarrow.so", folder / "narrow.json"


def both_word_sizes():
    """LSV-50, LSV-65: drivers of both word sizes serve one device. A program finds only its own driver, and learns that other programs have
    one."""
    library, manifest = narrow()
    with Service("first") as service, Looking(service) as looking:
        command = [setting("VKL_VKLOADER"), "service", "--socket", service.socket]
        looking.until([FIRST])
        expect("32-bit" not in (output := run(command, HANG)), output)
        run([service.program, "package", library, manifest, service.folder / "packages/first-32"], HANG)
        deadline = time.monotonic() + HANG
        while not re.search(r"renderD128 .* \(first\), \d+ \(first-32\)", output := run(command, HANG)):
            expect(time.monotonic() < deadline, output)
            time.sleep(0.2)
        expect(re.search("64-bit +0-libvulkan_lvp.so", output) and re.search("32-bit +[0-9]+-libnarrow.so", output), output)
        looking.until([FIRST])
        shutil.rmtree(service.folder / "packages/first")
        looking.until([])
        environment = {"VK_LOADER_SERVICE_SOCKET": str(service.socket), "XDG_DATA_DIRS": "/nowhere", "PATH": os.environ["PATH"]}
        words = [setting("VKL_VKLOADER"), "explain", "--library", setting("VKL_LIBRARY")]
        output = run([bubblewrap(), "--dev-bind", "/", "/", "--tmpfs", DRIVERS, "--", *words], HANG, status=None, env=environment)
        expect(0 < output.find("service.other-word-size") < output.find("driver.none-installed"), output)


def many_programs():
    """LSV-42, LSV-46: forty programs of one user receive the driver, and all of them continue to run."""
    with Service("second") as service, contextlib.ExitStack() as stack:
        with Looking(service) as first:
            first.until([SECOND])
        for number in range(1, 41):
            found = stack.enter_context(Looking(service)).look()
            expect(same(found, [SECOND]), f"program {number} finds {found}")


def a_driver_comes():
    """LSV-31, LSV-38: a running program finds a new driver with its next query, and no longer finds a removed driver."""
    with Service("first") as service, Looking(service) as looking:
        looking.until([FIRST])
        service.add("second")
        looking.until([FIRST, SECOND])
        shutil.rmtree(service.folder / "packages/second")
        looking.until([FIRST])


def restarted():
    """LSV-42: a program's next query works after the service ended and started again. Between the end and the start, the program finds
    no driver and continues. The sandbox mounts the socket's folder, because the service makes a new socket."""
    service = Service("first")
    service.brought = lambda: ["--ro-bind", service.socket.parent, str(Path(SOCKET).parent)]
    with service, Looking(service) as looking:
        looking.until([FIRST])
        service.stop()
        expect(looking.look() == [], "the service is gone, and its driver is found")
        service.begin()
        looking.until([FIRST])


def killed_in_a_request():
    """LSV-42: if the service crashes or stops during a request, the program loses the service's drivers, but continues."""
    with Service("first") as service, Looking(service) as looking:
        looking.until([FIRST])
        os.kill(service.process.pid, signal.SIGSTOP)
        looking.ask()
        time.sleep(0.5)
        os.kill(service.process.pid, signal.SIGKILL)
        expect(looking.answer() == [], "a driver is found")
    with Service("first") as service, Looking(service) as looking:
        looking.until([FIRST])
        os.kill(service.process.pid, signal.SIGSTOP)
        begin = time.monotonic()
        expect(looking.look(HANG) == [], "a driver is found")
        took = time.monotonic() - begin
        expect(took >= UNANSWERED, f"it did not wait for an answer: {took:.1f} s")
        os.kill(service.process.pid, signal.SIGCONT)


def explained():
    """The output of `vkloader explain` names the service as the source of a driver, and `vkloader service` shows the state of the
    service."""
    with Service("first", "second") as service:
        program = setting("VKL_VKLOADER")
        environment = {"VK_LOADER_SERVICE_SOCKET": str(service.socket), "XDG_DATA_DIRS": "/nowhere", "PATH": os.environ["PATH"]}
        deadline = time.monotonic() + HANG
        while True:
            output = run([program, "explain", "--library", setting("VKL_LIBRARY")], HANG, status=None, env=environment)
            if FIRST in output and SECOND in output:
                break
            expect(time.monotonic() < deadline, output)
            time.sleep(0.2)
        expect("service:" in output, output)
        output = run([program, "service", "--socket", service.socket], HANG)
        for word in ("renderD128", "renderD129", "first", "second", "libvulkan_lvp.so"):
            expect(word in output, f"{word} is not in\n{output}")


CASES = [
    ("the compute program without a driver of its own", computes),
    ("the driver brings its libraries", brought_along),
    ("the same for a user without privileges", for_a_user),
    ("the same for a user of a container", for_a_user_of_a_container),
    ("the service of a user without privileges", whose_it_is),
    ("vulkaninfo prints what it prints outside", the_same_information),
    ("two drivers", two_drivers),
    ("drivers of both word sizes", both_word_sizes),
    ("forty programs of one user", many_programs),
    ("a driver comes and goes", a_driver_comes),
    ("the service ends and comes back", restarted),
    ("the service dies in a request", killed_in_a_request),
    ("the tools show it", explained),
]

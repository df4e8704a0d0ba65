"""Attacks on the driver service by many processes of several users. The case shows that other users still get their drivers.

The attackers are processes of three users, and of root in a container: in a PID namespace of its own, with the capabilities of containers.
Some of the users are root in a user namespace. Attackers have the lowest priority, so that they take connections and requests from the other
users, and not the processor. Each attacker leads a session, because Linux may divide the processor between sessions, regardless of the
priorities in a session.
ATTACKERS is the number of attackers, and DURATION is the time of the attack in seconds:

    ATTACKERS=100 DURATION=60 make/test.sh "sandbox:attack"
"""

import contextlib
import ctypes
import functools
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from attacker import Attacker, die_with_parent, ending
from cases import HANG, Failure, Skip, expect, run, setting, start, tool
from service import SECOND, UNANSWERED, UNTRUSTED, Looking, Service, same

# User IDs of the attackers, and of the honest programs.
ATTACKING, HONEST = (20_001, 20_002, 20_003, 0), (20_011, 20_012, 0)
# Capabilities of root in a container: chown, dac_override, fowner, kill, setgid and setuid.
OF_CONTAINERS = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7
# Minimum number of device lists that the honest programs make during an attack.
FEWEST = 20
# Constants of Linux.
CLONE_NEWUSER, CLONE_NEWPID, PR_SET_DUMPABLE, CAPABILITIES_VERSION = 0x1000_0000, 0x2000_0000, 4, 0x2008_0522
SO_PEERPIDFD = 77


def become(user):
    """Gives up the rights of this process, which is root, except those of the user. The user 0 keeps the capabilities of containers."""
    libc = ctypes.CDLL(None)
    if user == 0:
        header = struct.pack("Ii", CAPABILITIES_VERSION, 0)
        low = struct.pack("III", OF_CONTAINERS, OF_CONTAINERS, 0)
        expect(libc.capset(header, low + bytes(12)) == 0, "the capabilities cannot be given up")
        return
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    # Without this flag, the process may not write its own files in /proc.
    libc.prctl(PR_SET_DUMPABLE, 1)


def enter_namespace(user):
    """Makes this process root in a user namespace. Raises `OSError` if the system does not allow this."""
    if ctypes.CDLL(None).unshare(CLONE_NEWUSER) != 0:
        raise PermissionError
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {user} 1")):
        Path(f"/proc/self/{name}").write_text(text)


def leave_pid_namespace():
    """Makes the system create a PID namespace for the next process. Raises `OSError` if the system does not allow this."""
    if ctypes.CDLL(None).unshare(CLONE_NEWPID) != 0:
        raise PermissionError


def enter_pid_namespace(begun):
    """Continues in a new process, which is the first one of a new PID namespace, as the first process of a container. This process closes
    the descriptor `begun`, and waits for the new one. Raises `OSError` if the system does not allow this."""
    leave_pid_namespace()
    if process := os.fork():
        os.close(begun)
        os.waitpid(process, 0)
        os._exit(1)


@functools.cache
def allows_pid_namespaces():
    """Returns `True` if root may create PID namespaces, and the system shows them to a service (Linux 6.5). A new process tries it."""
    ends = socket.socketpair(socket.AF_UNIX)
    try:
        os.close(ends[0].getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
    except OSError:
        return False
    process = os.fork()
    if not process:
        with ending(OSError):
            leave_pid_namespace()
    return os.waitpid(process, 0)[1] == 0


@functools.cache
def allows_namespaces(user):
    """Returns `True` if the user may become root in a user namespace. A new process tries it."""
    process = os.fork()
    if not process:
        with ending(OSError):
            become(user)
            enter_namespace(user)
    return os.waitpid(process, 0)[1] == 0


def attack(path, number, begun):
    """Attacks the service in a new process until that process is killed. The number selects the user and the way of the attack. The third
    attacking user is root in a user namespace, if the system allows this. The process writes a byte to the descriptor `begun` before its
    first step. Returns the process ID."""
    number, way = divmod(number, len(Attacker.WAYS))
    user = ATTACKING[(number + way) % len(ATTACKING)]
    # Outside of a PID namespace, root would use up its own limits.
    if user == 0 and not allows_pid_namespaces():
        user = ATTACKING[0]
    is_in_namespace = user == ATTACKING[2] and allows_namespaces(user)
    process = os.fork()
    if process:
        return process
    with ending():
        os.setsid()
        os.nice(19)
        if user == 0:
            enter_pid_namespace(begun)
        become(user)
        if is_in_namespace:
            enter_namespace(user)
        die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        attacker = Attacker(path)
        # If an attacker does not start, the test must reach the end of the pipe, so no other attacker may keep the pipe open.
        os.write(begun, b".")
        os.close(begun)
        while True:
            with contextlib.suppress(OSError):
                Attacker.WAYS[way](attacker)


@contextlib.contextmanager
def attacked(path, count):
    """Attacks the service with some processes in the body of the `with` statement."""
    reading, begun = os.pipe()
    processes = [attack(path, number, begun) for number in range(count)]
    os.close(begun)
    try:
        started = 0
        while more := len(os.read(reading, count)):
            started += more
        expect(started == count, f"{count - started} attackers did not start")
        yield
        # No attacker may have ended early, because of an error in this file.
        ended = [number for number, process in enumerate(processes) if os.waitpid(process, os.WNOHANG)[0]]
        processes = [process for number, process in enumerate(processes) if number not in ended]
        expect(not ended, f"the attackers {ended} ended")
    finally:
        os.close(reading)
        for process in processes:
            os.kill(process, signal.SIGKILL)
        for process in processes:
            os.waitpid(process, 0)


def as_user(user):
    """Returns the words before a command that a user runs."""
    return [tool("setpriv"), "--reuid", str(user), "--regid", str(user), "--clear-groups", "--"]


class Honest(Looking):
    """A program of a user that lists devices each time the test asks. The words `begin` start the command; by default, the program runs
    outside of sandboxes."""

    def __init__(self, user, place, socket_path, begin=None, **variables):
        environment = {"LD_LIBRARY_PATH": str(place), "VK_LOADER_SERVICE_SOCKET": str(socket_path), "VK_LOADER_DEBUG": "error,warn"}
        environment |= {name: "/nowhere" for name in ("HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS")} | variables
        command = [*(begin or as_user(user)), place / "again"]
        self.log = place / f"log-{user}"
        with self.log.open("ab") as log:
            self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)

    def check_trust(self):
        """Fails if the program does not trust the service, or skips the case if this system hides who is root. In a user namespace, the
        program recognises root by the owner of `/proc/sys`."""
        text = self.log.read_text()
        if UNTRUSTED in text:
            if not Path("/proc/sys/kernel").exists():
                raise Skip("this system does not show /proc/sys, so programs in a user namespace do not trust root's service")
            raise Failure(text[-2000:])


@contextlib.contextmanager
def open_to_all():
    """Yields a folder that all users can read, with the programs and the library. The folder also has room for a service's socket."""
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        place = Path(name)
        place.chmod(0o755)
        again, vkloader, library = setting("VKL_PROGRAMS") / "again", setting("VKL_VKLOADER"), setting("VKL_LIBRARY")
        for file, original in (("again", again), ("vkloader", vkloader), ("libvulkan.so.1", library)):
            shutil.copyfile(original, place / file)
            (place / file).chmod(0o755)
        yield place


def usage(process):
    """Returns the seconds of processor time that a process has used, and its largest size in memory in KiB."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process.pid}/status").read_text()
    memory = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), int(memory)


def keep_looking(programs, service, place, seconds):
    """Lists devices in all programs in turns, and in a new program in each turn, and makes at least `FEWEST` lists. Returns the number of
    lists, the number of those without the driver, and the longest time for one. A list may lack the driver only if a busy machine delayed
    the program as long as the loader waits. The program must then find the driver later."""
    end, looks, missed, slowest = time.monotonic() + seconds, 0, 0, 0.0
    while time.monotonic() < end or looks < FEWEST:
        # A new program requests the driver's library from the service, and a running program requests only the list of drivers.
        with Honest(HONEST[looks % len(HONEST)], place, service.socket) as new:
            for program in (*programs, new):
                begin = time.monotonic()
                found = program.look()
                took, looks = time.monotonic() - begin, looks + 1
                slowest = max(slowest, took)
                if not same(found, [SECOND]):
                    log = program.log.read_text()[-2000:]
                    expect(took >= UNANSWERED, f"list {looks} has {found} after {took:.2f} s\n{log}")
                    missed += 1
                    program.until([SECOND])
        shows(service, place)
    return looks, missed, slowest


def shows(service, place):
    """Checks that `vkloader service` shows the driver. While attackers of root have many descriptors in flight, the kernel refuses the list of
    drivers, unless the daemon has the capability that lifts this limit. The command must then succeed later."""
    deadline = time.monotonic() + HANG
    while True:
        try:
            output = run([place / "vkloader", "service", "--socket", service.socket], HANG)
        except Failure:
            if time.monotonic() > deadline:
                raise
        else:
            expect("libsmall.so" in output, output)
            return


def rests(service):
    """Waits until the service has no client, and uses no processor time."""
    deadline = time.monotonic() + HANG
    while True:
        before = usage(service.process)[0]
        time.sleep(1)
        used = usage(service.process)[0] - before
        text = run([setting("VKL_VKLOADER"), "service", "--socket", service.socket, "--json"], HANG)
        # The command `vkloader service` is a client itself, so it counts one client.
        if used < 0.2 and re.search(r'"clients":\s*1\b', text):
            return
        expect(time.monotonic() < deadline, f"{used:.2f} s of processor time in a second\n{text[-2000:]}")


def attackers():
    """LSV-46: attackers of three users and root take the service away from nobody, and leave nothing in the service."""
    count, seconds = int(os.environ.get("ATTACKERS", "18")), int(os.environ.get("DURATION", "5"))
    service = Service("second")
    with open_to_all() as place, contextlib.ExitStack() as stack:
        service.socket = place / "run/service.sock"
        stack.enter_context(service)
        with contextlib.ExitStack() as honest:
            programs = [honest.enter_context(Honest(user, place, service.socket)) for user in HONEST]
            for program in programs:
                program.until([SECOND])
            with attacked(service.socket, count):
                looks, missed, slowest = keep_looking(programs, service, place, seconds)
                expect(missed * 10 <= looks, f"{missed} of {looks} lists lack the driver\n{programs[0].log.read_text()[-2000:]}")
        processor, memory = usage(service.process)
        rests(service)
    print(f"        {count} attackers: {looks} lists, {missed} without the driver, the slowest in {slowest:.2f} s", flush=True)
    print(f"        the service used {processor:.1f} s of processor time and {memory} KiB", flush=True)


def crowd():
    """LSV-42: many programs of four users list devices at the same time, and all of them find the driver. Prints the costs, and the costs
    of the same programs with an installed driver. CLIENTS is the number of programs."""
    count = int(os.environ.get("CLIENTS", "24"))
    service = Service("second")
    with open_to_all() as place, contextlib.ExitStack() as stack:
        service.socket = place / "run/service.sock"
        stack.enter_context(service)
        with Honest(HONEST[0], place, service.socket) as first:
            first.until([SECOND])
        contents = service.folder / "packages/second/contents"
        for file in contents.glob("*.*"):
            shutil.copyfile(file, place / file.name)
        manifest = place / "small.json"
        manifest.write_text((contents / next(contents.glob("*.json")).name).read_text().replace("libsmall.so", str(place / "libsmall.so")))
        for what, path, variables in (("the service", service.socket, {}), ("a file", "", {"VK_DRIVER_FILES": str(manifest)})):
            before = usage(service.process)[0]
            with contextlib.ExitStack() as programs:
                users = (*HONEST, ATTACKING[0])
                crowd = [programs.enter_context(Honest(users[number % 4], place, path, **variables)) for number in range(count)]
                begin = time.monotonic()
                for program in crowd:
                    program.ask()
                for number, program in enumerate(crowd):
                    found = program.answer()
                    expect(same(found, [SECOND]), f"program {number} finds {found}\n{program.log.read_text()[-2000:]}")
                each = (time.monotonic() - begin) / count * 1000
                processor, memory = usage(service.process)
                used = (processor - before) / count * 1000
                print(f"        {count} programs at once, from {what}: {each:.2f} ms each", flush=True)
                print(f"        the service used {used:.2f} ms of processor time for each, and {memory} KiB", flush=True)


CASES = [("attackers of several users", attackers), ("a crowd", crowd)]

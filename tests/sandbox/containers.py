"""Containers whose processes have the user ID of programs outside, and use up the limits of the driver service for this user ID. The case
shows that the programs outside still get their drivers. Only the PID namespace of such a container is real here."""

import contextlib
import os
import signal
import subprocess
import time

from attack import ATTACKING, HONEST, Honest, allows_pid_namespaces, as_user, become, enter_pid_namespace, open_to_all, rests
from attacker import LIBRARY, Attacker, die_with_parent, ending
from cases import HANG, Skip, expect, run
from service import SECOND, UNTRUSTED, USER, Service, same


def hoard(path, begun):
    """Starts processes that connect again and again, and read no answer, until the service refuses their connections. Once the service
    refuses the first connection of a process, writes a byte to the descriptor `begun`."""
    while True:
        reading, writing = os.pipe()
        if not os.fork():
            die_with_parent()
            attacker = Attacker(path)
            while attacker.leaves_answer():
                pass
            os.write(writing, b"some" if attacker.kept else b"none")
            signal.pause()
        if os.read(reading, 4) == b"none":
            os.write(begun, b".")
            signal.pause()


def spoil(path, begun):
    """Connects as another user again and again, and makes the copies of the driver useless as root. Keeps the copies. Then writes a byte to
    the descriptor `begun`."""
    attacker = Attacker(path)
    for _ in range(20):
        os.seteuid(ATTACKING[0])
        connection = attacker.connect()
        os.seteuid(0)
        # The system forgets the signal when the user changes.
        die_with_parent()
        attacker.send(connection, LIBRARY)
        number = attacker.receive(connection)
        os.fchown(number, ATTACKING[0], -1)
        os.fchmod(number, 0o111)
        attacker.kept.append(number)
        connection.close()
        # The service replaces only some copies in a second.
        time.sleep(0.2)
    os.write(begun, b".")
    signal.pause()


@contextlib.contextmanager
def container(service, user, attack):
    """Attacks the service in a container: in a new process of a user, in a new PID namespace. The body of the `with` statement begins when
    the attack has used up the limits. All processes of the container end after the body."""
    reading, begun = os.pipe()
    process = os.fork()
    if not process:
        with ending():
            die_with_parent()
            enter_pid_namespace(begun)
            become(user)
            die_with_parent()
            attack(service.socket, begun)
    os.close(begun)
    try:
        expect(os.read(reading, 1) == b".", "the processes in the container ended")
        yield
    finally:
        os.close(reading)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@contextlib.contextmanager
def attackable():
    """Yields a service, and a folder with programs for all users. Skips the case if the service could not tell containers apart."""
    if not allows_pid_namespaces():
        raise Skip("the system does not allow PID namespaces, or does not show them")
    service = Service("second")
    with open_to_all() as place:
        service.socket = place / "run/service.sock"
        with service:
            yield service, place


def spoilt_copies():
    """LSV-18: root in a container, which can take the ID of any user, does not spoil the copies of programs outside."""
    with attackable() as (service, place), container(service, 0, spoil):
        for user in HONEST:
            with Honest(user, place, service.socket) as program:
                found = program.look()
                expect(same(found, [SECOND]), f"user {user} finds {found}\n{program.log.read_text()[-2000:]}")


def containers():
    """LSV-46: a container of a user, or of root, does not use up the limits for programs outside."""
    with attackable() as (service, place):
        for user in (HONEST[0], 0):
            with container(service, user, hoard):
                with Honest(user, place, service.socket) as program:
                    program.until([SECOND])
                output = run([*as_user(user), place / "vkloader", "service", "--socket", service.socket], HANG)
                expect("libsmall.so" in output, output)
        rests(service)


def in_namespace(user):
    """Returns the words before a command that a user runs in a user namespace of two users: this one and the next. A process outside of the
    namespace defines the IDs. The program `unshare` would define only those of `/etc/subuid`."""
    script = """
        for kind in uid gid; do
            until echo "$0 $0 2" >/proc/$$/${kind}_map; do [ -e /proc/$$ ] || exit; sleep 0.01; done
        done 2>/dev/null &
        exec "$@"
    """
    enter = 'until grep -q . /proc/self/gid_map; do sleep 0.01; done; exec "$@"'
    return ["sh", "-c", script, str(user), *as_user(user), "unshare", "--user", "sh", "-c", enter, "sh"]


def owners():
    """LSV-47: in a user namespace without root, a program trusts the service if the socket's folder belongs to the program's user. The
    program does not trust a folder of another user of the namespace."""
    if subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode:
        raise Skip("the system does not allow user namespaces")
    service = Service("second")
    with open_to_all() as place:
        service.socket = place / "run/service.sock"
        with service:
            for owner, is_trusted in ((USER, True), (USER + 1, False)):
                os.chown(service.socket.parent, owner, owner)
                with Honest(USER, place, service.socket, in_namespace(USER)) as program:
                    if is_trusted:
                        program.until([SECOND])
                    found, log = program.look(), program.log.read_text()
                expect(same(found, [SECOND] if is_trusted else []), f"owner {owner}: {found}\n{log}")
                expect((UNTRUSTED in log) != is_trusted, f"owner {owner}:\n{log}")


CASES = [
    ("containers with the user ID of others", containers),
    ("copies that containers spoil", spoilt_copies),
    ("the owners of the socket's folder", owners),
]

"""Containers whose processes have the user ID of programs outside, and use up the limits of the driver service for this user ID. The case
shows that the programs outside still get their drivers. Only the PID namespace of such a container is real here."""

import contextlib
import os
import signal

from attack import HONEST, Attacker, Honest, allows_pid_namespaces, as_user, become, die_with_parent, ending, enter_pid_namespace, open_to_all, rests
from cases import HANG, Skip, expect, run
from service import SECOND, Service


def hoard(path, user, begun):
    """Starts processes of a user in a new PID namespace. Each of them connects again and again, and reads no answer, until the service
    refuses its connection. Once the service refuses the first connection of a process, writes a byte to the descriptor `begun`. Returns the
    process ID of a process with which all of them end."""
    process = os.fork()
    if process:
        return process
    with ending():
        die_with_parent()
        enter_pid_namespace(begun)
        become(user)
        die_with_parent()
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


def containers():
    """LSV-46: a container of a user, or of root, does not use up the limits for programs outside."""
    if not allows_pid_namespaces():
        raise Skip("the system does not allow PID namespaces")
    service = Service("second")
    with open_to_all() as place, contextlib.ExitStack() as stack:
        service.socket = place / "run/service.sock"
        stack.enter_context(service)
        for user in (HONEST[0], 0):
            reading, begun = os.pipe()
            process = hoard(service.socket, user, begun)
            os.close(begun)
            try:
                expect(os.read(reading, 1) == b".", "the processes in the namespace ended")
                with Honest(user, place, service.socket) as program:
                    program.until([SECOND])
                output = run([*as_user(user), place / "vkloader", "service", "--socket", service.socket], HANG)
                expect("libsmall.so" in output, output)
            finally:
                os.close(reading)
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        rests(service)


CASES = [("containers with the user ID of others", containers)]

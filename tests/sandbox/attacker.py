"""Attacks on the driver service by one process: the steps, and the packets of the protocol."""

import array
import contextlib
import ctypes
import encodings.idna  # noqa: F401 -- Python loads it for an address, and attackers may be unable to read its file
import os
import random
import select
import signal
import socket
import struct
import time
import traceback

# Operations and version of the protocol (LSV-34).
FEATURES, GET, MANIFESTS, VERSION = 1, 2, 3, 2
# Key of the driver's library.
KEY = b"0-libsmall.so"
# Number of a call of Linux.
PR_SET_PDEATHSIG = 1


def packet(operation, payload=b"{}"):
    """Returns a request."""
    return b"VKLS" + struct.pack("<HHII", VERSION, operation, 1, len(payload)) + payload


LIBRARY = packet(GET, b'{"name":"%s"}' % KEY)
LIST = packet(MANIFESTS, b'{"wait_for_idle":true,"bits":64}')


@contextlib.contextmanager
def ending(*expected):
    """Ends this process after the body of the `with` statement. The test's own process removes its files and ends its programs. Prints each
    exception that is not of an `expected` class."""
    status = 1
    try:
        yield
        status = 0
    except expected:
        pass
    except BaseException:  # an error in this file must be visible
        traceback.print_exc()
    finally:
        os._exit(status)


def die_with_parent():
    """Makes the system kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Attacker:
    """A client that attacks the service. Each method is one step of an attack."""

    def __init__(self, path):
        self.path = str(path)
        # Connections and descriptors that the attacker keeps open.
        self.kept = []
        # TCP server that never reads.
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(2)

    def connect(self):
        """Returns a connection. Raises `OSError` if the service or the system refuses it."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(2)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            raise
        return connection

    @staticmethod
    def send(connection, message, descriptors=()):
        """Sends a packet. Returns `False` if the connection ended or is full."""
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            connection.sendmsg([message], control, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    @staticmethod
    def receive(connection):
        """Returns the descriptor that comes with the next answer, or `None`."""
        _, control, _, _ = connection.recvmsg(65_552, socket.CMSG_SPACE(64))
        return struct.unpack("i", control[0][2][:4])[0] if control else None

    def hold(self):
        """Holds as many connections as possible, and sends a request on each of them from time to time."""
        if random.random() < 0.1:
            self.kept = [one for one in self.kept if self.send(one, packet(FEATURES))]
        if len(self.kept) < 300:
            self.kept.append(self.connect())

    def leave_unread(self):
        """Requests libraries without reading the answers. Closes some of the connections with unread answers."""
        connection = self.connect()
        while self.send(connection, random.choice([LIBRARY, LIST])):
            pass
        self.kept.append(connection)
        if len(self.kept) > 200:
            self.kept.pop(random.randrange(200)).close()

    def leaves_answer(self):
        """Sends a request on a new connection, and does not read the answer. Returns `False` if the service closes the connection instead."""
        connection = self.connect()
        self.send(connection, LIBRARY)
        try:
            is_answered = connection.recv(1, socket.MSG_PEEK) != b""
        except ConnectionResetError:
            is_answered = False
        if is_answered:
            self.kept.append(connection)
        return is_answered

    def come_and_go(self):
        """Connects, and closes the connection at once."""
        self.connect().close()

    def send_garbage(self):
        """Sends a packet that is almost valid."""
        connection = self.connect()
        message = bytearray(random.choice([LIBRARY, LIST, packet(99), packet(FEATURES, b"")]))
        for _ in range(random.randrange(4)):
            message[random.randrange(len(message))] = random.randrange(256)
        self.send(connection, message + os.urandom(random.choice([0, 0, 1, 5000])))
        connection.close()

    def send_descriptors(self):
        """Sends descriptors of several kinds. Closing the last descriptor of the TCP socket takes an hour, except at the end of a process.
        A new process sends the descriptors and ends, so that this process does not wait."""
        process = os.fork()
        if process:
            os.waitpid(process, 0)
            self.kept.append(self.server.accept())
            if len(self.kept) > 50:
                self.kept.pop(0)[0].close()
            return
        with ending(OSError):
            connection = self.connect()
            lingering = socket.create_connection(self.server.getsockname())
            lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
            lingering.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    lingering.send(bytes(65_536))
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            others = [*os.pipe(), os.pidfd_open(os.getpid()), os.open("/", os.O_PATH), connection.fileno()]
            for sent in ([lingering.fileno()], [one.fileno() for one in pair], others, [connection.fileno()] * 200):
                self.send(connection, random.choice([LIBRARY, b""]), sent)

    def spoil(self):
        """Changes everything that can be changed of a file that the service sends, and keeps some of these files open."""
        connection = self.connect()
        self.send(connection, random.choice([LIBRARY, LIST]))
        number = self.receive(connection)
        connection.close()
        if number is None:
            return
        change = random.choice([
            lambda: os.fchmod(number, 0),
            lambda: os.fchmod(number, 0o111),
            lambda: os.fchown(number, 20_001, 20_001),
            lambda: os.utime(number, (0, 0)),
            lambda: os.ftruncate(number, 0),
            lambda: os.pwrite(os.open(f"/proc/self/fd/{number}", os.O_RDWR), b"x", 0),
            lambda: os.lseek(number, 7, os.SEEK_SET),
            lambda: os.setxattr(number, "user.x", b"y"),
        ])  # fmt: skip
        self.kept.append(number)
        if len(self.kept) > 100:
            os.close(self.kept.pop(0))
        change()

    def flood(self):
        """Sends requests as fast as the service answers them."""
        connection = self.connect()
        for _ in range(100):
            if not self.send(connection, random.choice([LIBRARY, LIST, packet(FEATURES)])):
                break
            number = self.receive(connection)
            if number is not None:
                os.close(number)
        connection.close()

    def stop(self):
        """Stops this process while it has unread answers."""
        for _ in range(100):
            self.leave_unread()
        os.kill(os.getpid(), signal.SIGSTOP)

    def stay_half_open(self):
        """Ends one direction of connections before, between or after requests, and keeps the connections."""
        connection = self.connect()
        ways = [socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR]
        for _ in range(random.randrange(3)):
            self.send(connection, random.choice([LIBRARY, LIST]))
        connection.shutdown(random.choice(ways))
        self.send(connection, LIBRARY)
        self.kept.append(connection)
        if len(self.kept) > 200:
            self.kept.pop(0).close()

    def read_slowly(self):
        """Reads an answer on each of many connections from time to time, and requests the next one."""
        if len(self.kept) < 100:
            self.kept.append(self.connect())
            self.send(self.kept[-1], LIBRARY)
        connection = random.choice(self.kept)
        time.sleep(0.01)
        try:
            number = self.receive(connection)
        except OSError:
            self.kept.remove(connection)
            return
        if number is not None:
            os.close(number)
        self.send(connection, random.choice([LIBRARY, LIST]))

    def send_much(self):
        """Fills connections with packets of the largest size that the system accepts."""
        connection = self.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        size = 1 << 22
        while size > 64:
            if not self.send(connection, random.choice([bytes(size), LIBRARY + bytes(size)])):
                size //= 2
        self.kept.append(connection)
        if len(self.kept) > 20:
            self.kept.pop(0).close()

    def send_strange(self):
        """Sends descriptors whose events, closing or counting may have effects on the system. Some are sockets in each other's queues, in
        which the system searches for cycles. Others are files that report events about each other."""
        connection = self.connect()
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for _ in range(20):
            self.send(one, b"x", [one.fileno(), other.fileno()] * 50)
            self.send(other, b"x", [one.fileno(), connection.fileno()] * 50)
        events = select.epoll()
        for watched in (connection, one, other):
            events.register(watched, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        memory = os.memfd_create("x")
        os.ftruncate(memory, 1 << 40)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(b"\0" + os.urandom(16))
        listener.listen(0)
        strange = [one.fileno(), other.fileno(), events.fileno(), memory, listener.fileno()]
        self.send(connection, random.choice([LIBRARY, b"", b"x"]), strange)
        self.send(connection, LIBRARY, strange * 50)
        os.close(memory)
        for file in (one, other, events, listener, connection):
            file.close()

    def multiply(self):
        """Starts processes that connect and end at once, or keep their connection to the end of another process."""
        for _ in range(30):
            if not os.fork():
                with ending(OSError):
                    connection = self.connect()
                    self.send(connection, random.choice([LIBRARY, LIST]))
                    if random.random() < 0.5 and not os.fork():
                        time.sleep(random.random())
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()

    def stop_between(self):
        """Stops processes at some point of an exchange, and lets some of them continue later."""
        if len(self.kept) > 30:
            process, number = self.kept.pop(0), random.choice([signal.SIGCONT, signal.SIGKILL])
            # The process may stop only after the signal.
            while os.waitpid(process, os.WNOHANG)[0] == 0:
                os.kill(process, number)
                time.sleep(0.02)
        parent, process = os.getpid(), os.fork()
        if process:
            self.kept.append(process)
            return
        with ending(OSError):
            die_with_parent()
            if os.getppid() != parent:
                # The parent ended before the call, so that the system would leave this process stopped for ever.
                return
            connection = self.connect()
            for _ in range(random.randrange(3)):
                self.send(connection, random.choice([LIBRARY, LIST]))
            os.kill(os.getpid(), signal.SIGSTOP)
            self.receive(connection)

    WAYS = (
        hold, leave_unread, come_and_go, send_garbage, send_descriptors, spoil, flood, stop,
        stay_half_open, read_slowly, send_much, send_strange, multiply, stop_between,
    )  # fmt: skip

"""Network namespaces that last as long as they are used, the links between them, and the bytes that went over these.

Nothing is left behind: a namespace is that of a process which ends with us, however we end.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

from penstock.errors import PenstockError

T = TypeVar("T")
NEEDED = ("ip", "nsenter", "tc", "unshare")
_CLONE_NEWNET = 0x40000000
_READY = 5.0
_SIOCETHTOOL = 0x8946
_TSO, _GSO, _GRO = 0x1F, 0x24, 0x2C
"""What is turned off, so that packets are counted as they would be on a wire."""


def missing() -> str | None:
    """Why namespaces cannot be made here, if they cannot."""
    if not sys.platform.startswith("linux"):
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"network namespaces need the commands {', '.join(absent)}"
    return None if Path("/dev/net/tun").exists() else "the wireless link needs /dev/net/tun"


class Namespace:
    """A network namespace, with its loopback up, in a ``with`` block."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._holder: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process whose namespace it is."""
        assert self._holder is not None, "use it in a with block"  # noqa: S101
        return self._holder.pid

    def __enter__(self) -> Self:
        # It waits for the end of its input, which comes when this process ends, whatever the reason.
        self._holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE)  # noqa: S607
        ours, end = os.readlink("/proc/self/ns/net"), time.monotonic() + _READY
        while os.readlink(f"/proc/{self.pid}/ns/net") == ours:
            if self._holder.poll() is not None or time.monotonic() > end:
                raise PenstockError(f"the network namespace {self.name!r} could not be made", hint="this needs root")
            time.sleep(0.005)
        self.run("ip", "link", "set", "lo", "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._holder is not None  # noqa: S101
        self._holder.kill()
        self._holder.wait()
        if self._holder.stdin:
            self._holder.stdin.close()

    def command(self, *words: str) -> list[str]:
        """A command as it is run inside."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *words]

    def run(self, *words: str) -> str:
        """Runs a command inside, and returns what it says."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        if done.returncode:
            raise PenstockError(f"in the namespace {self.name!r}: {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def start(self, *words: str, log: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        """Starts a process inside; its standard input ends with us, and its standard output can be read."""
        return subprocess.Popen(self.command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def inside(self, work: Callable[[], T]) -> T:
        """Does something inside, in a thread of its own; sockets and devices made there stay there."""
        return inside(self.pid, work)

    def counted(self) -> dict[str, Traffic]:
        """What each of its interfaces has sent and received so far."""
        return read_counters(Path(f"/proc/{self.pid}/net/dev").read_text())


@dataclass(frozen=True)
class Traffic:
    """Bytes that were received and sent."""

    received: int
    sent: int

    def __sub__(self, before: Traffic) -> Traffic:
        return Traffic(self.received - before.received, self.sent - before.sent)


def read_counters(text: str) -> dict[str, Traffic]:
    """The counters of all interfaces, from the text of ``/proc/net/dev``.

    >>> read_counters("a |\\nface |\\n  lo: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\\n")
    {'lo': Traffic(received=10, sent=20)}
    """
    rows = (line.partition(":") for line in text.splitlines()[2:])
    numbers = {name.strip(): rest.split() for name, _, rest in rows}
    return {name: Traffic(int(row[0]), int(row[8])) for name, row in numbers.items()}


def inside(pid: int, work: Callable[[], T]) -> T:
    """Does something in the network namespace of a process: in a thread, since each thread may have its own."""
    results: list[T] = []
    errors: list[BaseException] = []

    def enter() -> None:
        try:
            descriptor = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
            try:
                if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            finally:
                os.close(descriptor)
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def join(one: Namespace, other: Namespace, name: str, network: str) -> None:
    """A wire between two namespaces: an interface of this name in each, the first with the lower address."""
    one.run("ip", "link", "add", name, "type", "veth", "peer", "name", name, "netns", str(other.pid))
    for end, address in ((one, f"{network}.1/24"), (other, f"{network}.2/24")):
        set_up(end, name, address)
        end.inside(lambda: without_offloads(name))


def set_up(namespace: Namespace, name: str, address: str) -> None:
    """Gives an interface its address, and turns it on."""
    namespace.run("ip", "address", "add", address, "dev", name)
    namespace.run("ip", "link", "set", name, "up")


def limit_rate(namespace: Namespace, name: str, rate: str) -> None:
    """What an interface sends is limited to a rate, such as ``11mbit``, with a short queue in front."""
    words = ("root", "tbf", "rate", rate, "burst", "32kb", "latency", "400ms")
    namespace.run("tc", "qdisc", "add", "dev", name, *words)


def without_offloads(name: str) -> None:
    """Turns off what makes big packets of small ones, so that counters count what would be on a wire."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        for option in (_TSO, _GSO, _GRO):
            value = bytearray(struct.pack("II", option, 0))
            address = (ctypes.c_char * len(value)).from_buffer(value)
            request = struct.pack("16sP16x", name.encode(), ctypes.addressof(address))
            fcntl.ioctl(one, _SIOCETHTOOL, request)

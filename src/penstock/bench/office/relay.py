"""The wireless link: two TUN devices, and a process that passes packets from one to the other after a while.

Kernels without ``netem`` cannot delay packets themselves. Rates are limited by ``tbf`` on the devices.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass, field

from penstock.bench.office.namespaces import inside
from penstock.bench.office.talking import end_with_input, say

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_LARGEST = 65_536


def open_tun(name: str) -> int:
    """A TUN device of this name, in the namespace of this thread; packets are read and written as they are."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH14x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return descriptor


@dataclass
class Lane:
    """One direction: packets under way, each with the instant at which it is due."""

    source: int
    target: int
    delay: float
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    passed: int = 0

    def take(self, now: float, chance: random.Random, loss: float) -> None:
        """Takes all packets that are there; some are lost."""
        while True:
            try:
                packet = os.read(self.source, _LARGEST)
            except BlockingIOError:
                return
            if loss == 0 or chance.random() >= loss:
                self.waiting.append((now + self.delay, packet))

    def give(self, now: float) -> None:
        """Passes on what is due."""
        while self.waiting and self.waiting[0][0] <= now:
            _, packet = self.waiting.popleft()
            try:
                os.write(self.target, packet)
                self.passed += 1
            except OSError:  # the other end is down or full: the packet is lost, as on the air
                continue


class Relay:
    """Passes packets both ways, each after ``delay`` seconds; a share ``loss`` of them is lost.

    >>> import socket
    >>> (one, a), (b, other) = [socket.socketpair(type=socket.SOCK_DGRAM) for _ in range(2)]
    >>> a.setblocking(False), b.setblocking(False)
    (None, None)
    >>> relay = Relay(a.fileno(), b.fileno(), delay=0.01)
    >>> _ = one.send(b"packet")
    >>> relay.step(); relay.step()
    >>> other.recv(10)
    b'packet'
    >>> for end in (one, a, b, other): end.close()
    """

    def __init__(self, one: int, other: int, delay: float, loss: float = 0.0, seed: int = 1) -> None:
        self.lanes = (Lane(one, other, delay), Lane(other, one, delay))
        self._chance, self._loss = random.Random(seed), loss  # noqa: S311 - packets are lost by chance

    def step(self, longest: float = 1.0) -> None:
        """Waits until a packet is there or due, at most so many seconds, and passes on what is due."""
        due = min((lane.waiting[0][0] for lane in self.lanes if lane.waiting), default=float("inf"))
        wait = max(0.0, min(longest, due - time.monotonic()))
        ready, _, _ = select.select([lane.source for lane in self.lanes], [], [], wait)
        now = time.monotonic()
        for lane in self.lanes:
            if lane.source in ready:
                lane.take(now, self._chance, self._loss)
            lane.give(now)


def main(arguments: list[str]) -> None:
    """Opens a device in the namespaces of two processes, and passes packets until standard input ends."""
    name, one, other, delay, loss = arguments
    ends = [inside(int(pid), lambda: open_tun(name)) for pid in (one, other)]
    relay = Relay(ends[0], ends[1], float(delay), float(loss))
    end_with_input()
    say("ready")
    while True:
        relay.step()


if __name__ == "__main__":
    main(sys.argv[1:])

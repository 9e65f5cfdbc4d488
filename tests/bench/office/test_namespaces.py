"""Namespaces and the wireless link: what is counted, limited, delayed, and left behind."""

import os
import subprocess
import sys
import time

import pytest

from penstock.bench.office.namespaces import Namespace, inside, join, missing
from penstock.bench.office.running import Air, sites
from penstock.bench.office.setting import RADIO, RADIO_NETWORK, WIRED
from penstock.errors import PenstockError

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

SERVER = """
import socket
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("ready", flush=True)
    with server.accept()[0] as one:
        received = 0
        while block := one.recv(65536):
            received += len(block)
        one.sendall(str(received).encode())
"""
CLIENT = """
import socket, sys, time
with socket.create_connection((sys.argv[1], 7000)) as one:
    began = time.monotonic()
    one.sendall(b"x" * int(sys.argv[2]))
    one.shutdown(socket.SHUT_WR)
    assert one.recv(100) == sys.argv[2].encode()
    print(time.monotonic() - began)
"""


def send(here: Namespace, there: Namespace, address: str, size: int) -> float:
    """Sends so many bytes, and says how many seconds it took until they were known to be there."""
    server = there.start(sys.executable, "-c", SERVER)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        return float(here.run(sys.executable, "-c", CLIENT, address, str(size)))
    finally:
        server.kill()
        server.communicate()


def test_a_wire_counts_every_packet_as_it_would_be_on_a_wire() -> None:
    with Namespace("one") as one, Namespace("other") as other:
        join(one, other, WIRED, "10.78.1")
        before = other.counted()[WIRED]
        send(one, other, "10.78.1.2", 200_000)
        passed = other.counted()[WIRED] - before
    packets = -(-200_000 // 1448)
    assert 200_000 + packets * 66 <= passed.received <= 200_000 + (packets + 60) * 66


def test_the_wireless_link_has_its_rate_and_its_delay() -> None:
    with sites(Air(rate="8mbit", delay=0.02)) as here:
        before = here.counted()
        took = send(here.clients, here.gateway, f"{RADIO_NETWORK}.1", 500_000)
        passed = here.counted()["wireless"] - before["wireless"]
    assert took > 0.4
    assert 500_000 < passed < 600_000


def test_what_is_lost_over_the_air_is_sent_again() -> None:
    with sites(Air(delay=0.001, loss=0.05)) as here:
        before = here.counted()["wireless"]
        send(here.clients, here.gateway, f"{RADIO_NETWORK}.1", 100_000)
        assert here.counted()["wireless"] - before > 100_000


def test_nothing_is_left_behind() -> None:
    interfaces = set(os.listdir("/sys/class/net"))
    with sites(Air()) as here:
        holders = [here.office.pid, here.gateway.pid, here.clients.pid]
        assert RADIO not in os.listdir("/sys/class/net")
    assert not any(os.path.exists(f"/proc/{pid}") for pid in holders)
    assert set(os.listdir("/sys/class/net")) == interfaces


def test_a_namespace_ends_with_the_process_that_made_it() -> None:
    program = (
        "import os, sys\nfrom penstock.bench.office.namespaces import Namespace\n"
        "with Namespace('one') as one:\n print(one.pid, flush=True)\n os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    end = time.monotonic() + 10
    while os.path.exists(f"/proc/{int(done.stdout)}") and time.monotonic() < end:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{int(done.stdout)}")


def test_a_command_that_fails_says_where_and_why() -> None:
    with Namespace("one") as one, pytest.raises(PenstockError, match="in the namespace 'one': ip link show nothing"):
        one.run("ip", "link", "show", "nothing")


def test_a_thread_inside_leaves_the_others_where_they_are() -> None:
    ours = os.readlink("/proc/self/ns/net")
    with Namespace("one") as one:
        theirs = os.readlink(f"/proc/{one.pid}/ns/net")
        assert inside(one.pid, lambda: os.readlink("/proc/thread-self/ns/net")) == theirs
    assert os.readlink("/proc/self/ns/net") == ours

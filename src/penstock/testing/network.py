"""Brokers and nodes as processes of their own, for tests and experiments: started, killed and stopped by their ids."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self

from penstock.errors import BrokerError


class NodeProcess:
    """``penstock node`` as a child process; further options are given as keywords, such as ``expiry="1 s"``.

    Args:
        broker: The address of its broker.
        site: The name of its site.

    Used in a ``with`` block, it is ready inside and stopped at the end.
    """

    def __init__(self, broker: str, site: str, **options: str) -> None:
        self.site = site
        given = {"broker": broker, "site": site} | options
        self._options = [word for name, value in given.items() for word in (f"--{name}", value)]
        self.process: subprocess.Popen[str] | None = None
        self.name = ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Self:
        """Start it, and wait until it says that it is ready."""
        command = [sys.executable, "-m", "penstock", "node", *self._options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)  # noqa: S603
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line.startswith("node "):
            self.stop()
            raise BrokerError(f"the node did not start: {line.strip() or 'it says nothing'}")
        self.name = line.split()[1]
        return self

    @property
    def pid(self) -> int:
        """The process's id; 0 if it does not run."""
        return self.process.pid if self.process else 0

    def kill(self) -> None:
        """End it as a failure would, with no time to say anything."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Hold it up, until it goes `on`."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ask it to leave, and wait until it has."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

"""The ways to a result that are measured beside each other, and which of them are installed."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from penstock.bench.matches import Matches
from penstock.bench.queries import Query
from penstock.errors import PenstockError


class Way(Protocol):
    """One way to find the matches of a query. What ``read`` and ``find`` do is timed; the rest is not."""

    def load(self, table: pa.Table) -> Any:
        """The events in memory, as this way likes them best."""

    def read(self, path: Path) -> Any:
        """The events of a Parquet or CSV file; they may be read later, when they are asked for."""

    def find(self, events: Any, query: Query) -> Any:
        """Ids and stamps of the matched events."""

    def matches(self, found: Any) -> Matches:
        """What was found, to be compared."""


OTHERS = {"polars": "polars", "pandas": "pandas", "duckdb": "duckdb", "loop": None}
"""Other ways than ours, and the package that each needs."""
OURS = "penstock"
HINT = "pip install 'penstock[bench]'"


def missing(names: tuple[str, ...]) -> tuple[str, ...]:
    """The packages that these ways need and that are not installed.

    >>> missing(("loop",))
    ()
    """
    packages = [package for name in names if (package := OTHERS.get(name))]
    return tuple(package for package in packages if find_spec(package) is None)


def way(name: str) -> Way:
    """A way by its name; its package is loaded now.

    >>> from penstock.bench.queries import QUERIES
    >>> way("loop").find([], QUERIES["Q1"])
    []
    """
    try:
        made: Way = import_module(f"penstock.bench.by_{name}").WAY
    except ImportError as error:
        raise PenstockError(f"{error.name} is not installed", hint=HINT) from None
    return made


def use_one_thread() -> None:
    """One thread for everybody, as the engine has one; before anything else is loaded, since polars asks once."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

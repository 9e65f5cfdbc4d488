"""The streams that are measured: generated, always the same, in memory or as files in a cache folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

SHARES = {"main": (0.05, 0.05, 0.05, 0.85), "dense": (0.3, 0.3, 0.3, 0.1)}
"""How often A, B, C and noise come."""
TYPES = ("A", "B", "C", "N")
START = 1_767_225_600_000_000
GAP = 10_000
"""Microseconds for each event: a hundred events a second, over all keys."""
SEED = 7


@dataclass(frozen=True)
class Stream:
    """A stream by its kind and size.

    >>> Stream("main", 2_000_000, 10_000).name
    'main, 2 M events, 10 k keys'
    """

    kind: str
    events: int
    keys: int
    texts: bool = False
    """Whether keys are texts, not numbers."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.kind}, {short(self.events)} events, {short(self.keys)} {'text ' if self.texts else ''}keys"

    def table(self) -> pa.Table:
        """The events as a user would have them; no two have the same time, and they come in order.

        >>> Stream("dense", 3, 2).table().column_names
        ['type', 'id', 'time', 'k']
        >>> Stream("dense", 1, 2, texts=True).table()["k"].to_pylist()
        ['device 1']
        """
        random = np.random.default_rng(SEED)
        types = random.choice(len(TYPES), self.events, p=SHARES[self.kind]).astype(np.int8)
        times = START + np.arange(self.events) * GAP + random.integers(0, GAP, self.events)
        keys = random.integers(0, self.keys, self.events)
        return pa.table(
            {
                "type": pa.DictionaryArray.from_arrays(pa.array(types), pa.array(TYPES)),
                "id": pa.array(np.arange(self.events)).cast(pa.string()),
                "time": times,
                "k": _named(keys) if self.texts else keys,
            }
        )

    def file(self, folder: Path, ending: str) -> Path:
        """The stream as a file of this folder, ``parquet`` or ``csv``; written if it is not there."""
        path = folder / f"{self.kind}-{self.events}-{self.keys}{'-texts' if self.texts else ''}.{ending}"
        if not path.exists():
            beside = path.with_suffix(".part")
            if ending == "parquet":
                pq.write_table(self.table(), beside)
            else:
                pa.csv.write_csv(_plain(self.table()), beside, pa.csv.WriteOptions(quoting_style="none"))
            beside.replace(path)
        return path

    def arrays(self, folder: Path) -> Path:
        """The stream as a folder of bare arrays, for a program in another language; keys are numbers there."""
        path = folder / f"{self.kind}-{self.events}-{self.keys}"
        path.mkdir(exist_ok=True)
        table = replace(self, texts=False).table()
        np.asarray(table["type"].combine_chunks().indices).astype(np.int8).tofile(path / "type.bin")
        np.asarray(table["k"]).astype("<i8").tofile(path / "k.bin")
        np.asarray(table["time"]).astype("<i8").tofile(path / "time.bin")
        return path


def _named(keys: npt.NDArray[np.int64]) -> pa.Array:
    return pc.binary_join_element_wise("device", pa.array(keys).cast(pa.string()), " ")


def _plain(table: pa.Table) -> pa.Table:
    return table.set_column(0, "type", table["type"].cast(pa.string()))


def short(number: int) -> str:
    """A number as people say it.

    >>> [short(number) for number in (500, 10_000, 2_000_000, 50_500)]
    ['500', '10 k', '2 M', '50,500']
    """
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number and number % size == 0:
            return f"{number // size} {letter}"
    return f"{number:,}"

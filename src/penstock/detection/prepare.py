"""Gets compiled code ready before it is needed."""

from __future__ import annotations

import pyarrow as pa

from penstock.detection.detector import Detector
from penstock.events.table import make_table

_PATTERN = "First := [A(k = $k)] ; [B(k = $k)]\n[First(k = $k)] ; [B(k = $k)]"


def prepare() -> None:
    """Compiles what orders events and detects, or reads it from disk, by a detection that uses all of it.

    >>> prepare()
    """
    for key in ("x", 1):
        detector = Detector(_PATTERN)
        for first in (3, 0):
            count = range(first, first + 3)
            fields = {"type": ["A", "B", "B"], "source": ["s", "t", "s"], "id": [str(n) for n in count]}
            table = make_table(fields | {"lo": [*count], "hi": [*count]}, {"k": pa.array([key for _ in count])})
            detector.feed(table, arrival=first)
        detector.finish()

"""Gets the kernel ready before it is needed."""

from __future__ import annotations

import pyarrow as pa

from penstock.automaton.compile import compile_pattern
from penstock.engine.engine import Engine
from penstock.events.table import make_table
from penstock.languages.core.parser import parse_syntax


def prepare() -> None:
    """Compiles the kernel, or reads it from disk, by a detection that uses all of it.

    >>> prepare()
    """
    pattern = parse_syntax("First := [A(k = $k)] ; [B(k = $k)]\n[First(k = $k)] ; [B(k = $k)]")
    compile_pattern(pattern)
    count = range(3)
    fields = {"type": ["A", "B", "B"], "source": ["s" for _ in count], "id": [str(n) for n in count]}
    table = make_table(fields | {"lo": [*count], "hi": [*count]}, {"k": pa.array(["x" for _ in count])})
    Engine(pattern).feed(table, len(count))

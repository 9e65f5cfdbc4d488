"""Gets the kernel ready before it is needed."""

from __future__ import annotations

from penstock.automaton.compile import compile_pattern
from penstock.engine.engine import Engine
from penstock.events.table import make_table
from penstock.languages.core.parser import parse_syntax


def prepare() -> None:
    """Compiles the kernel, or reads it from disk, by a detection that uses all of it.

    >>> prepare()
    """
    pattern = parse_syntax("[A(k = $k)] ; [B(k = $k)]")
    compile_pattern(pattern)
    table = make_table({"type": ["A", "B"], "source": ["s", "s"], "id": ["1", "2"], "lo": [1, 2], "hi": [1, 2]}, {})
    Engine(pattern).feed(table, 3)

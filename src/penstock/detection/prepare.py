"""Gets compiled code ready before it is needed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from penstock.checks.check import parse
from penstock.detection.detector import Detector
from penstock.detection.local import detect_all
from penstock.detection.plan import plan_of
from penstock.engine.engine import Engine
from penstock.engine.memory import CONTEXTS
from penstock.engine.pagereading import PageReading
from penstock.engine.sharing import buckets_of_numbers, counts_of, in_shares
from penstock.events.parquetpages import Page, Pages
from penstock.events.settling import SHORT_NAME
from penstock.events.table import EventTable, make_table

_PATTERN = "First := [A(k = $k)] ; [B(k = $k)]\n[First(k = $k)] ; [B(k = $k)]"
_PAIR = "[A(k = $k)] ; [B(k = $k)]"
_TWO_PARAMETERS = "[A(k = $k AND k = $j)] ; [B(k = $k AND k = $j)]"
_LOOKING_BACK = "[A(k = $k) in {A(k = $k), B(k > $k)}] ; [B(k = $k)]"
"""Where what came before an instance was known may keep it from starting."""
_MANY = 1 << 13
"""Instances enough for all that grows to do so."""


def prepare() -> None:
    """Compiles what orders events, shares them out and detects, or reads it from disk, by doing what most do.

    >>> prepare()
    """
    for key in ("x", 1):
        detector = Detector(_PATTERN)
        for first in (3, 0):
            detector.feed(_events("ABB", range(first, first + 3), [key] * 3, ["s", "t", "s"]), arrival=first)
        detector.finish()
    numbers = np.arange(2)
    in_shares(numbers, buckets_of_numbers(numbers, 1, 2), 2)
    counts_of(numbers.astype(np.int8), 2)
    counts_of(numbers.astype(np.int32), 2)


def compile_all() -> None:
    """Compiles what some detections use, too, so that none of them has to."""
    prepare()
    keys = [*range(_MANY), *range(_MANY)]
    table = _events("A" * _MANY + "B" * _MANY, range(2 * _MANY), keys, ["s"] * len(keys))
    for context in CONTEXTS:
        detect_all(table, plan_of(parse(_PAIR), context=context))
    for pattern in (_PAIR, "[A] ; [B]", "[C]"):
        detect_all(_with_short_names(table.slice(_MANY - 2, 4)), plan_of(parse(pattern)))
    engine = Engine(parse(_PAIR))
    engine.feed(table.slice(0, _MANY), _MANY)
    engine.compact(0)
    engine.engines[0].instances.rehash()
    for pattern in (_TWO_PARAMETERS, _LOOKING_BACK):
        detector = Detector(pattern)
        for first, type in enumerate("BAB"):
            detector.feed(_events(type, range(first, first + 1), [first], ["s"]), arrival=first)
        Detector.restore(detector.snapshot()).finish()
    detector = Detector(_PAIR)
    for start in range(0, len(table), _MANY // 2):
        detector.feed(table.slice(start, _MANY // 2), arrival=start)
        detector = Detector.restore(detector.snapshot())
    detector.finish()
    _read_pages()


def _read_pages() -> None:
    """Reads a text and a number, as they are and by codes, and a name."""
    reader, codes = PageReading(), memoryview(bytes([0, 2, 0]))
    for values, read in (
        (b"\1\0\0\0a", lambda pages: reader.texts(pages, 0, 1, pa.array).whole()),
        (bytes(8), lambda pages: reader.numbers(pages, 0, 1)),
    ):
        plain = Page(0, 1, False, memoryview(values))
        read(Pages((plain,), None))
        coded = Pages((Page(0, 1, True, codes),), plain)
        read(coded)
    reader.names(Pages(coded.pages, Page(0, 1, False, memoryview(b"\1\0\0\0a"))), 0, 1)


def _with_short_names(table: EventTable) -> EventTable:
    fields = {name: table.field(name) for name in ("id", "lo", "hi")}
    attributes = {"k": table.attribute("k")}
    return make_table(fields, attributes, given={"type": pa.array(table.field("type").to_pylist(), SHORT_NAME)})


def _events(types: str, count: range, keys: Iterable[str | int], sources: list[str]) -> EventTable:
    stamps = [*count]
    fields = {"type": [*types], "source": sources, "id": [str(number) for number in count], "lo": stamps, "hi": stamps}
    return make_table(fields, {"k": pa.array(keys)})

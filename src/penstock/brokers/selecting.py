"""Content filters over messages, for brokers and clients that look at events one message at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from penstock.algebra.conditions import Condition
from penstock.brokers.protocol import Message
from penstock.brokers.wire import ENCODING, batch, lines_of, read_lines
from penstock.errors import DataError
from penstock.filters.arrow import evaluate


def select(messages: Sequence[Message], where: Condition | None) -> list[Message]:
    """The messages with only those events for which a filter holds; what is no event stays, for others to judge.

    >>> from penstock.algebra.conditions import Attribute, Comparison, Literal
    >>> where = Comparison(">", Attribute("v"), Literal(3))
    >>> bodies = [b'{"type":"A","time":5,"data":{"v":3}}', b'{"type":"A","time":6,"data":{"v":4}}']
    >>> [message.body for message in select([Message(("t",), body) for body in bodies], where)]
    [b'{"type":"A","time":6,"data":{"v":4}}']
    """
    if where is None:
        return list(messages)
    return [left for message in messages if (left := _selected(message, where)) is not None]


def _selected(message: Message, where: Condition) -> Message | None:
    lines = lines_of(message)
    bad: list[DataError] = []
    table = read_lines(lines, bad.append)
    if bad:
        return message
    holds = np.asarray(pc.fill_null(evaluate(where, table, "UTC"), False))
    if holds.all():
        return message
    kept = [line for line, good in zip(lines, holds.tolist(), strict=True) if good]
    headers = {name: value for name, value in message.headers.items() if name != ENCODING}
    return replace(message, body=batch(kept), headers=headers) if kept else None

"""CloudEvents in messages: one in structured or binary mode, or several in a batch; read together, as columns.

A batch is CloudEvents' JSON batch format. Ours have a line for each event, so that they need not be taken apart to be
read by columns.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.brokers.protocol import Message
from penstock.errors import DataError
from penstock.events.cloudevents import to_cloudevent
from penstock.events.event import Event
from penstock.events.jsonlines import read_json_lines
from penstock.events.mapping import Columns
from penstock.events.records import from_dicts
from penstock.events.table import EventTable

OnBad = Callable[[DataError], None]
_FEW = 48
"""So many records are sooner read one by one than by columns."""
_PREFIX = "ce-"
_BETWEEN = b",\n"
_COLUMNS = Columns()
ENCODING, _DEFLATED = "content-encoding", "deflate"
_LONG = 1024
"""Bodies of so many bytes are worth compressing."""
_LARGEST = 64 << 20
"""No body is unpacked to more bytes than this."""


def to_json(record: Mapping[str, Any]) -> bytes:
    """A record as JSON, with no letter too many.

    >>> to_json({"type": "Tür", "time": 5})
    b'{"type":"T\\xc3\\xbcr","time":5}'
    """
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def structured(event: Event) -> bytes:
    """An event as the body of a message, in structured mode.

    >>> structured(Event("Open", "door-1", "17", 0, 0))
    b'{"specversion":"1.0","type":"Open","source":"door-1","id":"17","time":"1970-01-01T00:00:00Z"}'
    """
    return to_json(to_cloudevent(event))


def batch(bodies: Sequence[bytes]) -> bytes:
    """Several structured bodies as one; one alone stays as it is.

    >>> batch([b'{"type":"A"}', b'{"type":"B"}'])
    b'[{"type":"A"},\\n{"type":"B"}]'
    """
    return bodies[0] if len(bodies) == 1 else b"[" + _BETWEEN.join(bodies) + b"]"


def packed(body: bytes) -> tuple[bytes, dict[str, str]]:
    """A body as it is sent, with the headers that say so: a long one is compressed, and parts make composites long.

    >>> body, headers = packed(b'{"type":"A"}' * 1000)
    >>> len(body) < 100, headers
    (True, {'content-encoding': 'deflate'})
    """
    if len(body) < _LONG:
        return body, {}
    return zlib.compress(body), {ENCODING: _DEFLATED}


def _unpacked(message: Message) -> bytes:
    """The body as it was; what cannot be unpacked stays as it is, and is then found to be no event."""
    if message.headers.get(ENCODING) != _DEFLATED:
        return message.body
    unpacking = zlib.decompressobj()
    try:
        body = unpacking.decompress(message.body, _LARGEST)
    except zlib.error:
        return message.body
    return body if unpacking.eof else message.body


def binary(event: Event) -> tuple[dict[str, str], bytes]:
    """An event in binary mode: its context as headers, its attributes as the body.

    >>> headers, body = binary(Event("Open", "door-1", "17", 0, 0, attributes={"door": "D1"}))
    >>> headers["ce-type"], body
    ('Open', b'{"door":"D1"}')
    """
    record = to_cloudevent(event)
    data = record.pop("data", None)
    headers = {_PREFIX + name: _text(value) for name, value in record.items()}
    return headers | {"content-type": "application/json"}, b"" if data is None else to_json(data)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def lines_of(message: Message) -> list[bytes]:
    """A message's events, each as one line of JSON; what is wrong with them is found when they are read.

    >>> lines_of(Message(("t",), b'[{"type":"A"},\\n{"type":"B"}]'))
    [b'{"type":"A"}', b'{"type":"B"}']
    >>> lines_of(Message(("t",), b'{"door":"D1"}', headers={"ce-type": "Open"}))
    [b'{"type":"Open","data":{"door":"D1"}}']
    >>> body, headers = packed(b'{"type":"A"}' + b" " * 2000)
    >>> lines_of(Message(("t",), body, headers=headers))[0].rstrip()
    b'{"type":"A"}'
    """
    body = _unpacked(message)
    if any(name.lower().startswith(_PREFIX) for name in message.headers):
        return [_gathered(message)]
    if not body.startswith(b"["):
        return [body.replace(b"\n", b" ")]
    lines = body[1:-1].split(_BETWEEN)
    if all(line.startswith(b"{") and line.endswith(b"}") and b"\n" not in line for line in lines):
        return lines
    try:
        return [to_json(record) for record in json.loads(body)]
    except (ValueError, RecursionError):
        return [body.replace(b"\n", b" ")]


def _gathered(message: Message) -> bytes:
    """A message in binary mode as one in structured mode."""
    names = {name.lower(): value for name, value in message.headers.items()}
    record: dict[str, Any] = {
        name.removeprefix(_PREFIX): value for name, value in names.items() if name.startswith(_PREFIX)
    }
    if record.get("retracted") in ("true", "false"):
        record["retracted"] = record["retracted"] == "true"
    if not message.body:
        return to_json(record)
    try:
        return to_json(record | {"data": json.loads(message.body)})
    except (ValueError, RecursionError):
        return message.body.replace(b"\n", b" ")


def read_events(messages: Iterable[Message], on_bad: OnBad, name: str = "message") -> EventTable:
    """The events of some messages as one table; those that are none are left out and told.

    >>> bad = []
    >>> messages = [Message(("t",), b'{"type":"A","time":5}'), Message(("t",), b"nothing")]
    >>> len(read_events(messages, bad.append)), len(bad)
    (1, 1)
    """
    return read_lines([line for message in messages for line in lines_of(message)], on_bad, name)


def read_lines(lines: Sequence[bytes], on_bad: OnBad, name: str = "message") -> EventTable:
    """The events of some lines as one table; those that are none are left out and told.

    >>> read_lines([b'{"type":"A","time":5}'], print).field("hi").to_pylist()
    [5]
    """
    if len(lines) > _FEW:
        return read_json_lines(b"\n".join(lines), name, _COLUMNS, on_bad)[0]
    return from_dicts(list(_records(lines, on_bad)), columns=_COLUMNS, on_bad=on_bad)


def _records(lines: Sequence[bytes], on_bad: OnBad) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            on_bad(DataError(f"not valid JSON: {error}", hint="a message is a CloudEvent"))
            continue
        if not isinstance(record, dict):
            on_bad(DataError("not a JSON object", hint="a message is a CloudEvent"))
            continue
        yield record

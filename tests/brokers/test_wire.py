"""CloudEvents in messages: every mode is read to the same events, and what is none is told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.brokers.protocol import Message
from penstock.brokers.topics import escaped, unescaped
from penstock.brokers.wire import batch, binary, packed, read_events, structured
from penstock.errors import DataError
from penstock.events.event import Event

EVENT = Event("Open", "door-1", "17", 5, 9, seq=3, attributes={"door": "Tür\n", "n": 2, "v": 2.5}, uncertain=True)


def read(*messages: Message) -> list[Event]:
    bad: list[DataError] = []
    table = read_events(messages, bad.append)
    assert not bad
    return table.to_events()


def test_structured_and_binary_mode_say_the_same() -> None:
    headers, body = binary(EVENT)
    assert read(Message(("t",), structured(EVENT))) == [EVENT]
    assert read(Message(("t",), body, headers=headers)) == [EVENT]


@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_batch_is_all_its_events(count: int) -> None:
    events = [replace(EVENT, id=str(number)) for number in range(count)]
    body, headers = packed(batch([structured(event) for event in events]))
    assert read(Message(("t",), body, headers=headers)) == events


def test_a_batch_that_others_have_written_is_read_too() -> None:
    records = [json.loads(structured(replace(EVENT, id=id))) for id in "ab"]
    assert [event.id for event in read(Message(("t",), json.dumps(records, indent=2).encode()))] == ["a", "b"]


@pytest.mark.parametrize("body", [b"", b"nothing", b"[", b"[1, 2]", b"\xff", b'{"type": "A"}', b'{"type": "A"} {}'])
@pytest.mark.parametrize("others", [0, 100])
def test_what_is_no_event_is_told_and_the_rest_is_read(body: bytes, others: int) -> None:
    bad: list[DataError] = []
    good = [Message(("t",), structured(replace(EVENT, id=str(number)))) for number in range(others)]
    assert len(read_events([*good, Message(("t",), body)], bad.append)) == others
    assert bad or not body


@given(st.text())
def test_any_name_can_be_a_level_of_a_topic(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return
    written = escaped(name)
    assert unescaped(written) == name
    assert all(letter.isascii() and (letter.isalnum() or letter in "-_=") for letter in written)

"""The one-line match, and the notation of events."""

import pytest

from penstock import DataError
from penstock.events.event import Event
from penstock.testing.match import match, trace


def only(text: str) -> Event:
    [event] = trace(text).events
    return event


def test_a_match_lists_its_parts() -> None:
    assert match("[A] ; [B]", "a x b") == ["a1 b3"]


def test_a_match_says_type_and_attributes() -> None:
    assert match("Met := [A(k = $k)] ; [B]", "a(k='x') b") == ["Met: a1 b2 {k='x'}"]


def test_a_match_takes_the_options_of_detection() -> None:
    assert match("[B in {B, P}]", "p b", restart=True) == ["b2"]
    assert match("([A], [T]){T = 5 s}", "a", until="6") == ["a1"]
    assert match("[A(hour() = 1)]", "a@0:30", zone="Europe/Berlin") == ["a1"]


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("a", 1, 1),
        ("a@5", 5, 5),
        ("a@1-3", 1, 3),
        ("a@1.5-3", 1.5, 3),
        ("a@0:01", 60, 60),
        ("a@0:00:01.5", 1.5, 1.5),
        ("a@0:01-0:02", 60, 120),
        ("a@1970-01-01T00:00:05Z", 5, 5),
    ],
)
def test_times(text: str, lo: float, hi: float) -> None:
    event = only(text)
    assert (event.lo, event.hi) == (lo * 1_000_000, hi * 1_000_000)


def test_an_event_without_a_time_comes_at_the_next_whole_second() -> None:
    assert [event.hi for event in trace("a b@4.5 c d").events] == [1_000_000, 4_500_000, 5_000_000, 6_000_000]


def test_all_that_can_stand_after_a_type() -> None:
    event = only("""door@5"door 1"#-7/x-1(v=3, f=-1.5, room='it''s (1)', open=true, gone=null)""")
    assert (event.type, event.source, event.seq, event.id) == ("Door", "door 1", -7, "x-1")
    assert event.attributes == {"v": 3, "f": -1.5, "room": "it's (1)", "open": True}


def test_a_type_in_quotes_is_taken_as_it_is() -> None:
    assert [event.type for event in trace("'office.door'@5 'my type' office.door").events] == [
        "office.door",
        "my type",
        "Office.door",
    ]


@pytest.mark.parametrize("text", ["3", "a@", "a@x", "a(v)", "a(v=1", "a b@5@", "a(v=1)x"])
def test_what_is_no_event_is_an_error(text: str) -> None:
    with pytest.raises((DataError, ValueError)):
        trace(text)


def test_no_events() -> None:
    assert trace("  ").events == ()

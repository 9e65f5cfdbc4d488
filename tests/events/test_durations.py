import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.durations import format_duration, parse_duration, unit_microseconds


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("5 us", 5),
        ("5ms", 5_000),
        ("5 s", 5_000_000),
        ("5 sec", 5_000_000),
        ("2 min", 120_000_000),
        ("1 h 30 min", 5_400_000_000),
        ("1h30min", 5_400_000_000),
        ("1 d", 86_400_000_000),
        ("1.5 hours", 5_400_000_000),
        ("0.1 s", 100_000),
        ("0.000001 seconds", 1),
        ("3 Minutes", 180_000_000),
        ("  1 day  2 hrs ", 93_600_000_000),
        ("1 microsecond 1 millisecond", 1_001),
    ],
)
def test_durations_are_exact(text, microseconds):
    assert parse_duration(text) == microseconds


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "'' is not a duration", "units are d, h, min, s, ms and us"),
        ("five", "'five' is not a duration", "units are d, h, min, s, ms and us"),
        ("5", "'5' is not a duration", "units are"),
        ("-5 s", "'-5 s' is not a duration", "units are"),
        ("5 s,", "'5 s,' is not a duration", "units are"),
        ("5 mn", "'mn' is not a unit of time", "did you mean 'min'?"),
        ("5 minuts", "'minuts' is not a unit of time", "did you mean 'minutes'?"),
        ("0 s", "is not a positive duration", "longer than nothing"),
        ("0.5 us", "is not a whole number of microseconds", "finest unit"),
        ("999999999999 d", "is too long", "292,000 years"),
    ],
)
def test_what_is_no_duration_is_refused(text, message, hint):
    with pytest.raises(DataError) as error:
        parse_duration(text)
    assert message in error.value.message
    assert hint in error.value.hint


@given(st.integers(1, 2**63 - 1))
def test_durations_come_back_as_they_were_written(microseconds):
    assert parse_duration(format_duration(microseconds)) == microseconds


def test_units_are_known_by_their_words():
    assert unit_microseconds("min") == unit_microseconds("minutes") == 60_000_000
    assert unit_microseconds("fortnight") is None


def test_durations_are_written_in_the_longest_units():
    assert format_duration(90_061_001_001) == "1 d 1 h 1 min 1 s 1 ms 1 us"

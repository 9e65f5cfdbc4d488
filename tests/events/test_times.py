from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.times import (
    EARLIEST,
    LATEST,
    format_time,
    next_clock_time,
    of_datetime,
    of_number,
    parse_time,
    zone_of,
)

HOUR = 3_600_000_000
instants = st.integers(EARLIEST, LATEST)


@given(instants)
def test_times_come_back_as_they_were_written(at):
    assert parse_time(format_time(at)) == at


@given(
    st.datetimes(
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
        min_value=datetime(2, 1, 1),
    )
)
def test_times_agree_with_datetime(value):
    assert parse_time(value.isoformat()) == of_datetime(value)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.5Z", -500_000),
        ("1970-01-01T00:00:00.000000999Z", 0),
        ("1969-12-31T23:59:59.9999999Z", -1),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ("0001-01-01T00:00:00Z", EARLIEST),
        ("9999-12-31T23:59:59.999999Z", LATEST),
    ],
)
def test_rfc_3339_is_read(text, at):
    assert parse_time(text) == at


def test_nanoseconds_are_rounded_down_or_up():
    assert parse_time("1970-01-01T00:00:00.000001001Z") == 1
    assert parse_time("1970-01-01T00:00:00.000001001Z", round_up=True) == 2
    assert parse_time("1970-01-01T00:00:00.000001000Z", round_up=True) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "'soon' is not a time"),
        ("2026-03-01", "is not a time"),
        ("2026-03-01T10:00Z", "is not a time"),
        ("20260301T100000Z", "is not a time"),
        ("2026-02-30T10:00:00Z", "is not a date"),
        ("2026-13-01T10:00:00Z", "is not a date"),
        ("2026-03-01T24:00:00Z", "is not a time of day"),
        ("2026-03-01T10:00:00+25:00", "offset that no zone has"),
        ("0000-01-01T00:00:00Z", "is not a date"),
        ("0001-01-01T00:00:00+01:00", "outside the years 1 to 9999"),
        ("٢٠٢٦-03-01T10:00:00Z", "is not a time"),
    ],
)
def test_what_is_no_time_is_refused(text, message):
    with pytest.raises(DataError, match=message) as error:
        parse_time(text)
    assert error.value.hint


def test_a_time_without_a_zone_is_refused_unless_one_is_given():
    with pytest.raises(DataError) as error:
        parse_time("2026-03-01T10:00:00")
    assert error.value.message == "'2026-03-01T10:00:00' has no zone"
    assert "--zone" in error.value.hint
    assert parse_time("2026-03-01T10:00:00", "Europe/Berlin") == parse_time("2026-03-01T09:00:00Z")


def test_a_fraction_is_written_with_no_three_or_six_digits():
    assert format_time(1_000_000) == "1970-01-01T00:00:01Z"
    assert format_time(1_010_000) == "1970-01-01T00:00:01.010Z"
    assert format_time(1_010_001) == "1970-01-01T00:00:01.010001Z"


def test_an_unknown_zone_is_refused_with_the_nearest():
    with pytest.raises(DataError) as error:
        zone_of("Europe/Berln")
    assert error.value.message == "'Europe/Berln' is not a time zone"
    assert error.value.hint == "did you mean 'Europe/Berlin'?"
    with pytest.raises(DataError):
        zone_of("../etc/passwd")


def test_floats_mean_the_decimal_that_is_written_like_them():
    assert of_number(1289241911.72836, "s") == 1_289_241_911_728_360
    assert of_number(0.0000015, "s") == 1
    assert of_number(0.0000015, "s", round_up=True) == 2
    assert of_number(-1, "ns") == -1
    assert of_number(-1, "ns", round_up=True) == 0


def test_numbers_outside_the_years_are_refused_with_a_hint_about_units():
    with pytest.raises(DataError) as error:
        of_number(10**18)
    assert "--time-unit" in error.value.hint
    with pytest.raises(DataError, match="is not a time"):
        of_number(float("nan"))


@given(
    st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2030, 1, 1)),
    st.integers(0, 23),
    st.integers(0, 59),
)
def test_the_next_clock_time_is_the_first_minute_after_that_shows_it(day, hour, minute):
    zone = zone_of("Europe/Berlin")
    after = of_datetime(day.replace(tzinfo=UTC))
    found = next_clock_time(after, hour, minute, 0, zone)
    assert after < found <= after + 26 * HOUR
    shown = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=found)
    if hour != 2:
        assert shown.astimezone(zone).time() == datetime(1, 1, 1, hour, minute).time()


def test_the_next_clock_time_is_strictly_after():
    utc = zone_of("UTC")
    assert next_clock_time(19 * HOUR, 19, 0, 0, utc) == 43 * HOUR
    assert next_clock_time(19 * HOUR - 1, 19, 0, 0, utc) == 19 * HOUR


def test_a_clock_time_that_is_shown_twice_counts_twice():
    zone = zone_of("Europe/Berlin")
    first, second = parse_time("2025-10-26T00:30:00Z"), parse_time("2025-10-26T01:30:00Z")
    assert next_clock_time(first - 1, 2, 30, 0, zone) == first
    assert next_clock_time(first, 2, 30, 0, zone) == second


def test_a_clock_time_that_is_skipped_has_the_offset_before_the_change():
    zone = zone_of("Europe/Berlin")
    midnight = parse_time("2025-03-29T23:00:00Z")
    assert next_clock_time(midnight, 2, 30, 0, zone) == parse_time("2025-03-30T01:30:00Z")


def test_there_is_no_clock_time_after_the_last_year():
    with pytest.raises(DataError, match="no 19:00 comes after"):
        next_clock_time(LATEST, 19, 0, 0, zone_of("UTC"))

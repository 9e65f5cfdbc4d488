from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.events.times import DAY, EARLIEST, LATEST, datetime_of, of_datetime
from penstock.filters.clock import clock

ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia"]


def shown(instant: int, zone: str) -> tuple[int, int, int]:
    return tuple(clock(function, pa.array([instant]), zone)[0].as_py() for function in ("hour", "minute", "weekday"))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    st.integers(EARLIEST + 2 * DAY, LATEST - 2 * DAY) | st.integers(-100 * 365 * DAY, 100 * 365 * DAY),
    st.sampled_from(ZONES),
)
@example(of_datetime(datetime(2050, 7, 1, tzinfo=UTC)), "Europe/Berlin")
@example(of_datetime(datetime(1893, 3, 31, 23, 6, 31, tzinfo=UTC)), "Europe/Berlin")
def test_clocks_show_what_pythons_zones_say(instant, zone):
    there = datetime_of(instant).astimezone(ZoneInfo(zone))
    assert shown(instant, zone) == (there.hour, there.minute, there.weekday())


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
def test_the_offset_changes_to_the_microsecond(day):
    change = of_datetime(day.replace(hour=1))
    for instant in (change - 1, change):
        there = datetime_of(instant).astimezone(ZoneInfo("Europe/Berlin"))
        assert shown(instant, "Europe/Berlin")[0] == there.hour


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_the_first_and_the_last_instant_have_a_time_of_day(zone):
    for instant in (EARLIEST, LATEST):
        hour, minute, weekday = shown(instant, zone)
        assert (hour in range(24), minute in range(60), weekday in range(7)) == (True, True, True)


def test_no_instants_give_no_hours():
    assert len(clock("hour", pa.array([], pa.int64()), "UTC")) == 0

"""What clocks in a zone show at many instants: hour, minute and day of the week.

Arrow can do this too, but only where the system has a zone database, and without daylight saving time
after 2037. Here Python's zones are asked, as for timers, once for each day that occurs.
"""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.events.times import DAY, EARLIEST, LATEST, SECOND, datetime_of, zone_of

Ints = npt.NDArray[np.int64]
_HOUR = 3600 * SECOND
_MINUTE = 60 * SECOND
_THURSDAY = 3
"""The weekday of the epoch."""
_EDGE = 2 * DAY


def clock(function: str, instants: pa.Array, zone: str) -> pa.Array:
    """``hour``, ``minute`` or ``weekday`` (Monday is 0) of instants in microseconds.

    >>> noon = pa.array([12 * 3_600_000_000, None])
    >>> clock("hour", noon, "Europe/Berlin").to_pylist(), clock("weekday", noon, "UTC").to_pylist()
    ([13, None], [3, None])
    """
    local = local_times(np.asarray(instants.fill_null(0)), zone)
    shown = {
        "hour": lambda: local // _HOUR % 24,
        "minute": lambda: local // _MINUTE % 60,
        "weekday": lambda: (local // DAY + _THURSDAY) % 7,
    }[function]()
    return pa.array(shown, mask=np.asarray(instants.is_null()))


def local_times(instants: Ints, zone: str) -> Ints:
    """What clocks in the zone show, as if it were UTC.

    >>> local_times(np.array([0]), "Europe/Berlin") // SECOND
    array([3600])
    """
    coded = pa.array(instants // DAY).dictionary_encode()
    days = [_day(day, zone_of(zone)) for day in coded.dictionary.to_pylist()]
    before, change, after = np.array(days, np.int64).reshape(-1, 3).T[:, np.asarray(coded.indices)]
    local: Ints = instants + np.where(instants < change, before, after)
    return local


@lru_cache(maxsize=100_000)
def _day(day: int, zone: ZoneInfo) -> tuple[int, int, int]:
    """The offset at the day's start (UTC), when it changes, and the offset from then on."""
    first, last = day * DAY, (day + 1) * DAY
    before, after = _offset(first, zone), _offset(last, zone)
    while before != after and last - first > SECOND:
        middle = (first + last) // (2 * SECOND) * SECOND
        first, last = (middle, last) if _offset(middle, zone) == before else (first, middle)
    return before, last, after


def _offset(instant: int, zone: ZoneInfo) -> int:
    # Python's dates end with the year 9999, also in the zone; no offset changes in the days next to that.
    inside = min(max(instant, EARLIEST + _EDGE), LATEST - _EDGE)
    offset = datetime_of(inside).astimezone(zone).utcoffset()
    return round(offset.total_seconds()) * SECOND if offset else 0

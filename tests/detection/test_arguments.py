"""Whatever is given for an option that it cannot be is told at once, and what to give instead."""

from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps

EVENTS = [{"type": "A", "id": "1", "time": 5}]
WRONG: list[tuple[str, Any]] = [
    ("context", None), ("context", 3), ("restart", "yes"), ("zone", 5), ("carry", 5), ("carry", [1]), ("carry", None),
    ("only", 5), ("only", "composite"), ("only", [5]), ("columns", 5), ("columns", ["type"]), ("clock_error", "5 s"),
    ("clock_error", 1.5), ("clock_error", -1), ("limits", 5), ("limits", {"runs": 1}), ("incomplete", "x"),
]  # fmt: skip
WRONG_OF_DETECTORS: list[tuple[str, Any]] = [
    *WRONG, ("policy", 5), ("policy", ps.guaranteed), ("sources", "abc"), ("sources", [1]), ("sources", 5),
    ("clock", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_detect_names_the_option_that_is_wrong(name: str, value: Any) -> None:
    with pytest.raises(ps.PenstockError, match=f"`{name}` is ") as error:
        ps.detect(EVENTS, "[A]", **{name: value})
    assert error.value.hint


@pytest.mark.parametrize(("name", "value"), WRONG_OF_DETECTORS)
def test_a_detector_names_the_option_that_is_wrong(name: str, value: Any) -> None:
    with pytest.raises(ps.PenstockError, match=f"`{name}` is ") as error:
        ps.Detector("[A]", **{name: value})
    assert error.value.hint


@pytest.mark.parametrize("pattern", [None, 5, b"[A]", ["[A]"]])
def test_what_is_no_pattern(pattern: Any) -> None:
    for use in (ps.parse, ps.Detector, lambda one: ps.detect(EVENTS, one)):
        with pytest.raises(ps.PenstockError, match="pattern"):
            use(pattern)


def test_numbers_and_truths_of_numpy_are_taken() -> None:
    assert len(ps.detect(EVENTS, "[A]", clock_error=np.int64(1), restart=np.bool_(False))) == 1  # type: ignore[arg-type]


def test_a_restored_detector_takes_what_can_change_and_nothing_else() -> None:
    state = ps.Detector("[A]").snapshot()
    assert ps.Detector.restore(bytearray(state)).counters.consumed == 0  # type: ignore[arg-type]
    for wrong in ({"pattern": "[B]"}, {"columns": 5}):
        with pytest.raises(ps.PenstockError, match=r"`(pattern|columns)`"):
            ps.Detector.restore(state, **wrong)
    for other in (None, 5, "x"):
        with pytest.raises(ps.StateError, match="no saved state"):
            ps.Detector.restore(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(("time", "unit"), [(253_402_300_800, "s"), (2**62, "us"), (-(2**62), "us")])
def test_a_time_that_no_calendar_has_is_an_error(time: int, unit: str) -> None:
    table = pa.table({"type": ["A"], "time": pa.array([time], pa.timestamp(unit, "UTC"))})
    with pytest.raises(ps.DataError, match="outside the years 1 to 9999"):
        ps.detect(table, "[A]")


@pytest.mark.parametrize(("last", "hours"), [(datetime.max, -5), (datetime.min, 5)])
def test_a_datetime_beyond_the_calendar_in_utc_is_an_error(last: datetime, hours: int) -> None:
    time = last.replace(tzinfo=timezone(timedelta(hours=hours)))
    with pytest.raises(ps.DataError, match="outside the years 1 to 9999"):
        ps.detect([{"type": "A", "time": time}], "[A]")


@pytest.mark.parametrize("source", [5, None, ["s"]])
def test_a_source_has_a_name(source: Any) -> None:
    detector = ps.Detector("[A]", sources=["s"])
    for tell in (lambda: detector.heartbeat(source, at=7), lambda: detector.leave(source)):
        with pytest.raises(ps.PenstockError, match="`source` is"):
            tell()

"""The examples run as they stand, and find what their comments say."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from penstock.events.times import SECOND, format_time

Run = Callable[..., CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "examples" / "office"
DOORS = ROOT / "examples" / "doors"
ALARMS = ROOT.parent / "shared" / "data" / "telecom-alarms" / "Alarm.csv"


def found(result: CompletedProcess[str]) -> list[dict[str, object]]:
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_office(penstock: Run) -> None:
    composites = found(penstock("detect", str(OFFICE / "office.pen"), str(OFFICE / "events.jsonl")))
    said = [(one["type"], one["time"], one["data"]) for one in composites]
    cold = [(time[11:19], data["room"], data["celsius"]) for type, time, data in said if type == "ColdRoom"]  # type: ignore[index]
    assert cold == [
        ("08:35:00", "FE02", 13.8),
        ("08:45:00", "FE02", 14.6),
        ("10:12:00", "M2", 14.4),
        ("10:57:00", "FE02", 14.9),
    ]
    notes = [(time[11:19], data["person"], data["people"]) for type, time, data in said if type == "SendNotes"]  # type: ignore[index]
    assert notes == [("10:03:00", "Jean", 4), ("10:03:00", "Alice", 4), ("10:30:00", "Bob", 2)]
    assert Counter(type for type, _, _ in said) == {"ColdRoom": 4, "Meeting": 2, "Attended": 5, "SendNotes": 3}


def test_the_office_has_time_bounds(penstock: Run) -> None:
    assert "warning" not in penstock("check", str(OFFICE / "office.pen")).stdout


def test_the_doors(penstock: Run) -> None:
    composites = found(penstock("detect", str(DOORS / "doors.pen"), str(DOORS / "doors.csv")))
    assert [(one["type"], one["data"]["door"]) for one in composites] == [  # type: ignore[index]
        ("Used", "D1"),
        ("Used", "D3"),
        ("LeftOpen", "D2"),
        ("Used", "D1"),
    ]


@pytest.mark.skipif(not ALARMS.exists(), reason="the telecom alarms are not beside the repository")
def test_telecom_alarms(penstock: Run, tmp_path: Path) -> None:
    lines = ALARMS.read_text().splitlines(keepends=True)[:1500]
    (tmp_path / "alarms.csv").write_text("".join(lines))
    fields = "--type-from alarm_id --time-from start_timestamp --time-unit s"
    pattern = "['15'(device_id = $device)] ; ['11'(device_id = $device)] within 1 h"
    composites = found(penstock("detect", pattern, "alarms.csv", *fields.split()))
    assert len(composites) > 10
    pairs = [(one["data"]["device"], one["timelo"], one["timehi"]) for one in composites]  # type: ignore[index]
    rows = [tuple(map(int, line.split(",")[:3])) for line in lines[1:]]
    assert sorted(pairs) == sorted(next_on_device(rows, first=15, then=11, seconds=3600))


def next_on_device(rows: list[tuple[int, ...]], first: int, then: int, seconds: int) -> Iterator[tuple[int, str, str]]:
    """For each alarm the next one of another type on its device, if it comes soon enough."""
    for alarm, device, start in rows:
        later = [at for other, there, at in rows if (other, there) == (then, device) and at > start]
        if alarm == first and later and min(later) - start <= seconds:
            yield device, format_time(start * SECOND), format_time(min(later) * SECOND)

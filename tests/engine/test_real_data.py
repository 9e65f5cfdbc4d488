"""Real events with reference counts, which were found by brute force and by nobody's engine."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import penstock as ps

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ALARMS = DATA / "telecom-alarms" / "Alarm.csv"
RATINGS = DATA / "bitcoin-otc" / "otc_network.csv"
TRUTH = DATA / "bitcoin-otc" / "otc_gt.csv"


@pytest.mark.skipif(not ALARMS.exists(), reason="the alarms are not beside the repository")
@pytest.mark.parametrize(("seconds", "expected"), [(60, 12_505), (300, 19_368)])
def test_ordered_pairs_of_different_alarms_on_one_device(seconds: int, expected: int) -> None:
    table = csv.read_csv(ALARMS)
    types = sorted(set(table["alarm_id"].to_pylist()))
    pairs = "\n".join(
        f"P{i}_{j} := '{i}'(device_id = $d) ; '{j}'(device_id = $d) within {seconds} s"
        for i in types
        for j in types
        if i != j
    )
    columns = {"type": "alarm_id", "lo": "start_timestamp"}
    found = ps.detect(table, pairs, columns=columns, time_unit="s", carry="none")
    assert len(found) == expected


@pytest.mark.skipif(not RATINGS.exists(), reason="the ratings are not beside the repository")
@pytest.mark.parametrize(
    ("raters", "rating", "days", "flagged", "fraud", "good"),
    [
        (3, -5, 7, 186, 76, 7),
        (3, -5, 30, 223, 85, 8),
        (3, -10, 30, 196, 81, 8),
        (5, -5, 30, 92, 51, 6),
        (2, -10, 30, 338, 112, 14),
    ],
)
def test_users_rated_badly_by_several(raters: int, rating: int, days: int, flagged: int, fraud: int, good: int) -> None:
    names = ["rater", "target", "rating", "time"]
    table = csv.read_csv(RATINGS, read_options=csv.ReadOptions(column_names=names))
    table = table.append_column("type", pa.array(["Rating"] * len(table)))
    pattern = f"x: [Rating(target = $user AND rating <= {rating})]+ within {days} d where distinct(x.rater) = {raters}"
    found = ps.detect(table, pattern, time_unit="s", carry="none", only=())
    users = set(found.table["user"].to_pylist())
    truth = {int(user): int(label) for user, label in (line.split(",") for line in TRUTH.read_text().split())}
    assert len(users) == flagged
    assert sum(truth.get(user) == -1 for user in users) == fraud
    assert sum(truth.get(user) == 1 for user in users) == good

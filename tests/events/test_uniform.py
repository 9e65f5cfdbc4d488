from datetime import UTC, datetime
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.mapping import Columns
from penstock.events.records import from_dicts
from penstock.events.uniform import uniform_table

ordinary = {
    "type": ["A", "B"],
    "source": ["", "s"],
    "id": ["1", "é"],
    "seq": [1, None, -3],
    "time": [5, "1970-01-01T00:00:01Z"],
    "lo": [0, 1],
    "hi": [2, 3],
    "data": [{}, {"v": 1}, {"v": 2, "w": "x"}, {"v": None}],
}
unusual = [
    *(None, "", True, 7, 2**63, 2**70, 1.5, float("nan"), float("inf"), "\ud800", "soon", b"x", -(10**18), [], {}),
    *({"v": True}, {"v": 0.5}, {"v": float("nan")}, {"v": "\ud800"}, {"v": 2**63}, {1: 2}, {"\ud800": 1}),
    *({"parts": []}, {"parts": 3}, {"v": []}, {"v": datetime(2026, 1, 1, tzinfo=UTC)}, datetime(2026, 1, 1)),
]
shapes = st.sampled_from([["type", "time"], ["type", "lo", "hi"]]).flatmap(
    lambda keys: st.sets(st.sampled_from(["source", "id", "seq", "data"])).map(lambda more: [*keys, *sorted(more)])
)
uniform = shapes.flatmap(
    lambda keys: st.lists(
        st.fixed_dictionaries({key: st.sampled_from(ordinary[key]) for key in keys}), min_size=1, max_size=5
    )
)
changes = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([*ordinary, "specversion", "other"]), st.sampled_from(unusual)),
    max_size=2,
)
options = st.sampled_from([{}, {"clock_error": 2}, {"time_unit": "s"}, {"zone": "Europe/Berlin"}])


def outcome(records, **options):
    skipped = []
    try:
        table = from_dicts(records, on_bad=skipped.append if options.pop("skip", False) else None, **options)
    except DataError as error:
        return str(error)
    return table.fields.to_pylist(), str(table.attributes.to_pylist()), table.attributes.schema, [*map(str, skipped)]


@given(uniform, changes, options, st.booleans())
def test_what_is_read_by_columns_is_what_is_read_one_by_one(records, several, given, skip):
    for row, key, value in several:
        records[row % len(records)] |= {key: value}
    fast = outcome(records, skip=skip, **given)
    with mock.patch("penstock.events.records.uniform_table", return_value=None):
        assert fast == outcome(records, skip=skip, **given)


def test_records_of_one_shape_are_read_by_columns():
    records = [{"type": "A", "source": "s", "id": str(n), "time": n, "data": {"v": n, "w": "x"}} for n in range(5)]
    table = uniform_table(records, Columns())
    assert [event.attributes["v"] for event in table.to_events()] == [0, 1, 2, 3, 4]
    assert uniform_table([*records, {"type": "A", "time": 5}], Columns()) is None

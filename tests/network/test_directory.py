"""What is known of a network as data: JSON and back, entries of a store, and what has changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import DataError
from penstock.network.directory import TABLES, Detector, Directory, EventInput, Node, PartInput, changes, record_of

names = st.text("abc", min_size=1, max_size=3)
directories = st.builds(
    lambda records: Directory().put(*records),
    st.lists(st.one_of(*(st.from_type(kind) for kind in TABLES.values())), max_size=8),
).filter(lambda directory: "NaN" not in json.dumps(directory.to_json()))


@given(directories)
def test_a_directory_survives_json(directory: Directory) -> None:
    assert Directory.of_json(json.loads(json.dumps(directory.to_json()))) == directory


@given(directories, directories)
def test_changes_lead_from_one_directory_to_another(before: Directory, after: Directory) -> None:
    store = before.entries()
    for key, form in changes(before, after).items():
        if form is None:
            del store[key]
        else:
            store[key] = form
    assert Directory.of_entries(json.loads(json.dumps(store))) == after


@pytest.mark.parametrize(
    ("table", "form", "message"),
    [
        ("nodes", {"name": "n"}, "'site' is missing"),
        ("nodes", {"name": "n", "site": "s", "alife": True}, "did you mean `alive`"),
        ("nodes", {"name": "n", "site": "s", "alive": 1}, "is not true or false"),
        ("sources", {"name": "n", "site": "s", "types": "A"}, "is not a list"),
        ("sources", {"name": "n", "site": "s", "heartbeat": []}, "is not a whole number"),
        ("detectors", {"name": "n", "pattern": "", "gives": [], "node": "", "events": [{}]}, "events[0]: 'type'"),
    ],
)
def test_a_record_that_is_wrong_says_where(table: str, form: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        record_of(f"{table}/n", form)
    assert message in str(caught.value)


def test_a_table_that_there_is_not() -> None:
    with pytest.raises(DataError, match="no table 'cats'"):
        record_of("cats/tom", {})


def test_a_detector_waits_for_sources_and_detectors() -> None:
    events = (EventInput("A", ("s", "t")), EventInput("B", ("s",)))
    detector = Detector("d", "[A]", ("composite",), "n", parts=(PartInput("Met", "e"),), events=events)
    assert detector.sources == ("penstock/e", "s", "t")


def test_a_record_takes_the_place_of_one_with_its_name() -> None:
    directory = Directory().put(Node("n", "here")).put(Node("n", "there"))
    assert [one.site for one in directory.nodes.values()] == ["there"]
    assert not directory.without(Node("n", "there")).nodes

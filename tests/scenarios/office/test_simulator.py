"""The simulated building: what the papers say of it, and what detection relies on."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.events.times import SECOND
from penstock.scenarios.office.building import BUILDING
from penstock.scenarios.office.movement import matrix, walk
from penstock.scenarios.office.simulator import Day, simulate


@pytest.fixture(scope="module")
def day() -> Day:
    return simulate(seed=3, hours=2)


def test_the_papers_building() -> None:
    assert len(BUILDING.rooms) == 9
    assert len(BUILDING.people) == 15
    assert len(BUILDING.residents) == 8
    assert {room.kind for room in BUILDING.rooms} == {"office", "meeting room", "seminar room"}


@pytest.mark.parametrize("person", BUILDING.people, ids=lambda person: person.name)
def test_movement_is_a_matrix_of_probabilities(person) -> None:  # type: ignore[no-untyped-def]
    moves = matrix(BUILDING, person)
    assert (moves >= 0).all()
    assert np.allclose(moves.sum(axis=1), 1)


def test_residents_use_offices_and_visitors_prefer_rooms_for_meetings() -> None:
    story = walk(BUILDING, 0, 24 * 60, np.random.default_rng(5))
    offices = {person.name: person.office for person in BUILDING.people}
    boards = {room.name for room in BUILDING.rooms if room.has_board}
    at_home = sum(stay.end - stay.begin for stay in story.stays if stay.room == offices[stay.person])
    residents = sum(stay.end - stay.begin for stay in story.stays if offices[stay.person])
    visiting = [stay for stay in story.stays if not offices[stay.person]]
    in_meetings = sum(stay.end - stay.begin for stay in visiting if stay.room in boards)
    assert at_home > residents / 2
    assert in_meetings > sum(stay.end - stay.begin for stay in visiting) / 2


def test_nobody_is_in_two_rooms() -> None:
    story = walk(BUILDING, 0, 600, np.random.default_rng(6))
    for person in BUILDING.people:
        stays = sorted((one.begin, one.end) for one in story.stays if one.person == person.name)
        assert all(end < begin for (_, end), (begin, _) in pairwise(stays))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_a_seed_is_a_day(seed: int) -> None:
    one, two = simulate(seed, hours=0.5), simulate(seed, hours=0.5)
    assert one.events.fields.equals(two.events.fields)
    assert one.events.attributes.equals(two.events.attributes)
    assert [arrival.at for arrival in one.arrivals()] == [arrival.at for arrival in two.arrivals()]
    assert not one.events.fields.equals(simulate(seed + 1, hours=0.5).events.fields)


def test_a_stamp_contains_the_true_instant(day: Day) -> None:
    lo, hi = (np.asarray(day.sent.table.field(name)) for name in ("lo", "hi"))
    assert ((lo <= day.sent.sent) & (day.sent.sent <= hi)).all()


def test_bats_speak_at_least_once_a_minute(day: Day) -> None:
    seen = [event for event in day.events.to_events() if event.type == "Person"]
    for stay in day.story.stays:
        heard = [
            event.hi
            for event in seen
            if event.attributes == {"person": stay.person, "room": stay.room} and stay.begin <= event.hi <= stay.end
        ]
        assert max(np.diff([stay.begin, *heard, stay.end])) <= 60 * SECOND


def test_heartbeats_keep_their_promises(day: Day) -> None:
    """What comes after a heartbeat ends after what it promised; sources deliver in order."""
    shown: dict[str, int] = {}
    for arrival in day.arrivals(tick=1):
        for event in arrival.table.to_events():
            assert event.hi > shown.get(event.source, 0)
            shown[event.source] = event.hi
        for beat in arrival.heartbeats:
            shown[beat.source] = max(beat.at, shown.get(beat.source, 0))
    assert set(shown.values()) == {day.end}
    assert set(shown) == set(day.sources)

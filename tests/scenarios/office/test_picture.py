"""The picture: well-formed, complete, and the same for the same day."""

from xml.etree import ElementTree

import pytest

from penstock import detect
from penstock.scenarios.office.findings import Findings, findings
from penstock.scenarios.office.patterns import OFFICE, PAPERS, load
from penstock.scenarios.office.picture import draw
from penstock.scenarios.office.simulator import Day, simulate


@pytest.fixture(scope="module")
def day() -> Day:
    return simulate(seed=1, hours=6)


@pytest.fixture(scope="module")
def found(day: Day) -> Findings:
    return findings(detect(day.events, load(OFFICE)))


def test_everything_that_was_found_is_drawn(day: Day, found: Findings) -> None:
    picture = draw(day, found)
    root = ElementTree.fromstring(picture)  # noqa: S314 (it is ours)
    titles = {element.text for element in root.iter("{http://www.w3.org/2000/svg}title")}
    assert {held.board for held in found.meetings} == {
        str(one).removeprefix("Meeting ").partition(":")[0] for one in titles if str(one).startswith("Meeting ")
    }
    assert sum(str(one).startswith("ColdRoom ") for one in titles) == len(found.cold)
    assert picture == draw(day, found)


def test_every_meeting_that_was_held_is_found(day: Day, found: Findings) -> None:
    """Of those with somebody who certainly came after the board was switched on."""
    assert {one.board for one in found.meetings} == {one.content for one in day.story.meetings}


def test_notes_go_to_those_who_were_there_and_did_not_log_in(day: Day, found: Findings) -> None:
    for held in found.meetings:
        there = {
            stay.person
            for stay in day.story.stays
            if stay.room == held.room and stay.begin < held.end and stay.end > held.end - 90_000_000
        }
        assert {*held.notified, *held.logged_in} <= there
        assert not {*held.notified} & {*held.logged_in}


def test_counts_agree_with_the_composites(found: Findings) -> None:
    assert found.counts["ColdRoom"] == sum(one.readings for one in found.cold)
    assert found.counts["SendNotes"] == sum(len(one.notified) for one in found.meetings)


def test_the_papers_subscription_finds_jeans_meetings(day: Day) -> None:
    composites = list(detect(day.events, load(PAPERS), only=["C1", "C"]))
    attended = {
        meeting.content
        for meeting in day.story.meetings
        if any(
            stay.person == "Jean"
            and stay.room == meeting.room
            and stay.begin < meeting.end
            and stay.end > meeting.begin
            for stay in day.story.stays
        )
    }
    assert attended
    assert {str(one.attributes["board"]) for one in composites if one.type == "C1"} <= attended
    assert {one.attributes["board"] for one in composites if one.type == "C"} <= attended

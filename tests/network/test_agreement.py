"""What nodes write down for each other: the agreement, states, and who lives."""

from __future__ import annotations

import asyncio

import pytest

from penstock.brokers.memory.buckets import MemoryBucket
from penstock.brokers.protocol import Entry
from penstock.errors import StateError
from penstock.network.agreement import Agreement, Place, Places, View, agree
from penstock.network.directory import Detector, Node
from penstock.network.liveness import Liveness, bury
from penstock.network.states import Saved, States


def test_everybody_who_adds_a_node_at_once_is_there_in_the_end() -> None:
    async def main() -> Agreement:
        bucket = MemoryBucket()
        nodes = [Node(f"n{number}", "office") for number in range(10)]
        await asyncio.gather(*(agree(bucket, lambda known, node=node: known.with_node(node)) for node in nodes))
        return await agree(bucket, lambda known: None)

    agreed = asyncio.run(main())
    assert [node.name for node in agreed.nodes] == [f"n{number}" for number in range(10)]
    assert agreed.number == 10


def test_a_detector_is_born_once_and_again_after_it_was_gone() -> None:
    one = Detector("d", "[A]", ("composite",), "n1")
    first = Agreement().with_detectors({"d": one})
    again = first.with_detectors({"d": one})
    later = again.with_detectors({}).with_detectors({"d": one})
    assert first.born["d"] == again.born["d"]
    assert later.born["d"] > first.born["d"]


def test_a_place_where_a_detector_was_before_counts_from_now_on() -> None:
    places = Places().moved(Place("office", 5)).moved(Place("gateway", 7)).moved(Place("office", 9))
    assert [(place.site, place.after) for place in places.places] == [("gateway", 7), ("office", 9)]


@pytest.mark.parametrize(
    ("key", "value"),
    [("agreement", b"?"), ("sources/s", b"{}"), ("places/d", b"[]"), ("nothing/x", b"{}"), ("origins/s", b'"x"')],
)
def test_what_cannot_be_read_is_counted_and_harms_nothing(key: str, value: bytes) -> None:
    view = View()
    view.take(Entry("sites/office", b'{"name":"office"}', 1))
    view.take(Entry(key, value, 2))
    assert view.bad == 1
    assert list(view.directory.sites) == ["office"]


def test_a_state_is_there_as_a_whole_and_only_its_owner_writes() -> None:
    async def main() -> None:
        bucket = MemoryBucket()
        one, other = States(bucket), States(bucket)
        page = bytes(range(256)) * 8000
        first = await one.write("d", Saved("n1", "office", 1, {"office": 5}), {"a": page, "b": b"x"}, 0)
        assert first is not None
        found = await other.find("d")
        assert found is not None
        assert (found.saved.owner, found.saved.positions) == ("n1", {"office": 5})
        assert await other.read("d", found.saved) == {"a": page, "b": b"x"}
        second = await other.write("d", Saved("n2", "office", 1), {"a": page, "b": b"y"}, found.revision)
        assert second is not None
        assert await one.write("d", Saved("n1", "office", 1), {"a": b"z"}, first) is None
        found = await one.find("d")
        assert found is not None
        assert found.saved.owner == "n2"
        assert await States(bucket).read("d", found.saved) == {"a": page, "b": b"y"}
        await other.remove("d")
        assert await one.find("d") is None

    asyncio.run(main())


def test_pages_that_have_not_changed_are_not_written_again() -> None:
    async def main() -> None:
        bucket = MemoryBucket()
        states = States(bucket)
        kept = b"kept" * 100
        revision = await states.write("d", Saved("n", "s", 1), {"a": kept, "b": b"1"}, 0)
        before = {key: await bucket.get(key) for key in await bucket.keys()}
        await states.write("d", Saved("n", "s", 1), {"a": kept, "b": b"2"}, revision or 0)
        after = {key: await bucket.get(key) for key in await bucket.keys()}
        assert len([key for key in after if key in before and after[key] == before[key]]) == 1
        assert len(after) == len(before)

    asyncio.run(main())


def test_a_page_that_is_missing_is_an_error() -> None:
    async def main() -> None:
        bucket = MemoryBucket()
        states = States(bucket)
        await states.write("d", Saved("n", "s", 1), {"a": b"1"}, 0)
        found = await states.find("d")
        assert found is not None
        [chunk] = found.saved.pages["a"]
        await bucket.delete(f"d/{chunk}")
        with pytest.raises(StateError, match="missing"):
            await states.read("d", found.saved)

    asyncio.run(main())


def test_a_node_is_dead_after_so_many_looks_in_silence() -> None:
    async def main() -> None:
        nodes, directory = MemoryBucket(), MemoryBucket()
        liveness = Liveness("me", nodes, beat=1.0, expiry=3.0)
        known = [Node("me", "s"), Node("lively", "s"), Node("silent", "s"), Node("buried", "s", alive=False)]
        await agree(directory, lambda agreed: agreed.with_node(known[2]))
        await nodes.put("silent", b"1")
        found = []
        for _ in range(4):
            await nodes.put("lively", b"1")
            found.append(await liveness.silent(known))
        assert found == [[], [], [], ["silent"]]
        await bury(directory, "silent")
        await bury(directory, "silent")
        agreed = await agree(directory, lambda agreed: None)
        assert [node.alive for node in agreed.nodes] == [False]
        assert agreed.number == 2

    asyncio.run(main())

"""Instances by number: which keys become one, and that each has its own."""

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine import vm
from penstock.engine.engine import Engine
from penstock.engine.keys import Instances
from penstock.engine.slots import HALF
from penstock.events.table import make_table

MANY = 400_000


def feed(engine: Engine, types: str, keys: list[int | str], first: int = 0) -> int:
    stamps = list(range(first, first + len(types)))
    fields = {"type": [*types], "id": [str(stamp) for stamp in stamps], "lo": stamps, "hi": stamps}
    return len(engine.feed(make_table(fields, {"k": pa.array(keys)}), stamps[-1] + 1))


@pytest.mark.parametrize("keys", [[1, 2, 3, 1, 2_000_000], ["a", "b", "c", "a", "d"]])
def test_what_starts_nothing_makes_no_instance_of_a_key_that_nothing_waits_for(keys: list[int | str]) -> None:
    engine = Engine(ps.parse("[A(k = $k)] ; [B(k = $k)] within 1 h"))
    assert feed(engine, "BBABB", keys) == 0
    assert engine.engines[0].instances.count == 2
    assert feed(engine, "BB", keys[1:3], first=5) == 1
    assert engine.engines[0].instances.count == 2


def test_what_ends_a_start_makes_an_instance() -> None:
    engine = Engine(ps.parse("[A(k = $k) in {A(k = $k), B(k = $k)}] ; [C(k = $k)]"))
    assert feed(engine, "CBACAC", [1, 1, 1, 1, 2, 2]) == 1
    assert engine.engines[0].instances.count == 3


def test_a_timer_fires_though_later_keys_become_no_places() -> None:
    engine = Engine(ps.parse("([A(k = $k)], [T in {T, B(k = $k)}]){T = 2 us}"))
    assert feed(engine, "ABBBB", [1, 2, 3, 4, 5]) == 1


def test_keys_whose_hashes_have_the_same_half_are_different_instances() -> None:
    values = np.arange(MANY) * 7919
    seed = vm.mix(0, vm.INTEGER)
    halves = {int(vm.mix(seed, value)) >> HALF for value in values.tolist()}
    assert len(halves) < MANY
    instances = Instances(1)
    numbers = instances.numbers([(vm.INTEGER, values)])
    assert sorted(numbers.tolist()) == list(range(1, MANY + 1))
    assert np.array_equal(instances.numbers([(vm.INTEGER, values)]), numbers)
    assert instances.count == MANY + 1


def test_there_is_room_at_once_for_keys_that_are_likely_to_come() -> None:
    """As many as rows have brought until now; no more than a table should grow by at once."""
    instances = Instances(1)
    before = instances.room
    instances.make_room(before, likely=7 * before)
    assert 8 * before <= instances.room <= 16 * before
    instances.make_room(instances.room, likely=10**9)
    assert instances.room <= 16 * 16 * before


def test_keys_that_keep_coming_and_keys_that_stop_are_all_known() -> None:
    """Whatever is expected of later rows by the first ones."""
    fresh, few = list(range(1 << 20, (1 << 20) + 5000)), [5, 6, 7] * 1000
    for keys in (fresh + few, few + fresh, fresh):
        engine = Engine(ps.parse("[A(k = $k)] ; [B(k = $k)]"))
        feed(engine, "A" * len(keys), [*keys])
        assert engine.engines[0].instances.count == 1 + len(set(keys))
        assert feed(engine, "B" * 2, [fresh[0], fresh[-1]], first=len(keys)) == 2

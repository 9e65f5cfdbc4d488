"""Instances by number: which keys become one, and that each has its own."""

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine import vm
from penstock.engine.engine import Engine
from penstock.engine.keys import Instances, mark_of_value
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


def test_keys_with_the_same_mark_are_different_instances() -> None:
    values = (1 << 32) + np.arange(MANY) * 7919
    assert len({mark_of_value(vm.INTEGER, value) for value in values.tolist()}) < MANY
    instances = Instances(1)
    numbers = instances.numbers([(vm.INTEGER, values)])
    assert sorted(numbers.tolist()) == list(range(1, MANY + 1))
    assert np.array_equal(instances.numbers([(vm.INTEGER, values)]), numbers)
    assert instances.count == MANY + 1


def test_small_keys_have_marks_of_their_own() -> None:
    """No others are asked for the value: a mark says which it is, and those of large keys are none of these."""
    small = [0, 1, 2**31, 2**32 - 1, *range(5, 50_000, 7), *range(2**32 - 50_000, 2**32, 11)]
    marks = [mark_of_value(vm.INTEGER, value) for value in small]
    assert len(set(marks)) == len(set(small))
    assert all(0 <= mark < 2**32 for mark in marks)
    large = [-1, -(2**63), 2**32, 2**63 - 1, *range(2**40, 2**40 + 1000)]
    assert all(mark_of_value(vm.INTEGER, value) < 0 for value in large)


@pytest.mark.parametrize("order", [1, -1])
def test_small_and_large_keys_are_found_beside_each_other(order: int) -> None:
    keys: list[int | str] = [
        value + high for value in (0, 1, 5_000_000, 2**32 - 1) for high in (-(2**63), -(2**32), 0, 2**32, 2**62)
    ][::order]
    engine = Engine(ps.parse("[A(k = $k)] ; [B(k = $k)]"))
    assert feed(engine, "A" * len(keys), keys) == 0
    assert engine.engines[0].instances.count == 1 + len(keys)
    assert feed(engine, "B" * len(keys), keys[::-1], first=len(keys)) == len(keys)
    assert engine.engines[0].instances.count == 1 + len(keys)


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

"""Plain programs are stepped by a kernel of their own, by the same rules."""

import pytest

from penstock import Limits, detect
from penstock.bench.queries import QUERIES
from penstock.bench.streams import Stream

EVENTS = Stream("dense", 3_000, 40).table()
STARTS = {
    "A or B": "[A(k = $k)] | [B(k = $k)] ; [C(k = $k)]",
    "ends": "[A(k = $k)] ; [B(k = $k) in {B(k = $k), C(k = $k)}]",
}
PATTERNS = {name: query.over(query.window // 300).pattern for name, query in QUERIES.items()} | STARTS


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_they_find_what_the_kernel_for_all_programs_finds(pattern: str) -> None:
    plain = detect(EVENTS, pattern, carry="none")
    # With a limit on age a program is not plain; no run gets so old.
    assert plain.table.equals(detect(EVENTS, pattern, carry="none", limits=Limits(age="1000 d")).table)
    assert len(plain)


def test_a_limit_on_the_runs_of_an_instance_drops_the_first_ones() -> None:
    few, fewer = (detect(EVENTS, QUERIES["Q1"].pattern, limits=Limits(runs_per_instance=most)) for most in (2, 1))
    all_of_them = detect(EVENTS, QUERIES["Q1"].pattern)
    assert 0 < few.dropped < fewer.dropped
    assert len(all_of_them) > len(few) > len(fewer)


def test_keys_that_are_numbers_are_told_apart_as_text_is() -> None:
    texts = EVENTS.set_column(3, "k", EVENTS["k"].cast("string"))
    pattern = QUERIES["Q2"].pattern
    numbers, written = detect(EVENTS, pattern), detect(texts, pattern)
    assert numbers.table["parts"].to_pylist() != []
    parts = [[[part["id"] for part in row] for row in one.table["parts"].to_pylist()] for one in (numbers, written)]
    assert parts[0] == parts[1]


def test_events_out_of_order_give_the_same() -> None:
    turned = EVENTS.take(list(range(len(EVENTS) - 1, -1, -1)))
    pattern = PATTERNS["Q4"]
    assert detect(turned, pattern).table.equals(detect(EVENTS, pattern).table)

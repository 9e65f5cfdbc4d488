"""Which events go to which bucket, and which patterns need one bucket."""

import pytest

from penstock import parse
from penstock.spark.split import ALL, Split, split


def split_of(*texts: str) -> Split:
    return split([parse(text) for text in texts])


def test_a_parameter_that_all_sets_bind_splits_without_copies() -> None:
    [group] = split_of("[Open(door = $d)] ; [Close(gate = $d)]").groups
    assert group.routes == {"Open": {("door",)}, "Close": {("gate",)}}
    assert not group.meets_strangers


def test_all_parameters_that_are_bound_everywhere_are_the_key() -> None:
    [group] = split_of("[A(x = $x and y = $y)] ; [B(x = $x and y = $y)]").groups
    assert group.routes == {"A": {("x", "y")}, "B": {("x", "y")}}


def test_the_key_is_the_one_with_the_fewest_copies() -> None:
    [group] = split_of("[A(x = $x and y = $y)] ; [B(y = $y)] ; [C(y = $y and z < $x)]").groups
    assert group.routes == {"A": {("y",)}, "B": {("y",)}, "C": {("y",)}}


def test_a_type_that_concerns_all_instances_is_copied() -> None:
    [group] = split_of("[Open(door = $d)] ; [Alarm]").groups
    assert group.targets("Alarm") == {ALL}


def test_a_type_with_several_targets_may_bring_strangers() -> None:
    [group] = split_of("[A(x = $k)] ; [A(y = $k)]").groups
    assert group.targets("A") == {("x",), ("y",)}
    assert group.meets_strangers


def test_any_type_is_routed_by_what_it_binds() -> None:
    [group] = split_of("[A(k = $k)] ; [*(k = $k)]").groups
    assert group.targets("Other") == {("k",)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[A] ; [B]", "`composite` has no parameter"),
        ("Pair := [A(k = $k)] ; [B(k = $k)]\n[Pair] ; [C]", "`composite` has no parameter"),
        (
            "Pair := [A(k = $k)] ; [B(k = $k)]\nAgain := [A(k = $k)] ; [Pair]",
            "each `Pair` concerns all instances of `Again`",
        ),
        (
            "Pair := [A(k = $k)] ; [B(k = $k)] select n = 1\nAgain := [C(k = $k)] ; [Pair(n = $k)]",
            "`Pair` and `Again` have no parameters in common",
        ),
        (
            "Pair := [A(id = $id)] ; [B(k = $id)]\nAgain := [C(k = $k)] ; [Pair(id = $k)]",
            "`Pair` and `Again` have no parameters in common",
        ),
    ],
)
def test_what_cannot_be_split_says_why(text: str, reason: str) -> None:
    whole = split_of(text)
    assert set(whole.reasons.values()) == {reason}
    assert whole.places(8)[0] == (0, 1)


def test_definitions_that_use_definitions_are_split_together_by_what_they_have_in_common() -> None:
    text = """
Pair := [A(k = $k and j = $j)] ; [B(k = $k and j = $j)]
Twice := [Pair(k = $room)] ; [Pair(k = $room)] ; [C(room = $room)]"""
    [group] = split_of(text).groups
    assert group.keys == {(0, "Pair"): ("k",), (0, "Twice"): ("room",)}
    assert group.routes == {"A": {("k",)}, "B": {("k",)}, "C": {("room",)}}


def test_independent_definitions_have_groups_of_their_own() -> None:
    whole = split_of("One := [A(k = $k)] ; [B(k = $k)]\nTwo := [A(j = $j)] ; [B(j = $j)]\nThree := [C] ; [D]")
    assert [group.names for group in whole.groups] == [("One",), ("Two",), ("Three",)]
    assert whole.places(4) == [(0, 4), (4, 4), (8, 1)]


def test_patterns_that_need_the_same_events_share_them() -> None:
    whole = split_of("One := [A(k = $k)] ; [B(k = $k)]", "Two := [B(k = $k)] ; [C(k = $k)]")
    assert [group.names for group in whole.groups] == [("One", "Two")]
    assert [number for number, _ in whole.groups[0].members] == [0, 1]


def test_a_split_can_be_printed() -> None:
    assert str(split_of("[Open(door = $d)] ; [Alarm]\nTwo := [A] ; [B]")) == "\n".join(
        [
            "composite: in buckets",
            "  Open goes by door",
            "  Alarm goes to all",
            "Two: in one bucket, since `Two` has no parameter",
        ]
    )

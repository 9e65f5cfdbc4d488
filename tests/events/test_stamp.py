import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.stamp import Stamp, weak_key

ends = st.tuples(st.integers(-20, 20), st.integers(-20, 20))
stamps = ends.map(lambda pair: Stamp(min(pair), max(pair)))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
keys = st.tuples(stamps, texts, st.none() | st.integers(-3, 3), texts)


def key(k):
    stamp, source, seq, id = k
    return weak_key(stamp.hi, stamp.lo, source, seq, id)


def test_an_interval_does_not_end_before_it_begins():
    with pytest.raises(DataError) as error:
        Stamp(5, 4)
    assert error.value.message == "lo (5) is after hi (4)"
    assert "swapped" in error.value.hint


def test_strongly_before_means_over_before_the_other_began():
    assert Stamp(1, 2).strongly_before(Stamp(3, 4))
    assert not Stamp(1, 3).strongly_before(Stamp(3, 4))
    assert not Stamp(1, 3).strongly_before(Stamp(2, 4))


@given(stamps)
def test_the_strong_order_is_irreflexive(a):
    assert not a.strongly_before(a)


@given(stamps, stamps)
def test_the_strong_order_is_asymmetric(a, b):
    assert not (a.strongly_before(b) and b.strongly_before(a))


@given(stamps, stamps, stamps)
def test_the_strong_order_is_transitive(a, b, c):
    if a.strongly_before(b) and b.strongly_before(c):
        assert a.strongly_before(c)


@given(keys, keys)
def test_the_weak_order_contains_the_strong_one(a, b):
    if a[0].strongly_before(b[0]):
        assert key(a) < key(b)


@given(keys, keys)
def test_the_weak_order_is_total(a, b):
    assert (key(a) < key(b)) + (key(b) < key(a)) + (a == b) == 1


def test_the_weak_order_goes_by_hi_lo_source_seq_id():
    rows = [
        (1, 1, "z", 9, "z"),
        (2, 0, "z", 9, "z"),
        (2, 1, "a", 9, "z"),
        (2, 1, "b", None, "z"),
        (2, 1, "b", -5, "z"),
        (2, 1, "b", 0, "a"),
        (2, 1, "b", 0, "b"),
    ]
    assert sorted(rows, key=lambda row: weak_key(*row)) == rows


def test_text_is_compared_by_its_utf_8_bytes():
    private, emoji = "\uffee", "\U0001f600"
    assert weak_key(0, 0, private, None, "") < weak_key(0, 0, emoji, None, "")
    assert weak_key(0, 0, "Z", None, "") < weak_key(0, 0, "a", None, "") < weak_key(0, 0, "é", None, "")


@given(stamps, stamps, stamps)
def test_union_is_associative_commutative_and_idempotent(a, b, c):
    assert a.union(b).union(c) == a.union(b.union(c))
    assert a.union(b) == b.union(a)
    assert a.union(a) == a


@given(stamps, stamps, stamps)
def test_union_is_the_smallest_that_contains_both(a, b, c):
    both = a.union(b)
    if c.lo <= min(a.lo, b.lo) and c.hi >= max(a.hi, b.hi):
        assert c.lo <= both.lo <= both.hi <= c.hi
    assert both.lo <= a.lo
    assert both.hi >= b.hi


@given(stamps, st.integers(0, 9))
def test_a_clock_error_widens_both_ends(a, error):
    wide = a.widened(error)
    assert (wide.lo, wide.hi, wide.length) == (a.lo - error, a.hi + error, a.length + 2 * error)


def test_a_point_has_no_length():
    assert Stamp(3, 3).is_point
    assert Stamp(3, 3).length == 0
    assert not Stamp(3, 4).is_point

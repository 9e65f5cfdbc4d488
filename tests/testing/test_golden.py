"""The reader of golden cases."""

import pytest

from penstock import DataError
from penstock.testing.golden import Case, cases_of, run
from penstock.testing.reference import reference


def only(text: str) -> Case:
    [case] = cases_of(text, "here.txt")
    return case


def test_blocks_are_cases_and_blocks_of_comments_are_headings() -> None:
    text = "# heading\n\n# first\npattern [A]\nevents a\nexpect a1\n\n\n# second\n# case\npattern [B]\nexpect -\n"
    first, second = cases_of(text, "here.txt")
    assert (first.title, first.where) == ("first", "here.txt:3")
    assert (second.title, second.where, second.expected) == ("second case", "here.txt:9", ())


def test_what_stands_further_in_belongs_to_the_word_above() -> None:
    case = only(
        "pattern   Met := [A] ;\n             [B]\n          [Met]\nevents    a\n          b\n"
        "expect    Met: a1 b2\n          Met(a1 b2)"
    )
    assert case.pattern == "Met := [A] ;\n   [B]\n[Met]"
    assert len(case.trace.events) == 2
    assert run(case, reference) == []


def test_options() -> None:
    case = only("pattern [A]\nrestart\nuntil 2.5\nzone Europe/London\nexpect -")
    assert (case.restart, case.until, case.zone) == (True, 2_500_000, "Europe/London")


def test_a_case_says_what_is_missing_and_what_is_not_expected() -> None:
    case = only("pattern [A] ; [B]\nevents a a b\nexpect a1 b3\n       a1 a2")
    assert run(case, reference) == ["missing: a1 a2", "not expected: a2 b3"]


def test_stamps_labels_and_attributes_count_where_they_are_said() -> None:
    said = "pattern x: [A(k = $k)] ; [B]\nevents a(k=1) b\nexpect "
    for right in ("a1 b2", "a1 b2 [1,2]", "x=a1 b2", "a1 b2 {k=1}", "x=a1 b2 [1,2] {k=1}"):
        assert run(only(said + right), reference) == [], right
    for wrong in ("a1", "Met: a1 b2", "a1 b2 [1,3]", "y=a1 b2", "a1 b2 {k='1'}", "b2 a1"):
        assert run(only(said + wrong), reference) != [], wrong


def test_a_composite_that_is_found_twice_is_expected_twice() -> None:
    case = only("pattern [A]\nevents a\nexpect a1\n       a1")
    assert run(case, reference) == ["missing: a1"]


def test_a_pattern_that_must_be_refused() -> None:
    assert run(only("pattern [A]{3,1}\nerror times"), reference) == []
    [problem] = run(only("pattern [A]\nerror times"), reference)
    assert problem.startswith("not refused")
    [problem] = run(only("pattern [A]{3,1}\nerror elephants"), reference)
    assert problem.startswith("refused")


@pytest.mark.parametrize(
    "text",
    [
        "events a\nexpect -",
        "pattern [A]\nevents a",
        "pattern [A]\nexpect -\nerror no",
        "pattern [A]\nexpcet -",
        "pattern [A]\npattern [B]\nexpect -",
    ],
)
def test_a_case_that_is_wrong_itself_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match=r"here\.txt:1"):
        only(text)

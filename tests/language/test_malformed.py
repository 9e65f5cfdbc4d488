"""Texts that a new user might write and that are not in the language: where, what, and what to do."""

import pytest

from penstock import ParseError
from penstock.languages.core.parser import parse_syntax

# text, line, column, a fragment of the message, a fragment of the hint
MALFORMED: list[tuple[str, int, int, str, str]] = [
    ("", 1, 1, "there is no pattern here", "[A] ; [B]"),
    ("   \n\n", 1, 1, "there is no pattern here", "[A] ; [B]"),
    ("# only a comment", 1, 1, "there is no pattern here", "[A] ; [B]"),
    # what the issue asks for
    ("[A", 1, 3, "ends too early: expected `]`", "line 1, column 1"),
    ("[A] ;", 1, 6, "ends too early: expected an event", ""),
    ("[A(temp < )]", 1, 11, "expected a value", ""),
    ("(A, B){T = 5 parsecs}", 1, 14, "`parsecs` is not a unit of time", "sec"),
    ("[A] -> [B]", 1, 5, "`->` is not an operator here", "A ; B"),
    # operators from elsewhere
    ("A -> B", 1, 3, "`->` is not an operator here", "A ; B"),
    ("[A] => [B]", 1, 5, "`=>` is not an operator here", "A ; B"),
    ("[A] --> [B]", 1, 5, "`-->` is not an operator here", "A ; B"),
    ("[A] && [B]", 1, 5, "`&&` is not an operator here", "A || B"),
    ("[A] & [B]", 1, 5, "`&` is not an operator here", "A || B"),
    ("[A(v == 3)]", 1, 6, "`==` is not a comparison here", "="),
    ("[A(v != 3)]", 1, 6, "`!=` is not a comparison here", "<>"),
    ("[A(v = null)]", 1, 8, "nothing can be compared with NULL", "IS NULL"),
    ("[A(v = NULL)]", 1, 8, "nothing can be compared with NULL", "IS NULL"),
    ("[A] OR [B]", 1, 5, "`OR` only joins conditions", "A | B"),
    ("[A] and [B]", 1, 5, "`and` only joins conditions", "A || B"),
    ("not [A]", 1, 1, "`not` is not expected here", ""),
    ("SELECT * FROM A", 1, 1, "`SELECT` is not expected here", "reserved"),
    ("[A] // then [B]", 1, 5, "`//` does not begin a comment", "#"),
    ("[A] /* then */ [B]", 1, 5, "`/*` does not begin a comment", "#"),
    ('[A(room = "x")]', 1, 11, "text stands in single quotes", "'…'"),
    ("[A] § [B]", 1, 5, "`§` is not expected here", ""),
    # conditions one after the other
    ("[A(k = $k, v > 5)] ; [B]", 1, 10, "`,` is not expected here: expected `)`", "joined with AND"),
    ("[A(k = 3; v = 4)]", 1, 9, "`;` is not expected here", "joined with AND"),
    ("[A(k = 3 || v = 4)]", 1, 10, "`||` is not expected here", "joined with OR"),
    ("[A(k = 3 | v = 4)]", 1, 10, "`|` is not expected here", "joined with OR"),
    ("A(k = 3, v = 4) ; B", 1, 8, "`,` is not expected here", "joined with AND"),
    ("[A(k: 3)]", 1, 7, "`3` is not expected here", "[A(room = 3)]"),
    ("[A{k = 3}]", 1, 4, "`k` is not expected here", "[A(room = 3)]"),
    ("[A k = 3]", 1, 6, "`=` is not expected here", "[A(room = 3)]"),
    ("A[k = 3]", 1, 5, "`=` is not expected here", "[A(room = 3)]"),
    # what does not happen
    ("[A] ; not [B] ; [C]", 1, 7, "`not` is not expected here", "([A], [T in {T, B}]){T = 5 min}"),
    ("[A] ; !B ; [C]", 1, 7, "`!` is not expected here", "([A], [T in {T, B}]){T = 5 min}"),
    # words that look like ours
    ("[A] ; [B] within 5m", 1, 19, "`m` is not a unit of time", "did you mean `min`?"),
    ("[A] ; [B] wihtin 5 min", 1, 18, "`5` is not expected here", "did you mean `within`?"),
    ("x: [A] whree x.v > 3", 1, 18, "`>` is not expected here", "did you mean `where`?"),
    ("[A] within 5 min min", 1, 18, "`min` is not expected here", ""),
    ("[A(where 3)]", 1, 4, "`where` is not expected here", "reserved"),
    # brackets
    ("[A]] ; [B]", 1, 4, "`]` is not expected here", "one too many"),
    ("([A];[B]", 1, 9, "ends too early: expected `)`", "line 1, column 1"),
    ("[A] ([B] ; [C]", 1, 15, "ends too early: expected `)`", "line 1, column 5"),
    ("[A]\n  ; [B]\n  ; [C", 3, 7, "ends too early", "line 3, column 5"),
    ("[A(temp > 3)", 1, 13, "ends too early: expected `]`", "line 1, column 1"),
    ("[A(v > 3]", 1, 9, "expected `)`", "missing"),
    ("(A, B){T = 5 s", 1, 15, "ends too early: expected `}`", "line 1, column 7"),
    ("[]", 1, 2, "expected an event", ""),
    ("()", 1, 2, "expected an event", ""),
    ("[A in ]", 1, 7, "expected an event type", ""),
    ("[A in {}]", 1, 8, "expected an event type", ""),
    ("[A in {B]", 1, 9, "expected `}`", ""),
    ("[A] in {B}", 1, 5, "`in` is not expected here", "(C in {S})"),
    ("[!A]", 1, 4, "`in`", "[!A in {A, B}]"),
    ("[A;B, C]", 1, 2, "a comma inside `[ ]`", "timing"),
    # operators without something
    ("| [A]", 1, 1, "`|` is not expected here: expected an event", ""),
    ("[A] ; ; [B]", 1, 7, "`;` is not expected here: expected an event", ""),
    ("[A]; [B];", 1, 10, "ends too early: expected an event", ""),
    ("[3]", 1, 2, "`3` is not expected here", ""),
    ("[A.]", 1, 3, "`.` is not expected here", ""),
    ("x: y: [A]", 1, 5, "`:` is not expected here", ""),
    # timings, durations and counts
    ("([A], [B])", 1, 11, "ends too early: expected `{`", "{T = 5 min}"),
    ("([A], [B]){5 min}", 1, 12, "`5` is not expected here: expected a name", ""),
    ("([A], [B]){T = }", 1, 16, "expected a duration such as 5 min", ""),
    ("([A], [B]){T: 5 min}", 1, 13, "expected `=`", ""),
    ("([A], [B]){T = at 25:00}", 1, 16, "`25:00` is not a time of day", "23:59"),
    ("([A], [B]){T = at noon}", 1, 19, "expected a time such as 19:00", ""),
    ("([A], [B]){T = at 2026-13-01T00:00:00Z}", 1, 16, "is not a date", "2026-03-01T10:00:00Z"),
    ("([A], [B]){T = at 2026-01-01T00:00:00}", 1, 16, "has no zone", "2026-03-01T10:00:00Z"),
    ("(A, B, C){T = 5 s}", 1, 6, "`,` is not expected here", ""),
    ("[A] ; [B] within 5", 1, 19, "expected a unit of time", ""),
    ("[A] ; [B] within 5 lightyears", 1, 20, "is not a unit of time", "5 min"),
    ("[A] ; [B] within 0 s", 1, 18, "a duration is positive", "5 min"),
    ("[A] ; [B] within 1.5 us", 1, 18, "whole microseconds", "250 ms"),
    ("[A] ; [B] within -5 s", 1, 18, "`-` is not expected here: expected a number", ""),
    ("[A]{}", 1, 5, "expected a number", ""),
    ("[A]{a}", 1, 5, "`a` is not expected here: expected a number", ""),
    ("[A]{1.5}", 1, 5, "`1.5` is not a number of times", ""),
    ("[A]{99999}", 1, 5, "`99999` is not a number of times", ""),
    # conditions
    ("[A(room = 'x)]", 1, 11, "the quoted text does not end on this line", "closing '"),
    ("'A", 1, 1, "the quoted text does not end on this line", "closing '"),
    ("[A()]", 1, 4, "expected a value", ""),
    ("[A(v > 3 AND)]", 1, 13, "expected a value", ""),
    ("[A(v BETWEEN 3)]", 1, 15, "expected `and`", ""),
    ("[A(v IN ())]", 1, 10, "expected a value", ""),
    ("[A(v LIKE 'a' ESCAPE 'ab')]", 1, 22, "ESCAPE takes one character", ""),
    ("[A(3 < 4 < 5)]", 1, 10, "`<` is not expected here", ""),
    ("[A((v > 3) > 2)]", 1, 4, "a value is expected here", ""),
    ("[A(count(x.v) > 1)]", 1, 4, "should be `count(x)`", ""),
    ("[A(max(x) > 1)]", 1, 4, "should be `max(x.attribute)`", ""),
    ("[A(x.y.z = 1)]", 1, 4, "more than one dot", "label.attribute"),
    ("[A(v = $3)]", 1, 8, "`$` is not expected here", ""),
    ("[A(v > 1e999)]", 1, 8, "`1e999` is too large", ""),
    ("[A(v = 99999999999999999999)]", 1, 8, "is too large", ""),
    ("[Ä(größe > )]", 1, 12, "expected a value", ""),
    # suffixes and items
    ("[A] where", 1, 10, "ends too early: expected a value", ""),
    ("[A] select", 1, 11, "ends too early: expected a name", ""),
    ("[A] select n > 3", 1, 14, "expected `=`", ""),
    ("X := ", 1, 5, "ends too early: expected an event", ""),
    ("X = [A]", 1, 3, "`=` is not expected here", ":="),
    ("Met :=: [A]", 1, 7, "`:` is not expected here", ""),
    ("let X A\n[X]", 1, 7, "expected `=`", ""),
    ("let in = A\n[A]", 1, 5, "expected a name", ""),
    ("[in]", 1, 2, "`in` is not expected here", ""),
    ("[A]\n[B]", 2, 1, "a second pattern without a name", "indent"),
    ("[A] ;\n[B]", 1, 6, "ends too early", "indent"),
    ("  [A] ;\n[B]", 1, 8, "ends too early", "indent"),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), MALFORMED, ids=[row[0] for row in MALFORMED])
def test_a_malformed_text_says_where_and_what(text: str, line: int, column: int, message: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_syntax(text)
    error = caught.value
    assert (error.line, error.column) == (line, column), error
    assert message in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize("text", [row[0] for row in MALFORMED if row[0].strip()])
def test_the_caret_stands_below_the_column(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_syntax(text)
    error = caught.value
    line, carets = (error.excerpt or "").split("\n")
    assert line == text.split("\n")[(error.line or 0) - 1]
    assert carets.index("^") == (error.column or 0) - 1


def test_an_error_names_the_text() -> None:
    with pytest.raises(ParseError, match=r"rooms\.pen, line 1, column 3"):
        parse_syntax("[A", "rooms.pen")

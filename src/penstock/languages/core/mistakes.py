"""Says what is wrong with a text that does not parse, what was expected, and what may have been meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from penstock.algebra.conditions import AGGREGATES, CLOCK_FUNCTIONS
from penstock.errors import ParseError, Place, nearest

FOREIGN = (
    (r"-+>|=>|~>|>>", "`{0}` is not an operator here", "write A ; B for A followed by B"),
    (r"&&?", "`{0}` is not an operator here", "write A || B for both in any order; in a condition, AND"),
    (r"!=", "`!=` is not a comparison here", "write <>"),
    (r"==", "`==` is not a comparison here", "write ="),
    (r'"[^"\n]*"?', "text stands in single quotes here", "write '…'"),
    (r"'", "the quoted text does not end on this line", "add the closing '"),
    (r"null\b", "nothing can be compared with NULL", "write IS NULL or IS NOT NULL"),
    (r"//|/\*", "`{0}` does not begin a comment here", "write # and the comment"),
    (r"(and|or)\b", "`{0}` only joins conditions", "write A || B for both in any order, A | B for either"),
)
"""What people write who come from elsewhere, what to say of it, and our way."""

EXPECTED = (
    ({"LSQB", "LPAR", "NAME", "STAR"}, "an event such as [A], or a group in ( )"),
    ({"NUMBER", "QUOTED", "PARAMETER", "NAME"}, "a value: an attribute, a number, a text in '…' or $name"),
    ({"NAME", "QUOTED", "STAR"}, "an event type"),
    ({"NUMBER", "AT"}, "a duration such as 5 min, or `at` and a time"),
    ({"CLOCK", "INSTANT"}, "a time such as 19:00 or 2026-03-01T10:00:00Z"),
    ({"EQ", "LT", "GT"}, "a comparison"),
    ({"NUMBER"}, "a number"),
    ({"NAME"}, "a name"),
    ({"RSQB"}, "`]`"),
    ({"RPAR"}, "`)`"),
    ({"RBRACE"}, "`}`"),
    ({"LBRACE"}, "`{`"),
    ({"COMMA"}, "`,`"),
    ({"IN"}, "`in`"),
    ({"EQ"}, "`=`"),
    ({"AND"}, "`and`"),
    ({"SEMICOLON"}, "an operator such as ;"),
)
"""Which terminals, where all of them may come next, are named how; the first fitting ones are said."""

_CONDITION = "a condition stands behind its event type: [A(room = 3)]"
_ABSENCE = "no B within 5 min after an A is ([A], [T in {T, B}]){T = 5 min}"
_IN_FILTER = r"[\w'*]\([^()\[\]]*$"
_HINTS = (
    (r"\[\s*(!|¬|not\b)[^\[\]]*$", "]", "a negation says what it is taken from: [!A in {A, B}]"),
    (r"(<|>|=)\s*$", ")", "a value is missing: write temp < 15, say"),
    *((_IN_FILTER, mistake, "conditions are joined with AND") for mistake in (",", ";")),
    *((_IN_FILTER, mistake, "conditions are joined with OR") for mistake in ("|", "||")),
    (r"(;|\|)\s*$", "", "write what comes next, such as [B]"),
    (r"\)\s*$", "", "a timing goes on with its timer: (A, B){T = 5 min}"),
    (r"^\s*\w+\s*$", "=", "write NAME := for a composite type, let NAME = for sets"),
    (r"", "=", _CONDITION),
    *((r"(^|[^\[\s])\s*$", mistake, _ABSENCE) for mistake in ("not", "!", "¬")),
    (r"", "in", "a scope stands in brackets: (C in {S})"),
)
"""What stands before a mistake, the mistake, and a hint; the first that fits is given."""

_BEHIND = ("within", "where", "select")
"""Words that stand behind a pattern."""

OPENERS = {"[": "]", "(": ")", "{": "}"}


def explain(problem: UnexpectedInput, item: Place) -> ParseError:
    """The error for a text in which ``item`` does not parse."""
    start = _position(problem, item)
    foreign = _foreign(item, start)
    if foreign:
        return foreign
    if start >= item.end:
        return _early_end(problem, item)
    token = _token_at(problem, item, start)
    place = Place(item.text, start, start + len(token), item.name)
    expected = _expected(problem, item.text[:start])
    return ParseError(f"`{token}` is not expected here{expected}", hint=_hint(item, start, token), place=place)


def _position(problem: UnexpectedInput, item: Place) -> int:
    if isinstance(problem, UnexpectedToken) and problem.token.type == "$END":
        return item.end
    return item.start + (problem.pos_in_stream or 0)


def _foreign(item: Place, start: int) -> ParseError | None:
    for backwards in (0, 1):
        for pattern, message, hint in FOREIGN:
            found = re.compile(pattern, re.IGNORECASE).match(item.text, start - backwards)
            if found and found.end() > start and start - backwards >= item.start:
                place = Place(item.text, found.start(), found.end(), item.name)
                return ParseError(message.format(found.group()), hint=hint, place=place)
    return None


def _early_end(problem: UnexpectedInput, item: Place) -> ParseError:
    opener = _unclosed(item)
    hint = "if the pattern goes on below, indent its further lines" if item.text[item.end :].strip() else None
    if opener is not None:
        bracket = item.text[opener]
        place = Place(item.text, opener, opener, item.name)
        hint = hint or f"the `{bracket}` of line {place.line}, column {place.column} needs its `{OPENERS[bracket]}`"
    end = Place(item.text, item.end, item.end, item.name)
    expected = _expected(problem, item.text[: item.end])
    return ParseError(f"the pattern ends too early{expected}", hint=hint or _hint(item, item.end, ""), place=end)


def _unclosed(item: Place) -> int | None:
    """The innermost bracket that is left open."""
    stack: list[int] = []
    for index, character in _brackets(item.text[item.start : item.end]):
        if character in OPENERS:
            stack.append(item.start + index)
        elif stack:
            stack.pop()
    return stack[-1] if stack else None


def bracket_depth(text: str) -> int:
    """How deep brackets stand in each other."""
    depth = deepest = 0
    for _, character in _brackets(text):
        depth += 1 if character in OPENERS else -1
        deepest = max(deepest, depth)
    return deepest


def _brackets(text: str) -> Iterator[tuple[int, str]]:
    """All brackets that are not in quoted text or comments, with their places."""
    plain = re.sub(r"'[^'\n]*'|#[^\n]*", lambda found: " " * len(found.group()), text)
    return ((found.start(), found.group()) for found in re.finditer(r"[\[\](){}]", plain))


def _token_at(problem: UnexpectedInput, item: Place, start: int) -> str:
    if isinstance(problem, UnexpectedToken) and isinstance(problem.token, Token):
        return str(problem.token)
    return item.text[start : start + 1]


def _expected(problem: UnexpectedInput, before: str) -> str:
    if isinstance(problem, UnexpectedCharacters):
        return ""
    terminals = set(getattr(problem, "accepts", None) or getattr(problem, "expected", None) or ())
    names: list[str] = []
    said: set[str] = set()
    for group, name in EXPECTED:
        if group <= terminals and not group & said:
            names.append(name)
            said |= group
    if names == ["a name"] and re.search(r"\d\s*$", before):
        names = ["a unit of time such as min"]
    if not names:
        return ""
    *first, last = names[:4]
    return ": expected " + (", ".join(first) + " or " + last if first else last)


def _meant(before: str) -> str | None:
    """The word that one before a mistake may have been meant to be, behind a pattern and outside of brackets."""
    if before.count("[") > before.count("]"):
        return None
    words = {word.lower() for word in re.findall(r"[^\W\d]\w+", re.split(r"[\])}]", before)[-1])}
    return next(filter(None, (nearest(word, _BEHIND) for word in sorted(words - {*_BEHIND}))), None)


def _hint(item: Place, start: int, token: str) -> str | None:
    before = item.text[item.start : start]
    for pattern, mistake, hint in _HINTS:
        if token.lower() == mistake and re.search(pattern, before):
            return hint
    if re.search(r"[\w'*](\(\s*\w+\s*:|\{)\s*$", before) and re.match(r"[\w'$]", token):
        return _CONDITION
    if token in (")", "]", "}"):
        return "a bracket may be missing before it, or be one too many"
    if token.lower() in ("in", "within", "where", "select", "at", "not", "and", "or", "like", "is", "let"):
        return f"`{token}` is a reserved word; as an event type write '{token}'"
    if close := _meant(before):
        return f"did you mean `{close}`?"
    if token.startswith("("):
        return f"the functions are {', '.join((*AGGREGATES, *CLOCK_FUNCTIONS))}"
    return None

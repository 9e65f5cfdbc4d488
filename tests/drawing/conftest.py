"""Patterns that every kind of drawing must show well."""

import pytest

PATTERNS = {
    "timer": "([B], [P in {P, T1}]){T1 = 1 h}",
    "figure 11, C1": "[Boardon] [[Pers(name = 'x')] [Pers(name = 'x')]* [Boardoff] in {Pers(name = 'x'), Boardoff}]",
    "figure 11, C": "([C1(room = 'r')], [T1] in {T1, Login(name = 'j')}){T1 = 5 min}",
    "parallel": "([A];[B])||([C];[D])",
    "alternatives": "([A]|[B])*[C]",
    "limit": "[A]{2,4} ; [B] within 5 min",
    "condition": "x: [A] ; (y: [B(v > x.v)]+ where count(y) > 2) ; [C]",
    "two definitions": "Meet := [Enter(room = $r)] ; [Enter(room = $r)]\nLong := ([Meet(r = $r)], [T]){T = 1 h}",
    "way back": "([A][B in {B, X}];[C])+ ; ([D],[E]|[F]){T = 1 h 30 min} ; [G]",
    "two loops": "([A]?[B]?)*",
    "long lanes": "[A]{0,12} ; [B]",
    "dense": "([A]|[B]|[C]|[D])* [E]",
    "long texts": "VeryLongCompositeTypeName := [Temperature(room = $r AND celsius > 30 AND source LIKE 'sensor%')] ; "
    "[Alarm(room = $r) in {Alarm(room = $r), Reset(room = $r), Maintenance(room = $r AND kind <> 'planned')}]",
    "escapes": "[A(note = '<a & \"b\">\\')] ; ['<&\"'(x < 3)]",
    "large": "[A]{40}",
}


@pytest.fixture(params=PATTERNS.values(), ids=PATTERNS.keys())
def text(request: pytest.FixtureRequest) -> str:
    """The text of each pattern in turn."""
    return str(request.param)

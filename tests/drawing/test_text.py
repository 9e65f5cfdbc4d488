"""Automata as text: what a person reads."""

from textwrap import dedent

import pytest

from penstock import parse
from penstock.automaton.compile import compile_pattern
from penstock.drawing.text import draw_text

GOLDEN = """
## ([B], [P in {P, T1}]){T1 = 1 h}
composite
  S0  start  waits for  [B]         → S1 (sets T1 = 1 h)
  S1         waits for  [P] weakly  → composite
             fails on   T1

## [Boardon] [[Pers(name = 'x')] [Pers(name = 'x')]* [Boardoff] in {Pers(name = 'x'), Boardoff}]
composite
  S0  start  waits for  [Boardon]                  → S1
  S1         waits for  [Pers(name = 'x')] weakly  → S2
             fails on   Boardoff
  S2         waits for  [Pers(name = 'x')] weakly  → S2
             or         [Boardoff] weakly          → composite

## ([C1(room = 'r')], [T1] in {T1, Login(name = 'j')}){T1 = 5 min}
composite
  S0  start  waits for  [C1(room = 'r')]  → S1 (sets T1 = 5 min)
  S1         waits for  [T1] weakly       → composite
             fails on   Login(name = 'j')

## ([A];[B])||([C];[D])
composite
  S0  start  waits for  side 1 || side 2  → composite

side 1 of || in composite
  S0  start  waits for  [A]           → S1
  S1         waits for  [B] strongly  → side 1

side 2 of || in composite
  S0  start  waits for  [C]           → S1
  S1         waits for  [D] strongly  → side 2

## ([A]|[B])*[C]
composite
  S0   start  waits for  [A]         → S1 and S2
              or         [C]         → composite
  S0'  start  waits for  [B]         → S1 and S2
              or         [C]         → composite
  S1          waits for  [A] weakly  → S1 and S2
              or         [C] weakly  → composite
  S2          waits for  [B] weakly  → S1 and S2
              or         [C] weakly  → composite

## [A]{2,4} ; [B] within 5 min
composite
  S0  start  waits for  [A] (begins a limit of 5 min)  → S1
  S1         waits for  [A] weakly (within 5 min)      → S2
  S2         waits for  [A] weakly (within 5 min)      → S3
             or         [B] strongly (within 5 min)    → composite
  S3         waits for  [A] weakly (within 5 min)      → S4
             or         [B] strongly (within 5 min)    → composite
  S4         waits for  [B] strongly (within 5 min)    → composite

## x: [A] ; (y: [B(v > x.v)]+ where count(y) > 2) ; [C]
composite
  S0  start  waits for  x: [A]                          → S1
  S1         waits for  y: [B(v > x.v)] strongly        → S2
  S2         waits for  y: [B(v > x.v)] weakly          → S2
             or         [C] strongly (if count(y) > 2)  → composite

## y: [A]+ where count(y) > 2
composite
  S0  start  waits for  y: [A]         → composite (if count(y) > 2) and S1
  S1         waits for  y: [A] weakly  → composite (if count(y) > 2) and S1

## let Entry = Door(open = true), Badge\\nMeet := [Entry] ; [Entry]\\n([Meet], [T]){T = at 19:00}
Meet
  S0  start  waits for  [Door(open = true), Badge]           → S1
  S1         waits for  [Door(open = true), Badge] strongly  → Meet

composite
  S0  start  waits for  [Meet]      → S1 (sets T = at 19:00)
  S1         waits for  [T] weakly  → composite

## ([A], ([!B(v > 3) in {B, T}]+ in {C})){T = 1 s} [D in {*}]
composite
  S0  start  waits for  [A]                           → S1 (sets T = 1 s)
  S1         waits for  [!B(v > 3) in {B, T}] weakly  → S2
             fails on   B(v > 3), C
  S2         waits for  [!B(v > 3) in {B, T}] weakly  → S2
             or         [D] weakly                    → composite
             fails on   B(v > 3), C, other *
"""


def cases() -> list[tuple[str, str]]:
    parts = [part.partition("\n") for part in GOLDEN.split("\n## ")[1:]]
    return [(text.replace("\\n", "\n"), drawing.rstrip("\n") + "\n") for text, _, drawing in parts]


@pytest.mark.parametrize(("text", "drawing"), cases(), ids=[text for text, _ in cases()])
def test_golden(text: str, drawing: str) -> None:
    assert draw_text(compile_pattern(parse(text))) == drawing


def test_pattern_is_written_above() -> None:
    pattern = parse("Early := [A];[B]\n[Early] [C]")
    first_lines = [part.splitlines()[0] for part in draw_text(compile_pattern(pattern), pattern).split("\n\n")]
    assert first_lines == ["Early := [A] ; [B]", "composite := [Early] [C]"]


def test_sides_are_told_apart() -> None:
    drawn = draw_text(compile_pattern(parse("([A] || ([B] || [C])) ; ([D] || [E])")))
    assert (
        dedent(
            """\
        composite
          S0  start  waits for  side 1 || side 2           → S1
          S1         waits for  side 3 || side 4 strongly  → composite
        """
        )
        in drawn
    )
    assert "waits for  side 2.1 || side 2.2  → side 2" in drawn


def test_long_labels_do_not_push_all_arrows_away() -> None:
    condition = " AND ".join(f"attribute{n} = {n}" for n in range(10))
    drawn = draw_text(compile_pattern(parse(f"[A({condition})] ; [B] ; [C]")))
    assert max(len(line) for line in drawn.splitlines() if "[B]" in line) < 110


def test_many_starts_have_short_names() -> None:
    drawn = draw_text(compile_pattern(parse("|".join(f"[A{n}]" for n in range(12)))))
    assert "  S0'11  start  waits for  [A11]  → composite\n" in drawn

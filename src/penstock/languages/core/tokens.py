"""A step between lexer and parser that tells words and brackets of patterns from those of conditions.

`A(temp > 3)` is a filter and `A ([B] ; [C])` a group; `count(x)` is a function where a condition stands and an
event type with a filter elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from lark import Token

TYPES = frozenset({"NAME", "DOTTED", "QUOTED"})
FUNCTIONS = frozenset({"AGGREGATE", "CLOCK_FUNCTION"})
BEFORE_ANY_TYPE = frozenset({"LSQB", "LBRACE", "COMMA", "IN", "EQ", "NOT"})
NEVER_IN_FILTERS = frozenset({"LSQB", "LBRACE", "SEMICOLON", "BAR", "BOTH", "COLON", "QUESTION"})
COMPARISONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE", "IS", "LIKE", "BETWEEN", "IN_LIST"})
ONLY_IN_FILTERS = COMPARISONS | {"AND", "OR", "PARAMETER", "NUMBER"}
CLOSERS = frozenset({"RSQB", "RPAR", "RBRACE"})
END_CONDITIONS = frozenset({"COMMA", "IN", "WITHIN"})


class Contexts:
    """Renames filters' brackets to ``FILTER_OPEN``, and functions' names to ``NAME`` where no condition stands."""

    always_accept: ClassVar[tuple[str, ...]] = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The same tokens, renamed."""
        tokens = list(stream)
        levels = [(False, False)]  # for each open bracket: whether a condition stands there, at its start and now
        for index, token in enumerate(tokens):
            base, condition = levels[-1]
            kind = token.type
            if kind in FUNCTIONS and not condition:
                tokens[index] = token = Token.new_borrow_pos("NAME", token.value, token)
            elif kind == "LPAR" and not condition and _follows_set(tokens, index) and _is_filter(tokens, index):
                token = Token.new_borrow_pos("FILTER_OPEN", token.value, token)
                levels.append((True, True))
            elif kind in ("LPAR", "LSQB", "LBRACE"):
                levels.append((condition, condition))
            elif kind in CLOSERS and len(levels) > 1:
                levels.pop()
            elif kind in ("WHERE", "SELECT"):
                levels[-1] = (base, True)
            elif kind in END_CONDITIONS:
                levels[-1] = (base, base)
            yield token


def _follows_set(tokens: list[Token], index: int) -> bool:
    if index == 0:
        return False
    if tokens[index - 1].type == "STAR":
        return index > 1 and tokens[index - 2].type in BEFORE_ANY_TYPE
    return tokens[index - 1].type in TYPES


def _is_filter(tokens: list[Token], index: int) -> bool:
    """Whether what stands in a bracket after a type can be a condition rather than a pattern.

    What begins with a comparison is one, whatever follows: so a mistake behind it is one in a condition.
    """
    inside: list[Token] = []
    depth = 0
    for token in tokens[index + 1 :]:
        if token.type in COMPARISONS and depth == 0 and not any(one.type in ("WHERE", "SELECT") for one in inside):
            return True
        if token.type in NEVER_IN_FILTERS or (token.type == "COMMA" and depth == 0):
            return False
        if token.type in ("RSQB", "RBRACE") or (token.type == "RPAR" and depth == 0):
            inside.append(token)
            break
        depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
        inside.append(token)
    return any(token.type in ONLY_IN_FILTERS for token in inside) or not _reads_as_pattern(inside)


def _reads_as_pattern(tokens: list[Token]) -> bool:
    """Two types side by side, a type with a filter of its own, or a repetition at the end of a group."""
    return any(
        (one.type in TYPES and two.type in TYPES | {"LPAR"}) or (one.type in ("STAR", "PLUS") and two.type == "RPAR")
        for one, two in pairwise(tokens)
    )

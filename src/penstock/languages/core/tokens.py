"""Tells the two meanings of `(` after a type apart: `A(temp > 3)` is a filter, `A ([B] ; [C])` a group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from lark import Token

TYPES = frozenset({"NAME", "DOTTED", "QUOTED"})
LIST_OPENERS = frozenset({"LSQB", "LBRACE", "COMMA", "IN"})
NEVER_IN_FILTERS = frozenset({"LSQB", "LBRACE", "SEMICOLON", "BAR", "BOTH", "COLON"})


class FilterBrackets:
    """A step between lexer and parser that renames the brackets of filters to ``FILTER_OPEN``."""

    always_accept: ClassVar[tuple[str, ...]] = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The same tokens, with filters' brackets renamed."""
        tokens = list(stream)
        for index, token in enumerate(tokens):
            if token.type == "LPAR" and _follows_set(tokens, index) and _is_filter(tokens, index):
                yield Token.new_borrow_pos("FILTER_OPEN", token.value, token)
            else:
                yield token


def _follows_set(tokens: list[Token], index: int) -> bool:
    if index == 0:
        return False
    if tokens[index - 1].type == "STAR":
        return index > 1 and tokens[index - 2].type in LIST_OPENERS
    return tokens[index - 1].type in TYPES


def _is_filter(tokens: list[Token], index: int) -> bool:
    depth = 0
    for token in tokens[index + 1 :]:
        if token.type in NEVER_IN_FILTERS or (token.type == "COMMA" and depth == 0):
            return False
        if token.type in ("RSQB", "RBRACE") or (token.type == "RPAR" and depth == 0):
            return True
        depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
    return True

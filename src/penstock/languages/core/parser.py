"""Core text to the algebra."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from lark import Lark
from lark.exceptions import UnexpectedInput, VisitError

from penstock.algebra.node import Node
from penstock.algebra.pattern import BARE, Definition, Let, Pattern
from penstock.errors import ParseError, Place
from penstock.languages.core.build import Builder
from penstock.languages.core.mistakes import bracket_depth, explain
from penstock.languages.core.tokens import Contexts

MAX_LENGTH = 200_000
MAX_DEPTH = 100
_REMEMBERED = 64


@cache
def _grammar() -> Lark:
    return Lark.open(
        "core.lark",
        rel_to=__file__,
        start="item",
        parser="lalr",
        lexer="basic",
        postlex=Contexts(),
        propagate_positions=True,
        maybe_placeholders=True,
    )


@lru_cache(_REMEMBERED)
def parse_syntax(text: str, name: str | None = None) -> Pattern:
    """The pattern that a text says, not yet checked for meaning. ``name``: what errors call the text.

    The last few are remembered: where a state is opened again and again, its pattern is the same each time.

    >>> parse_syntax("let Entry = Door, Badge\\nMet := [Entry] ; [Board]").definitions[0].name
    'Met'
    """
    if not text.isascii() and (lone := re.search("[\ud800-\udfff]", text)):
        raise ParseError("the text has half of a character", place=Place(text, lone.start(), lone.end(), name))
    if len(text) > MAX_LENGTH:
        raise ParseError(f"the pattern is longer than {MAX_LENGTH:,} characters")
    items = tuple(_parse_item(text, name, start, end) for start, end in _item_ranges(text))
    if not items:
        raise ParseError(
            "there is no pattern here",
            hint="write one such as [A] ; [B]",
            place=Place(text, 0, 0, name),
        )
    pattern = Pattern(items, text, name)
    _check_single_bare(pattern)
    return pattern


def _item_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Where items start and end: each starts on a line that is indented least."""
    starts: list[tuple[int, int]] = []
    offset = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        content = line.lstrip(" \t\ufeff")
        if content.strip() and not content.startswith("#"):
            starts.append((offset, len(line) - len(content)))
        offset += len(line)
    margin = min((indent for _, indent in starts), default=0)
    edges = [offset for number, (offset, indent) in enumerate(starts) if indent == margin or number == 0]
    edges.append(len(text))
    yield from pairwise(edges)


def _parse_item(text: str, name: str | None, start: int, end: int) -> Let | Definition:
    piece = text[start:end]
    if bracket_depth(piece) > MAX_DEPTH:
        raise _too_deep(Place(text, start, start, name))
    try:
        tree = _grammar().parse(piece)
        item = Builder(text, name, start).transform(tree)
    except UnexpectedInput as problem:
        raise explain(problem, Place(text, start, start + len(piece.rstrip()), name)) from None
    except VisitError as problem:
        if isinstance(problem.orig_exc, ParseError):
            raise problem.orig_exc from None
        raise
    except RecursionError:
        raise _too_deep(Place(text, start, start, name)) from None
    if _deeper_than(item, MAX_DEPTH):
        raise _too_deep(Place(text, start, start, name))
    assert isinstance(item, Let | Definition)  # noqa: S101
    return item


def _too_deep(place: Place) -> ParseError:
    return ParseError(f"the pattern is nested more than {MAX_DEPTH} deep", place=place)


def _deeper_than(node: Node, limit: int) -> bool:
    level = [node]
    for _ in range(limit):
        level = [child for parent in level for child in parent.children]
    return bool(level)


def _check_single_bare(pattern: Pattern) -> None:
    bare = [definition for definition in pattern.definitions if definition.bare]
    if len(bare) > 1:
        raise ParseError(
            "a second pattern without a name",
            hint=f"only one may go without (its type is `{BARE}`): write NAME := before the others; "
            "if this continues the line above, indent it",
            place=pattern.place(bare[1]),
        )

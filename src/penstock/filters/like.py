"""SQL's ``LIKE`` as a regular expression, and as its pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator

ANY_TEXT, ANY_CHARACTER = "%", "_"
_WILDCARDS = {ANY_TEXT: ".*", ANY_CHARACTER: "."}


def like_regex(pattern: str, escape: str | None = None) -> str:
    """A regular expression, for both Python and RE2, that a whole text must match.

    >>> like_regex("R_%")
    '(?s:R..*)'
    >>> bool(re.fullmatch(like_regex("100#%", "#"), "100%"))
    True
    """
    pieces = like_pieces(pattern, escape)
    return f"(?s:{''.join(_WILDCARDS[one] if is_wild else re.escape(one) for one, is_wild in pieces)})"


def like_pieces(pattern: str, escape: str | None = None) -> Iterator[tuple[str, bool]]:
    """The characters of a pattern, and whether each is a wildcard.

    What ``escape`` precedes stands for itself; so does an ``escape`` that precedes nothing.

    >>> list(like_pieces("_#_#", "#"))
    [('_', True), ('_', False), ('#', False)]
    """
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            yield next(characters, escape), False
        else:
            yield character, character in _WILDCARDS

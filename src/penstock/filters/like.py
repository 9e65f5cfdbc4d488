"""SQL's ``LIKE`` as a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WILDCARDS = {"%": ".*", "_": "."}


def like_regex(pattern: str, escape: str | None = None) -> str:
    """A regular expression, for both Python and RE2, that a whole text must match.

    What ``escape`` precedes stands for itself; so does an ``escape`` that precedes nothing.

    >>> like_regex("R_%")
    '(?s:R..*)'
    >>> bool(re.fullmatch(like_regex("100#%", "#"), "100%"))
    True
    """
    return f"(?s:{''.join(_pieces(pattern, escape))})"


def _pieces(pattern: str, escape: str | None) -> Iterator[str]:
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            yield re.escape(next(characters, escape))
        else:
            yield _WILDCARDS.get(character) or re.escape(character)

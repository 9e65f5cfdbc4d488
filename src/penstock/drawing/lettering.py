"""Text in an SVG: how wide it is, where it breaks, how it is escaped."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LABEL_SIZE, NOTE_SIZE, TITLE_SIZE = 12.0, 11.0, 15.0
BOLD_SIZE = 13.5
"""The size at which names, which are bold, are as wide as they come out."""
EM = 0.61
"""The width of a character in the fixed-width fonts that are asked for, with a little to spare."""


def width(text: str, size: float) -> float:
    """The width of a line of text; East Asian characters are two wide."""
    cells = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
    return cells * size * EM


def wrapped(text: str, columns: int = 30, lines: int = 3) -> tuple[str, ...]:
    """Text in lines, shortened if there would be too many.

    >>> wrapped("Door(room = 'hall') and more", 12, 2)
    ('Door(room =', "'hall') and…")
    """
    found = textwrap.wrap(text, columns, break_on_hyphens=False)
    if len(found) > lines:
        return (*found[: lines - 1], found[lines - 1][: columns - 1] + "…")
    return tuple(found)


def escaped(text: str) -> str:
    """Text for XML, also within quotes; characters that XML forbids are replaced.

    >>> escaped('v < "2" & w')
    'v &lt; &quot;2&quot; &amp; w'
    """
    return html.escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))

"""The patterns of the Active Office, from the files beside this module."""

from __future__ import annotations

from pathlib import Path

from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse

OFFICE = Path(__file__).with_name("office.pen")
"""Both scenarios, for all rooms and people."""
PAPERS = Path(__file__).with_name("papers.pen")
"""The papers' own expressions, with the subscription of their experiment."""


def load(path: Path) -> Pattern:
    """The pattern in a file.

    >>> [definition.name for definition in load(OFFICE).definitions]
    ['ColdRoom', 'Meeting', 'Attended', 'SendNotes']
    >>> [definition.name for definition in load(PAPERS).definitions]
    ['Cold', 'C1', 'C']
    """
    return parse(path.read_text(encoding="utf-8"), path.name)

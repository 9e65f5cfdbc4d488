"""Composites as a table for a terminal."""

from __future__ import annotations

from datetime import UTC, tzinfo

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from penstock.detection.composites import Composites
from penstock.detection.display import lines_of


def rich_table(composites: Composites, zone: tzinfo = UTC) -> Table:
    """When, what, with which parameters, made of what; a day that all share stands above.

    >>> from penstock import detect
    >>> rich_table(detect([{"type": "A", "id": "1", "time": 0}], "[A]")).row_count
    1
    """
    lines = list(lines_of(composites, zone))
    days = {line.day for line in lines}
    one_day = days.pop() if len(days) == 1 else None
    table = Table(box=SIMPLE_HEAD, caption=_caption(len(lines)), caption_justify="left", pad_edge=False)
    table.add_column(f"{one_day or 'time'} ({zone})", style="cyan", overflow="fold")
    table.add_column("type", style="bold", overflow="fold")
    table.add_column("parameters", style="green", overflow="fold")
    table.add_column("parts", overflow="fold")
    for line in lines:
        time = line.time if one_day else f"{line.day} {line.time}"
        table.add_row(Text(time), Text(line.type), Text(line.parameters), Text(line.parts))
    return table


def _caption(count: int) -> str:
    return "1 composite" if count == 1 else f"{count} composites"

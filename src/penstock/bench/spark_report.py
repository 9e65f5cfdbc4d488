"""What was measured on Spark, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.on_spark import COMPUTED, FRAME, ONCE, OURS, PROCESS, SORT, WINDOWS
from penstock.bench.report import Section, figures
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream


def sections(measurements: list[Measurement]) -> Iterator[Section]:
    """Three tables for each number of processors: rates, how they compare, and what was moved.

    >>> more = {"cores": 1, "moved": 5_000_000}
    >>> both = [Measurement("spark", Stream("main", 10, 1), "Q1", way, 2.0, more=more) for way in (OURS[0], WINDOWS)]
    >>> [section.rows for section in sections(both)][1]
    (('main, 10 events, 1 keys', 'Q1', '', '1.00', '', ''),)
    """
    for cores in dict.fromkeys(one.more["cores"] for one in measurements):
        here = [one for one in measurements if one.more["cores"] == cores]
        ways = [way for way in (*OURS, WINDOWS, ONCE, SORT, PROCESS) if any(one.way == way for one in here)]
        title = f"On Spark with {cores} core{'' if cores == 1 else 's'}"
        lines = [(group, _by_way(here, group)) for group in dict.fromkeys((one.stream, one.query) for one in here)]
        yield Section(
            title,
            "Millions of events a second, from Parquet to rows that are thrown away.",
            ("stream", "query", "found", *ways),
            tuple(_rates(group, times, ways) for group, times in lines),
        )
        compared = [f"{way} / {other}" for way, other in _COMPARED if way in ways]
        yield Section(
            f"{title}, compared",
            "How many times as fast the first is as the second.",
            ("stream", "query", *compared),
            tuple(_ratios(group, times, ways) for group, times in lines),
        )
        moved = [way for way in ways if way != PROCESS]
        yield Section(
            f"{title}: moved",
            "Megabytes that were written to be moved between workers.",
            ("stream", "query", *moved),
            tuple(
                (group[0].name, group[1], *(f"{times[way].more['moved'] / 1e6:,.0f}" for way in moved))
                for group, times in lines
            ),
        )


_COMPARED = ((FRAME, ONCE), (COMPUTED, ONCE), *((way, other) for way in OURS for other in (WINDOWS, SORT, PROCESS)))


def _by_way(measurements: list[Measurement], group: tuple[Stream, str]) -> dict[str, Measurement]:
    return {one.way: one for one in measurements if (one.stream, one.query) == group}


def _rates(group: tuple[Stream, str], times: dict[str, Measurement], ways: list[str]) -> tuple[str, ...]:
    found = next((f"{one.found:,}" for one in times.values() if one.found is not None), "")
    return (group[0].name, group[1], found, *(figures(times[way].rate) if way in times else "" for way in ways))


def _ratios(group: tuple[Stream, str], times: dict[str, Measurement], ways: list[str]) -> tuple[str, ...]:
    pairs = [(way, other) for way, other in _COMPARED if way in ways]
    shown = [
        figures(times[other].seconds / times[way].seconds) if way in times and other in times else ""
        for way, other in pairs
    ]
    return (group[0].name, group[1], *shown)

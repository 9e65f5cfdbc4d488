"""What was measured over tables on Spark, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.on_spark import OURS, PROCESS, SORT, SORT_ONCE, WINDOWS, WINDOWS_ONCE
from penstock.bench.report import Section, figures
from penstock.bench.results import Measurement

_OTHERS = {
    WINDOWS: ": windows",
    WINDOWS_ONCE: "once",
    SORT: ": sort",
    SORT_ONCE: "once",
    PROCESS: ": process",
}
"""What all ways are compared with, and what that is called in short."""


def sections(measurements: list[Measurement]) -> Iterator[Section]:
    """A table for each stream and number of processors: the rate of each way, how it compares, and what it moved.

    >>> from penstock.bench.streams import Stream
    >>> more = {"cores": 1, "moved": 5_000_000}
    >>> both = [Measurement("spark", Stream("main", 10, 1), "Q1", way, 2.0, more=more) for way in (OURS[0], WINDOWS)]
    >>> [section.rows[0] for section in sections(both)]
    [('Q1', 'DataFrame', '', '0.00', '1.00', '', '', '', '', '5')]
    """
    for cores, stream in dict.fromkeys((one.more["cores"], one.stream) for one in measurements):
        here = [one for one in measurements if (one.more["cores"], one.stream) == (cores, stream)]
        yield Section(
            f"On Spark with {cores} core{'' if cores == 1 else 's'}: {stream.name}",
            "Millions of events a second, from Parquet to rows that are thrown away; how many times as fast that is as "
            "window functions, as repartition + sort, both also with ids taken once, and as one process without Spark; "
            "megabytes that were written to be moved between workers.",
            ("query", "way", "found", "rate", *_OTHERS.values(), "moved"),
            tuple(
                _row(one, {other.way: other for other in here if other.query == one.query})
                for query in dict.fromkeys(one.query for one in here)
                for way in (*OURS, *_OTHERS)
                for one in here
                if (one.query, one.way) == (query, way)
            ),
        )


def _row(one: Measurement, beside: dict[str, Measurement]) -> tuple[str, ...]:
    ratios = [figures(beside[way].seconds / one.seconds) if way in beside else "" for way in _OTHERS]
    found = "" if one.found is None else f"{one.found:,}"
    moved = "" if one.way == PROCESS else f"{one.more['moved'] / 1e6:,.0f}"
    return (one.query, one.way, found, figures(one.rate), *ratios, moved)

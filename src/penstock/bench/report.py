"""Measurements as tables for people, in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.table import Table

from penstock.bench.flink import SAID as FLINK
from penstock.bench.queries import QUERIES
from penstock.bench.results import Measurement, Results
from penstock.bench.speed import ENGINE
from penstock.bench.streams import Stream, short
from penstock.bench.ways import OTHERS, OURS

T = TypeVar("T")
TEXTS = {"stream", "query", "meaning", "pattern", "function", "read"}
"""Columns of words; numbers stand to the right."""
CLOCKS = {"wall": "Times are the clock's", "cpu": "Times are seconds on processors, since others use the machine too"}
SOURCES = {"memory": "memory", "parquet": "Parquet", "csv": "CSV"}


@dataclass(frozen=True)
class Section:
    """One table, with a title and what one must know to read it."""

    title: str
    said: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sections(results: Results) -> Iterator[Section]:
    """A table for each thing that was measured.

    >>> [section.title for section in sections(Results("penstock bench engine", ()))]
    []
    """
    yield from _queries(results)
    yield from _speed(results.part("speed"))
    yield from _growth(results.part("growth"))
    for part, write in (("feeding", _feeding), ("memory", _memory), ("first", _first)):
        if results.part(part):
            yield write(results.part(part))
    yield from _stages(results.part("stages"))


def _queries(results: Results) -> Iterator[Section]:
    named = _distinct(one.query for one in results.part("speed"))
    rows = tuple((name, QUERIES[name].title, f"`{QUERIES[name].pattern}`") for name in named)
    if rows:
        yield Section("Queries", "Each for every key `k`.", ("query", "meaning", "pattern"), rows)


def _speed(measurements: list[Measurement]) -> Iterator[Section]:
    """Two tables for each source and size of streams, with the ways as columns: rates, and how they compare."""
    for source, events, keys in _distinct((one.source, one.stream.events, one.stream.keys) for one in measurements):
        here = [
            one for one in measurements if (one.source, one.stream.events, one.stream.keys) == (source, events, keys)
        ]
        ways = sorted(_distinct(one.way for one in here), key=_place)
        groups = _distinct((one.stream.kind, one.query) for one in here)
        lines = [(group, {one.way: one for one in here if (one.stream.kind, one.query) == group}) for group in groups]
        title = f"From {SOURCES[source]}: {short(events)} events, {short(keys)} keys"
        yield _rates(title, ways, lines)
        yield _ratios(title, [way for way in ways if way not in (OURS, ENGINE)], lines)


Lines = list[tuple[tuple[str, str], dict[str, Measurement]]]


def _rates(title: str, ways: Sequence[str], lines: Lines) -> Section:
    rows = tuple(
        (*group, f"{times[OURS].found:,}", *(figures(times[way].rate) if way in times else "" for way in ways))
        for group, times in lines
    )
    return Section(title, "Millions of events a second.", ("stream", "query", "found", *ways), rows)


def _ratios(title: str, others: Sequence[str], lines: Lines) -> Section:
    rows = tuple(
        (*group, *(_ratio(times[OURS], times[way]) if way in times else "" for way in others)) for group, times in lines
    )
    return Section(f"{title}, compared", "How many times as fast Penstock is.", ("stream", "query", *others), rows)


def _ratio(ours: Measurement, other: Measurement) -> str:
    return figures(other.seconds / ours.seconds)


def figures(number: float) -> str:
    """A number with as many decimals as tell something.

    >>> figures(166.666), figures(16.666), figures(0.1666)
    ('167', '16.7', '0.17')
    """
    return f"{number:.{max(0, 3 - len(str(int(number))))}f}" if number >= 1 else f"{number:.2f}"


def _place(way: str) -> int:
    return [OURS, ENGINE, *OTHERS, *FLINK].index(way)


def _growth(measurements: list[Measurement]) -> Iterator[Section]:
    for axis in _distinct(one.more["axis"] for one in measurements):
        here = [one for one in measurements if one.more["axis"] == axis]
        rows = []
        for value in _distinct(one.more["value"] for one in here):
            whole, engine = (next(_of(here, name, value)) for name in (OURS, ENGINE))
            each = [1e9 * one.seconds / one.stream.events for one in (whole, engine)]
            rows.append((f"{value:,}", f"{whole.found:,}", f"{each[0]:.0f}", f"{each[1]:.0f}"))
        yield Section(
            f"Growth with {axis}",
            f"Nanoseconds for each event; {_about(here[0].stream, axis)}.",
            (axis, "composites", OURS, ENGINE),
            tuple(rows),
        )


def _about(stream: Stream, axis: str) -> str:
    return f"{stream.kind}, {short(stream.events)} events" + ("" if axis == "keys" else f", {short(stream.keys)} keys")


def _of(measurements: Iterable[Measurement], way: str, value: int) -> Iterator[Measurement]:
    return (one for one in measurements if one.way == way and one.more["value"] == value)


def _feeding(measurements: list[Measurement]) -> Section:
    rows = tuple(
        (
            f"{one.more['batch']:,}",
            f"{1e6 * one.more['median']:,.0f}",
            f"{1e6 * one.more['slowest']:,.0f}",
            f"{1e6 * one.rate:,.0f}",
        )
        for one in measurements
    )
    columns = ("events in a batch", "median, µs", "slowest, µs", "events a second")
    return Section("Small batches", "Dicts handed to `Detector.feed`, Q1.", columns, rows)


def _memory(measurements: list[Measurement]) -> Section:
    rows = tuple(
        (
            one.stream.name,
            one.query,
            f"{one.more['peak'] / 1e6:,.0f}",
            f"{one.rate:.2f}",
            "in batches" if one.more["streaming"] else "at once",
        )
        for one in measurements
    )
    columns = ("stream", "query", "peak, MB", "M events/s", "read")
    return Section(
        "Memory", "The most that was resident at once, in a process of its own, from Parquet.", columns, rows
    )


def _first(measurements: list[Measurement]) -> Section:
    rows = tuple((one.query, f"{one.seconds:.2f}") for one in measurements)
    return Section(
        "First detection", "A fresh process, from start to end; the kernel is on disk.", ("query", "s"), rows
    )


def _stages(measurements: list[Measurement]) -> Iterator[Section]:
    for stream in _distinct(one.stream for one in measurements):
        here = [one for one in measurements if one.stream == stream]
        rows = tuple(
            (
                "· " * one.more["depth"] + f"`{one.more['function']}`",
                f"{1e3 * one.seconds:,.0f}",
                f"{100 * one.seconds / here[0].seconds:.0f}",
            )
            for one in here
        )
        said = "A function with all that it calls, under a profiler, which makes Python code slower."
        yield Section(f"Where the time goes: {here[0].query}, {stream.name}", said, ("function", "ms", "%"), rows)


def _distinct(values: Iterable[T]) -> Sequence[T]:
    return list(dict.fromkeys(values))


def rich_tables(results: Results) -> Iterator[Table]:
    """The tables for a terminal."""
    return map(section_table, sections(results))


def section_table(section: Section) -> Table:
    """One table for a terminal."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left", caption_justify="left")
    table.title, table.caption = section.title, section.said.replace("`", "")
    for column in section.columns:
        table.add_column(column, justify="left" if column in TEXTS else "right")
    for row in section.rows:
        table.add_row(*(cell.replace("`", "") for cell in row))
    return table


def markdown(results: Results, plots: Sequence[str] = ()) -> str:
    """All tables as a page, with the command and the machine they come from.

    >>> print(markdown(Results("penstock bench engine", (), machine="a machine")).splitlines()[0])
    # Measured
    """
    said = ", ".join(f"{name} {number}" for name, number in results.versions.items())
    head = [
        "# Measured",
        "",
        "All numbers come from one run; what counts are the ratios within it. Every way has one thread, but for Flink,",
        "and for Penstock, which reads files ahead in another. All find the same matches (counts and a sum over ids",
        "and stamps are compared), and give the ids and stamps of the matched",
        f"events. `{ENGINE}` is the engine alone: without fields, ids and order, and without the table of results.",
        "What Flink CEP takes to make events is subtracted; `flink, filtered` gets only those of the pattern's types.",
        "",
        "```bash",
        results.command,
        "```",
        "",
        f"{results.machine}. {said}. {CLOCKS[results.clock]}.",
    ]
    notes = [f"- {note}" for note in results.notes]
    pages = [section_page(section) for section in sections(results)]
    pictures = [f"![{name}]({name})" for name in plots]
    return "\n".join([*head, *(["", *notes] if notes else []), *pages, *(["", *pictures] if pictures else [])]) + "\n"


def section_page(section: Section) -> str:
    """One table for a page."""
    line = "| " + " | ".join("---" if column in TEXTS else "---:" for column in section.columns) + " |"
    rows = ["| " + " | ".join(row) + " |" for row in (section.columns, *section.rows)]
    return "\n".join(["", f"## {section.title}", "", section.said, "", rows[0], line, *rows[1:]])

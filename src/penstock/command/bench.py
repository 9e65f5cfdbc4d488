"""``penstock bench``: its options; what it does is in `penstock.command.benchmarking`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.command.complaints import complaining
from penstock.errors import PenstockError

bench = typer.Typer(no_args_is_help=True, help="Measure how fast detection is, beside other ways to the same result.")


class Part(StrEnum):
    """What is measured."""

    SPEED = "speed"
    GROWTH = "growth"
    FEEDING = "feeding"
    MEMORY = "memory"
    FIRST = "first"
    STAGES = "stages"


class Kind(StrEnum):
    """Which streams."""

    MAIN = "main"
    DENSE = "dense"


class SparkPart(StrEnum):
    """What is measured on Spark."""

    TABLES = "tables"
    STREAMS = "streams"
    DELAYS = "delays"


class StreamWay(StrEnum):
    """Which ways over streams, on Spark."""

    PENSTOCK = "penstock"
    NATIVE = "native"
    BY_KEY = "by-key"
    SMALL = "small"


class QueryName(StrEnum):
    """Which queries."""

    Q1 = "Q1"
    Q2 = "Q2"
    Q3 = "Q3"
    Q4 = "Q4"
    Q6 = "Q6"


class Baseline(StrEnum):
    """Which other ways."""

    POLARS = "polars"
    PANDAS = "pandas"
    DUCKDB = "duckdb"
    LOOP = "loop"


class Source(StrEnum):
    """Where events come from."""

    MEMORY = "memory"
    PARQUET = "parquet"
    CSV = "csv"


class SparkQuery(StrEnum):
    """Which queries, on Spark."""

    Q1 = "Q1"
    Q2 = "Q2"
    Q4 = "Q4"


class Clock(StrEnum):
    """What counts as time."""

    WALL = "wall"
    CPU = "cpu"


def _choice(metavar: str | None, help: str, *names: str, min: int | None = None) -> Any:
    panel = "What is measured (options may be repeated)"
    return typer.Option(*names, metavar=metavar, help=help, min=min, show_default=False, rich_help_panel=panel)


def _writing(metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="What is written")


@bench.callback()
def benchmarks() -> None:
    """Measure how fast detection is, beside other ways to the same result."""


@bench.command()
def engine(
    part: Annotated[list[Part] | None, _choice(None, "Only these parts; else all.", "--part")] = None,
    events: Annotated[list[int] | None, _choice("N", "Events of a stream; else 2 million.", min=1)] = None,
    keys: Annotated[list[int] | None, _choice("N", "Keys of a stream; else 10,000 and 1 million.", min=1)] = None,
    stream: Annotated[list[Kind] | None, _choice(None, "Only this stream; else both.")] = None,
    query: Annotated[list[QueryName] | None, _choice(None, "Only this query; else all.")] = None,
    baseline: Annotated[list[Baseline] | None, _choice(None, "Only this beside Penstock; else all.")] = None,
    source: Annotated[list[Source] | None, _choice(None, "Only from there; else from all.", "--from")] = None,
    text_keys: Annotated[bool, _choice(None, "Keys are texts, not numbers.", "--text-keys")] = False,
    flink: Annotated[bool, _choice(None, "Flink CEP too: fetches 330 MB once, needs a JDK.", "--flink")] = False,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="The best of so many counts.")] = 3,
    clock: Annotated[Clock, typer.Option(help="Time on the clock, or on processors if they are busy.")] = Clock.WALL,
    data: Annotated[Path | None, _writing("FOLDER", "Keep the generated files there; else they go.")] = None,
    as_json: Annotated[Path | None, _writing("FILE", "The raw numbers.", "--json")] = None,
    markdown: Annotated[Path | None, _writing("FILE", "The tables as a page.")] = None,
    plots: Annotated[Path | None, _writing("FOLDER", "Plots, as SVG.")] = None,
) -> None:
    """Measure the engine beside polars, pandas, duckdb, a plain loop and Flink CEP, on generated streams.

    All find the same matches, which is checked. They have one thread, but for Flink, and for files that we read ahead.

    [bold]A few seconds:[/]

    penstock bench engine --events 50000 --keys 100 --query Q1

    [bold]Everything, with a page and plots:[/]

    penstock bench engine --flink --json results.json --markdown RESULTS.md --plots plots

    Interrupted, it shows what it has measured until then.

    [bold]Exit status:[/] 0; 1 if two ways found different matches or something is missing, 2 for bad options.
    """
    with complaining():
        # Loaded here so that help does not wait for what measures.
        from penstock.command.benchmarking import Request, run

        run(
            Request(
                parts=tuple(part or ()),
                events=tuple(events or ()),
                keys=tuple(keys or ()),
                streams=tuple(stream or Kind),
                queries=tuple(query or QueryName),
                baselines=tuple(baseline or Baseline),
                sources=tuple(source or Source),
                texts=text_keys,
                flink=flink,
                rounds=rounds,
                clock=clock,
                data=data,
                json=as_json,
                markdown=markdown,
                plots=plots,
            )
        )


@bench.command()
def office(
    subscribers: Annotated[
        list[int] | None, _choice("N", "How many subscribe; else 1, 2, 4, 6, 8, 12, 16 and 20.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another seed is another day.")] = 1,
    hours: Annotated[float, typer.Option(metavar="H", min=0.1, max=24, help="How long the day is.")] = 3.0,
    speed: Annotated[float, typer.Option(metavar="X", min=1, help="So many times as fast as it would pass.")] = 360.0,
    rate: Annotated[str, typer.Option(metavar="RATE", help="Of the wireless link, as tc writes it.")] = "54mbit",
    delay: Annotated[float, typer.Option(metavar="MS", min=0, help="Of the wireless link, one way.")] = 5.0,
    loss: Annotated[float, typer.Option(metavar="SHARE", min=0, max=0.5, help="Of packets over the air.")] = 0.0,
    as_json: Annotated[Path | None, _writing("FILE", "The raw numbers.", "--json")] = None,
    markdown: Annotated[Path | None, _writing("FILE", "The table as a page.")] = None,
    plots: Annotated[Path | None, _writing("FOLDER", "Figures 12 and 13, as SVG.")] = None,
) -> None:
    """The papers' experiment: detection in the network against clients that detect for themselves.

    Three network namespaces: an office with its sensors and a broker, a gateway with another, and subscribers behind a
    wireless link whose rate is limited and which takes its time. Bytes are read off the interfaces' counters. Both ways
    must lead to the same composites. This needs root on Linux, and touches no network but its own.

    [bold]Six subscribers, about two minutes:[/]

    penstock bench office --subscribers 6

    [bold]Exit status:[/] 0; 1 if something goes wrong, 2 for bad options, and where namespaces cannot be made.
    """
    with complaining():
        # Loaded here so that help does not wait for what measures.
        from penstock.bench.office.running import Air
        from penstock.bench.office.setting import Setting
        from penstock.command.experimenting import Request, experiment

        experiment(
            Request(
                subscribers=tuple(subscribers or (1, 2, 4, 6, 8, 12, 16, 20)),
                setting=Setting(seed=seed, hours=hours, speed=speed),
                air=Air(rate, delay / 1e3, loss),
                json=as_json,
                markdown=markdown,
                plots=plots,
            )
        )


@bench.command()
def nodes(
    events: Annotated[int, typer.Option(min=1000, metavar="N", help="Events for the throughput.")] = 200_000,
    together: Annotated[int, typer.Option(min=1, metavar="N", help="Events in a message.")] = 500,
    notifications: Annotated[int, typer.Option(min=10, metavar="N", help="Composites for the delay.")] = 500,
) -> None:
    """Measure a node on a NATS server: events a second on one core, and the delay of notifications.

    [bold]Exit status:[/] 0; 1 if something is missing, 2 for bad options.
    """
    with complaining():
        # Loaded here so that help does not wait for what measures.
        from penstock.bench.nodes import measure

        throughput, delay = measure(events, together, notifications)
        typer.echo(
            f"{throughput.events:,} events, {throughput.together} in a message, {throughput.found:,} composites: "
            f"{throughput.per_core_second:,.0f} events a second of the node's core, "
            f"{throughput.events / throughput.seconds:,.0f} a second by the clock"
        )
        typer.echo(
            f"{delay.notifications:,} notifications: p50 {delay.p50:.1f} ms, p90 {delay.p90:.1f} ms, "
            f"p99 {delay.p99:.1f} ms"
        )


@bench.command()
def spark(
    events: Annotated[list[int] | None, _choice("N", "Events of a table; else 10 million.", min=1)] = None,
    keys: Annotated[list[int] | None, _choice("N", "Keys of a table; else 10,000 and 1 million.", min=1)] = None,
    stream: Annotated[list[Kind] | None, _choice(None, "Only this kind of table; else dense.")] = None,
    query: Annotated[list[SparkQuery] | None, _choice(None, "Only this query; else all.")] = None,
    cores: Annotated[list[int] | None, _choice("N", "Processors that Spark uses; else 1 and 2.", min=1)] = None,
    part: Annotated[list[SparkPart] | None, _choice(None, "Only this; else tables, streams and delays.")] = None,
    batch: Annotated[int | None, _choice("N", "Events of a micro-batch; else an eighth of all.", min=1)] = None,
    way: Annotated[list[StreamWay] | None, _choice(None, "Only this way over streams; else all.")] = None,
    files: Annotated[int, typer.Option(min=1, metavar="N", help="Files whose delays are measured.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="The best of so many counts.")] = 2,
    data: Annotated[Path | None, _writing("FOLDER", "Keep the generated files there; else they go.")] = None,
    as_json: Annotated[Path | None, _writing("FILE", "The raw numbers.", "--json")] = None,
    markdown: Annotated[Path | None, _writing("FILE", "The tables as a page.")] = None,
) -> None:
    """Measure detection over tables on Spark beside window functions by hand, Spark's own sort, and one process.

    All read the same Parquet files and find the same number of matches, which is checked. Then detection over streams,
    with as many runs waiting as there are keys, beside a native aggregation and beside a stateful processor by hand. In
    the end, how long a composite takes through small micro-batches.

    [bold]A minute or two:[/]

    penstock bench spark --events 1000000 --keys 10000 --query Q1 --cores 2

    [bold]Whether a worker's memory grows over 50 million events:[/]

    penstock bench spark --part streams --way penstock --events 50000000 --batch 1000000 --keys 10000

    [bold]Exit status:[/] 0; 1 if two ways found different matches or something is missing, 2 for bad options.
    """
    with complaining():
        try:
            from penstock.command.bench_spark import Request, run
        except ImportError as error:
            raise PenstockError(f"{error.name} is not installed", hint="pip install 'penstock[spark]'") from None

        run(
            Request(
                events=tuple(events or (10_000_000,)),
                keys=tuple(keys or (10_000, 1_000_000)),
                streams=tuple(stream or (Kind.DENSE,)),
                queries=tuple(query or ()),
                cores=tuple(cores or (1, 2)),
                parts=tuple(part or SparkPart),
                batch=batch,
                ways=tuple(way or StreamWay),
                files=files,
                rounds=rounds,
                data=data,
                json=as_json,
                markdown=markdown,
            )
        )

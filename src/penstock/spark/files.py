"""Plain Parquet files that Spark's workers scan with Arrow: rows need not cross from Java to Python at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Unpack

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.pagereading import PageReading
from penstock.errors import DataError
from penstock.events.files import event_files
from penstock.events.mapping import Columns
from penstock.events.parquetpieces import ParquetPieces
from penstock.events.table import EventTable
from penstock.spark.failures import raise_ours
from penstock.spark.moving import default_buckets, found_in
from penstock.spark.options import TableOptions
from penstock.spark.packing import ROWS, read_piece
from penstock.spark.planning import (
    Patterns,
    common_options,
    mapping_of,
    patterns_of,
    plans_of,
    warn_of_one_bucket,
    work_of,
)
from penstock.spark.settling import NamePacker
from penstock.spark.work import Work

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
_TASKS = 4
"""Tasks for each processor, where there are as many row groups."""


def detect_files(
    session: SparkSession,
    paths: Paths,
    pattern: Patterns,
    **options: Unpack[TableOptions],
) -> DataFrame:
    """The composites of patterns over Parquet files that all workers can reach, by `penstock.spark.detect`'s options.

    The files are read by Arrow inside the workers, which is faster than a DataFrame of them.

    Args:
        session: The session that does it.
        paths: A file or a folder, or several of them.
        pattern: As for `penstock.spark.detect`.
        options: Those of `penstock.spark.detect` for a table.

    >>> from penstock.spark.session import session
    >>> detect_files(session(), "events/", "[Open] ; [Close]").count()  # doctest: +SKIP
    3
    """
    raise_ours()
    common = common_options(options, TableOptions)
    plans = plans_of(patterns_of(pattern), **common)
    files = _parquet(event_files([paths] if isinstance(paths, str | PathLike) else paths))
    mapping = mapping_of(pq.read_schema(files[0]).names if files else [], **common)
    first = pieces_of(files, mapping, None)[0]
    size = options.get("buckets") or default_buckets(session)
    settles = first.has_ids and not options.get("unique")
    work = work_of(plans, first.blank, mapping, size, options.get("until"), settles=settles)
    warn_of_one_bucket(work)
    numbers, scan = scan_of(session, files, work)
    return found_in(numbers, scan, replace(scan, by_name=True), work)


def _parquet(files: Sequence[Path]) -> Sequence[Path]:
    for path in files:
        if path.suffix.lower() != ".parquet":
            raise DataError(
                f"{path}: this is no .parquet file", hint="read it with Spark and give detect() a DataFrame"
            )
    return files


def pieces_of(files: Sequence[Path], columns: Columns, attributes: frozenset[str] | None) -> list[ParquetPieces]:
    """The files, of which all have the same columns."""
    try:
        pieces = [ParquetPieces(path, columns, attributes, ROWS) for path in files]
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"{files[0].parent}: not all can be read as Parquet: {error}", hint="check the files") from None
    for one in pieces:
        if one.blank.attributes.schema != pieces[0].blank.attributes.schema or one.has_ids != pieces[0].has_ids:
            raise DataError(
                f"{one.path} and {pieces[0].path} have different columns",
                hint="read them with Spark, which can make them alike, and give detect() a DataFrame",
            )
    return pieces


def scan_of(session: SparkSession, files: Sequence[Path], work: Work) -> tuple[DataFrame, Scan]:
    """The numbers of all splits of files, shared out over tasks, and what reads them."""
    pieces = pieces_of(files, work.recipe.columns, work.recipe.attributes)
    splits = tuple((number, group) for number, one in enumerate(pieces) for group in range(len(one.groups)))
    tasks = max(1, min(len(splits), _TASKS * default_buckets(session)))
    return session.range(0, len(splits), 1, tasks), Scan(tuple(files), splits, work, Path.cwd())


@dataclass(frozen=True)
class Scan:
    """Reads and packs splits, each a row group of a file, by their numbers; ``folder`` is where paths begin.

    Workers run where the session was started, which need not be where the paths were given. Events are packed for their
    buckets, or ``by_name``.
    """

    files: tuple[Path, ...]
    splits: tuple[tuple[int, int], ...]
    work: Work
    folder: Path
    by_name: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The blobs of the splits with these numbers."""
        packer = NamePacker(self.work.recipe) if self.by_name else self.work.packer()
        for batch in batches:
            for number in batch["id"].to_pylist():
                for table in self._tables(*self.splits[number]):
                    yield packer.pack_events(table)
        if self.work.tells_progress:
            yield packer.finish()

    def _tables(self, file: int, group: int) -> Iterator[EventTable]:
        recipe = self.work.recipe
        path = self.folder / self.files[file]
        pieces = ParquetPieces(path, recipe.columns, recipe.attributes, ROWS, PageReading())
        recipe = replace(recipe, leaves_behind=pieces.leaves_behind)
        first = sum(pieces.groups[:group])
        for piece in pieces.parsed([group]):
            yield read_piece(piece, recipe, FileRows(self.files[file], first))
            first += len(piece.rows)


@dataclass(frozen=True)
class FileRows:
    """Rows of a file from some row on."""

    path: Path
    first: int

    def where(self, row: int) -> str:
        """The row's place in words."""
        return f"{self.path}, row {self.first + row + 1}"

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the row's place before its message."""
        return DataError(f"{self.where(row)}: {error.message}", hint=error.hint)

"""Detection on Spark with the results in this process, the same to the last byte as without Spark: for the command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from penstock.detection.composites import Composites
from penstock.detection.files import FoundInFiles, Paths, types_of
from penstock.detection.incomplete import IncompleteRuns
from penstock.detection.kinds import kinds_of
from penstock.detection.local import detect_all
from penstock.detection.merging import merged
from penstock.detection.plan import Plan
from penstock.errors import DataError, PenstockError
from penstock.events.files import Progress as ToldOfFiles
from penstock.events.files import event_files, read_events
from penstock.events.mapping import Columns
from penstock.events.naming import field_columns
from penstock.events.order import ordered
from penstock.events.table import EventTable
from penstock.spark.failures import raise_ours
from penstock.spark.files import pieces_of, scan_of
from penstock.spark.moving import Finding, default_buckets, found_by, in_buckets
from penstock.spark.packing import PACKED, PROGRESS, ROWS, Packer, Progress
from penstock.spark.planning import work_of
from penstock.spark.work import COMPOSITES, DROPPED, INCOMPLETE, Work

_UNMOVED = {"arrival", "timekind", "retracted"}
"""Fields that say which of two repeated events counts, and nothing else here."""


@dataclass(frozen=True)
class Whole:
    """Detects in files on Spark as `penstock.detection.files.detect_files` does without it.

    Parquet files that are alike are read by the workers. All others are read here, as is whatever is unusual, so that
    errors are the same; then they are packed here and detected by the workers.
    """

    session: SparkSession
    warn: Callable[[Work], None]

    def detect_files(
        self,
        paths: Paths,
        plan: Plan,
        columns: Columns | None = None,
        *,
        until: int | None = None,
        skip_bad: bool = False,
        stdin: IO[Any] | None = None,
        progress: ToldOfFiles | None = None,
        begins: Callable[[str], None],
    ) -> FoundInFiles:
        """What a plan finds in files and folders, or in JSON lines from ``stdin``."""
        raise_ours()
        columns = columns or Columns()
        files = event_files(paths)
        if files and all(path.suffix.lower() == ".parquet" for path in files):
            begins("reading and detecting")
            try:
                return self._scanned(files, plan, columns, until)
            except PenstockError:
                begins("reading")  # whatever it was is found again, and said as it always is
        loaded = read_events(paths, columns, skip_bad=skip_bad, stdin=stdin, progress=progress)
        begins("detecting")
        return FoundInFiles(self._packed_here(loaded.table, plan, until), loaded.bad, types_of(loaded.table))

    def _scanned(self, files: Sequence[Path], plan: Plan, columns: Columns, until: int | None) -> FoundInFiles:
        first = pieces_of(files, columns, None)[0]
        work = work_of([plan], first.blank, columns, default_buckets(self.session), settles=first.has_ids)
        work = work.ending(until).counting()
        self.warn(work)
        numbers, scan = scan_of(self.session, files, work)
        found = found_by(Finding(work.tell, PACKED), numbers, scan, replace(scan, by_name=True), work)
        results = _Results(found.toArrow())
        told = results.told()
        if told.repeated and _is_decided_elsewhere(files, plan, columns):
            raise DataError("which of two repeated events counts is said by columns that were not moved")
        composites = results.composites(plan, work.blank, told.repeated)
        return FoundInFiles(composites, (), frozenset(told.types))

    def _packed_here(self, table: EventTable, plan: Plan, until: int | None) -> Composites:
        blank = table.slice(0, 0)
        work = work_of([plan], blank, Columns(), default_buckets(self.session), settles=False).ending(until)
        self.warn(work)
        packer = Packer(work.recipe)
        packer.progress.take(table)
        told = packer.finish()
        events, repeated = ordered(plan.relevant(table))
        blobs = [packer.pack_events(events.slice(start, ROWS)) for start in range(0, len(events), ROWS)]
        rows = self.session.createDataFrame(pa.Table.from_batches([told, *blobs]))
        found = Finding(work.tell, PACKED).over(in_buckets(rows, work.recipe.total))
        return _Results(found.toArrow()).composites(plan, blank, repeated)


def _is_decided_elsewhere(files: Sequence[Path], plan: Plan, columns: Columns) -> bool:
    """Whether repeated events may differ in something that those who settle them do not see."""
    fields = field_columns(pq.read_schema(files[0]).names, columns)
    return plan.attributes is not None or not _UNMOVED.isdisjoint(fields)


@dataclass(frozen=True)
class _Results:
    """What all buckets told."""

    rows: pa.Table

    def _tables(self, kind: str) -> list[pa.Table]:
        chosen = self.rows.filter(pa.compute.equal(self.rows["kind"], kind))
        return [pa.ipc.open_stream(blob.as_buffer()).read_all() for blob in chosen["blob"]]

    def told(self) -> Progress:
        """How far the input goes."""
        whole = Progress()
        for table in self._tables(PROGRESS):
            whole = whole.joined(Progress.from_table(table))
        return whole

    def composites(self, plan: Plan, blank: EventTable, repeated: int) -> Composites:
        """All composites, as one process gives them."""
        nothing = detect_all(blank, plan)
        found = self._tables(COMPOSITES)
        dropped = sum(int(table.schema.metadata[DROPPED.encode()]) for table in found)
        types = kinds_of(plan.pattern).attributes
        table = merged([nothing.table, *found], types).replace_schema_metadata(None)
        incomplete = None
        if nothing.incomplete is not None:
            runs = merged([nothing.incomplete.table, *self._tables(INCOMPLETE)], types)
            incomplete = IncompleteRuns(runs)
        return Composites(table, repeated, dropped=dropped, incomplete=incomplete)

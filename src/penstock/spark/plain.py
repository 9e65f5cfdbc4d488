"""DataFrames that are nothing but plain Parquet files, which workers can then scan with Arrow, as Spark would.

That is so if the files are where Spark's own workers open them by a path, and if all of them have exactly the columns
of the DataFrame, with types that mean the same to both. Anything else that Spark may do with files is left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructType

_RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
_OF_FILES = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_LENIENT = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
"""Settings with which Spark leaves out files."""
_ALIKE = (pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string())
"""Types whose values mean the same to both."""
_UTC = pa.timestamp("us", "UTC")
_VERSION, _LEGACY = b"org.apache.spark.version", b"org.apache.spark.legacyDateTime"
"""What Spark writes into files: before version 3, old dates were of another calendar."""


def plain_files(df: DataFrame) -> Sequence[Path]:
    """The files that a DataFrame is; none if it is anything else."""
    plan = getattr(df, "_jdf", None)
    if plan is None or not _is_relation(plan.queryExecution().optimizedPlan()):
        return []
    if any(str(df.sparkSession.conf.get(name, "false")).lower() != "false" for name in _LENIENT):
        return []
    files = [_path(uri) for uri in df.inputFiles()]
    return [] if None in files else _alike([one for one in files if one is not None], df.schema)


def _is_relation(node: Any) -> bool:
    """Whether a plan reads Parquet files and does nothing else."""
    if _class(node) != _RELATION or _class(node.relation()) != _OF_FILES:
        return False
    relation = node.relation()
    return _class(relation.fileFormat()) == _PARQUET and bool(relation.partitionSchema().isEmpty())


def _class(node: Any) -> str:
    return str(node.getClass().getName())


def _path(uri: str) -> Path | None:
    """The path of a file that is opened as one; None for files that are elsewhere.

    >>> _path("file:///tmp/a%20b.parquet"), _path("s3a://bucket/a.parquet")
    (PosixPath('/tmp/a b.parquet'), None)
    """
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" and uri.endswith(".parquet") else None


def _alike(files: Sequence[Path], schema: StructType) -> Sequence[Path]:
    """The files, if all have these columns."""
    try:
        schemas = [pq.read_schema(path) for path in files]
    except (OSError, pa.ArrowInvalid):
        return []
    return files if all(has_columns(one, schema) for one in schemas) else []


def has_columns(found: pa.Schema, schema: StructType) -> bool:
    """Whether a file has the columns that Spark says, and no others.

    >>> from pyspark.sql.types import LongType, StringType
    >>> wanted = StructType().add("type", StringType()).add("time", LongType())
    >>> has_columns(pa.schema([("type", pa.string()), ("time", pa.int64())]), wanted)
    True
    >>> has_columns(pa.schema([("type", pa.string()), ("time", pa.uint64())]), wanted)
    False
    """
    if found.names != schema.names:
        return False
    kinds = [one.value_type if pa.types.is_dictionary(one) else one for one in found.types]
    pairs = zip(kinds, schema, strict=True)
    return all(_is_safe(kind, found) and from_arrow_type(kind) == field.dataType for kind, field in pairs)


def _is_safe(kind: pa.DataType, found: pa.Schema) -> bool:
    said = found.metadata or {}
    return kind in _ALIKE or (kind == _UTC and _LEGACY not in said and said.get(_VERSION, b"3") >= b"3")

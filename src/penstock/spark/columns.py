"""What of reading events Spark's own side can do: leave rows and columns behind, and find the last stamp.

This is done only where it is exactly what `penstock.events.arrow` would do. A row that may be no event is never left
behind, so that it is reported; where that cannot be told by Spark's side, all rows go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from penstock.events.mapping import Columns
from penstock.events.naming import field_columns, is_own
from penstock.events.times import EARLIEST, LATEST, SECOND, unit_of
from penstock.spark.coding import NOTHING, Coding
from penstock.spark.packing import ENDS, Recipe

_WHOLE = (t.ByteType, t.ShortType, t.IntegerType, t.LongType)
_SAFE = (*_WHOLE, t.FloatType, t.DoubleType, t.StringType, t.BooleanType, t.TimestampType, t.DateType)
"""Types of columns in which every value can be an attribute."""
_MOST_CODES = 16
"""So many types are sooner told apart on Spark's side than here."""
_UNUSUAL = ("seq", "arrival", "timekind", "retracted", "parts")
"""Fields whose values may be bad in ways that only reading them can tell."""


@dataclass(frozen=True)
class Frame:
    """A DataFrame whose columns can be asked for whatever their names are.

    Spark reads a dot in a name as a path, and takes names for the same that differ in case alone; there, columns have
    other names on Spark's side.
    """

    rows: DataFrame
    schema: t.StructType
    names: Mapping[str, str]

    @classmethod
    def of(cls, df: DataFrame) -> Frame:
        """The frame of a DataFrame, as it was given."""
        given = df.columns
        if are_plain(given):
            return cls(df, df.schema, dict(zip(given, given, strict=True)))
        plain = [f"c{number}" for number in range(len(given))]
        return cls(df.toDF(*plain), df.schema, dict(zip(given, plain, strict=True)))

    def column(self, name: str) -> Column:
        """A column by the name that it was given with."""
        return f.col(self.quoted(name))

    def quoted(self, name: str) -> str:
        """The same in SQL."""
        return f"`{self.names[name]}`"

    def free_name(self, name: str) -> str:
        """A name for one more column, this one if there is none like it."""
        taken = {one.lower() for one in self.names.values()}
        while name in taken:
            name += "_"
        return name

    def select(self, names: Iterable[str]) -> DataFrame:
        """Some columns."""
        return self.rows.select([self.column(name) for name in names])


def are_plain(names: Sequence[str]) -> bool:
    """Whether Spark tells columns with these names apart, wherever they are asked for.

    >>> are_plain(["type", "time"]), are_plain(["a.b"]), are_plain(["time", "Time"])
    (True, False, False)
    """
    return len({name.lower() for name in names}) == len(names) and not any(set(name) & {".", "`"} for name in names)


def needed_columns(schema: t.StructType, recipe: Recipe) -> list[str]:
    """The columns that must be read: those of fields, and attributes that are wanted.

    Where there is no column of ids, they are made of all columns.
    """
    fields = field_columns(schema.names, recipe.columns)
    if recipe.attributes is None or "id" not in fields:
        return list(schema.names)
    needed = {*fields.values(), *recipe.attributes}
    return [name for name in schema.names if name in needed]


def needed_rows(frame: Frame, recipe: Recipe) -> str | None:
    """Whether a row is an event of a type that is wanted, or perhaps no event, in SQL; None if all rows are needed.

    It is SQL since each step by which a column is made takes time. Filters on attributes are not asked here: which of
    two events with the same source and id counts is decided before them.
    """
    schema = frame.schema
    fields = field_columns(schema.names, recipe.columns)
    times = _times(schema, fields)
    if recipe.types is None or recipe.columns.type is not None or any(name in fields for name in _UNUSUAL):
        return None
    if not times or not all(isinstance(one.dataType, _SAFE) for one in schema):
        return None
    kind = schema[fields["type"]].dataType
    if not isinstance(kind, (t.StringType, *_WHOLE)):
        return None
    said = _said(frame, fields["type"])
    is_wanted = f"{said} IN ({', '.join(map(_text, [*sorted(recipe.types), '']))})"
    return " OR ".join([is_wanted, f"{said} IS NULL", *_doubts(frame, times, recipe.columns)])


def coding_of(frame: Frame, recipe: Recipe) -> Coding | None:
    """Which types of a frame, of which `needed_rows` can be asked, cross by number; None if they cross as they are."""
    fields, schema = field_columns(frame.schema.names, recipe.columns), frame.schema
    name, id = fields["type"], fields.get("id")
    types = tuple(sorted(recipe.types or ()))
    is_text = isinstance(schema[name].dataType, t.StringType)
    if not is_text or not is_own("type", name) or not 0 < len(types) <= _MOST_CODES:
        return None
    bears = id is not None and id != name and isinstance(schema[id].dataType, t.StringType)
    return Coding(types, name, id if bears else None)


def coded(frame: Frame, names: Sequence[str], coding: Coding) -> list[str]:
    """Columns of a frame in SQL, as `penstock.spark.coding` reads them."""
    said = _said(frame, coding.column)
    numbers = " ".join(f"WHEN {said} = {_text(type)} THEN {number}Y" for number, type in enumerate(coding.types))
    code = f"CASE {numbers} END"
    columns = [f"{code} AS `{frame.free_name('code')}`"]
    for name in coding.crossing(names):
        column = frame.quoted(name)
        if name == coding.bearer:
            told = f"concat({_digits(said)}, ' ', {_digits(_said(frame, name))})"
            column = f"CASE WHEN {code} IS NULL THEN {told} ELSE {_said(frame, name)} END AS {column}"
        elif name == coding.column:
            column = f"CASE WHEN {code} IS NULL THEN {column} END AS {column}"
        columns.append(column)
    return columns


def _digits(text: str) -> str:
    """The digits of a text's bytes, in SQL."""
    return f"coalesce(hex({text}), '{NOTHING}')"


def _said(frame: Frame, name: str) -> str:
    """What a column says, in SQL, as a text of which every letter counts; there are kinds of which not all do."""
    return f"CAST({frame.quoted(name)} AS STRING)"


def _text(said: str) -> str:
    """A text in SQL, whatever its letters mean there.

    >>> _text("A")
    "CAST(X'41' AS STRING)"
    """
    return f"CAST(X'{said.encode().hex()}' AS STRING)"


def latest(frame: Frame, columns: Columns) -> DataFrame:
    """The latest of the times at which events end, as it stands in a frame of which `needed_rows` can be asked.

    If there is a time that nobody can read, nobody asks for this: the row goes on, and is reported.
    """
    fields = field_columns(frame.schema.names, columns)
    column = frame.quoted(fields.get("hi", fields.get("lo", fields.get("time", ""))))
    return frame.rows.selectExpr(f"max({column}) AS {ENDS}")


def _times(schema: t.StructType, fields: Mapping[str, str]) -> list[t.StructField]:
    """The columns of times, the beginning first; none if Spark's side cannot compare them as we do."""
    times = [schema[fields[name]] for name in ("lo", "hi", "time") if name in fields]
    is_plain = all(isinstance(one.dataType, (t.TimestampType, *_WHOLE)) for one in times)
    is_alike = len({one.dataType for one in times}) == 1
    return times if is_plain and is_alike and not {"lo", "hi", "time"} <= fields.keys() else []


def _doubts(frame: Frame, times: Sequence[t.StructField], columns: Columns) -> Iterator[str]:
    """Why the stamp of a row may be none, in SQL; this may hold for some that are good."""
    scale = unit_of(columns.time_unit)
    first, last = EARLIEST + columns.clock_error + SECOND, LATEST - columns.clock_error - SECOND
    for field in times:
        said = frame.quoted(field.name)
        yield f"{said} IS NULL"
        if isinstance(field.dataType, t.TimestampType):
            yield f"NOT unix_micros({said}) BETWEEN {first} AND {last}"
        else:
            least, most = max(int(first / scale), 1 - 2**63), min(int(last / scale), 2**63 - 1)
            yield f"NOT CAST({said} AS BIGINT) BETWEEN {least} AND {most}"
    for one, other in pairwise(times):
        yield f"{frame.quoted(one.name)} > {frame.quoted(other.name)}"

"""What of reading events Spark's own side can do: leave rows and columns behind, and find the last stamp.

This is done only where it is exactly what `penstock.events.arrow` would do. A row that may be no event is never left
behind, so that it is reported; where that cannot be told by Spark's side, all rows go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as t

from penstock.events.mapping import Columns
from penstock.events.naming import field_columns
from penstock.events.times import EARLIEST, LATEST, SECOND, unit_of
from penstock.spark.packing import Recipe

_WHOLE = (t.ByteType, t.ShortType, t.IntegerType, t.LongType)
_SAFE = (*_WHOLE, t.FloatType, t.DoubleType, t.StringType, t.BooleanType, t.TimestampType, t.DateType)
"""Types of columns in which every value can be an attribute."""
_UNUSUAL = ("seq", "arrival", "timekind", "retracted", "parts")
"""Fields whose values may be bad in ways that only reading them can tell."""


def quoted(name: str) -> Column:
    """A column by its name, whatever is in the name."""
    return f.col("`" + name.replace("`", "``") + "`")


def needed_columns(schema: t.StructType, recipe: Recipe) -> list[str]:
    """The columns that must be read: those of fields, and attributes that are wanted.

    Where there is no column of ids, they are made of all columns.
    """
    fields = field_columns(schema.names, recipe.columns)
    if recipe.attributes is None or "id" not in fields:
        return list(schema.names)
    needed = {*fields.values(), *recipe.attributes}
    return [name for name in schema.names if name in needed]


def needed_rows(schema: t.StructType, recipe: Recipe) -> Column | None:
    """Whether a row is an event of a type that is wanted, or perhaps no event; None if all rows are needed.

    Filters on attributes are not asked here: which of two events with the same source and id counts is decided before
    them.
    """
    fields = field_columns(schema.names, recipe.columns)
    times = _times(schema, fields)
    if recipe.types is None or recipe.columns.type is not None or any(name in fields for name in _UNUSUAL):
        return None
    if not times or not all(isinstance(one.dataType, _SAFE) for one in schema):
        return None
    kind = schema[fields["type"]].dataType
    if not isinstance(kind, (t.StringType, *_WHOLE)):
        return None
    wanted = quoted(fields["type"]).cast("string")
    there = wanted.isin(sorted({*recipe.types, ""}))
    return reduce(or_, [there, wanted.isNull(), *_may_be_bad(times, recipe.columns)])


def last_stamp(schema: t.StructType, columns: Columns) -> Column:
    """The largest ``hi`` of all rows, where `needed_rows` can be asked."""
    fields = field_columns(schema.names, columns)
    field = schema[fields.get("hi", fields.get("lo", fields.get("time", "")))]
    if isinstance(field.dataType, t.TimestampType):
        instants = f.unix_micros(quoted(field.name))
    else:
        instants = _scaled_up(quoted(field.name).cast("long"), unit_of(columns.time_unit))
    readable = ~reduce(or_, _may_be_bad([field], columns))
    return f.max(f.when(readable, instants + f.lit(columns.clock_error)))


def _scaled_up(numbers: Column, scale: Fraction) -> Column:
    """Numbers of some unit as microseconds, rounded up."""
    if scale.denominator == 1:
        return numbers * f.lit(scale.numerator)
    over = f.pmod(numbers, f.lit(scale.denominator))
    rounded = f.when(over == 0, numbers).otherwise(numbers - over + f.lit(scale.denominator))
    return f.call_function("div", rounded, f.lit(scale.denominator))


def _times(schema: t.StructType, fields: Mapping[str, str]) -> list[t.StructField]:
    """The columns of times, the beginning first; none if Spark's side cannot compare them as we do."""
    times = [schema[fields[name]] for name in ("lo", "hi", "time") if name in fields]
    is_plain = all(isinstance(one.dataType, (t.TimestampType, *_WHOLE)) for one in times)
    is_alike = len({one.dataType for one in times}) == 1
    return times if is_plain and is_alike and not {"lo", "hi", "time"} <= fields.keys() else []


def _may_be_bad(times: Sequence[t.StructField], columns: Columns) -> Iterator[Column]:
    """Conditions under which the stamp of a row may be none; they may hold for some that are good."""
    scale = unit_of(columns.time_unit)
    margin = columns.clock_error + SECOND
    for field in times:
        column = quoted(field.name)
        yield column.isNull()
        if isinstance(field.dataType, t.TimestampType):
            yield ~f.unix_micros(column).between(f.lit(EARLIEST + margin), f.lit(LATEST - margin))
        else:
            least, most = (int(end / scale) for end in (EARLIEST + margin, LATEST - margin))
            yield ~column.cast("long").between(f.lit(max(least, -(2**63))), f.lit(min(most, 2**63 - 1)))
    for one, other in pairwise(times):
        yield quoted(one.name) > quoted(other.name)

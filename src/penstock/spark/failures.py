"""Errors that happen inside Spark's workers, as the errors that they are.

A worker can only send text. So our errors are written into it, and when Spark raises on the driver what a worker said,
the error is made again from there: whoever calls ``collect`` on a result gets a `penstock.DataError` about a bad
record, as from detection without Spark.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import wraps
from typing import Any, TypeVar

from pyspark.errors.exceptions import captured

from penstock.errors import BrokerError, DataError, ParseError, PatternError, PenstockError, Place, StateError
from penstock.events.origin import FileLine

T = TypeVar("T")
_UNREADABLE = re.compile(r"\[(CANNOT_LOAD_STATE_STORE|FAILED_TO_LOAD_STATE_STORE|STATE_STORE_[A-Z_]*MISSING[A-Z_]*)")
_FOREIGN = re.compile(
    r"\[(STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA|STATE_STORE_(?:KEY|VALUE)_SCHEMA_NOT_COMPATIBLE"
    r"|STATE_STORE_INVALID_[A-Z_]*|INVALID_STREAMING_[A-Z_]*CHECKPOINT[A-Z_]*)"
)
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_BUSY = "Python worker failed to connect back"
BUSY = "this machine is so busy that a process of Spark's did not start within ten seconds"
"""What is said where Spark's own limit, which cannot be set, was too short."""
_MARK = re.compile(r"penstock-error:([A-Za-z0-9+/=]+):")
_KINDS: dict[str, type[PenstockError]] = {
    kind.__name__: kind for kind in (PenstockError, ParseError, PatternError, DataError, StateError, BrokerError)
}


class WorkerError(Exception):
    """What a worker raises in the place of an error of ours; its text has all of it.

    >>> made = recovered(str(WorkerError(DataError("row 3: 'time' is missing", hint="give it one"))))
    >>> print(type(made).__name__, made, sep=": ")
    DataError: row 3: 'time' is missing
    hint: give it one
    """

    def __init__(self, error: PenstockError) -> None:
        place = None if error.place is None else asdict(error.place)
        said = {"kind": _kind(error), "message": error.message, "hint": error.hint, "place": place}
        code = base64.b64encode(json.dumps(said).encode()).decode()
        super().__init__(f"{error}\npenstock-error:{code}:")


def _kind(error: PenstockError) -> str:
    return next(name for name, kind in reversed(_KINDS.items()) if isinstance(error, kind))


def recovered(text: str) -> PenstockError | None:
    """The error of ours that a text of Spark's tells of; None if it tells of none."""
    found = _MARK.search(text)
    if found is None:
        return None
    said = json.loads(base64.b64decode(found[1]))
    place = said["place"] and (FileLine if "number" in said["place"] else Place)(**said["place"])
    return _KINDS[said["kind"]](said["message"], hint=said["hint"], place=place)


def of_checkpoint(text: str) -> StateError | None:
    """What is wrong with a checkpoint, where Spark says so in words that only those understand who know it well.

    >>> print(of_checkpoint("[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred"))
    the state of this checkpoint cannot be read: CANNOT_LOAD_STATE_STORE
    hint: its files are missing or damaged; restore the whole checkpoint folder, or begin anew with another one
    """
    found = _UNREADABLE.search(text)
    if found is not None:
        hint = "its files are missing or damaged; restore the whole checkpoint folder, or begin anew with another one"
        return StateError(f"the state of this checkpoint cannot be read: {found[1]}", hint=hint)
    found = _FOREIGN.search(text)
    if found is not None:
        hint = "give the checkpoint folder that this query wrote, or a new one"
        return StateError(f"this checkpoint is of another query: {found[1]}", hint=hint)
    return None


def of_machine(text: str) -> PenstockError | None:
    """What the machine lacks, room or time, where Spark says so among much else.

    >>> print(of_machine("java.io.IOException: No space left on device"))
    the disk is full: No space left on device
    hint: make room; a stream that is started again with its checkpoint goes on from there, and nothing is lost
    >>> of_machine("SparkException: Python worker failed to connect back.").message == BUSY
    True
    """
    goes_on = "a stream that is started again with its checkpoint goes on from there, and nothing is lost"
    found = _FULL.search(text)
    if found is not None:
        return PenstockError(f"the disk is full: {found[0]}", hint=f"make room; {goes_on}")
    if _BUSY in text:
        return PenstockError(BUSY, hint=f"let it have less to do; {goes_on}")
    return None


def telling(work: Callable[[Iterable[Any]], Iterator[T]]) -> Callable[[Iterable[Any]], Iterator[T]]:
    """The same work of a worker, with our errors told so that the driver can make them again."""

    @wraps(work)
    def told(batches: Iterable[Any]) -> Iterator[T]:
        try:
            yield from work(batches)
        except PenstockError as error:
            raise WorkerError(error) from None

    return told


def raise_ours() -> None:
    """From now on, Spark raises errors of ours as they are; anything else it raises as before."""
    if not isinstance(captured.convert_exception, _Converting):
        captured.convert_exception = _Converting(captured.convert_exception)  # type: ignore[assignment]


class _Converting:
    """How Spark makes Python exceptions of Java's, with ours told apart."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert

    def __call__(self, java: Any) -> Any:
        converted = self._convert(java)
        said = str(converted)
        return recovered(said) or of_machine(said) or of_checkpoint(said) or converted

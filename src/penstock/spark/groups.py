"""Which groups of definitions a checkpoint has buckets for, so that none is left behind silently.

Buckets have the names of their groups, and a micro-batch calls those of the present pattern. What the checkpoint has
under other names would not be heard of again; so one key of the state says which groups there are. Nothing here knows
Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence

import pyarrow as pa

from penstock.errors import StateError
from penstock.events.saved import pack, unpack
from penstock.spark.packing import PACKED

KEY = ""
"""The key of the state that says which groups there are; no group is called so."""
_GROUPS = "groups"
KEYED = pa.schema([pa.field("key", pa.string()), *PACKED])
"""The rows that cross Spark: what `packing.PACKED` says, and the name of the bucket."""
CALL = pa.record_batch([[KEY], [-1], [_GROUPS], [b""]], schema=KEYED)
"""What calls for that key."""


def check_groups(groups: Sequence[Sequence[str]], store: MutableMapping[str, bytes], *, restarts: bool) -> str:
    """Notes the definitions of each group, whose first one is its name, and says which are detected there no more.

    Unless ``restarts`` lets these go, that is an error.

    >>> store = {}
    >>> check_groups([["Pair", "Both"], ["Alone"]], store, restarts=False)
    ''
    >>> check_groups([["Pair", "Both"]], store, restarts=False)
    Traceback (most recent call last):
    penstock.errors.StateError: this checkpoint has runs of `Alone` that this query would leave behind
    hint: give the checkpoint of this query or a new one, or let go of these runs with changed='restart'
    """
    now = {names[0]: list(names) for names in groups}
    saved = store.get(_GROUPS)
    before: dict[str, list[str]] = {} if saved is None else unpack(_GROUPS, saved)
    pairs = [(first, name) for first, names in before.items() for name in names]
    lost = let_go([name for first, name in pairs if name not in now.get(first, ())], restarts=restarts)
    if before != now:
        store[_GROUPS] = pack(_GROUPS, now)
    return f"{lost} is gone" if lost else ""


def let_go(lost: Iterable[str], *, restarts: bool) -> str:
    """The names of definitions that are in their groups no more; an error unless ``restarts`` lets these go."""
    told = ", ".join(f"`{name}`" for name in lost)
    if told and not restarts:
        raise StateError(
            f"this checkpoint has runs of {told} that this query would leave behind",
            hint="give the checkpoint of this query or a new one, or let go of these runs with changed='restart'",
        )
    return told

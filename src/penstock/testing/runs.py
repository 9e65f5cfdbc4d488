"""What the reference keeps: the places of the input, what each run knows, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.algebra import expressions as x
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.testing.trees import Option, Tree

Reason = Literal["failed", "expired", "dropped", "replaced", "open"]


@dataclass(frozen=True)
class Place:
    """An event or a firing timer, with the composites of used definitions that it completes."""

    key: tuple[int, ...]
    symbols: tuple[Event | Composite, ...]


@dataclass(frozen=True)
class Run:
    """What a run knows: ``previous`` is the end of what it matched last, ``span`` the union of all stamps.

    ``began`` is the instant of its first move.
    """

    options: tuple[Option, ...]
    previous: int | None = None
    span: tuple[int, int] = (0, 0)
    parts: tuple[Part, ...] = ()
    timers: frozenset[tuple[Tree, int]] = frozenset()
    limits: frozenset[tuple[Tree, tuple[int, int]]] = frozenset()
    began: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Way:
    """What a move leads to: the run if it is complete, and the runs that go on."""

    complete: list[Run]
    runs: list[Run]


@dataclass(frozen=True)
class Tick:
    """A time event."""

    timer: str
    instant: int

    @property
    def lo(self) -> int:
        """The instant."""
        return self.instant

    hi = lo

    def moves(self, atom: x.Expression) -> bool:
        """Whether an atom matches the time event."""
        if not isinstance(atom, x.Atom):
            return False
        label, domain = ([one.type for one in sets] for sets in (atom.label, atom.domain))
        return self.timer in domain and self.timer not in label if atom.negated else self.timer in label


@dataclass(frozen=True)
class Incomplete:
    """A run that came to nothing: what it had matched, why it ended, and at which instant."""

    type: str
    lo: int
    hi: int
    attributes: Mapping[str, Any] = field(hash=False)
    parts: tuple[Part, ...]
    reason: Reason
    at: int

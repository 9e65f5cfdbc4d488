"""One detection from the first batch of ordered events to the last, and what it gave."""

from __future__ import annotations

from collections.abc import Callable

from penstock.detection.composites import Composites
from penstock.detection.gathering import Gathering
from penstock.detection.incomplete import IncompleteGathering
from penstock.detection.parts import PartWriter
from penstock.detection.plan import Plan
from penstock.detection.selection import Selection
from penstock.engine import memory
from penstock.engine.engine import Engine
from penstock.engine.found import Found
from penstock.engine.selection import Picked
from penstock.events.table import EventTable


class Course:
    """Detects over batches of ordered events, of which no two share an instant.

    ``example`` is a table with the attributes of all events, against which the pattern is checked. ``chosen`` takes
    from what was found that which is wanted here, if that is not all.
    """

    def __init__(self, plan: Plan, example: EventTable, chosen: Callable[[Found], Found] | None = None) -> None:
        plan.check(example)
        self._chosen = chosen
        self._wanted = plan.wanted
        self._engine = Engine(plan.pattern, plan.choice, definitions=plan.definitions)
        self._ends_runs = plan.choice.incomplete or plan.choice.age is not None
        writer = PartWriter(plan.kinds, plan.carried)
        self._composites = Gathering(self._wanted, writer)
        self._incomplete = IncompleteGathering(self._wanted, writer) if plan.choice.incomplete else None

    def feed(self, table: EventTable, until: int | None = None, picked: Picked | None = None) -> None:
        """Consume a batch; timers fire before ``until``, and otherwise up to its last event.

        ``picked`` are the rows of the types that matter, if they are known.
        """
        after = int(table.numbers("hi")[-1]) + 1 if until is None else until
        self._take(self._engine.feed(table, after, picked=picked))

    def finish(self, now: int, repeated: int = 0) -> Composites:
        """The input is over: all that was found."""
        if self._ends_runs:
            self._take(self._engine.finish(now))
        incomplete = self._incomplete.runs() if self._incomplete else None
        return Composites(self._composites.table(), repeated, dropped=dropped(self._engine), incomplete=incomplete)

    def _take(self, found: Found) -> None:
        found = self._chosen(found) if self._chosen else found
        for some in found.stretches():
            self._composites.add(Selection(some, self._wanted.attributes))
        if self._incomplete:
            self._incomplete.add(found)


def dropped(engine: Engine) -> int:
    """How many runs were dropped at a limit.

    >>> from penstock import parse
    >>> dropped(Engine(parse("[A] ; [B]")))
    0
    """
    runners = (one.runner for definition in engine.engines for one in definition.detections)
    return sum(runner.memory.live(memory.DROPPED) for runner in runners)

"""How the reference moves the runs of an instance from place to place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

from penstock.algebra import expressions as x
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.testing.meaning import Instance, Meaning
from penstock.testing.runs import Incomplete, Place, Reason, Run, Tick, Way
from penstock.testing.trees import Option, Tree, in_order
from penstock.testing.truth import Context, evaluate

Due = tuple[int, int] | None
"""Instant and rank of the timing that fires at a place, if one does."""


class Detector:
    """The runs of one instance of a definition or of a side.

    Runs are in the order in which they started. Each is kept with whether what it has matched made a composite.
    """

    def __init__(self, meaning: Meaning, instance: Instance, order: Mapping[int, int]) -> None:
        self.meaning, self.instance, self.order = meaning, instance, order
        self.runs: dict[Run, bool] = {}
        self.made: set[Composite] = set()
        self.ended: list[Incomplete] = []
        self.sides = {key: [Detector(side, instance, order) for side in sides] for key, sides in meaning.sides.items()}
        alternatives = meaning.first(meaning.tree, self.known(()))
        self.starts = [Run(in_order(options)) for options, _ in alternatives if options]

    def known(self, parts: Iterable[Part]) -> Context:
        """What conditions can read after a match of these parts."""
        labels: dict[str, list[Event | Composite]] = {}
        for part in parts:
            for label in part.labels:
                labels.setdefault(label, []).append(part.symbol)
        return Context(self.instance, labels, self.meaning.zone)

    def detect(self, places: Sequence[Place], end: int) -> Iterator[tuple[tuple[int, ...], Composite]]:
        """The instance's composites over all places, each with the place that completes it."""
        last: tuple[int, ...] = ()
        for place in [*places, Place((end + 1,), ())]:
            while due := min(self.pending(), default=None):
                key = (due[0], 1, 0, due[1])
                if key <= last:
                    key = (due[0], 1, last[2] + 1, due[1])
                if key > place.key:
                    break
                yield from ((key, composite) for composite in self.step(due[0], (), due))
                last = key
            if place.symbols:
                yield from ((place.key, composite) for composite in self.step(place.key[0], place.symbols, None))
            last = place.key
        self.let_go(end)
        for run in self.runs:
            self.end(run, "open", end)

    def pending(self) -> Iterator[tuple[int, int]]:
        """Instant and rank of each timer that is set."""
        for run in self.runs:
            yield from ((instant, self.meaning.ranks[id(tree.expression)]) for tree, instant in run.timers)
        for sides in self.sides.values():
            for side in sides:
                yield from side.pending()

    def step(self, now: int, symbols: Sequence[Event | Composite], due: Due) -> list[Composite]:
        """One place: every run moves, fails or ignores it. Returns the composites made."""
        there = {key: [side.step(now, symbols, due) for side in sides] for key, sides in self.sides.items()}
        self.let_go(now)
        kept: dict[Run, bool] = {}
        starts: list[Run] = []
        complete: dict[Run, None] = {}
        used = False
        for run in [*self.runs, *self.starts]:
            started = run.previous is not None
            moves, failed = self.meet(run, symbols, there, due)
            if used and self.uses_once(due):
                moves = []
            ways = [way for move in moves if (way := self.move(run, *move))]
            used |= bool(ways)  # what a limit does not let a run take is not used by it
            for way in ways:
                complete |= dict.fromkeys(way.complete)
                kept |= {new: kept.get(new, False) or bool(way.complete) for new in way.runs}
            if not started and (not failed or self.meaning.choices.restart):
                starts.append(run)
            elif not moves and not failed:
                kept[run] = kept.get(run, False) or self.runs[run]
            elif started and not any(way.complete or way.runs for way in ways):
                self.end(run, "failed" if failed or ways else "expired", now)
        self.runs, self.starts = kept, starts
        self.limit(now)
        return self.fresh(complete)

    # Contexts and limits

    def uses_once(self, due: Due) -> bool:
        """Whether what is here is used once. A time event belongs to its run, which uses it whatever others do."""
        return self.meaning.choices.context == "chronicle" and (
            due is None or due[1] not in self.meaning.ranks.values()
        )

    def let_go(self, now: int) -> None:
        """Ends the runs whose time was over before this instant."""
        for run in list(self.runs):
            reason, over = self.time_over(run)
            if over < now:
                self.end(run, reason, max(int(over), run.span[1]))
                del self.runs[run]

    def time_over(self, run: Run) -> tuple[Reason, float]:
        """The last instant at which a run has a way on; for one without a time bound, at which it is kept."""
        limits, age = dict(run.limits), self.meaning.choices.age
        over = max(
            min((limits[t][0] + t.expression.microseconds for t in limits if option.stays_inside(t)), default=inf)  # type: ignore[attr-defined]
            for option in run.options
        )
        if over == inf and age is not None and not run.timers:
            return "dropped", run.began + age
        return "expired", over

    def limit(self, now: int) -> None:
        """After a place, lets go of the runs that later ones replace, and of the oldest of too many."""
        if self.meaning.choices.context == "recent":
            latest = {frozenset(option.awaited for option in run.options): run for run in self.runs}
            for run in self.runs.keys() - set(latest.values()):
                self.end(run, "replaced", now)
                del self.runs[run]
        most = self.meaning.choices.runs_per_instance
        for run in list(self.runs)[: -most or None] if most is not None and len(self.runs) > most else []:
            self.end(run, "dropped", now)
            del self.runs[run]

    def end(self, run: Run, reason: Reason, at: int) -> None:
        """A run ends; if it came to nothing, this is noted."""
        if not self.runs.get(run, False):
            self.ended.append(Incomplete(self.meaning.name, *run.span, self.instance, run.parts, reason, at))

    def fresh(self, complete: Collection[Run]) -> list[Composite]:
        """The composites of complete runs that were not made before; where runs are cumulated, of all together.

        Runs that have matched the same are one, whatever they would have waited for.
        """
        made = dict.fromkeys(self.composite(run) for run in complete)
        if self.meaning.choices.context == "cumulative" and len(made) > 1:
            made = {self.composite(self.united(complete)): None}
        found = [composite for composite in made if composite not in self.made]
        self.made.update(found)
        return found

    def united(self, runs: Collection[Run]) -> Run:
        """One run that has matched what all of these have, in the order of the input."""
        whole: dict[int, Part] = {}
        for part in (part for run in runs for part in run.parts):
            place = self.order[id(part.symbol)]
            whole[place] = Part(part.symbol, part.labels | whole.get(place, part).labels)
        parts = tuple(whole[place] for place in sorted(whole))
        spans = [run.span for run in runs]
        return Run((), span=(min(lo for lo, _ in spans), max(hi for _, hi in spans)), parts=parts)

    # What a run does

    def meet(
        self, run: Run, symbols: Sequence[Any], there: Mapping[int, list[list[Composite]]], due: Due
    ) -> tuple[list[tuple[Option, dict[int, Any]]], bool]:
        """The moves that a run makes at a place, and whether it fails there."""
        meaning, known, started = self.meaning, self.known(run.parts), run.previous is not None
        for tree, instant in run.timers:
            if due == (instant, meaning.ranks[id(tree.expression)]):
                tick = Tick(tree.expression.timer, instant)  # type: ignore[attr-defined]
                inside = [option for option in run.options if option.tree.inside(tree.children[1])]
                ticked = [(option, {0: tick}) for option in inside if tick.moves(option.tree.expression)]
                return ticked, not ticked
        moves: list[tuple[Option, dict[int, Any]]] = []
        too_early = False
        for option in run.options:
            atom = option.tree.expression
            if isinstance(atom, x.Parallel):
                base = option.base if option.waiting else run.previous
                found = {side: there[id(atom)][side] for side in option.remaining}
            else:
                assert isinstance(atom, x.Atom)
                base = run.previous
                found = {0: [symbol for symbol in symbols if meaning.in_label(atom, symbol, known)]}
            strictly = option.strong and base is not None
            follow = {side: [s for s in all_ if not strictly or base < s.lo] for side, all_ in found.items()}  # type: ignore[operator]
            too_early |= follow != found
            sides = [side for side in follow if follow[side]]
            if sides:
                choices = product(*(follow[side] for side in sides))
                moves += [(option, dict(zip(sides, choice, strict=True))) for choice in choices]
        if moves or too_early:
            return moves, False
        weak = run.previous is None or not all(option.strong and not option.waiting for option in run.options)
        heard = [symbol for symbol in symbols if weak or run.previous < symbol.lo]
        fails = any(meaning.in_domain(o.tree, symbol, known, started) for o in run.options for symbol in heard)
        return [], fails

    def move(self, run: Run, option: Option, taken: Mapping[int, Any]) -> Way | None:
        """What becomes of a run that moves through an option; nothing if a limit forbids it."""
        tree = option.tree
        labels = frozenset(t.expression.label for t in tree.above if isinstance(t.expression, x.Labelled))
        parts = [*run.parts]
        for symbol in taken.values():
            if isinstance(tree.expression, x.Parallel):
                parts += [Part(part.symbol, part.labels | labels) for part in symbol.parts]
            elif not isinstance(symbol, Tick):
                parts.append(Part(symbol, labels))
        lo, hi = min(symbol.lo for symbol in taken.values()), max(symbol.hi for symbol in taken.values())
        limits = {}
        for limit in (above for above in tree.above if isinstance(above.expression, x.Within)):
            since = dict(run.limits).get(limit, (lo, hi)) if limit not in option.entered else (lo, hi)
            limits[limit] = (min(since[0], lo), hi)
            if hi - limits[limit][0] > limit.expression.microseconds:  # type: ignore[attr-defined]
                return None
        started = run.previous is not None
        fired = {symbol.timer for symbol in taken.values() if isinstance(symbol, Tick)}
        timers = frozenset(one for one in run.timers if one[0].expression.timer not in fired)  # type: ignore[attr-defined]
        moved = Run(
            (),
            previous=hi,
            span=(min(lo, run.span[0]) if started else lo, hi),
            parts=tuple(parts),
            timers=timers,
            limits=frozenset(limits.items()),
            began=run.began if started else hi,
        )
        remaining = tuple(side for side in option.remaining if side not in taken)
        if isinstance(tree.expression, x.Parallel) and remaining:
            base = option.base if option.waiting else run.previous if option.strong else None
            wait = replace(option, entered=frozenset(), remaining=remaining, base=base, waiting=True)
            return Way([], [self.timed(replace(moved, options=(wait,)), tree)])
        alternatives = self.meaning.after(tree, self.known(parts))
        return Way(
            [moved] if any(end for _, end in alternatives) else [],
            [self.timed(replace(moved, options=in_order(o)), tree) for o, _ in alternatives if o],
        )

    def timed(self, run: Run, tree: Tree) -> Run:
        """The run with the timers that it has after a move through ``tree``."""
        timers = {}
        for timing in self.meaning.timings:
            first, second = timing.children
            if any(option.tree.inside(second) for option in run.options):
                if tree.inside(first):
                    timers[timing] = self.meaning.deadline(timing.expression.spec, run.previous or 0)  # type: ignore[attr-defined]
                elif timing in dict(run.timers):
                    timers[timing] = dict(run.timers)[timing]
        return replace(run, timers=frozenset(timers.items()))

    def composite(self, run: Run) -> Composite:
        """The composite that a run completes."""
        known = self.known(run.parts)
        selected = {one.name: evaluate(one.value, known) for one in self.meaning.selected}
        return Composite(self.meaning.name, *run.span, dict(self.instance) | selected, run.parts)

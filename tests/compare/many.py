"""Many trials, by one process or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context

from penstock.algebra.expressions import Parallel
from penstock.algebra.node import walk
from penstock.testing.meaning import Using
from tests.compare.trial import Trial, compared, random_trial

CHUNK = 250


def chunks(cases: int, seed: str, jobs: int, context: Using | None) -> Iterator[tuple[list[str], Counter[str]]]:
    """For each chunk of trials the seeds of those that differ, and what was met."""
    seeds = [[f"{seed}:{n}" for n in range(first, min(first + CHUNK, cases))] for first in range(0, cases, CHUNK)]
    work = partial(_compare_all, context)
    if jobs == 1:
        yield from map(work, seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, seeds)


def _compare_all(context: Using | None, seeds: list[str]) -> tuple[list[str], Counter[str]]:
    differ: list[str] = []
    met: Counter[str] = Counter()
    for seed in seeds:
        trial = random_trial(seed, context)
        difference, wanted = compared(trial)
        met["trials"] += 1
        if difference is not None:
            differ.append(seed)
        if wanted is None:
            met["refused or too large"] += difference is None
            continue
        met[f"composites: {min(len(wanted.composites), 3)}{'+' if len(wanted.composites) > 2 else ''}"] += 1
        met[f"context: {trial.options.get('context', 'continuous')}"] += 1
        met.update(f"incomplete: {reason}" for reason in {run.reason for run in wanted.incomplete})
        met.update(f"node: {kind}" for kind in _kinds(trial))
        met["|| inside a side"] += _is_nested(trial)
    return differ, met


def _kinds(trial: Trial) -> set[str]:
    return {type(node).__name__ for item in trial.pattern.items for node in walk(item)}


def _is_nested(trial: Trial) -> bool:
    """Whether a side of a ``||`` has a ``||`` in it."""
    both = [node for item in trial.pattern.items for node in walk(item) if isinstance(node, Parallel)]
    return any(isinstance(inner, Parallel) for one in both for side in one.sides for inner in walk(side))

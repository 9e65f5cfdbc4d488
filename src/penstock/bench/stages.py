"""Where the time of a detection goes: what ``penstock.detect`` calls, what that calls, and so on."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.detection.local import detect

SMALLEST = 0.03
DEEPEST = 4

Function = tuple[str, int, str]


@dataclass(frozen=True)
class Stage:
    """A function, how deep below ``detect`` it is called, and the seconds spent in it and all that it calls."""

    name: str
    depth: int
    seconds: float


def stages(work: Callable[[], Any]) -> list[Stage]:
    """The stages that take more than a few hundredths of a work that calls ``detect``, callers before callees.

    The profiler makes Python code slower and leaves compiled code as it is.

    >>> stages(lambda: detect([], "[A]"))[0].name
    'local.detect'
    """
    profile = cProfile.Profile()
    profile.runcall(work)
    stats: dict[Function, Any] = vars(pstats.Stats(profile))["stats"]
    code = detect.__code__
    root = (code.co_filename, code.co_firstlineno, code.co_name)
    total = stats[root][3]
    return [Stage(_name(root), 0, total), *_below(stats, root, 1, total * SMALLEST)]


def _below(stats: dict[Function, Any], caller: Function, depth: int, smallest: float) -> Iterator[Stage]:
    called = [(callers[caller][3], one) for one, (*_, callers) in stats.items() if caller in callers]
    for seconds, one in sorted(called, reverse=True):
        if seconds < smallest:
            return
        yield Stage(_name(one), depth, seconds)
        # What a function takes is known for all its callers together: below, only its own share would be right.
        if depth < DEEPEST and seconds > 0.9 * stats[one][3]:
            yield from _below(stats, one, depth + 1, smallest)


def _name(function: Function) -> str:
    path, _, name = function
    return name if path == "~" else f"{Path(path).stem}.{name}"

"""Compares the engine with the reference on as many random patterns and traces as one likes.

``python -m tests.compare --cases 200000 --seed 1 --jobs 2`` prints how far it is and what it has met, and stops at
the first difference (or after ``--differences N``), which it makes small and prints as a golden case. ``--trial SEED``
looks at one trial again. A seed that begins with ``plain`` draws longer traces and patterns that ask nothing of runs.
`trial.engine_outcome` is all that knows how the engine is asked.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from penstock.testing.meaning import USING
from tests.compare.case import case_of
from tests.compare.many import chunks
from tests.compare.shrink import shrunk
from tests.compare.trial import Trial, compared, random_trial


def main() -> int:
    """The command; its exit status is 1 if there is a difference."""
    asked = _arguments()
    if asked.trial:
        return _tell(asked.trial, random_trial(asked.trial, asked.context))
    met: Counter[str] = Counter()
    start = shown = time.monotonic()
    for seeds, counted in chunks(asked.cases, asked.seed, asked.jobs, asked.context):
        met += counted
        for seed in seeds:
            met["differences"] += _tell(seed, random_trial(seed, asked.context))
            if met["differences"] == asked.differences:
                return 1
        if time.monotonic() - shown > asked.every:
            shown = time.monotonic()
            _progress(met, asked.cases, shown - start)
    _progress(met, asked.cases, time.monotonic() - start)
    _summarize(met)
    return int(met["differences"] > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.compare", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--context", choices=USING)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--differences", type=int, default=1, help="stop after so many")
    parser.add_argument("--every", type=float, default=10, help="seconds between lines of progress")
    parser.add_argument("--trial", help="the seed of one trial, as it was printed")
    return parser.parse_args()


def _progress(met: Counter[str], cases: int, seconds: float) -> None:
    rate, differences = met["trials"] / max(seconds, 0.001), met["differences"]
    text = f"{met['trials']:,} of {cases:,}, {differences} differences, {rate:,.0f} a second"
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _summarize(met: Counter[str]) -> None:
    for name, number in sorted(met.items()):
        print(f"{number:>10,}  {name}")  # noqa: T201


def _tell(seed: str, trial: Trial) -> int:
    if compared(trial)[0] is None:
        print(f"trial {seed}: no difference")  # noqa: T201
        return 0
    print(f"trial {seed} differs; making it smaller", file=sys.stderr, flush=True)  # noqa: T201
    small = shrunk(trial, lambda one: compared(one)[0] is not None)
    print(case_of(small, f"trial {seed}"), end="\n\n", flush=True)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main())

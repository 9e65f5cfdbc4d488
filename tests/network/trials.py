"""Many histories of simulated networks: ``python -m tests.network.trials --cases 1000 --seed 1 --jobs 2``."""

from __future__ import annotations

import argparse
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from penstock.errors import PenstockError
from tests.network.simulation import run


def trial(seed: int, steps: int) -> tuple[int, int, int, str]:
    """One history: its seed, how many events and composites there were, and what was wrong."""
    try:
        world = run(seed, steps)
    except (AssertionError, PenstockError, LookupError, ValueError):
        return seed, 0, 0, traceback.format_exc(limit=-3)
    return seed, len(world.events), sum(len(one.events) for one in world.readers.values()), ""


def main() -> int:
    """Runs the cases that are asked for; the status says whether all were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=240)
    asked = parser.parse_args()
    wrong, events, composites = 0, 0, 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        seeds = range(asked.seed, asked.seed + asked.cases)
        for seed, met, heard, error in pool.map(partial(trial, steps=asked.steps), seeds, chunksize=4):
            events, composites = events + met, composites + heard
            if error:
                wrong += 1
                sys.stdout.write(f"seed {seed}:\n{error}\n")
    sys.stdout.write(f"{asked.cases} histories, {events} events, {composites} composites heard, {wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

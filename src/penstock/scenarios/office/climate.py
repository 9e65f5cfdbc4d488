"""How warm the rooms are: heating that fails now and then, and is repaired."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

HEATED, UNHEATED = 20.5, 9.0
FAILS, IS_REPAIRED = 0.003, 0.04
"""How likely that is from one reading to the next."""
DRIFT, NOISE = 0.06, 0.12


def temperatures(readings: int, random: Generator) -> NDArray[np.float64]:
    """What a thermometer reads in a room, in degrees Celsius, with one decimal.

    >>> room = temperatures(5000, np.random.default_rng(1))
    >>> bool(room.min() < 15), bool(room.max() < 25)
    (True, True)
    """
    now, heated = HEATED + random.normal(0, 0.5), True
    found = np.empty(readings)
    for reading in range(readings):
        heated = bool(random.random() >= (FAILS if heated else 1 - IS_REPAIRED))
        now += ((HEATED if heated else UNHEATED) - now) * DRIFT + random.normal(0, NOISE)
        found[reading] = now
    return found.round(1)

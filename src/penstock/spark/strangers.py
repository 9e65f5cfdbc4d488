"""What a bucket found of instances that belong to another bucket, left out.

An event that several buckets need may begin an instance in a bucket that does not get the instance's other events. What
is found there may be wrong, and is found where it belongs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from penstock.engine.composed import Composed
from penstock.engine.found import Found, FoundDefinition
from penstock.engine.texts import Values
from penstock.spark.keys import Ints, buckets_of_values
from penstock.spark.split import Target


@dataclass(frozen=True)
class Own:
    """Takes what belongs to one bucket; ``keys`` are the parameters that each definition is split by."""

    keys: Mapping[str, Target]
    bucket: int
    buckets: int

    def __call__(self, found: Found) -> Found:
        """The same without strangers."""
        return replace(found, definitions=tuple(self._own(found, one) for one in found.definitions))

    def _own(self, found: Found, one: FoundDefinition) -> FoundDefinition:
        ended = []
        for run in one.incomplete:
            rows = self._rows(found, one, run.matched)
            ended.append(replace(run, matched=run.matched.take(rows), at=run.at[rows], reason=run.reason[rows]))
        composites = one.composites.take(self._rows(found, one, one.composites))
        return replace(one, made=(composites,), incomplete=tuple(ended))

    def _rows(self, found: Found, one: FoundDefinition, composites: Composed) -> Ints:
        places = [one.attributes.index(name) for name in self.keys[one.name]]
        values = [Values(composites.kinds[:, place], composites.bits[:, place], found.texts) for place in places]
        return np.flatnonzero(buckets_of_values(values, self.buckets) == self.bucket)

"""The detector that a record of the directory describes, and what its host must do for exact results.

Whoever hosts a detector reads the streams that its record names (`directory.Detector.sources`), each from a position
that it remembers, and publishes composites first, then how far the detector has come (its ``frontier``). Whatever
fails, results are exact if

- a *stream* is what one source or one detector has published, in that order, and what was read before is left out;
- the *state* that is saved has the detector and all positions, so that a detector that moves or comes back goes on
  exactly there, from what the brokers have kept;
- composites are published before a state says that they were found. A detector that comes back from an older state
  publishes some again, with the same ids. Whoever hears it knows them: they end no later than what the detector had
  promised before, or are held with the same source and id. Subscribers remember ids.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.detection.detector import Detector as Detecting
from penstock.network.directory import Detector
from penstock.network.shape import division_of


def detecting(record: Detector, clock: Callable[[], int]) -> Detecting:
    """The detector that a record describes, at its beginning.

    >>> one = Detector("d", "[A] ; [B]", ("composite",), "n")
    >>> detecting(one, lambda: 0).frontier is None
    True
    """
    options = record.options
    return Detecting(
        record.pattern,
        policy=options.policy,
        sources=record.sources,
        context=options.context,
        restart=options.restart,
        zone=options.zone,
        carry=options.carry if options.carry in ("all", "none") else options.carry.split(","),
        only=record.gives,
        clock=clock,
        division=division_of(record),
    )

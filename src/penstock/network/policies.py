"""Distribution policies: what is divided, what is shared, where detectors run. They are data over three dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.errors import PatternError, nearest

Decomposing = Literal["none", "reuse", "maximum"]
Reuse = Literal["locality", "redundant", "maximum"]
Locality = Literal["subscribers", "publishers", "load", "hash"]


@dataclass(frozen=True)
class DistributionPolicy:
    """How the detectors of a subscription are distributed.

    Attributes:
        decomposition: Which parts get detectors of their own: ``none``, those that others need too (``reuse``), or all
            that may (``maximum``).
        reuse: Whether a detector is shared by subscribers of one site only (``locality``), by all (``maximum``), or
            runs twice at least (``redundant``).
        locality: Whether detectors run near ``subscribers``, near ``publishers``, where there is least ``load``, or
            where a ``hash`` of their name says.
    """

    name: str
    decomposition: Decomposing
    reuse: Reuse
    locality: Locality


POLICIES: Mapping[str, DistributionPolicy] = {
    one.name: one
    for one in (
        DistributionPolicy("hash", "reuse", "maximum", "hash"),
        DistributionPolicy("minimum_bandwidth", "reuse", "maximum", "publishers"),
        DistributionPolicy("minimum_latency", "none", "locality", "subscribers"),
    )
}
"""The policies that a subscription may name."""


def policy_of(name: str) -> DistributionPolicy:
    """The policy of a name; spaces and dashes stand for underscores.

    >>> policy_of("minimum latency").locality
    'subscribers'
    >>> policy_of("minimum_latancy")
    Traceback (most recent call last):
    penstock.errors.PatternError: there is no distribution policy 'minimum_latancy'
    hint: did you mean `minimum_latency`? there are hash, minimum_bandwidth, minimum_latency
    """
    key = name.strip().lower().replace(" ", "_").replace("-", "_")
    if key not in POLICIES:
        close, listed = nearest(key, POLICIES), f"there are {', '.join(POLICIES)}"
        hint = f"did you mean `{close}`? {listed}" if close else listed
        raise PatternError(f"there is no distribution policy {name!r}", hint=hint)
    return POLICIES[key]

"""Subscribe to patterns, not to events."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.errors import (
    BrokerError,
    DataError,
    ParseError,
    PatternError,
    PenstockError,
    StateError,
)

if TYPE_CHECKING:
    from penstock.checks.check import parse
    from penstock.detection.composites import Composites
    from penstock.detection.detector import Detector
    from penstock.detection.limits import Limits
    from penstock.detection.local import detect
    from penstock.ordering.policies import best_effort, delay, guaranteed, probabilistic

_LAZY = {
    "Composites": "penstock.detection.composites",
    "Detector": "penstock.detection.detector",
    "Limits": "penstock.detection.limits",
    "best_effort": "penstock.ordering.policies",
    "delay": "penstock.ordering.policies",
    "detect": "penstock.detection.local",
    "guaranteed": "penstock.ordering.policies",
    "parse": "penstock.checks.check",
    "probabilistic": "penstock.ordering.policies",
}
"""Public names that are loaded when first used, so that `import penstock` takes milliseconds."""

__all__ = [
    "BrokerError",
    "Composites",
    "DataError",
    "Detector",
    "Limits",
    "ParseError",
    "PatternError",
    "PenstockError",
    "StateError",
    "best_effort",
    "delay",
    "detect",
    "guaranteed",
    "parse",
    "probabilistic",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

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
    from penstock.detection.limits import Limits
    from penstock.detection.local import detect

_LAZY = {
    "Composites": "penstock.detection.composites",
    "Limits": "penstock.detection.limits",
    "detect": "penstock.detection.local",
    "parse": "penstock.checks.check",
}
"""Public names that are loaded when first used, so that `import penstock` takes milliseconds."""

__all__ = [
    "BrokerError",
    "Composites",
    "DataError",
    "Limits",
    "ParseError",
    "PatternError",
    "PenstockError",
    "StateError",
    "detect",
    "parse",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)

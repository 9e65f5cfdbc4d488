"""The engine finds what the reference finds, whatever the pattern, the trace, the options and the batches."""

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from penstock.algebra.pattern import Pattern
from penstock.events.event import Event
from penstock.testing.strategies import choices, meaningful_patterns, traces
from tests.compare.case import case_of
from tests.compare.trial import Trial, compared, supported


@settings(max_examples=6 * settings.default.max_examples)
@given(
    pattern=meaningful_patterns(),
    trace=traces(),
    options=choices(),
    cuts=st.lists(st.integers(0, 7), max_size=3),
)
def test_the_engine_finds_what_the_reference_finds(
    pattern: Pattern, trace: list[Event], options: dict[str, Any], cuts: list[int]
) -> None:
    trial = Trial(pattern, tuple(trace), supported(options), tuple(cuts))
    difference, wanted = compared(trial)
    event("refused" if wanted is None else f"composites: {min(len(wanted.composites), 3)}")
    assert difference is None, case_of(trial, "they differ")

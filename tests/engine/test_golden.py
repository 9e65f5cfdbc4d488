"""Every golden case, on the engine: in one batch, and event by event."""

from functools import partial
from pathlib import Path

import pytest

from penstock.errors import DataError
from penstock.testing.golden import Case, read_cases, run
from tests.engine.conftest import SUPPORTED, engine_detect, engine_incomplete, table_of

GOLDEN = Path(__file__).parent.parent / "golden"


def can_be_read(case: Case) -> bool:
    """Some cases mix kinds under one name, which a table of events cannot."""
    try:
        return len(table_of(case.trace.events)) >= 0
    except DataError:
        return False


ALL = [case for path in sorted(GOLDEN.glob("*.txt")) for case in read_cases(path)]
CASES = [case for case in ALL if case.error is None and case.needs <= SUPPORTED and can_be_read(case)]


@pytest.mark.parametrize("cuts", [(), range(100)], ids=["one batch", "event by event"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.where)
def test_the_engine_does_what_the_case_says(case: Case, cuts: tuple[int, ...]) -> None:
    assert run(case, partial(engine_detect, cuts=cuts), partial(engine_incomplete, cuts=cuts)) == [], (
        f"{case.title}\n{case.pattern}"
    )

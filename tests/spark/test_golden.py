"""Every golden case by the work of Spark's workers: read by two tasks, in three buckets."""

from random import Random

import pytest

from penstock import Limits, parse
from penstock.testing.golden import Case
from tests.engine.conftest import rows
from tests.engine.test_golden import CASES
from tests.spark.test_work import same_as_local


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.where)
def test_workers_do_what_one_process_does(case: Case) -> None:
    limits = Limits(runs_per_instance=case.more.get("runs_per_instance"), age=case.more.get("age"))
    same_as_local(
        parse(case.pattern),
        rows(case.trace.events),
        Random(7),  # noqa: S311
        3,
        restart=case.restart,
        until=case.until,
        zone=case.zone,
        context=case.more.get("context", "continuous"),
        limits=limits,
        incomplete=case.incomplete is not None,
    )

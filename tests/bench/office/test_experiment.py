"""The experiment: both ways tell every subscriber what is in the events, and the report says what they cost."""

from importlib.util import find_spec
from xml.etree import ElementTree

import pytest

from penstock.bench.office.namespaces import missing
from penstock.bench.office.report import Comparison, Experiment, delay_words, markdown, rows
from penstock.bench.office.running import Air, Outcome, run
from penstock.bench.office.setting import Setting, expected
from penstock.errors import PenstockError

WHY_NOT = missing() or ("there is no NATS client" if find_spec("nats") is None else None)


def outcome(way: str, wireless: int, wired: int, ids: tuple[str, ...] = ("1",), count: int = 6) -> Outcome:
    return Outcome(Setting(subscribers=count, way=way), wireless, wired, 100, ids, (0.01, 0.02, 0.2))


def experiment() -> Experiment:
    comparison = Comparison(outcome("network", 100, 1800), outcome("own", 5000, 4900))
    return Experiment("penstock bench office", "a machine", Air(), (comparison,))


@pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
@pytest.mark.parametrize("way", ["network", "own"])
def test_every_subscriber_is_told_what_is_in_the_events(way: str) -> None:
    setting = Setting(seed=7, hours=1.5, speed=3600, subscribers=2, way=way)
    found = run(setting, Air())
    wanted = expected(setting.day())
    assert found.composites == tuple(sorted(wanted.table["id"].to_pylist()))
    assert len(found.delays) == 2 * len(wanted) > 0
    assert min(found.delays) > Air().delay
    assert min(found.wireless, found.wired, found.inside) > 0


def test_ways_that_differ_are_no_comparison() -> None:
    with pytest.raises(PenstockError, match="different composites"):
        Comparison(outcome("network", 1, 1), outcome("own", 1, 1, ids=("2",)))


def test_the_report_says_shares_and_delays() -> None:
    [row] = rows(experiment())
    assert row == ("6", "5", "0", "2.0%", "10", "2", "20.0%")
    assert "p50 20 ms, p99 196 ms, longest 200 ms, of 3 notifications" in delay_words(experiment())
    page = markdown(experiment(), ["plots/office-data.svg"])
    assert "| 6 | 5 | 0 | 2.0% | 10 | 2 | 20.0% |" in page
    assert "![The amount of data sent](plots/office-data.svg)" in page


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_both_figures_are_drawn(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from penstock.bench.office.plots import write_plots

    for name in write_plots(experiment(), tmp_path):
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")  # noqa: S314 (it is ours)

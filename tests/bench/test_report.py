"""Tables and pages say what was measured, and different matches are never passed over."""

from typing import Any

from penstock.bench.report import markdown, sections
from penstock.bench.results import Measurement, Results
from penstock.bench.speed import differences
from penstock.bench.streams import Stream

STREAM = Stream("main", 1_000_000, 100)


def measured(way: str, seconds: float, found: int = 5, checksum: str | None = "9", **more: Any) -> Measurement:
    return Measurement("speed", STREAM, "Q1", way, seconds, found=found, checksum=checksum, **more)


def test_rates_and_ratios() -> None:
    results = Results("penstock bench engine", (measured("penstock", 0.5), measured("polars", 2.0)))
    _, rates, ratios = sections(results)
    assert rates.rows == (("main", "Q1", "5", "2.00", "0.50"),)
    assert (ratios.columns, ratios.rows) == (("stream", "query", "polars"), (("main", "Q1", "4.00"),))


def test_a_way_that_was_left_out_of_a_query_has_an_empty_cell() -> None:
    other = Measurement("speed", STREAM, "Q6", "penstock", 1.0, found=1)
    results = Results("", (measured("penstock", 0.5), measured("flink", 2.0), other))
    _, rates, ratios = sections(results)
    assert [row[-1] for row in rates.rows] == ["0.50", ""]
    assert [row[-1] for row in ratios.rows] == ["4.00", ""]


def test_the_page_has_command_notes_and_plots() -> None:
    page = markdown(Results("penstock bench engine --rounds 1", (), ("something was left out",)), ["plots/a.svg"])
    assert "\npenstock bench engine --rounds 1\n" in page
    assert "- something was left out\n" in page
    assert "(plots/a.svg)" in page


def test_stages_are_indented_by_depth() -> None:
    stage = Measurement("stages", STREAM, "Q1", "penstock", 1.0, more={"function": "order.ordered", "depth": 1})
    (section,) = sections(Results("", (stage,)))
    assert section.rows == (("· `order.ordered`", "1,000", "100"),)


def test_equal_matches_make_no_difference() -> None:
    assert differences([measured("penstock", 1), measured("polars", 1), measured("engine", 1, checksum=None)]) == []


def test_another_checksum_or_count_is_a_difference() -> None:
    (said,) = differences([measured("penstock", 1), measured("polars", 1, checksum="8")])
    assert "main, 1 M events, 100 keys, Q1" in said
    assert len(differences([measured("penstock", 1), measured("engine", 1, found=4, checksum=None)])) == 1


def test_sources_are_compared_with_each_other() -> None:
    assert len(differences([measured("penstock", 1), measured("penstock", 1, checksum="8", source="csv")])) == 1

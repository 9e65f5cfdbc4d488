"""The measurement of a node works, whatever it measures."""

from penstock.bench.nodes import measure


def test_a_node_takes_in_what_is_published_and_tells_what_it_finds() -> None:
    throughput, delay = measure(events=4000, together=100, notifications=10)
    assert (throughput.events, throughput.found) == (4000, 20)
    assert throughput.per_core_second > 0
    assert 0 < delay.p50 <= delay.p90 <= delay.p99

"""Plans: the same everywhere, nothing twice, nothing for nobody, and what runs stays where it is."""

from dataclasses import replace

import pytest

from penstock.network.directory import (
    Directory,
    Hints,
    Link,
    Node,
    Options,
    Rates,
    Site,
    Source,
    Subscription,
)
from penstock.network.placement import distances
from penstock.network.plan import Move, Plan
from penstock.network.planner import plan

PAIR = "[Open(door = $d)] ; [Close(door = $d)]"
OTHER_PAIR = "[Open($k = door)] ; [Close(door = $k)]"
LONGER = f"{PAIR} ; [Alarm]"


def network(*subscriptions: Subscription) -> Directory:
    """An office with doors, a gateway, and a slow wireless link to clients."""
    return Directory().put(
        *(Site("office"), Site("gateway"), Site("wireless")),
        Link("office", "gateway", latency=100, rate=10_000_000),
        Link("gateway", "wireless", latency=5_000, rate=50_000),
        *(Node("n-office", "office"), Node("n-gateway", "gateway"), Node("n-wireless", "wireless")),
        Source("doors", "office", ("Open", "Close")),
        Rates("doors", {"Open": 10.0, "Close": 10.0}),
        Source("alarms", "gateway", ("Alarm",)),
        *subscriptions,
    )


def followed(directory: Directory, found: Plan) -> Directory:
    return replace(directory, detectors=found.detectors)


def wants(name: str, pattern: str = PAIR, policy: str = "minimum_bandwidth", **more: object) -> Subscription:
    return Subscription(name, pattern, "wireless", policy=policy, **more)  # type: ignore[arg-type]


def test_a_plan_does_not_depend_on_the_order_in_which_things_became_known() -> None:
    one = network(wants("a"), wants("b", LONGER))
    other = Directory().put(*reversed([row for table in one.__dict__.values() for row in table.values()]))
    assert plan(one) == plan(other)


def test_a_plan_that_is_followed_is_followed_already() -> None:
    directory = network(wants("a"), wants("b", LONGER), wants("c", policy="minimum_latency"))
    found = plan(directory)
    again = plan(followed(directory, found))
    assert again.detectors == found.detectors
    assert again.started + again.moved + again.stopped == ()


def test_near_publishers_what_is_heard_stays_at_its_site() -> None:
    [detector] = plan(network(wants("a"))).detectors.values()
    assert detector.node == "n-office"


def test_a_source_that_no_node_can_reach_does_not_decide() -> None:
    silent = Source("cellar", "cellar", ("Open",))
    [detector] = plan(network(wants("a")).put(Site("cellar"), silent)).detectors.values()
    assert detector.sources == ("cellar", "doors")
    assert detector.node == "n-office"


def test_near_subscribers_a_detector_runs_at_the_subscriber() -> None:
    [detector] = plan(network(wants("a", policy="minimum_latency"))).detectors.values()
    assert detector.node == "n-wireless"


def test_a_site_without_a_node_is_served_by_the_nearest() -> None:
    directory = network(wants("a", policy="minimum_latency"))
    [detector] = plan(directory.without(Node("n-wireless", "wireless"))).detectors.values()
    assert detector.node == "n-gateway"


def test_by_hash_a_node_that_goes_moves_only_what_it_had() -> None:
    directory = network(*(wants(f"s{n}", f"[Open(door = '{n}')] ; [Close]", "hash") for n in range(12)))
    before = {one.name: one.node for one in plan(directory).detectors.values()}
    gone = directory.put(Node("n-gateway", "gateway", alive=False))
    after = {one.name: one.node for one in plan(gone).detectors.values()}
    assert len(set(before.values())) > 1
    assert all(after[name] == node for name, node in before.items() if node != "n-gateway")


def test_equal_patterns_are_detected_once() -> None:
    found = plan(network(wants("a"), wants("b", OTHER_PAIR)))
    [detector] = found.detectors.values()
    assert detector.users == ("a", "b")
    assert detector.references == 2
    assert [found.listening[name].definitions[detector.gives[0]].attributes for name in "ab"] == [
        {"p1": "d"},
        {"p1": "k"},
    ]


def test_for_reuse_only_a_part_is_factored_out_that_others_need_too() -> None:
    assert len(plan(network(wants("a", LONGER))).detectors) == 1
    found = plan(network(wants("a", LONGER), wants("b")))
    whole, part = (found.detectors[found.listening[name].detectors[0]] for name in "ab")
    assert [one.detector for one in whole.parts] == [part.name]
    assert part.users == tuple(sorted(["b", whole.name]))
    assert [one.type for one in whole.events] == ["Alarm"]


def test_a_named_type_that_others_need_too_is_detected_once() -> None:
    found = plan(network(wants("a", f"Pair := {PAIR}\n[Pair] ; [Alarm]", only=("composite",)), wants("b")))
    assert len(found.detectors) == 2


def test_with_other_options_nothing_is_shared() -> None:
    found = plan(network(wants("a"), wants("b", options=Options(context="chronicle"))))
    assert len(found.detectors) == 2


def test_without_decomposition_each_site_has_its_own() -> None:
    at = [Subscription(f"s{n}", PAIR, site, policy="minimum_latency") for n, site in enumerate(["office", "wireless"])]
    again = Subscription("s2", LONGER, "wireless", policy="minimum_latency")
    more = Subscription("s3", OTHER_PAIR, "wireless", policy="minimum_latency")
    found = plan(network(*at, again, more))
    assert sorted((one.node, one.users) for one in found.detectors.values()) == [
        ("n-office", ("s0",)),
        ("n-wireless", ("s1", "s3")),
        ("n-wireless", ("s2",)),
    ]
    assert not any(one.parts for one in found.detectors.values())


def test_what_nobody_needs_any_more_is_stopped() -> None:
    directory = network(wants("a"), wants("b"))
    directory = followed(directory, plan(directory))
    one = plan(directory.without(wants("a")))
    assert not one.stopped
    none = plan(followed(directory, one).without(wants("a"), wants("b")))
    assert none.stopped == tuple(one.detectors)


def test_what_runs_stays_though_a_better_place_has_come() -> None:
    directory = network(wants("a")).without(Node("n-office", "office"))
    found = plan(directory)
    assert [one.node for one in found.detectors.values()] == ["n-gateway"]
    again = plan(followed(directory, found).put(Node("n-office", "office")))
    assert again.detectors == found.detectors


def test_what_ran_at_a_node_that_is_gone_moves() -> None:
    directory = network(wants("a"))
    found = plan(directory)
    [name] = found.detectors
    gone = followed(directory, found).put(Node("n-office", "office", alive=False))
    assert plan(gone).moved == (Move(name, "n-office", "n-gateway", alive=False),)


def test_another_policy_moves_what_runs_and_changes_nothing_else() -> None:
    directory = network(wants("a", LONGER), wants("b"))
    found = plan(directory)
    changed = followed(directory, found).put(
        wants("a", LONGER, policy="minimum_latency"), wants("b", policy="minimum_latency")
    )
    again = plan(changed)
    assert sorted(again.detectors) == sorted(found.detectors)
    assert {move.after for move in again.moved} == {"n-wireless"}
    assert all(move.alive for move in again.moved)


def test_a_detector_that_runs_keeps_its_shape_when_a_part_of_it_is_wanted() -> None:
    directory = network(wants("a", LONGER))
    found = plan(directory)
    again = plan(followed(directory, found).put(wants("b")))
    assert all(again.detectors[name] == one for name, one in found.detectors.items())
    assert len(again.started) == 1


def test_a_new_subscription_uses_a_part_that_runs() -> None:
    directory = network(wants("b"))
    found = plan(directory)
    again = plan(followed(directory, found).put(wants("a", LONGER)))
    [name] = found.detectors
    [started] = again.started
    assert [one.detector for one in again.detectors[started].parts] == [name]
    assert again.detectors[name].node == found.detectors[name].node


@pytest.mark.parametrize("hint", [PAIR, "[Open(door = $x)] ; [Close($x = door)]"])
def test_a_part_that_shall_never_be_factored_out_is_not(hint: str) -> None:
    found = plan(network(wants("a", LONGER, hints=Hints(never=(hint,))), wants("b")))
    whole = found.detectors[found.listening["a"].detectors[0]]
    assert not whole.parts


def test_definitions_that_shall_stay_together_have_one_detector() -> None:
    text = f"Pair := {PAIR}\nLong := [Pair] ; [Alarm]"
    assert len(plan(network(wants("a", text))).detectors) == 2
    together = plan(network(wants("a", text, hints=Hints(together=(("Pair", "Long"),)))))
    assert [len(one.gives) for one in together.detectors.values()] == [2]


def test_new_sources_are_heard_by_what_runs() -> None:
    directory = network(wants("a"))
    directory = followed(directory, plan(directory)).put(Source("more", "gateway", ("Open",)))
    [detector] = plan(directory).detectors.values()
    assert detector.sources == ("doors", "more")


def test_filters_that_lose_nothing_go_with_what_is_heard() -> None:
    found = plan(network(wants("a", "[Open(floor = 1 AND door = $d)] ; [Close(door = $d AND floor = 2)]")))
    [detector] = found.detectors.values()
    assert {one.type: one.filter for one in detector.events} == {"Open": "floor = 1", "Close": "floor = 2"}


@pytest.mark.parametrize(
    ("subscription", "why"),
    [
        (wants("a", "[Open(door = "), "line 1"),
        (wants("a", policy="fast"), "there is no distribution policy"),
        (wants("a", options=Options(policy="sometimes")), "sometimes"),
        (wants("a", options=Options(context="chronical")), "did you mean"),
        (wants("a", only=("Nothing",)), "Nothing"),
    ],
)
def test_what_cannot_be_detected_is_refused_with_the_reason(subscription: Subscription, why: str) -> None:
    found = plan(network(subscription, wants("b")))
    assert why in found.refused["a"]
    assert list(found.listening) == ["b"]


def test_without_a_node_nothing_can_be_detected() -> None:
    directory = Directory().put(Site("office"), Subscription("a", PAIR, "office"))
    assert "no node" in plan(directory).refused["a"]


def test_parts_that_were_not_factored_out_say_why() -> None:
    found = plan(network(wants("a", "[Open]+ ; [Close]")))
    assert "may go on" in found.reasons["a"][0]


def test_the_shortest_way_counts() -> None:
    directory = Directory().put(Link("a", "b", 5), Link("b", "c", 5), Link("a", "c", 20))
    assert distances(directory, "a", lambda link: link.latency)["c"] == 10


@pytest.mark.parametrize(("busy", "node"), [("doors", "n-office"), ("alarms", "n-gateway")])
def test_near_publishers_measured_rates_decide(busy: str, node: str) -> None:
    measured = Rates(busy, {"Open": 50.0, "Close": 50.0, "Alarm": 500.0})
    quiet = Rates("doors" if busy == "alarms" else "alarms", {"Open": 0.1, "Close": 0.1, "Alarm": 0.1})
    [detector] = plan(network(wants("a", LONGER)).put(measured, quiet)).detectors.values()
    assert detector.node == node


def test_near_publishers_what_a_detector_was_measured_to_give_counts_too() -> None:
    [detector] = plan(network(wants("a"))).detectors.values()
    flood = Rates(detector.source, dict.fromkeys(detector.gives, 1000.0))
    [placed] = plan(network(wants("a")).put(flood)).detectors.values()
    assert (detector.node, placed.node) == ("n-office", "n-wireless")


def test_near_publishers_a_detector_moves_if_what_was_measured_makes_it_worth_while() -> None:
    directory = network(wants("a", LONGER))
    directory = followed(directory, plan(directory))
    [detector] = directory.detectors.values()
    directory = directory.put(Rates(detector.source, dict.fromkeys(detector.gives, 0.0)))
    measured = directory.put(Rates("doors", {"Open": 0.1, "Close": 0.1}), Rates("alarms", {"Alarm": 500.0}))
    [move] = plan(measured).moved
    assert (move.before, move.after) == ("n-office", "n-gateway")
    again = plan(followed(measured, plan(measured)))
    assert again.moved == ()
    slightly = directory.put(Rates("doors", {"Open": 10.0, "Close": 10.0}), Rates("alarms", {"Alarm": 25.0}))
    assert plan(slightly).moved == ()


def test_near_publishers_many_subscribers_do_not_draw_a_detector_away_before_anything_was_measured() -> None:
    many = [wants(f"s{number:02}") for number in range(20)]
    [detector] = plan(network(*many)).detectors.values()
    assert detector.node == "n-office"

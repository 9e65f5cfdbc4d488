"""A plan without decomposition: each pattern is detected as a whole, at a node that follows from a hash of its name."""

from __future__ import annotations

import hashlib

from penstock.algebra.names import primitive_types, uses_any_type, without_lets
from penstock.checks.check import parse
from penstock.errors import PenstockError
from penstock.network.directory import Detector, Directory, EventInput, Subscription
from penstock.network.plan import Listening, Names, Plan


def plan(directory: Directory) -> Plan:
    """The plan for a directory."""
    alive = sorted(node.name for node in directory.nodes.values() if node.alive)
    detectors: dict[str, Detector] = {}
    listening: dict[str, Listening] = {}
    refused: dict[str, str] = {}
    for subscription in directory.subscriptions.values():
        try:
            detector = _detector(subscription, directory)
        except PenstockError as error:
            refused[subscription.name] = str(error)
            continue
        if not alive:
            continue
        known = directory.detectors.get(detector.name)
        users = detectors[detector.name].users if detector.name in detectors else ()
        node = known.node if known and known.node in alive else alive[int(detector.name[:8], 16) % len(alive)]
        made = {**detector.__dict__, "node": node, "users": (*users, subscription.name)}
        detectors[detector.name] = Detector(**made)
        names = {name: Names(name) for name in detector.gives}
        listening[subscription.name] = Listening(subscription.name, (detector.name,), detector.gives, names)
    return Plan(detectors, listening, refused=refused)


def _detector(subscription: Subscription, directory: Directory) -> Detector:
    pattern = parse(subscription.pattern)
    gives = subscription.only or tuple(one.name for one in pattern.definitions)
    wild = any(uses_any_type(one) for one in without_lets(pattern).definitions)
    types = sorted(primitive_types(pattern)) if not wild else ["*"]
    name = hashlib.sha256(f"{subscription.pattern} {subscription.options} {gives}".encode()).hexdigest()[:16]
    sources = {type: tuple(sorted(directory.sources)) if type == "*" else directory.publishers(type) for type in types}
    events = tuple(EventInput(type, sources[type]) for type in types)
    return Detector(name, subscription.pattern, gives, "", subscription.options, events=events)

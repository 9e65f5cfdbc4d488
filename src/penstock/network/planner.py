"""From what is known of a network to a plan: the same on every node that knows the same.

A subscription's pattern is put under shared names, divided as its policy says, and each of its units becomes a
detector, unless the same is detected already. What runs keeps its shape as long as somebody needs it, and its place
while its node is alive, its policy has not changed and no rates were measured that speak for another; so a plan depends
on what ran before, and following it twice changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from penstock.algebra.names import used_types
from penstock.checks.check import parse
from penstock.detection.plan import plan_of
from penstock.engine.engine import Engine
from penstock.errors import PenstockError
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_pattern
from penstock.network.decomposition import Decomposition, Part, Unit, decompose, units
from penstock.network.directory import Detector, Directory, Options, PartInput, Subscription
from penstock.network.normal import Normal, normal, shared_name, with_shared_parts
from penstock.network.placement import Placement
from penstock.network.plan import Listening, Move, Plan
from penstock.network.policies import DistributionPolicy, policy_of
from penstock.network.records import to_json
from penstock.network.shape import events_of, own_of, pattern_of
from penstock.ordering.policies import parse_policy

DIGITS = 6


@dataclass(frozen=True)
class Wish:
    """A subscription understood: its pattern under shared names, what of it is wanted, and what may be divided."""

    subscription: Subscription
    policy: DistributionPolicy
    normal: Normal
    heard: tuple[str, ...]
    never: frozenset[str] = frozenset()

    @cached_property
    def inside(self) -> dict[str, set[str]]:
        """For each definition the shared names of all that it uses, and of the parts that may be factored out."""
        candidates: dict[str, set[str]] = {}
        context = self.subscription.options.context

        def note(part: Part) -> bool:
            candidates.setdefault(part.inside, set()).add(shared_name(part.definition, context))
            return False

        decompose(self.normal.pattern, context, note)
        found: dict[str, set[str]] = {}
        for one in self.normal.pattern.definitions:
            used = used_types(one) & found.keys()
            found[one.name] = {one.name, *candidates.get(one.name, ())}.union(*(found[name] for name in used))
        return found


def plan(directory: Directory) -> Plan:
    """Which detectors there shall be, where, what they hear, and what each subscription listens to.

    >>> from penstock.network.directory import Node, Site, Source
    >>> directory = Directory().put(
    ...     Site("office"), Node("n1", "office"), Source("door", "office", ("Open", "Close")),
    ...     Subscription("me", "[Open(door = $d)] ; [Close(door = $d)]", "office"),
    ... )
    >>> found = plan(directory)
    >>> [(one.node, one.sources, one.users) for one in found.detectors.values()]
    [('n1', ('door',), ('me',))]
    """
    return _Planning(directory).plan()


@dataclass
class _Planning:
    directory: Directory
    detectors: dict[str, Detector] = field(default_factory=dict)
    users: dict[str, set[str]] = field(default_factory=dict)
    policies: dict[str, DistributionPolicy] = field(default_factory=dict)
    listening: dict[str, Listening] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def running(self) -> Mapping[str, list[Detector]]:
        """The detectors that run, by who listens to them."""
        found: dict[str, list[Detector]] = {}
        for one in self.directory.detectors.values():
            for user in one.users:
                found.setdefault(user, []).append(one)
        return found

    def plan(self) -> Plan:
        wishes = list(self._wishes())
        shared = self._shared(wishes)
        for wish in wishes:
            self._fulfil(wish, shared)
        placed = self._placed()
        before = self.directory.detectors
        moved = [
            Move(name, before[name].node, one.node, self._is_alive(before[name].node))
            for name, one in placed.items()
            if name in before and before[name].node != one.node
        ]
        return Plan(
            detectors=placed,
            listening=self.listening,
            started=tuple(name for name in placed if name not in before),
            moved=tuple(moved),
            stopped=tuple(name for name in sorted(before) if name not in placed),
            refused=self.refused,
            reasons=self.reasons,
        )

    def _wishes(self) -> Iterable[Wish]:
        for name in sorted(self.directory.subscriptions):
            subscription = self.directory.subscriptions[name]
            try:
                if not any(self._is_alive(node) for node in self.directory.nodes):
                    raise PenstockError("no node is alive that could detect it")
                yield _understood(subscription)
            except PenstockError as error:
                self.refused[name] = str(error)

    def _is_alive(self, node: str) -> bool:
        return node in self.directory.nodes and self.directory.nodes[node].alive

    def _shared(self, wishes: Iterable[Wish]) -> set[tuple[str, str]]:
        """Definitions and parts, with options, that several different detectors would detect, or that run already."""
        roots: dict[tuple[str, str], set[str]] = {}
        for wish in wishes:
            if wish.policy.decomposition == "none":
                continue
            options = _options_digest(wish.subscription.options)
            for root in wish.heard:
                roots.setdefault((root, options), set()).add(root)
            for root in wish.heard:
                for one in wish.inside[root] - {root}:
                    roots.setdefault((one, options), set()).add(root)
        running = {
            (one.gives[0], _options_digest(one.options))
            for one in self.directory.detectors.values()
            if len(one.gives) == 1 and one.name == _name(one.gives, one.options, "")
        }
        return {key for key, some in roots.items() if len(some) > 1} | running

    def _fulfil(self, wish: Wish, shared: set[tuple[str, str]]) -> None:
        subscription, options = wish.subscription, wish.subscription.options
        names = self._heard_already(wish)
        if names:
            for name in dict.fromkeys(names[one] for one in wish.heard):
                self._need(name, subscription.name, wish.policy, [], {}, options)
            self._listen(wish, names)
            return
        digest = _options_digest(options)
        level = wish.policy.decomposition

        def is_separate(name: str) -> bool:
            if level == "none" or name in wish.never:
                return False
            return level == "maximum" or (name, digest) in shared

        whole = Decomposition(wish.normal.pattern)
        if level != "none":
            divided = decompose(
                wish.normal.pattern,
                options.context,
                lambda part: is_separate(shared_name(part.definition, options.context)),
            )
            self.reasons[subscription.name] = tuple(map(str, divided.reasons))
            whole = with_shared_parts(divided, options.context)
        if level == "none" or not whole.is_divisible:
            groups = [wish.heard]
        else:
            others = [one.name for one in whole.pattern.definitions if one.name not in wish.heard]
            groups = _grouped(wish, [*wish.heard, *filter(is_separate, others)])
        site = subscription.site if wish.policy.reuse == "locality" else ""
        found = units(whole, groups)
        names = {given: _name(unit.gives, options, site) for unit in found for given in unit.gives}
        for unit in found:
            if set(unit.gives) & set(wish.heard):
                self._need(names[unit.gives[0]], subscription.name, wish.policy, found, names, options)
        self._listen(wish, names)

    def _listen(self, wish: Wish, names: Mapping[str, str]) -> None:
        detectors = tuple(dict.fromkeys(names[one] for one in wish.heard))
        name = wish.subscription.name
        self.listening[name] = Listening(name, detectors, wish.heard, wish.normal.own)

    def _heard_already(self, wish: Wish) -> dict[str, str]:
        """The detectors that a subscription listens to, by what they give, if they still give all that it wants.

        They are kept also if its policy is another one now, which then says where they run: what they have seen is
        nowhere else.
        """
        heard = self.running.get(wish.subscription.name, ())
        mine = [one for one in heard if one.options == wish.subscription.options]
        names = {given: one.name for one in mine for given in one.gives}
        is_divisible = Decomposition(wish.normal.pattern).is_divisible
        is_whole = is_divisible or all(one.pattern == wish.normal.text for one in mine)
        return names if is_whole and set(wish.heard) <= names.keys() else {}

    def _need(
        self,
        name: str,
        user: str,
        policy: DistributionPolicy,
        found: list[Unit],
        names: Mapping[str, str],
        options: Options,
    ) -> None:
        """A detector is needed by someone, and so are those that it hears."""
        self.users.setdefault(name, set()).add(user)
        if name in self.detectors:
            return
        self.policies[name] = policy
        running = self.directory.detectors.get(name)
        if running is not None:
            self._keep(running)
            return
        unit = next(one for one in found if names[one.gives[0]] == name)
        self.detectors[name] = self._detector(name, unit, names, options)
        for part in unit.parts:
            self._need(names[part], name, policy, found, names, options)

    def _keep(self, running: Detector) -> None:
        """What runs stays as it is, with the parts that it hears; parts that are lost are made anew."""
        events = events_of(running.pattern, own_of(running), self.directory)
        self.detectors[running.name] = replace(running, events=events)
        for part in running.parts:
            names = {part.definition: part.detector}
            found: list[Unit] = []
            if part.detector not in self.directory.detectors:
                found = units(Decomposition(pattern_of(running.pattern), running.inlined), [[part.definition]])
            self._need(part.detector, running.name, self.policies[running.name], found, names, running.options)

    def _detector(self, name: str, unit: Unit, names: Mapping[str, str], options: Options) -> Detector:
        parts = tuple(PartInput(one, names[one]) for one in unit.parts)
        text = print_pattern(unit.pattern)
        events = events_of(text, unit.own, self.directory)
        return Detector(name, text, unit.gives, "", options, parts, unit.inlined, events)

    def _placed(self) -> dict[str, Detector]:
        placement = Placement(self.directory)
        placed: dict[str, Detector] = {}
        order = _parts_first(self.detectors)
        for name in order:
            policy, before = self.policies[name], self.directory.detectors.get(name)
            if before and self._is_alive(before.node) and before.policy == policy.name:
                placement.keep(before, before.node)
        for name in order:
            users = tuple(sorted(self.users[name]))
            detector = replace(self.detectors[name], users=users, policy=self.policies[name].name)
            if name in placement.placed and placement.is_far(detector, self.policies[name]):
                placement.release(detector)
            node = placement.placed.get(name) or placement.choose(detector, self.policies[name])
            placed[name] = replace(detector, node=node)
        return {name: placed[name] for name in sorted(placed)}


@lru_cache(maxsize=1 << 14)
def _understood(subscription: Subscription) -> Wish:
    """What a subscription wants; an error says why that cannot be."""
    policy, options = policy_of(subscription.policy), subscription.options
    pattern = parse(subscription.pattern)
    parse_policy(options.policy)
    chosen = plan_of(pattern, context=options.context, zone=options.zone, only=subscription.only)
    Engine(pattern, chosen.choice)
    whole = normal(pattern, options.context)
    wanted = subscription.only or tuple(one.name for one in pattern.definitions)
    for name in wanted:
        if name not in whole.names:
            raise PenstockError(f"there is no definition `{name}`", hint=f"there are {', '.join(whole.names)}")
    heard = tuple(dict.fromkeys(whole.names[name] for name in wanted))
    never = frozenset(_hinted(text, whole, options.context) for text in subscription.hints.never)
    return Wish(subscription, policy, whole, heard, never)


def _hinted(text: str, whole: Normal, context: str) -> str:
    """The shared name of a definition or of a part as it stands in the pattern."""
    if text in whole.names:
        return whole.names[text]
    return normal(parse_syntax(text), context).pattern.definitions[-1].name


def _grouped(wish: Wish, names: list[str]) -> list[tuple[str, ...]]:
    """One group for each definition that has a detector, but for those that shall stay together."""
    groups: list[tuple[str, ...]] = []
    for together in wish.subscription.hints.together:
        shared = [wish.normal.names[name] for name in together if name in wish.normal.names]
        groups.append(tuple(one for one in names if one in shared))
    taken = {one for group in groups for one in group}
    return [*filter(None, groups), *((one,) for one in names if one not in taken)]


def _name(gives: tuple[str, ...], options: Options, site: str) -> str:
    """The name of the detector of some definitions: the same for the same options, and for a site where that counts."""
    base = gives[0] if len(gives) == 1 else "c" + _digest(" ".join(sorted(gives)), 16)
    return "-".join(filter(None, [base, _options_digest(options), site]))


def _options_digest(options: Options) -> str:
    return _digest(json.dumps(to_json(options), sort_keys=True), DIGITS)


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def _parts_first(detectors: Mapping[str, Detector]) -> list[str]:
    """Names of detectors, each after those that it hears."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        for part in detectors[name].parts:
            visit(part.detector)
        found[name] = None

    for name in sorted(detectors):
        visit(name)
    return list(found)

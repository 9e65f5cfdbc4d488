"""Parameters and selected values: bound where the pattern starts, under names that a composite can have."""

from __future__ import annotations

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.checks.shape import matched_sets, starting_atoms
from penstock.errors import nearest

TAKEN = ("type", "lo", "hi", "parts")
"""Names of a composite's own columns."""


def check_parameters(pattern: Pattern) -> None:
    """Refuses a parameter that some start does not bind."""
    for definition in pattern.definitions:
        for name, use in parameter_uses(definition).items():
            _check_free(pattern, name, use)
            for atom in starting_atoms(definition.body):
                for one in matched_sets(atom):
                    if name not in c.bindings(one.filter):
                        raise pattern.error(
                            f"the parameter ${name} is not bound here, where the pattern can start",
                            one,
                            f"add `attribute = ${name}` to this filter, or start with an event that has it",
                        )


def parameter_uses(definition: Definition) -> dict[str, c.Parameter]:
    """The parameters of a definition, each with its first use, in the order of the text."""
    uses: dict[str, c.Parameter] = {}
    for node in walk(definition):
        if isinstance(node, c.Parameter):
            uses.setdefault(node.name, node)
    return uses


def selected_values(definition: Definition) -> list[x.Selected]:
    """What a definition selects, in the order of the text."""
    return [node for node in walk(definition) if isinstance(node, x.Selected)]


def check_selected(pattern: Pattern) -> None:
    """Refuses selected values without a name of their own, or that read what is not there."""
    for definition in pattern.definitions:
        known = set(parameter_uses(definition))
        for selected in selected_values(definition):
            _check_free(pattern, selected.name, selected)
            if selected.name in known:
                raise pattern.error(f"the composite already has an attribute `{selected.name}`", selected)
            known.add(selected.name)
            _check_no_event(pattern, selected.value, "select")
        for node in walk(definition):
            if isinstance(node, x.Where):
                _check_no_event(pattern, node.condition, "where")


def check_composite_attributes(pattern: Pattern) -> None:
    """Refuses a filter on an attribute that a composite of the pattern does not have."""
    attributes = {
        definition.name: {*parameter_uses(definition), *(one.name for one in selected_values(definition))}
        for definition in pattern.definitions
    }
    for definition in pattern.definitions:
        for one in walk(definition):
            if isinstance(one, x.DescribableSet) and one.type in attributes and one.filter is not None:
                for node in walk(one.filter):
                    if isinstance(node, c.Attribute):
                        _check_attribute(pattern, node, one.type, attributes[one.type])


def _check_attribute(pattern: Pattern, node: c.Attribute, name: str, known: set[str]) -> None:
    if node.name not in known and node.name not in c.FIELDS:
        close = nearest(node.name, known)
        listed = ", ".join(sorted(known)) or "none"
        raise pattern.error(
            f"composites of type {name} have no attribute `{node.name}`; they have: {listed}",
            node,
            f"did you mean `{close}`?" if close else "a composite has its parameters and selected values",
        )


def _check_free(pattern: Pattern, name: str, node: Node) -> None:
    if name in TAKEN:
        raise pattern.error(f"`{name}` is a field of every composite", node, "choose another name")


def _check_no_event(pattern: Pattern, condition: c.Condition, clause: str) -> None:
    for node in walk(condition):
        if isinstance(node, c.Attribute):
            raise pattern.error(
                f"`{node.name}` in `{clause}` does not say whose attribute it is",
                node,
                f"label the event, as in x: [A], and write x.{node.name}",
            )
        if isinstance(node, c.ClockFunction):
            raise pattern.error(f"{node.function}() asks about one event; it can only stand in a filter", node)

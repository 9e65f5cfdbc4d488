"""Automata as JSON, for other programs that draw."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from penstock.algebra.pattern import Pattern
from penstock.automaton.program import Program
from penstock.drawing.automata import graphs


def to_json(programs: Iterable[Program], pattern: Pattern | None = None) -> dict[str, Any]:
    """The graphs as JSON; moves name their target by its index among the states.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> automaton = to_json(compile_pattern(parse("[A] ; [B]")))["automata"][0]
    >>> automaton["states"][1]["waits"][0]["label"], automaton["states"][1]["waits"][0]["strong"]
    ('[B]', True)
    """
    form: dict[str, Any] = json.loads(json.dumps({"automata": [asdict(one) for one in graphs(programs, pattern)]}))
    return form

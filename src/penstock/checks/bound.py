"""How long a match can be under way, found from the program: by timers, by limits, or not at all."""

from __future__ import annotations

from penstock.algebra.expressions import After, AtClock
from penstock.automaton.program import Alternative, Option, Program

DAY = 86_400_000_000


def time_bound(program: Program) -> tuple[int | None, list[str]]:
    """The bound in microseconds, if there is one, and what to say where there is none."""
    waits = [_forever(program, number) for number in range(len(program.positions))]
    warnings = [text for text in dict.fromkeys(waits) if text]
    sides = [time_bound(side) for group in program.sides for side in group]
    warnings += [text for _, found in sides for text in found]
    if warnings:
        return None, warnings
    longest = _longest_way(program)
    if longest is None:
        return None, ["each wait is limited, but the rounds are not: add `within` around the whole"]
    around = [limit.microseconds for number, limit in enumerate(program.limits) if _is_around_all(program, number)]
    return max([min([longest, *around]), *(bound or 0 for bound, _ in sides)]), []


def _is_around_all(program: Program, limit: int) -> bool:
    """Whether all that a run matches stands in a limit that it enters once."""
    again = (o for some in program.follow for one in some for o in one.options)
    inside = all(limit in position.limits for position in program.positions)
    return inside and not any(limit in option.enters for option in again)


def _alternatives(program: Program, number: int) -> list[Alternative]:
    """What a run waits for after a position; after one side of a ``||`` it waits for the others."""
    own = [one for one in program.follow[number] if one.options]
    sides = program.positions[number].sides
    return [Alternative((Option(number),), None), *own] if sides is not None else own


def _forever(program: Program, number: int) -> str | None:
    for alternative in _alternatives(program, number):
        if _wait(program, number, alternative) is None:
            texts = " or ".join(dict.fromkeys(program.positions[o.position].text for o in alternative.options))
            after = program.positions[number].text
            return f"no time bound: after {after} a run may wait for ever for {texts}; add `within 1 h`, say"
    return None


def _wait(program: Program, number: int, alternative: Alternative) -> int | None:
    """How long a run waits after a position: a timer ends it, or a limit that all its options stand in."""
    here = program.positions[number]
    running = [
        timer
        for option in alternative.options
        for timer in program.positions[option.position].hears
        if timer in here.sets_timers or (timer in here.hears and timer not in here.ticks)
    ]
    if running:
        return min(_duration(program, timer) for timer in running)
    limited = all(set(program.positions[o.position].limits) - set(o.enters) for o in alternative.options)
    return 0 if limited else None


def _duration(program: Program, timer: int) -> int:
    match program.timers[timer].spec:
        case After(microseconds=duration):
            return duration
        case AtClock():
            return DAY
    return 0


def _longest_way(program: Program) -> int | None:
    """The longest a run can take from its start; ``None`` if rounds make it endless."""

    def entered(option: Option) -> int:
        return max((program.limits[limit].microseconds for limit in option.enters), default=0)

    longest = {o.position: entered(o) for one in program.start for o in one.options}
    for _ in range(len(program.positions) + 1):
        before = dict(longest)
        for number in list(longest):
            for alternative in _alternatives(program, number):
                wait = _wait(program, number, alternative) or 0
                for option in alternative.options:
                    if option.position == number and program.positions[number].sides is not None:
                        continue
                    way = longest[number] + wait + entered(option)
                    longest[option.position] = max(longest.get(option.position, 0), way)
        if longest == before:
            return max(longest.values(), default=0)
    return None

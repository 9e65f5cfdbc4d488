"""Steps all runs of a program over a batch of places: the rules of the language, over tables of numbers.

The kernel is compiled once, for all patterns. It works on two named tuples of arrays: the program's layout, which
it only reads, and the state, which it changes in place. It never allocates state: where room may run out it
returns before it has changed anything, and is called again with larger arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from penstock.engine.vm import evaluate

Ints = NDArray[np.int64]
NONE = np.iinfo(np.int64).min
FAR = np.iinfo(np.int64).max

# Columns of a run; after them come one deadline for each timer and one beginning for each limit.
NEXT, STATE, PREVIOUS, LO, HEAD, REMAINING, BASE, HASH = range(8)
FIXED = 8

# Places in `State.scalars`.
FREE, NODES, COMPOSITES, CURSOR, INSTANCE, NEED_RUNS, NEED_NODES, GLOBAL_DEAD, EPOCH, SINCE, LIVE, NOW = range(12)
SCALARS = 12

DONE, GROW = range(2)


class Places(NamedTuple):
    """A batch of symbols, ordered by place and, within a place, by instance; those for all instances come first.

    ``side`` is the number of a side's composite, whose parts are rows ``side_first`` to ``side_last`` of
    ``part_symbol`` and ``part_labels``; -1 for other symbols.
    """

    place: Ints
    instant: Ints
    lo: Ints
    instance: Ints
    symbol: Ints
    sets: Ints
    side: Ints
    side_first: Ints
    side_last: Ints
    part_symbol: Ints
    part_labels: Ints


class Values(NamedTuple):
    """What conditions read: the values of symbols, instances and constants, and the pool of texts."""

    symbol_base: int
    symbol_kinds: Ints
    symbol_values: Ints
    instance_kinds: Ints
    instance_values: Ints
    constant_kinds: Ints
    constants: Ints
    pool_offsets: Ints
    pool_bytes: NDArray[np.uint8]
    clock_first: Ints
    clock_instants: Ints


class State(NamedTuple):
    """All that changes: runs in lists by instance, what they have matched as shared lists, timers, composites."""

    runs: Ints
    free: Ints
    instance_first: Ints
    instance_runs: Ints
    instance_dead: Ints
    node_symbol: Ints
    node_parent: Ints
    node_labels: Ints
    node_hash: Ints
    queue_deadline: Ints
    queue_instance: Ints
    queue_first: Ints
    queue_last: Ints
    made_instance: Ints
    made_lo: Ints
    made_hi: Ints
    made_node: Ints
    made_place: Ints
    made_hash: Ints
    made_kinds: Ints
    made_values: Ints
    table: Ints
    table_epoch: Ints
    scratch: Ints
    scalars: Ints


@njit(cache=True)
def mix(a, b):  # type: ignore[no-untyped-def]
    """A hash of two numbers."""
    x = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.int64(x)


@njit(cache=True)
def holds(code_start, code_end, layout, state, values, symbol, head, instance):  # type: ignore[no-untyped-def]
    """Whether a condition is true for a symbol, a run and an instance."""
    out = np.empty(2, np.int64)
    truth = evaluate(
        code_start, code_end, layout.code, values.constants, values.constant_kinds, symbol, head, instance,
        values.symbol_base, values.symbol_kinds, values.symbol_values, state.node_symbol, state.node_parent,
        state.node_labels, values.instance_kinds, values.instance_values, values.pool_offsets, values.pool_bytes, out,
    )  # fmt: skip
    return truth == 1


@njit(cache=True)
def in_sets(mask, at, layout, state, places, values, head, instance):  # type: ignore[no-untyped-def]
    """Whether a symbol is in one of the sets of a mask."""
    found = places.sets[at] & mask
    if found == 0:
        return False
    if found & layout.plain_sets:
        return True
    number = 0
    while found:
        if found & 1 and holds(
            layout.set_code[number, 0], layout.set_code[number, 1], layout, state, values,
            places.symbol[at], head, instance,
        ):  # fmt: skip
            return True
        found >>= 1
        number += 1
    return False


@njit(cache=True)
def in_label(position, at, layout, state, places, values, head, instance):  # type: ignore[no-untyped-def]
    """Whether a position matches a symbol."""
    label = layout.position_label[position]
    if layout.position_negated[position]:
        return in_sets(
            layout.position_written[position], at, layout, state, places, values, head, instance
        ) and not in_sets(label, at, layout, state, places, values, head, instance)
    return in_sets(label, at, layout, state, places, values, head, instance)


@njit(cache=True)
def same_nodes(a, b, state):  # type: ignore[no-untyped-def]
    """Whether two lists of matched symbols are equal."""
    while a != b:
        if a < 0 or b < 0 or state.node_hash[a] != state.node_hash[b]:
            return False
        if state.node_symbol[a] != state.node_symbol[b] or state.node_labels[a] != state.node_labels[b]:
            return False
        a, b = state.node_parent[a], state.node_parent[b]
    return True


@njit(cache=True)
def add_node(symbol, labels, parent, state):  # type: ignore[no-untyped-def]
    """A list with one more symbol."""
    node = state.scalars[NODES]
    state.scalars[NODES] = node + 1
    state.node_symbol[node] = symbol
    state.node_labels[node] = labels
    state.node_parent[node] = parent
    state.node_hash[node] = mix(mix(symbol, labels), state.node_hash[parent] if parent >= 0 else 0)
    return node


@njit(cache=True)
def deadline(timer, hi, layout, values):  # type: ignore[no-untyped-def]
    """When a timer fires that is set by something that ends at ``hi``."""
    if layout.timer_kind[timer] == 0:
        return hi + layout.timer_value[timer]
    if layout.timer_kind[timer] == 2:
        return max(hi, layout.timer_value[timer])
    first, last = values.clock_first[timer], values.clock_first[timer + 1]
    return values.clock_instants[first + np.searchsorted(values.clock_instants[first:last], hi, side="right")]


@njit(cache=True)
def keep(run, instance, layout, state):  # type: ignore[no-untyped-def]
    """Puts a run into its instance's list, unless an equal one is there."""
    runs = state.runs
    if not layout.distinct_runs and runs[run, PREVIOUS] == state.scalars[NOW]:
        whole = mix(runs[run, STATE], runs[run, LO])
        whole = mix(whole, state.node_hash[runs[run, HEAD]])
        for column in range(REMAINING, runs.shape[1]):
            if column != HASH:
                whole = mix(whole, runs[run, column])
        runs[run, HASH] = whole
        mask = state.table.shape[0] - 1
        slot = whole & mask
        while state.table_epoch[slot] == state.scalars[EPOCH]:
            other = state.table[slot]
            if runs[other, HASH] == whole and same_runs(run, other, state):
                state.free[state.scalars[FREE]] = run
                state.scalars[FREE] += 1
                return
            slot = (slot + 1) & mask
        state.table[slot] = run
        state.table_epoch[slot] = state.scalars[EPOCH]
    runs[run, NEXT] = state.instance_first[instance]
    state.instance_first[instance] = run
    state.instance_runs[instance] += 1
    state.scalars[LIVE] += 1


@njit(cache=True)
def same_runs(a, b, state):  # type: ignore[no-untyped-def]
    """Whether two runs agree in everything."""
    runs = state.runs
    for column in range(1, runs.shape[1]):
        if column != HEAD and runs[a, column] != runs[b, column]:
            return False
    return same_nodes(runs[a, HEAD], runs[b, HEAD], state)


@njit(cache=True)
def make(instance, lo, hi, head, place, layout, state, values):  # type: ignore[no-untyped-def]
    """A composite, unless an equal one was made at this instant."""
    whole = mix(mix(instance, lo), state.node_hash[head])
    made = state.scalars[COMPOSITES]
    if not layout.distinct_runs:
        for other in range(state.scalars[SINCE], made):
            if (
                state.made_hash[other] == whole
                and state.made_hi[other] == hi
                and state.made_instance[other] == instance
                and state.made_lo[other] == lo
                and same_nodes(state.made_node[other], head, state)
            ):
                return
    state.made_instance[made] = instance
    state.made_lo[made] = lo
    state.made_hi[made] = hi
    state.made_node[made] = head
    state.made_place[made] = place
    state.made_hash[made] = whole
    out = np.empty(2, np.int64)
    for number in range(layout.select_code.shape[0]):
        evaluate(
            layout.select_code[number, 0], layout.select_code[number, 1], layout.code, values.constants,
            values.constant_kinds, 0, head, instance, values.symbol_base, values.symbol_kinds, values.symbol_values,
            state.node_symbol, state.node_parent, state.node_labels, values.instance_kinds, values.instance_values,
            values.pool_offsets, values.pool_bytes, out,
        )  # fmt: skip
        state.made_kinds[made, number] = out[0]
        state.made_values[made, number] = out[1]
    state.scalars[COMPOSITES] = made + 1


@njit(cache=True)
def move(run, option, lo, hi, head, remaining, instance, place, layout, state, values):  # type: ignore[no-untyped-def]
    """A run goes on through an option: limits, composite, and a new run for each alternative of what follows."""
    runs = state.runs
    position = layout.option_position[option]
    timers = layout.timer_kind.shape[0]
    limits = FIXED + timers
    within = layout.position_limits[position]
    for limit in range(layout.limit_length.shape[0]):
        since = NONE
        if (within >> limit) & 1:
            before = runs[run, limits + limit]
            since = lo if before == NONE or (layout.option_enters[option] >> limit) & 1 else min(before, lo)
            if hi - since > layout.limit_length[limit]:
                return
        state.scratch[limit] = since
    span = lo if runs[run, PREVIOUS] == NONE else min(lo, runs[run, LO])
    if remaining:
        base = runs[run, BASE] if layout.state_waiting[runs[run, STATE]] else runs[run, PREVIOUS]
        if not layout.state_waiting[runs[run, STATE]] and not layout.option_strong[option]:
            base = NONE
        waiting = layout.position_waiting[position]
        arrive(run, position, waiting, hi, span, head, remaining, base, instance, layout, state, values)
        return
    truths = 0
    first = layout.alternative_first[position]
    last = first + layout.alternative_count[position]
    asked = 0
    for one in range(first, last):
        asked |= layout.alternative_guards[one]
        if layout.alternative_end[one] > 0:
            asked |= layout.alternative_end[one]
    guard = 0
    while asked >> guard:
        if (asked >> guard) & 1 and holds(
            layout.guard_code[guard, 0], layout.guard_code[guard, 1], layout, state, values, 0, head, instance
        ):
            truths |= 1 << guard
        guard += 1
    ended = False
    for one in range(first, last):
        end = layout.alternative_end[one]
        if end >= 0 and end & truths == end and not ended:
            ended = True
            make(instance, span, hi, head, place, layout, state, values)
        guards = layout.alternative_guards[one]
        index = 0
        bit = 0
        guard = 0
        while guards >> guard:
            if (guards >> guard) & 1:
                index |= ((truths >> guard) & 1) << bit
                bit += 1
            guard += 1
        target = layout.state_table[layout.alternative_states[one] + index]
        if target >= 0:
            arrive(run, position, target, hi, span, head, 0, NONE, instance, layout, state, values)


@njit(cache=True)
def arrive(  # type: ignore[no-untyped-def]
    run, position, target, hi, span, head, remaining, base, instance, layout, state, values
):
    """The new run that waits in ``target``, with the timers and limits that it has there."""
    runs = state.runs
    timers = layout.timer_kind.shape[0]
    state.scalars[FREE] -= 1
    fresh = state.free[state.scalars[FREE]]
    runs[fresh, STATE] = target
    runs[fresh, PREVIOUS] = hi
    runs[fresh, LO] = span
    runs[fresh, HEAD] = head
    runs[fresh, REMAINING] = remaining
    runs[fresh, BASE] = base
    runs[fresh, HASH] = 0
    hears = layout.state_hears[target]
    for timer in range(timers):
        at = NONE
        if (hears >> timer) & 1:
            at = runs[run, FIXED + timer]
            if (layout.position_sets[position] >> timer) & 1:
                at = deadline(timer, hi, layout, values)
                last = state.queue_last[timer]
                if (
                    last == state.queue_first[timer]
                    or state.queue_deadline[timer, last - 1] != at
                    or state.queue_instance[timer, last - 1] != instance
                ):
                    state.queue_deadline[timer, last] = at
                    state.queue_instance[timer, last] = instance
                    state.queue_last[timer] = last + 1
        runs[fresh, FIXED + timer] = at
    for limit in range(layout.limit_length.shape[0]):
        runs[fresh, FIXED + timers + limit] = state.scratch[limit]
    keep(fresh, instance, layout, state)


@njit(cache=True)
def move_together(  # type: ignore[no-untyped-def]
    run, option, first, last, remaining, base, instance, place, layout, state, places, values
):
    """A run at a ``||`` goes on once for each choice of one acceptable composite from each side that has one."""
    position = layout.option_position[option]
    sides = layout.position_sides[position]
    bit = layout.position_side[position]
    limits = layout.limit_length.shape[0]
    choice = np.full(sides, -1, np.int64)
    some = False
    for side in range(sides):
        if (remaining >> side) & 1:
            choice[side] = next_choice(first, last, bit + side, base, places)
            some = some or choice[side] >= 0
    if not some:
        return False
    labels = layout.position_labels[position]
    while True:
        head = state.runs[run, HEAD]
        left = remaining
        lo = FAR
        hi = NONE
        for side in range(sides):
            at = choice[side]
            if at >= 0:
                left &= ~(1 << side)
                lo = min(lo, places.lo[at])
                hi = places.instant[at]
                number = places.side[at]
                for part in range(places.side_first[number], places.side_last[number]):
                    head = add_node(places.part_symbol[part], places.part_labels[part] | labels, head, state)
        move(run, option, lo, hi, head, left, instance, place, layout, state, values)
        side = sides - 1
        while side >= 0:
            if choice[side] >= 0:
                following = next_choice(choice[side] + 1, last, bit + side, base, places)
                if following >= 0:
                    choice[side] = following
                    break
                choice[side] = next_choice(first, last, bit + side, base, places)
            side -= 1
        if side < 0:
            return limits >= 0


@njit(cache=True)
def next_choice(first, last, bit, base, places):  # type: ignore[no-untyped-def]
    """The next composite of a side that may be taken; -1 if there is none."""
    for at in range(first, last):
        if (places.sets[at] >> bit) & 1 and (base == NONE or base < places.lo[at]):
            return at
    return -1


@njit(cache=True)
def meet(run, first, last, started, instance, place, layout, state, places, values):  # type: ignore[no-untyped-def]
    """What a run does at a place: 0 it ignores it, 1 it moves, 2 it fails."""
    runs = state.runs
    here = runs[run, STATE]
    previous = runs[run, PREVIOUS]
    head = runs[run, HEAD]
    moved = False
    too_early = False
    for option in range(layout.state_first[here], layout.state_first[here] + layout.state_count[here]):
        position = layout.option_position[option]
        strong = layout.option_strong[option] and started
        if layout.position_side[position] >= 0:
            waiting = layout.state_waiting[here]
            remaining = runs[run, REMAINING] if waiting else (1 << layout.position_sides[position]) - 1
            base = runs[run, BASE] if waiting else (previous if strong else NONE)
            moved |= move_together(
                run, option, first, last, remaining, base, instance, place, layout, state, places, values
            )
            wanted = remaining << layout.position_side[position]
            for at in range(first, last):
                if places.sets[at] & wanted and base != NONE and not base < places.lo[at]:
                    too_early = True
            continue
        for at in range(first, last):
            if in_label(position, at, layout, state, places, values, head, instance):
                if strong and not previous < places.lo[at]:
                    too_early = True
                    continue
                moved = True
                more = add_node(places.symbol[at], layout.position_labels[position], head, state)
                move(
                    run, option, places.lo[at], places.instant[at], more, 0, instance, place, layout, state, values
                )  # fmt: skip
    if moved:
        return 1
    if too_early:
        return 0
    weak = not started or not layout.state_strong[here]
    for at in range(first, last):
        if weak or previous < places.lo[at]:
            for option in range(layout.state_first[here], layout.state_first[here] + layout.state_count[here]):
                position = layout.option_position[option]
                heard = layout.position_written[position]
                if started:
                    heard |= layout.position_scope[position]
                if in_sets(heard, at, layout, state, places, values, head, instance):
                    return 2
    return 0


@njit(cache=True)
def tick(run, timer, at, instance, place, layout, state, values):  # type: ignore[no-untyped-def]
    """A run's own timer fires: it moves the run, or fails it."""
    runs = state.runs
    here = runs[run, STATE]
    runs[run, FIXED + timer] = NONE
    for option in range(layout.state_first[here], layout.state_first[here] + layout.state_count[here]):
        position = layout.option_position[option]
        if (layout.position_ticks[position] >> timer) & 1:
            move(run, option, at, at, runs[run, HEAD], 0, instance, place, layout, state, values)


@njit(cache=True)
def begin(instance, now, layout, state):  # type: ignore[no-untyped-def]
    """Takes an instance's runs out of its list, for each to be put back or not."""
    if now != state.scalars[NOW]:
        state.scalars[NOW] = now
        state.scalars[SINCE] = state.scalars[COMPOSITES]
    state.scalars[EPOCH] += 1
    run = state.instance_first[instance]
    state.scalars[LIVE] -= state.instance_runs[instance]
    state.instance_first[instance] = -1
    state.instance_runs[instance] = 0
    return run


@njit(cache=True)
def release(run, state):  # type: ignore[no-untyped-def]
    """Gives a run's row back."""
    state.free[state.scalars[FREE]] = run
    state.scalars[FREE] += 1


@njit(cache=True)
def step(instance, first, last, now, place, layout, state, places, values):  # type: ignore[no-untyped-def]
    """One place, for one instance: every run moves, fails or ignores it, and starts are made."""
    runs = state.runs
    sets = 0
    for at in range(first, last):
        sets |= places.sets[at]
    run = begin(instance, now, layout, state)
    while run >= 0:
        following = runs[run, NEXT]
        outcome = 0
        if layout.state_interest[runs[run, STATE]] & sets:
            outcome = meet(run, first, last, True, instance, place, layout, state, places, values)
        if outcome == 0:
            keep(run, instance, layout, state)
        else:
            release(run, state)
        run = following
    for number in range(layout.start_states.shape[0]):
        start = layout.start_states[number]
        if (state.instance_dead[instance] >> number) & 1 or not layout.state_start_interest[start] & sets:
            continue
        prepare_start(start, state)
        if (
            meet(0, first, last, False, instance, place, layout, state, places, values) == 2
            and not layout.restart
        ):
            state.instance_dead[instance] |= 1 << number


@njit(cache=True)
def prepare_start(start, state):  # type: ignore[no-untyped-def]
    """Row 0 is the run that has matched nothing."""
    runs = state.runs
    for column in range(1, runs.shape[1]):
        runs[0, column] = NONE
    runs[0, STATE] = start
    runs[0, HEAD] = -1


@njit(cache=True)
def fire(instance, timer, at, layout, state, values):  # type: ignore[no-untyped-def]
    """A timer's place, for one instance."""
    runs = state.runs
    run = begin(instance, at, layout, state)
    while run >= 0:
        following = runs[run, NEXT]
        if runs[run, FIXED + timer] == at:
            tick(run, timer, at, instance, -1 - timer, layout, state, values)
            release(run, state)
        else:
            keep(run, instance, layout, state)
        run = following


@njit(cache=True)
def next_timer(layout, state):  # type: ignore[no-untyped-def]
    """The timer whose first deadline comes first, by its order among those of one instant; -1 if none is set."""
    best = -1
    for timer in range(layout.timer_kind.shape[0]):
        first = state.queue_first[timer]
        if first < state.queue_last[timer]:
            at = state.queue_deadline[timer, first]
            if best < 0 or at < state.queue_deadline[best, state.queue_first[best]]:
                best = timer
            elif at == state.queue_deadline[best, state.queue_first[best]]:
                if layout.timer_order[timer] < layout.timer_order[best]:
                    best = timer
    return best


@njit(cache=True)
def room(wanted_runs, wanted_nodes, layout, state):  # type: ignore[no-untyped-def]
    """Whether a step that may need so much fits; else says how much is needed."""
    fits = (
        state.scalars[FREE] > wanted_runs
        and state.scalars[NODES] + wanted_nodes < state.node_symbol.shape[0]
        and state.scalars[COMPOSITES] + wanted_runs < state.made_lo.shape[0]
    )
    for timer in range(layout.timer_kind.shape[0]):
        fits = fits and state.queue_last[timer] + wanted_runs < state.queue_deadline.shape[1]
    if not fits:
        state.scalars[NEED_RUNS] = wanted_runs
        state.scalars[NEED_NODES] = wanted_nodes
    return fits


@njit(cache=True)
def fan_out(first, last, layout, places):  # type: ignore[no-untyped-def]
    """How many moves one run can make at a place, and how many symbols one move can add."""
    moves = last - first
    parts = 1
    for position in range(layout.position_side.shape[0]):
        bit = layout.position_side[position]
        if bit >= 0:
            choices = 1
            for side in range(layout.position_sides[position]):
                count = 1
                for at in range(first, last):
                    if (places.sets[at] >> (bit + side)) & 1:
                        count += 1
                choices *= count
            moves += choices
    for at in range(first, last):
        if places.side[at] >= 0:
            parts += places.side_last[places.side[at]] - places.side_first[places.side[at]]
    return moves, parts


@njit(cache=True)
def advance(until, instances, widest, layout, state, places, values):  # type: ignore[no-untyped-def]
    """Consumes places from the cursor on, and fires timers before ``until``; says whether it is done."""
    total = places.place.shape[0]
    while True:
        at = state.scalars[CURSOR]
        now = places.instant[at] if at < total else until
        if state.scalars[INSTANCE] < 0:
            timer = next_timer(layout, state)
            while timer >= 0 and state.queue_deadline[timer, state.queue_first[timer]] < now:
                first = state.queue_first[timer]
                instance = state.queue_instance[timer, first]
                wanted = (state.instance_runs[instance] + 1) * widest
                if not room(wanted, wanted, layout, state):
                    return GROW
                due = state.queue_deadline[timer, first]
                state.queue_first[timer] = first + 1
                fire(instance, timer, due, layout, state, values)
                timer = next_timer(layout, state)
        if at >= total:
            return DONE
        last = at + 1
        while last < total and places.place[last] == places.place[at]:
            last += 1
        if places.instance[at] < 0:
            outcome = offer_all(at, last, instances, now, widest, layout, state, places, values)
        else:
            outcome = offer_each(at, last, now, widest, layout, state, places, values)
        if outcome == GROW:
            return GROW
        state.scalars[CURSOR] = last
        state.scalars[INSTANCE] = -1


@njit(cache=True)
def offer_each(first, last, now, widest, layout, state, places, values):  # type: ignore[no-untyped-def]
    """A place whose symbols concern one instance each."""
    at = max(first, state.scalars[INSTANCE])
    while at < last:
        instance = places.instance[at]
        end = at + 1
        while end < last and places.instance[end] == instance:
            end += 1
        moves, parts = fan_out(at, end, layout, places)
        wanted = (state.instance_runs[instance] + layout.start_states.shape[0]) * moves * widest + 1
        if not room(wanted, wanted * parts, layout, state):
            state.scalars[INSTANCE] = at
            return GROW
        step(instance, at, end, now, places.place[at], layout, state, places, values)
        at = end
    return DONE


@njit(cache=True)
def offer_all(first, last, instances, now, widest, layout, state, places, values):  # type: ignore[no-untyped-def]
    """A place with symbols that concern all instances; symbols for one instance stand behind, for it to see too."""
    common = first
    while common < last and places.instance[common] < 0:
        common += 1
    begin_at = max(0, state.scalars[INSTANCE])
    for instance in range(begin_at, instances):
        own = common
        while own < last and places.instance[own] != instance:
            own += 1
        own_end = own
        while own_end < last and places.instance[own_end] == instance:
            own_end += 1
        moves, parts = fan_out(first, last, layout, places)
        wanted = (state.instance_runs[instance] + layout.start_states.shape[0]) * moves * widest + 1
        if not room(wanted, wanted * parts, layout, state):
            state.scalars[INSTANCE] = instance
            return GROW
        if own == own_end:
            step(instance, first, common, now, places.place[first], layout, state, places, values)
        else:
            merged = gather(places, first, common, own, own_end)
            step(instance, 0, common - first + own_end - own, now, places.place[first], layout, state, merged, values)
    return DONE


@njit(cache=True)
def gather(places, first, common, own, own_end):  # type: ignore[no-untyped-def]
    """The symbols of a place that one instance sees: the common ones and its own."""
    return Places(
        np.concatenate((places.place[first:common], places.place[own:own_end])),
        np.concatenate((places.instant[first:common], places.instant[own:own_end])),
        np.concatenate((places.lo[first:common], places.lo[own:own_end])),
        np.concatenate((places.instance[first:common], places.instance[own:own_end])),
        np.concatenate((places.symbol[first:common], places.symbol[own:own_end])),
        np.concatenate((places.sets[first:common], places.sets[own:own_end])),
        np.concatenate((places.side[first:common], places.side[own:own_end])),
        places.side_first,
        places.side_last,
        places.part_symbol,
        places.part_labels,
    )


@njit(cache=True)
def list_parts(made, nodes, node_symbol, node_parent, node_labels):  # type: ignore[no-untyped-def]
    """The matched symbols of each composite, in the order of matching: offsets, symbols, labels."""
    offsets = np.zeros(made + 1, np.int64)
    for one in range(made):
        count = 0
        node = nodes[one]
        while node >= 0:
            count += 1
            node = node_parent[node]
        offsets[one + 1] = offsets[one] + count
    symbols = np.empty(offsets[made], np.int64)
    labels = np.empty(offsets[made], np.int64)
    for one in range(made):
        at = offsets[one + 1]
        node = nodes[one]
        while node >= 0:
            at -= 1
            symbols[at] = node_symbol[node]
            labels[at] = node_labels[node]
            node = node_parent[node]
    return offsets, symbols, labels

"""Steps all runs of a program over a batch of places: the rules of the language, over tables of numbers.

The kernel is compiled once, for all patterns. Its functions share five flat arrays (`memory`): L, the program's
layout; M, the memory, which it changes in place; P, the places; F, the parts of sides' composites; X, what conditions
read. It never allocates memory: where room may run out it returns before it has changed anything, and is called
again with more.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.lists import add_node, of_run, set_run
from penstock.engine.moves import holds, keep, move

DONE, GROW = range(2)


@intrinsic
def pointer(typing_context, address):
    """An address as a pointer to integers: one word to pass on, and nothing to count."""
    kind = types.CPointer(types.int64)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(address), generate


@compiled
def in_sets(mask, at, L, M, P, F, X, head, instance):
    """Whether a symbol is in one of the sets of a mask."""
    found = P[P[m.P_SETS] + at] & mask
    if found == 0:
        return False
    if found & L[m.PLAIN_SETS]:
        return True
    number = 0
    while found:
        if found & 1:
            start, end = L[L[m.SET_START] + number], L[L[m.SET_END] + number]
            if holds(start, end, P[P[m.P_SYMBOL] + at], head, instance, L, M, X):
                return True
        found >>= 1
        number += 1
    return False


@compiled
def in_label(position, at, L, M, P, F, X, head, instance):
    """Whether a position matches a symbol."""
    label = L[L[m.POSITION_LABEL] + position]
    if L[L[m.POSITION_NEGATED] + position]:
        return in_sets(L[L[m.POSITION_WRITTEN] + position], at, L, M, P, F, X, head, instance) and not in_sets(
            label, at, L, M, P, F, X, head, instance
        )
    return in_sets(label, at, L, M, P, F, X, head, instance)


@compiled
def move_together(run, option, first, last, remaining, base, instance, place, L, M, P, F, X):
    """A run at a ``||`` goes on once for each choice of one acceptable composite from each side that has one."""
    position = L[L[m.OPTION_POSITION] + option]
    sides = L[L[m.POSITION_SIDES] + position]
    bit = L[L[m.POSITION_SIDE] + position]
    limits = L[m.LIMITS]
    choice = np.full(sides, -1, np.int64)
    some = False
    for side in range(sides):
        if (remaining >> side) & 1:
            choice[side] = next_choice(first, last, bit + side, base, P)
            some = some or choice[side] >= 0
    if not some:
        return False
    labels = L[L[m.POSITION_LABELS] + position]
    while True:
        head = of_run(run, m.HEAD, M)
        left = remaining
        lo = m.FAR
        hi = m.NONE
        for side in range(sides):
            at = choice[side]
            if at >= 0:
                left &= ~(1 << side)
                lo = min(lo, P[P[m.P_LO] + at])
                hi = P[P[m.P_INSTANT] + at]
                number = P[P[m.P_SIDE] + at]
                for part in range(F[F[m.SIDE_FIRST] + number], F[F[m.SIDE_LAST] + number]):
                    head = add_node(F[F[m.PART_SYMBOL] + part], F[F[m.PART_LABELS] + part] | labels, head, M)
        move(run, option, lo, hi, head, left, instance, place, L, M, X)
        side = sides - 1
        while side >= 0:
            if choice[side] >= 0:
                following = next_choice(choice[side] + 1, last, bit + side, base, P)
                if following >= 0:
                    choice[side] = following
                    break
                choice[side] = next_choice(first, last, bit + side, base, P)
            side -= 1
        if side < 0:
            return limits >= 0


@compiled
def next_choice(first, last, bit, base, P):
    """The next composite of a side that may be taken; -1 if there is none."""
    for at in range(first, last):
        if (P[P[m.P_SETS] + at] >> bit) & 1 and (base == m.NONE or base < P[P[m.P_LO] + at]):
            return at
    return -1


@compiled
def meet(run, first, last, started, instance, place, L, M, P, F, X):
    """What a run does at a place: 0 it ignores it, 1 it moves, 2 it fails."""
    here = of_run(run, m.STATE, M)
    previous = of_run(run, m.PREVIOUS, M)
    head = of_run(run, m.HEAD, M)
    moved = False
    too_early = False
    for option in range(L[L[m.STATE_FIRST] + here], L[L[m.STATE_FIRST] + here] + L[L[m.STATE_COUNT] + here]):
        position = L[L[m.OPTION_POSITION] + option]
        strong = L[L[m.OPTION_STRONG] + option] and started
        if L[L[m.POSITION_SIDE] + position] >= 0:
            waiting = L[L[m.STATE_WAITING] + here]
            remaining = of_run(run, m.REMAINING, M) if waiting else (1 << L[L[m.POSITION_SIDES] + position]) - 1
            base = of_run(run, m.BASE, M) if waiting else (previous if strong else m.NONE)
            moved |= move_together(run, option, first, last, remaining, base, instance, place, L, M, P, F, X)
            wanted = remaining << L[L[m.POSITION_SIDE] + position]
            for at in range(first, last):
                if P[P[m.P_SETS] + at] & wanted and base != m.NONE and not base < P[P[m.P_LO] + at]:
                    too_early = True
            continue
        for at in range(first, last):
            if in_label(position, at, L, M, P, F, X, head, instance):
                if strong and not previous < P[P[m.P_LO] + at]:
                    too_early = True
                    continue
                moved = True
                more = add_node(P[P[m.P_SYMBOL] + at], L[L[m.POSITION_LABELS] + position], head, M)
                move(
                    run, option, P[P[m.P_LO] + at], P[P[m.P_INSTANT] + at], more, 0, instance, place, L, M, X
                )  # fmt: skip
    if moved:
        return 1
    if too_early:
        return 0
    weak = not started or not L[L[m.STATE_STRONG] + here]
    for at in range(first, last):
        if weak or previous < P[P[m.P_LO] + at]:
            for option in range(L[L[m.STATE_FIRST] + here], L[L[m.STATE_FIRST] + here] + L[L[m.STATE_COUNT] + here]):
                position = L[L[m.OPTION_POSITION] + option]
                heard = L[L[m.POSITION_WRITTEN] + position]
                if started:
                    heard |= L[L[m.POSITION_SCOPE] + position]
                if in_sets(heard, at, L, M, P, F, X, head, instance):
                    return 2
    return 0


@compiled
def tick(run, timer, at, instance, place, L, M, X):
    """A run's own timer fires: it moves the run, or fails it."""
    here = of_run(run, m.STATE, M)
    set_run(run, m.FIXED + timer, m.NONE, M)
    for option in range(L[L[m.STATE_FIRST] + here], L[L[m.STATE_FIRST] + here] + L[L[m.STATE_COUNT] + here]):
        position = L[L[m.OPTION_POSITION] + option]
        if (L[L[m.POSITION_TICKS] + position] >> timer) & 1:
            move(run, option, at, at, of_run(run, m.HEAD, M), 0, instance, place, L, M, X)


@compiled
def begin(instance, now, L, M):
    """Takes an instance's runs out of its list, for each to be put back or not."""
    if now != M[m.NOW]:
        M[m.NOW] = now
        M[m.SINCE] = M[m.COMPOSITES]
    M[m.EPOCH] += 1
    run = M[M[m.INSTANCE_FIRST] + instance]
    M[m.LIVE] -= M[M[m.INSTANCE_RUNS] + instance]
    M[M[m.INSTANCE_FIRST] + instance] = -1
    M[M[m.INSTANCE_RUNS] + instance] = 0
    return run


@compiled
def release(run, M):
    """Gives a run's row back."""
    M[M[m.FREE] + M[m.FREE_RUNS]] = run
    M[m.FREE_RUNS] += 1


@compiled
def step(instance, first, last, now, place, L, M, P, F, X):
    """One place, for one instance: every run moves, fails or ignores it, and starts are made."""
    sets = 0
    for at in range(first, last):
        sets |= P[P[m.P_SETS] + at]
    run = begin(instance, now, L, M)
    while run >= 0:
        following = of_run(run, m.NEXT, M)
        outcome = 0
        if L[L[m.STATE_INTEREST] + of_run(run, m.STATE, M)] & sets:
            outcome = meet(run, first, last, True, instance, place, L, M, P, F, X)
        if outcome == 0:
            keep(run, instance, L, M)
        else:
            release(run, M)
        run = following
    for number in range(L[m.STARTS]):
        start = L[L[m.START_STATES] + number]
        if (M[M[m.INSTANCE_DEAD] + instance] >> number) & 1 or not L[L[m.STATE_START_INTEREST] + start] & sets:
            continue
        prepare_start(start, M)
        if meet(0, first, last, False, instance, place, L, M, P, F, X) == 2 and not L[m.RESTART]:
            M[M[m.INSTANCE_DEAD] + instance] |= 1 << number


@compiled
def prepare_start(start, M):
    """Row 0 is the run that has matched nothing."""
    for column in range(1, M[m.WIDTH]):
        set_run(0, column, m.NONE, M)
    set_run(0, m.STATE, start, M)
    set_run(0, m.HEAD, -1, M)


@compiled
def look_back(first_instance, last_instance, layout, memory, places, parts, values):
    """Ends the starts of new instances that symbols before their first would have failed."""
    L = pointer(layout.ctypes.data)
    M = pointer(memory.ctypes.data)
    P = pointer(places.ctypes.data)
    F = pointer(parts.ctypes.data)
    X = pointer(values.ctypes.data)
    for instance in range(first_instance, last_instance):
        for number in range(L[m.STARTS]):
            prepare_start(L[L[m.START_STATES] + number], M)
            for at in range(P[m.P_COUNT]):
                if meet(0, at, at + 1, False, instance, 0, L, M, P, F, X) == 2:
                    M[M[m.INSTANCE_DEAD] + instance] |= 1 << number
                    break


@compiled
def fire(instance, timer, at, L, M, X):
    """A timer's place, for one instance."""
    run = begin(instance, at, L, M)
    while run >= 0:
        following = of_run(run, m.NEXT, M)
        if of_run(run, m.FIXED + timer, M) == at:
            tick(run, timer, at, instance, -1 - timer, L, M, X)
            release(run, M)
        else:
            keep(run, instance, L, M)
        run = following


@compiled
def next_timer(L, M):
    """The timer whose first deadline comes first, by its order among those of one instant; -1 if none is set."""
    best = -1
    for timer in range(L[m.TIMERS]):
        first = M[M[m.QUEUE_FIRST] + timer]
        if first < M[M[m.QUEUE_LAST] + timer]:
            at = M[M[m.QUEUE_DEADLINE] + timer * M[m.QUEUE_ROOM] + first]
            earliest = m.FAR
            if best >= 0:
                earliest = M[M[m.QUEUE_DEADLINE] + best * M[m.QUEUE_ROOM] + M[M[m.QUEUE_FIRST] + best]]
            tied = at == earliest and L[L[m.TIMER_ORDER] + timer] < L[L[m.TIMER_ORDER] + best]
            if at < earliest or tied:
                best = timer
    return best


@compiled
def room(wanted_runs, wanted_nodes, L, M):
    """Whether a step that may need so much fits; else says how much is needed."""
    fits = (
        M[m.FREE_RUNS] > wanted_runs
        and M[m.NODES] + wanted_nodes < M[m.NODE_ROOM]
        and M[m.COMPOSITES] + wanted_runs < M[m.MADE_ROOM]
    )
    for timer in range(L[m.TIMERS]):
        fits = fits and M[M[m.QUEUE_LAST] + timer] + wanted_runs < M[m.QUEUE_ROOM]
    if not fits:
        M[m.NEED_RUNS] = wanted_runs
        M[m.NEED_NODES] = wanted_nodes
    return fits


@compiled
def fan_out(first, last, L, P, F):
    """How many moves one run can make at a place, and how many symbols one move can add."""
    moves = last - first
    parts = 1
    for position in range(L[m.POSITIONS]):
        bit = L[L[m.POSITION_SIDE] + position]
        if bit >= 0:
            choices = 1
            for side in range(L[L[m.POSITION_SIDES] + position]):
                count = 1
                for at in range(first, last):
                    if (P[P[m.P_SETS] + at] >> (bit + side)) & 1:
                        count += 1
                choices *= count
            moves += choices
    for at in range(first, last):
        if P[P[m.P_SIDE] + at] >= 0:
            parts += F[F[m.SIDE_LAST] + P[P[m.P_SIDE] + at]] - F[F[m.SIDE_FIRST] + P[P[m.P_SIDE] + at]]
    return moves, parts


@compiled
def advance(until, first_instance, instances, widest, layout, memory, places, parts, values):
    """Consumes places from the cursor on, and fires timers before ``until``; says whether it is done.

    The arrays are used through bare pointers: counting references at each call would cost more than the work.
    """
    L = pointer(layout.ctypes.data)
    M = pointer(memory.ctypes.data)
    P = pointer(places.ctypes.data)
    F = pointer(parts.ctypes.data)
    X = pointer(values.ctypes.data)
    return consume(until, first_instance, instances, widest, L, M, P, F, X)


@compiled
def consume(until, first_instance, instances, widest, L, M, P, F, X):
    """Consumes places from the cursor on, and fires timers before ``until``; says whether it is done."""
    total = P[m.P_COUNT]
    while True:
        at = M[m.CURSOR]
        now = P[P[m.P_INSTANT] + at] if at < total else until
        if M[m.RESUME] < 0:
            timer = next_timer(L, M)
            while timer >= 0 and M[M[m.QUEUE_DEADLINE] + timer * M[m.QUEUE_ROOM] + M[M[m.QUEUE_FIRST] + timer]] < now:
                first = M[M[m.QUEUE_FIRST] + timer]
                instance = M[M[m.QUEUE_INSTANCE] + timer * M[m.QUEUE_ROOM] + first]
                wanted = (M[M[m.INSTANCE_RUNS] + instance] + 1) * widest
                if not room(wanted, wanted, L, M):
                    return GROW
                due = M[M[m.QUEUE_DEADLINE] + timer * M[m.QUEUE_ROOM] + first]
                M[M[m.QUEUE_FIRST] + timer] = first + 1
                fire(instance, timer, due, L, M, X)
                timer = next_timer(L, M)
        if at >= total:
            return DONE
        last = at + 1
        while last < total and P[P[m.P_PLACE] + last] == P[P[m.P_PLACE] + at]:
            last += 1
        if P[P[m.P_INSTANCE] + at] < 0:
            outcome = offer_all(at, last, first_instance, instances, now, widest, L, M, P, F, X)
        else:
            outcome = offer_each(at, last, now, widest, L, M, P, F, X)
        if outcome == GROW:
            return GROW
        M[m.CURSOR] = last
        M[m.RESUME] = -1


@compiled
def offer_each(first, last, now, widest, L, M, P, F, X):
    """A place whose symbols concern one instance each."""
    at = max(first, M[m.RESUME])
    while at < last:
        instance = P[P[m.P_INSTANCE] + at]
        end = at + 1
        while end < last and P[P[m.P_INSTANCE] + end] == instance:
            end += 1
        moves, parts = fan_out(at, end, L, P, F)
        wanted = (M[M[m.INSTANCE_RUNS] + instance] + L[m.STARTS]) * moves * widest + 1
        if not room(wanted, wanted * parts, L, M):
            M[m.RESUME] = at
            return GROW
        step(instance, at, end, now, P[P[m.P_PLACE] + at], L, M, P, F, X)
        at = end
    return DONE


@compiled
def offer_all(first, last, first_instance, instances, now, widest, L, M, P, F, X):
    """A place with symbols that concern all instances; symbols for one instance stand behind, for it to see too."""
    common = first
    while common < last and P[P[m.P_INSTANCE] + common] < 0:
        common += 1
    begin_at = max(first_instance, M[m.RESUME])
    moves, parts = fan_out(first, last, L, P, F)
    startable = heard_by_starts(first, common, L, P)
    for instance in range(begin_at, instances):
        if common == last and not startable and M[M[m.INSTANCE_RUNS] + instance] == 0:
            continue
        own = common
        while own < last and P[P[m.P_INSTANCE] + own] != instance:
            own += 1
        own_end = own
        while own_end < last and P[P[m.P_INSTANCE] + own_end] == instance:
            own_end += 1
        wanted = (M[M[m.INSTANCE_RUNS] + instance] + L[m.STARTS]) * moves * widest + 1
        if not room(wanted, wanted * parts, L, M):
            M[m.RESUME] = instance
            return GROW
        if own == own_end:
            step(instance, first, common, now, P[P[m.P_PLACE] + first], L, M, P, F, X)
        else:
            seen = gather(P, first, common, own, own_end)
            step(instance, 0, seen[m.P_COUNT], now, P[P[m.P_PLACE] + first], L, M, pointer(seen.ctypes.data), F, X)
            seen[m.P_COUNT] = 0  # the array must live until here
    return DONE


@compiled
def heard_by_starts(first, last, L, P):
    """Whether a run that has matched nothing listens to any of these symbols."""
    sets = 0
    for at in range(first, last):
        sets |= P[P[m.P_SETS] + at]
    for number in range(L[m.STARTS]):
        if L[L[m.STATE_START_INTEREST] + L[L[m.START_STATES] + number]] & sets:
            return True
    return False


@compiled
def gather(P, first, common, own, own_end):
    """The symbols of a place that one instance sees: its own, and the common ones that are not its own too."""
    most = common - first + own_end - own
    seen = np.zeros(m.HEADER + 7 * most, np.int64)
    for column in range(7):
        seen[m.P_PLACE + column] = m.HEADER + column * most
    count = 0
    for at in range(first, own_end):
        if at >= common and at < own:
            continue
        mine = False
        if at < common:
            for other in range(own, own_end):
                mine = mine or (P[P[m.P_SIDE] + at] < 0 and P[P[m.P_SYMBOL] + at] == P[P[m.P_SYMBOL] + other])
        if not mine:
            for column in range(7):
                seen[m.HEADER + column * most + count] = P[P[m.P_PLACE + column] + at]
            count += 1
    seen[m.P_COUNT] = count
    return seen

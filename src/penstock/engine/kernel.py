"""Steps all runs of a program over a batch of places: the rules of the language, over tables of numbers.

The kernel is compiled once, for all patterns. Its functions share five things (`memory`): L, the program's layout; M,
the memory, which it changes in place; P, the places; F, the parts of sides' composites; X, what conditions read. L and
M are tuples of pointers. It never allocates memory: where room may run out it returns before it has changed anything,
and is called again with more.

The runs of an instance are a list in the order in which they started; what a run becomes stands where it stood.
"""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.ahead import fan_out, gather, heard_by_starts, is_due, room, room_left
from penstock.engine.compiled import compiled, inlined
from penstock.engine.firing import fire_before, fire_plain
from penstock.engine.leaving import begin, give_up, leave, let_go, settle, stay
from penstock.engine.lists import close, instant_before, of_run, over, set_run, touch
from penstock.engine.matching import FAILS, IGNORES, MOVES, meet
from penstock.engine.plain import step_one
from penstock.engine.pointers import layout_of, memory_of, pointer, prefetch
from penstock.engine.together import needed_apart, part, step_together

DONE, GROW, FULL = range(3)
AHEAD = 8
"""So many places pass while the processor fetches a row."""


@compiled
def step(instance, first, last, now, place, L, M, P, F, X):
    """One place, for one instance: every run moves, fails or ignores it, and starts are made."""
    sets = 0
    for at in range(first, last):
        sets |= P[at * m.PLACE_WIDTH + m.SETS]
    if L[m.HEAD][m.TOGETHER]:
        part(instance, L, M)
    begin(now, M)
    if L[m.HEAD][m.AGE] >= 0:
        let_go(instance, now, L, M)
        M[m.COUNTS][m.TAIL] = -1
    row = instance * m.INSTANCE_WIDTH
    chronicle = L[m.HEAD][m.CONTEXT] == m.CHRONICLE
    used = False
    run = M[m.INSTANCES][row + m.FIRST_RUN]
    while run > 0:
        following = of_run(run, m.NEXT, M)
        interest = L[m.STATES][of_run(run, m.STATE, M) * m.STATE_WIDTH + m.STATE_INTEREST]
        if interest & sets:
            reason = over(run, now, L, M)
            if reason:
                give_up(run, reason, following, now, instance, L, M)
            else:
                gone_on, allowed = M[m.COUNTS][m.GONE_ON], M[m.COUNTS][m.ALLOWED]
                outcome = meet(run, first, last, True, not used, instance, place, L, M, P, F, X)
                if outcome == IGNORES:
                    stay(run, following, now, instance, L, M)
                else:
                    used = used or (chronicle and M[m.COUNTS][m.ALLOWED] > allowed)
                    leave(run, outcome, gone_on, allowed, following, now, instance, L, M)
        else:
            stay(run, following, now, instance, L, M)
        run = following
    for number in range(L[m.HEAD][m.STARTS]):
        start = L[m.HEAD][L[m.HEAD][m.START_STATES] + number]
        dead = (M[m.INSTANCES][row + m.DEAD] >> number) & 1
        if dead or not L[m.STATES][start * m.STATE_WIDTH + m.STATE_START_INTEREST] & sets:
            continue
        prepare_start(start, M)
        allowed = M[m.COUNTS][m.ALLOWED]
        outcome = meet(0, first, last, False, not used, instance, place, L, M, P, F, X)
        if outcome == MOVES:
            used = used or (chronicle and M[m.COUNTS][m.ALLOWED] > allowed)
            close(-1, instance, M)
            touch(instance, M)
        elif outcome == FAILS and not L[m.HEAD][m.RESTART]:
            M[m.INSTANCES][row + m.DEAD] |= 1 << number
            touch(instance, M)
    if L[m.HEAD][m.CONTEXT] == m.RECENT or M[m.INSTANCES][row + m.LIVE_RUNS] > L[m.HEAD][m.MOST_RUNS]:
        settle(instance, now, L, M)


@inlined
def prepare_start(start, M):
    """Row 0 is the run that has matched nothing."""
    set_run(0, m.STATE, start, M)
    set_run(0, m.PREVIOUS, m.NONE, M)
    set_run(0, m.HEAD_NODE, -1, M)


@compiled
def look_back(first_instance, last_instance, count, layout, memory, places, parts, values):
    """Ends the starts of new instances that symbols before their first would have failed."""
    L, M = layout_of(layout), memory_of(memory)
    P = pointer(places.ctypes.data)
    F = pointer(parts.ctypes.data)
    X = pointer(values.ctypes.data)
    for instance in range(first_instance, last_instance):
        for number in range(L[m.HEAD][m.STARTS]):
            prepare_start(L[m.HEAD][L[m.HEAD][m.START_STATES] + number], M)
            for at in range(count):
                if meet(0, at, at + 1, False, False, instance, 0, L, M, P, F, X) == FAILS:
                    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.DEAD] |= 1 << number
                    break


@compiled
def advance(until, first_instance, instances, widest, count, layout, memory, places, parts, values):
    """Consumes places from the cursor on, and fires timers before ``until``; says whether it is done.

    The arrays are used through bare pointers: counting references at each call would cost more than the work.
    """
    L, M = layout_of(layout), memory_of(memory)
    P = pointer(places.ctypes.data)
    F = pointer(parts.ctypes.data)
    X = pointer(values.ctypes.data)
    if L[m.HEAD][m.PLAIN]:
        return consume_plain(until, first_instance, instances, widest, count, L, M, P, F, X)
    return consume(until, first_instance, instances, widest, count, L, M, P, F, X)


@inlined
def is_full(L, M):
    """Whether more runs wait than may. This is asked where something has just happened, whatever comes next."""
    return M[m.COUNTS][m.LIVE] > L[m.HEAD][m.MOST_LIVE]


@inlined
def consume(until, first_instance, instances, widest, count, L, M, P, F, X):
    """The same, over pointers."""
    counts = M[m.COUNTS]
    while True:
        at = counts[m.CURSOR]
        now = P[at * m.PLACE_WIDTH + m.INSTANT] if at < count else until
        if counts[m.RESUME] < 0 and not fire_before(False, now, widest, L, M, X):
            return GROW
        if is_full(L, M):
            return FULL
        if at >= count:
            return DONE
        look_ahead(at, count, L[m.HEAD][m.CLOCKED], M, P)
        if offer(at, now, first_instance, instances, widest, count, L, M, P, F, X) == GROW:
            return GROW
        if is_full(L, M):
            return FULL


@compiled
def consume_plain(until, first_instance, instances, widest, count, L, M, P, F, X):
    """The same for plain programs. ``spare`` is how much of everything may surely be used before it is asked again."""
    counts = M[m.COUNTS]
    timers, limits = L[m.HEAD][m.TIMERS], L[m.HEAD][m.LIMITS]
    starts = L[m.HEAD][m.START_INTEREST]
    together = L[m.HEAD][m.TOGETHER]
    length = L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH]] if limits > 0 else 0
    at = counts[m.CURSOR]
    spare = 0
    while at < count:
        place = at * m.PLACE_WIDTH
        now, instance = P[place + m.INSTANT], P[place + m.INSTANCE]
        counts[m.CURSOR] = at
        if timers > 0 and counts[m.RESUME] < 0 and is_due(now, L, M):
            if not fire_plain(timers, limits, now, widest, L, M, X):
                return GROW
            if is_full(L, M):
                return FULL
            spare = 0
        if together:
            look_ahead_together(at, count, M, P)
        else:
            look_ahead(at, count, timers + limits, M, P)
        shared = at + 1 < count and P[place + m.PLACE_WIDTH + m.PLACE] == P[place + m.PLACE]
        if instance < 0 or shared or counts[m.RESUME] >= 0:
            if offer(at, now, first_instance, instances, widest, count, L, M, P, F, X) == GROW:
                return GROW
            if is_full(L, M):
                return FULL
            at = counts[m.CURSOR]
            spare = 0
            continue
        live, sets = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS], P[place + m.SETS]
        if live > 0 or sets & starts:
            if spare <= live + 1:
                spare = room_left(timers, M)
                if spare <= live + 1:
                    counts[m.NEED_RUNS] = counts[m.NEED_NODES] = live + 2
                    return GROW
            spare -= live + 1
            counts[m.NOW] = now
            begins, symbol, number = P[place + m.BEGINS], P[place + m.PLACE_SYMBOL], P[place + m.PLACE]
            if together:
                since = instant_before(now, length) if limits > 0 else m.NONE
                step_together(instance, sets, begins, now, symbol, number, since, L, M)
            elif timers == 1 and limits == 0:  # with constants, these are loops no more
                step_one(instance, sets, begins, now, symbol, number, 1, 0, L, M, X)
            else:
                step_one(instance, sets, begins, now, symbol, number, timers, limits, L, M, X)
            if M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] > L[m.HEAD][m.MOST_RUNS]:
                settle(instance, now, L, M)
            if is_full(L, M):
                counts[m.CURSOR] = at + 1
                return FULL
        at += 1
    counts[m.CURSOR] = at
    if not fire_plain(timers, limits, until, widest, L, M, X):
        return GROW
    return FULL if is_full(L, M) else DONE


@compiled
def offer(at, now, first_instance, instances, widest, count, L, M, P, F, X):
    """Offers all that is at a place, and moves the cursor behind it, if there is room."""
    last = at + 1
    while last < count and P[last * m.PLACE_WIDTH + m.PLACE] == P[at * m.PLACE_WIDTH + m.PLACE]:
        last += 1
    if P[at * m.PLACE_WIDTH + m.INSTANCE] < 0:
        outcome = offer_all(at, last, first_instance, instances, now, widest, L, M, P, F, X)
    else:
        outcome = offer_each(at, last, now, widest, L, M, P, F, X)
    if outcome == DONE:
        M[m.COUNTS][m.CURSOR] = last
        M[m.COUNTS][m.RESUME] = -1
    return outcome


@inlined
def look_ahead(at, count, clocked, M, P):
    """Asks for what places to come will read: which instance, then its first run, then the run behind that."""
    if at + 3 * AHEAD >= count:
        return
    prefetch(M[m.INSTANCES], P[(at + 3 * AHEAD) * m.PLACE_WIDTH + m.INSTANCE] * m.INSTANCE_WIDTH)
    run = first_run_at(at + 2 * AHEAD, M, P)
    prefetch(M[m.RUNS], run * m.RUN_WIDTH)
    prefetch(M[m.CLOCKS], run * clocked)
    run = M[m.RUNS][first_run_at(at + AHEAD, M, P) * m.RUN_WIDTH + m.NEXT]
    prefetch(M[m.RUNS], run * m.RUN_WIDTH)
    prefetch(M[m.CLOCKS], run * clocked)


@inlined
def first_run_at(at, M, P):
    """The first run of the instance that a place concerns, or row 0, which nobody waits in; it is worth no branch."""
    instance = max(P[at * m.PLACE_WIDTH + m.INSTANCE], 0)
    return max(M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN], 0)


@inlined
def look_ahead_together(at, count, M, P):
    """The same where runs move together: which instance, then the leader of its first group, then the last of that."""
    if at + 3 * AHEAD >= count:
        return
    prefetch(M[m.INSTANCES], P[(at + 3 * AHEAD) * m.PLACE_WIDTH + m.INSTANCE] * m.INSTANCE_WIDTH)
    prefetch(M[m.RUNS], first_run_at(at + 2 * AHEAD, M, P) * m.RUN_WIDTH)
    prefetch(M[m.RUNS], of_run(first_run_at(at + AHEAD, M, P), m.LAST_OF_GROUP, M) * m.RUN_WIDTH)


@inlined
def offer_each(first, last, now, widest, L, M, P, F, X):
    """A place whose symbols concern one instance each."""
    at = max(first, M[m.COUNTS][m.RESUME])
    while at < last:
        instance = P[at * m.PLACE_WIDTH + m.INSTANCE]
        stop = at + 1
        while stop < last and P[stop * m.PLACE_WIDTH + m.INSTANCE] == instance:
            stop += 1
        live = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS]
        if live == 0 and not heard_by_starts(at, stop, L, P):
            at = stop
            continue
        moves, parts = fan_out(at, stop, L, P, F)
        wanted = (live + L[m.HEAD][m.STARTS]) * moves * widest + 1
        apart = needed_apart(instance, M) if L[m.HEAD][m.TOGETHER] else 0
        if not room(wanted, wanted * parts + apart, L, M):
            M[m.COUNTS][m.RESUME] = at
            return GROW
        step(instance, at, stop, now, P[at * m.PLACE_WIDTH + m.PLACE], L, M, P, F, X)
        at = stop
    return DONE


@compiled
def offer_all(first, last, first_instance, instances, now, widest, L, M, P, F, X):
    """A place with symbols that concern all instances; symbols for one instance stand behind, for it to see too."""
    common = first
    while common < last and P[common * m.PLACE_WIDTH + m.INSTANCE] < 0:
        common += 1
    begin_at = max(first_instance, M[m.COUNTS][m.RESUME])
    moves, parts = fan_out(first, last, L, P, F)
    startable = heard_by_starts(first, common, L, P)
    place = P[first * m.PLACE_WIDTH + m.PLACE]
    for instance in range(begin_at, instances):
        live = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS]
        if common == last and not startable and live == 0:
            continue
        own = common
        while own < last and P[own * m.PLACE_WIDTH + m.INSTANCE] != instance:
            own += 1
        own_end = own
        while own_end < last and P[own_end * m.PLACE_WIDTH + m.INSTANCE] == instance:
            own_end += 1
        wanted = (live + L[m.HEAD][m.STARTS]) * moves * widest + 1
        apart = needed_apart(instance, M) if L[m.HEAD][m.TOGETHER] else 0
        if not room(wanted, wanted * parts + apart, L, M):
            M[m.COUNTS][m.RESUME] = instance
            return GROW
        if own == own_end:
            step(instance, first, common, now, place, L, M, P, F, X)
        else:
            seen, count = gather(P, first, common, own, own_end)
            step(instance, 0, count, now, place, L, M, pointer(seen.ctypes.data), F, X)
            seen[0] = 0  # the array must live until here
    return DONE

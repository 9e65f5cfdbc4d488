"""Steps plain programs (see `memory`), where a symbol stands alone at its place, as most do.

At most one option of a run matches a symbol there, and it leads to one state at most. So a run that moves stays in its
row and in its place in the list, and everything that an option says is in one row (`layout`). The rules are those of
`kernel`, which steps these programs too where several symbols share a place.
"""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.compiled import inlined
from penstock.engine.lists import take_row
from penstock.engine.moves import deadline, wait_for

GONE, HERE = range(2)


@inlined
def matches(option, sets, L):
    """Whether a symbol in these sets is in the label of an option, which is a row."""
    label = sets & L[m.OPTIONS][option + m.OPTION_LABEL] != 0
    if L[m.OPTIONS][option + m.OPTION_NEGATED]:
        return sets & L[m.OPTIONS][option + m.OPTION_WRITTEN] != 0 and not label
    return label


@inlined
def grow(symbol, option, parent, L, M):
    """A list with one more symbol."""
    node = M[m.COUNTS][m.NODE_COUNT]
    M[m.COUNTS][m.NODE_COUNT] = node + 1
    row = node * m.NODE_WIDTH
    M[m.NODES][row + m.SYMBOL] = symbol
    M[m.NODES][row + m.PARENT] = parent
    M[m.NODES][row + m.LABELS] = L[m.OPTIONS][option + m.OPTION_LABELS]
    M[m.NODES][row + m.HASH] = 0
    return node


@inlined
def make_one(instance, lo, hi, head, place, M):
    """A composite."""
    made = M[m.COUNTS][m.MADE_COUNT]
    M[m.COUNTS][m.MADE_COUNT] = made + 1
    row = made * m.MADE_WIDTH
    M[m.MADE][row + m.MADE_INSTANCE] = instance
    M[m.MADE][row + m.MADE_LO] = lo
    M[m.MADE][row + m.MADE_HI] = hi
    M[m.MADE][row + m.MADE_NODE] = head
    M[m.MADE][row + m.MADE_PLACE] = place


@inlined
def is_over(run, first, last, now, timers, limits, L, M):
    """Whether no way on is inside its limits any more."""
    if limits == 0:
        return False
    clocks = run * (timers + limits) + timers
    for option in range(first, last):
        inside = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_INSIDE]
        late = False
        for limit in range(limits):
            since = M[m.CLOCKS][clocks + limit]
            if (inside >> limit) & 1 and since != m.NONE:
                late = late or now - since > L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH] + limit]
        if not late:
            return False
    return True


@inlined
def go(started, run, option, lo, hi, symbol, instance, place, timers, limits, L, M, X):
    """A run goes on through an option, a row; says whether it is still there. Row 0 is a run that starts.

    A time event has the symbol -1, which is no part.
    """
    clocks = run * (timers + limits)
    for limit in range(limits):
        since = m.NONE
        if (L[m.OPTIONS][option + m.OPTION_LIMITS] >> limit) & 1:
            before = M[m.CLOCKS][clocks + timers + limit] if started else m.NONE
            enters = (L[m.OPTIONS][option + m.OPTION_ENTERS] >> limit) & 1
            since = lo if before == m.NONE or enters else min(before, lo)
            if hi - since > L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH] + limit]:
                M[m.COUNTS][m.EXPIRED] += started
                return GONE
        M[m.SCRATCH][limit] = since
    row = run * m.RUN_WIDTH
    head = M[m.RUNS][row + m.HEAD_NODE] if started else -1
    if symbol >= 0:
        head = grow(symbol, option, head, L, M)
    span = min(lo, M[m.RUNS][row + m.LO]) if started else lo
    ends, target = L[m.OPTIONS][option + m.OPTION_ENDS], L[m.OPTIONS][option + m.OPTION_TARGET]
    if ends:
        make_one(instance, span, hi, head, place, M)
    if target < 0:
        M[m.COUNTS][m.FAILED] += started and not ends
        return GONE
    began = M[m.RUNS][row + m.BEGAN] & ~1 if started else 2 * hi
    if not started:
        run = take_row(M)
        row = run * m.RUN_WIDTH
        M[m.RUNS][row + m.NEXT] = -1
        M[m.RUNS][row + m.REMAINING] = 0
        M[m.RUNS][row + m.BASE] = m.NONE
        M[m.COUNTS][m.TAIL] = run
    M[m.RUNS][row + m.STATE] = target
    M[m.RUNS][row + m.PREVIOUS] = hi
    M[m.RUNS][row + m.LO] = span
    M[m.RUNS][row + m.HEAD_NODE] = head
    M[m.RUNS][row + m.BEGAN] = began | ends
    clocks = run * (timers + limits)
    for timer in range(timers):
        at = m.NONE
        if (L[m.OPTIONS][option + m.OPTION_HEARS] >> timer) & 1:
            if (L[m.OPTIONS][option + m.OPTION_SETS] >> timer) & 1:
                at = deadline(timer, hi, L, X)
                wait_for(timer, at, instance, M)
            elif started:
                at = M[m.CLOCKS][clocks + timer]
        M[m.CLOCKS][clocks + timer] = at
    for limit in range(limits):
        M[m.CLOCKS][clocks + timers + limit] = M[m.SCRATCH][limit]
    return HERE


@inlined
def meet_one(run, state, sets, lo, hi, symbol, instance, place, timers, limits, L, M, X):
    """What becomes of a run at a place with one symbol: it is there afterwards, or gone.

    A run that moves asks by itself whether it is inside its limits, so that it is not asked before.
    """
    first, last = L[m.STATES][state + m.STATE_FIRST], L[m.STATES][state + m.STATE_LAST]
    follows = M[m.RUNS][run * m.RUN_WIDTH + m.PREVIOUS] < lo
    stays = not follows and L[m.STATES][state + m.STATE_STRONG]
    for number in range(first, last):
        option = number * m.OPTION_WIDTH
        if matches(option, sets, L):
            if follows or not L[m.OPTIONS][option + m.OPTION_STRONG]:
                return go(True, run, option, lo, hi, symbol, instance, place, timers, limits, L, M, X)
            stays = True
            break
    if is_over(run, first, last, hi, timers, limits, L, M):
        M[m.COUNTS][m.EXPIRED] += 1
        return GONE
    if not stays:
        for number in range(first, last):
            if sets & L[m.OPTIONS][number * m.OPTION_WIDTH + m.OPTION_HEARD]:
                M[m.COUNTS][m.FAILED] += 1
                return GONE
    return HERE


@inlined
def take_out(run, before, following, instance, M):
    """Takes a run out of its instance's list, behind the one before it."""
    row = instance * m.INSTANCE_WIDTH
    if before < 0:
        M[m.INSTANCES][row + m.FIRST_RUN] = following
    else:
        M[m.RUNS][before * m.RUN_WIDTH + m.NEXT] = following
    M[m.RUNS][run * m.RUN_WIDTH + m.NEXT] = M[m.COUNTS][m.FREE]
    M[m.COUNTS][m.FREE] = run
    M[m.COUNTS][m.FREE_RUNS] += 1
    M[m.INSTANCES][row + m.LIVE_RUNS] -= 1
    M[m.COUNTS][m.LIVE] -= 1


@inlined
def step_one(instance, sets, lo, hi, symbol, place, timers, limits, L, M, X):
    """A place with one symbol, for one instance: every run moves, fails or ignores it, and a start is made."""
    row = instance * m.INSTANCE_WIDTH
    before = -1
    run = M[m.INSTANCES][row + m.FIRST_RUN]
    while run > 0:
        following = M[m.RUNS][run * m.RUN_WIDTH + m.NEXT]
        state = M[m.RUNS][run * m.RUN_WIDTH + m.STATE] * m.STATE_WIDTH
        if L[m.STATES][state + m.STATE_INTEREST] & sets:
            M[m.INSTANCES][row + m.TOUCHED] = 1
            if meet_one(run, state, sets, lo, hi, symbol, instance, place, timers, limits, L, M, X) == GONE:
                take_out(run, before, following, instance, M)
                run = before
        before = run
        run = following
    if sets & L[m.HEAD][m.START_INTEREST] and not M[m.INSTANCES][row + m.DEAD]:
        start_one(before, instance, sets, lo, hi, symbol, place, timers, limits, L, M, X)


@inlined
def start_one(last_run, instance, sets, lo, hi, symbol, place, timers, limits, L, M, X):
    """A run starts behind the last one, or the start fails."""
    row = instance * m.INSTANCE_WIDTH
    state = L[m.HEAD][L[m.HEAD][m.START_STATES]] * m.STATE_WIDTH
    first, last = L[m.STATES][state + m.STATE_FIRST], L[m.STATES][state + m.STATE_LAST]
    M[m.INSTANCES][row + m.TOUCHED] = 1
    for number in range(first, last):
        option = number * m.OPTION_WIDTH
        if matches(option, sets, L):
            if go(False, 0, option, lo, hi, symbol, instance, place, timers, limits, L, M, X) == HERE:
                fresh = M[m.COUNTS][m.TAIL]
                if last_run < 0:
                    M[m.INSTANCES][row + m.FIRST_RUN] = fresh
                else:
                    M[m.RUNS][last_run * m.RUN_WIDTH + m.NEXT] = fresh
                M[m.INSTANCES][row + m.LIVE_RUNS] += 1
                M[m.COUNTS][m.LIVE] += 1
            return
    fail_start(instance, first, last, sets, L, M)


@inlined
def fail_start(instance, first, last, sets, L, M):
    """An instance starts no more, if one of a start's options does not let this pass and it starts but once."""
    if not L[m.HEAD][m.RESTART]:
        for number in range(first, last):
            if sets & L[m.OPTIONS][number * m.OPTION_WIDTH + m.OPTION_WRITTEN]:
                M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.DEAD] = 1


@inlined
def fire_one(instance, timer, at, timers, limits, L, M, X):
    """A timer's place, for one instance."""
    before = -1
    run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while run > 0:
        following = M[m.RUNS][run * m.RUN_WIDTH + m.NEXT]
        if M[m.CLOCKS][run * (timers + limits) + timer] == at:
            M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.TOUCHED] = 1
            if tick_one(run, timer, at, instance, timers, limits, L, M, X) == GONE:
                take_out(run, before, following, instance, M)
                run = before
        before = run
        run = following


@inlined
def tick_one(run, timer, at, instance, timers, limits, L, M, X):
    """A run's own timer fires: it moves the run, or fails it."""
    state = M[m.RUNS][run * m.RUN_WIDTH + m.STATE] * m.STATE_WIDTH
    first, last = L[m.STATES][state + m.STATE_FIRST], L[m.STATES][state + m.STATE_LAST]
    if is_over(run, first, last, at, timers, limits, L, M):
        M[m.COUNTS][m.EXPIRED] += 1
        return GONE
    M[m.CLOCKS][run * (timers + limits) + timer] = m.NONE
    for number in range(first, last):
        option = number * m.OPTION_WIDTH
        if (L[m.OPTIONS][option + m.OPTION_TICKS] >> timer) & 1:
            return go(True, run, option, at, at, -1, instance, -1 - timer, timers, limits, L, M, X)
    M[m.COUNTS][m.FAILED] += 1
    return GONE

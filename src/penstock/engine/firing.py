"""Timers fire, each at its deadline, in their order: what runs wait for is there, or did not come in time."""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.ahead import next_timer, room, room_left
from penstock.engine.compiled import compiled, inlined
from penstock.engine.leaving import begin, give_up, leave, let_go, settle, stay
from penstock.engine.lists import of_clock, of_run, over, set_clock
from penstock.engine.matching import FAILS, MOVES
from penstock.engine.moves import move
from penstock.engine.plain import fire_one
from penstock.engine.pointers import prefetch

AHEAD = 8
"""So many deadlines pass while the processor fetches a row."""


@inlined
def tick(run, timer, at, instance, place, L, M, X):
    """A run's own timer fires: it moves the run, or fails it."""
    here = of_run(run, m.STATE, M) * m.STATE_WIDTH
    set_clock(run, timer, m.NONE, L, M)
    outcome = FAILS
    for option in range(L[m.STATES][here + m.STATE_FIRST], L[m.STATES][here + m.STATE_LAST]):
        position = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_POSITION]
        if (L[m.POSITIONS][position * m.POSITION_WIDTH + m.POSITION_TICKS] >> timer) & 1:
            outcome = MOVES
            move(run, option, at, at, of_run(run, m.HEAD_NODE, M), 0, instance, place, L, M, X)
    return outcome


@inlined
def due(run, timer, at, L, M):
    """The timer of a run that fires at the place of this one; -1 for none. In rounds of a loop they are one timer."""
    orders = L[m.HEAD][m.TIMER_ORDER]
    for other in range(L[m.HEAD][m.TIMERS]):
        if L[m.HEAD][orders + other] == L[m.HEAD][orders + timer] and of_clock(run, other, L, M) == at:
            return other
    return -1


@compiled
def fire(instance, timer, at, L, M, X):
    """A timer's place, for one instance."""
    begin(at, M)
    M[m.COUNTS][m.FIRED] += 1
    place = -1 - timer - m.FIRINGS * M[m.COUNTS][m.FIRED]
    if L[m.HEAD][m.AGE] >= 0:
        let_go(instance, at, L, M)
        M[m.COUNTS][m.TAIL] = -1
    run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while run > 0:
        following = of_run(run, m.NEXT, M)
        own = due(run, timer, at, L, M)
        if own >= 0:
            reason = over(run, at, L, M)
            if reason:
                give_up(run, reason, following, at, instance, L, M)
            else:
                gone_on, allowed = M[m.COUNTS][m.GONE_ON], M[m.COUNTS][m.ALLOWED]
                outcome = tick(run, own, at, instance, place, L, M, X)
                leave(run, outcome, gone_on, allowed, following, at, instance, L, M)
        else:
            stay(run, following, at, instance, L, M)
        run = following
    settle(instance, at, L, M)


@inlined
def fire_before(plain, now, widest, L, M, X):
    """Fires the timers before an instant; says whether there was room for all. ``plain`` is said by a constant."""
    if L[m.HEAD][m.TIMERS] == 0:
        return True
    while True:
        timer = next_timer(L, M)
        if timer < 0:
            return True
        first = M[m.QUEUE_ENDS][2 * timer]
        row = (timer * M[m.COUNTS][m.QUEUE_ROOM] + first) * m.QUEUE_WIDTH
        due, instance = M[m.QUEUES][row + m.DEADLINE], M[m.QUEUES][row + m.OWNER]
        if due >= now:
            return True
        wanted = (M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] + 1) * widest
        if not room(wanted, wanted, L, M):
            return False
        M[m.QUEUE_ENDS][2 * timer] = first + 1
        if plain:
            M[m.COUNTS][m.NOW] = due
            fire_one(instance, timer, due, L[m.HEAD][m.TIMERS], L[m.HEAD][m.LIMITS], L, M, X)
        else:
            fire(instance, timer, due, L, M, X)


@compiled
def fire_plain(timers, limits, now, widest, L, M, X):
    """The same for plain programs."""
    if timers == 1 and limits == 0:
        return fire_only(now, widest, L, M, X)
    return fire_before(True, now, widest, L, M, X)


@inlined
def fire_only(now, widest, L, M, X):
    """The same where there is one timer and no limit. ``spare`` is how much of everything may surely be used."""
    ends, queue, spare = M[m.QUEUE_ENDS], M[m.QUEUES], 0
    while ends[0] < ends[1]:
        row = ends[0] * m.QUEUE_WIDTH
        due, instance = queue[row + m.DEADLINE], queue[row + m.OWNER]
        if due >= now:
            return True
        wanted = (M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] + 1) * widest
        if spare < wanted:
            if not room(wanted, wanted, L, M):
                return False
            spare = room_left(1, M)
        spare -= wanted
        ends[0] += 1
        further = min(ends[0] + AHEAD, ends[1] - 1)
        prefetch(M[m.INSTANCES], queue[further * m.QUEUE_WIDTH + m.OWNER] * m.INSTANCE_WIDTH)
        M[m.COUNTS][m.NOW] = due
        fire_one(instance, 0, due, 1, 0, L, M, X)
    return True

"""Who stays in an instance's list at a place and who leaves it: what moved, failed, was replaced or waits too long."""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.lists import close, end, instant_before, of_run, over, release, touch
from penstock.engine.matching import FAILS
from penstock.engine.moves import is_known
from penstock.engine.together import drop_first, let_late_go


@inlined
def begin(now, M):
    """A place begins."""
    if now != M[m.COUNTS][m.NOW]:
        M[m.COUNTS][m.NOW] = now
        M[m.COUNTS][m.SINCE] = M[m.COUNTS][m.MADE_COUNT]
    M[m.COUNTS][m.EPOCH] += 1
    M[m.COUNTS][m.TAIL] = -1


@inlined
def remove(run, following, instance, M):
    """Takes a run out of its instance's list; what it became stands there already."""
    close(following, instance, M)
    release(run, M)
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] -= 1
    M[m.COUNTS][m.LIVE] -= 1


@inlined
def stay(run, following, now, instance, L, M):
    """A run stays as it is, unless an equal one is at this place."""
    if not L[m.HEAD][m.DISTINCT_RUNS] and of_run(run, m.PREVIOUS, M) == now and is_known(run, L, M):
        remove(run, following, instance, M)
    else:
        M[m.COUNTS][m.TAIL] = run


@inlined
def leave(run, outcome, gone_on, allowed, following, now, instance, L, M):
    """A run has moved or failed."""
    if outcome == FAILS:
        end(run, m.FAILED, now, instance, L, M)
    elif M[m.COUNTS][m.GONE_ON] == gone_on:
        end(run, m.FAILED if M[m.COUNTS][m.ALLOWED] > allowed else m.EXPIRED, now, instance, L, M)
    remove(run, following, instance, M)
    touch(instance, M)


@inlined
def give_up(run, reason, following, now, instance, L, M):
    """A run is over before it could move or fail."""
    end(run, reason, now, instance, L, M)
    remove(run, following, instance, M)
    touch(instance, M)


@compiled
def let_go(instance, now, L, M):
    """Ends an instance's runs that can only come to nothing."""
    if L[m.HEAD][m.TOGETHER]:
        if L[m.HEAD][m.LIMITS] > 0:
            let_late_go(instance, instant_before(now, L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH]]), M)
        return
    M[m.COUNTS][m.TAIL] = -1
    run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while run > 0:
        following = of_run(run, m.NEXT, M)
        reason = over(run, now, L, M)
        if reason:
            give_up(run, reason, following, now, instance, L, M)
        else:
            M[m.COUNTS][m.TAIL] = run
        run = following


@compiled
def replace(instance, now, L, M):
    """Of the runs with the same options, keeps the one that started last."""
    M[m.COUNTS][m.TAIL] = -1
    run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while run > 0:
        following = of_run(run, m.NEXT, M)
        kind = L[m.STATES][of_run(run, m.STATE, M) * m.STATE_WIDTH + m.STATE_KIND]
        later = following
        while later > 0:
            other = L[m.STATES][of_run(later, m.STATE, M) * m.STATE_WIDTH + m.STATE_KIND]
            if other == kind and of_run(later, m.REMAINING, M) == of_run(run, m.REMAINING, M):
                break
            later = of_run(later, m.NEXT, M)
        if later > 0:
            end(run, m.REPLACED, now, instance, L, M)
            remove(run, following, instance, M)
        else:
            M[m.COUNTS][m.TAIL] = run
        run = following


@compiled
def settle(instance, now, L, M):
    """After a place: what the context replaces, and what is beyond the limit, goes."""
    row = instance * m.INSTANCE_WIDTH
    recent = L[m.HEAD][m.CONTEXT] == m.RECENT
    too_many = M[m.INSTANCES][row + m.LIVE_RUNS] > L[m.HEAD][m.MOST_RUNS]
    if L[m.HEAD][m.AGE] < 0 and (recent or too_many):
        let_go(instance, now, L, M)
    if recent:
        replace(instance, now, L, M)
    while M[m.INSTANCES][row + m.LIVE_RUNS] > L[m.HEAD][m.MOST_RUNS]:
        if L[m.HEAD][m.TOGETHER]:
            drop_first(instance, M)
            continue
        run = M[m.INSTANCES][row + m.FIRST_RUN]
        end(run, m.DROPPED, now, instance, L, M)
        M[m.COUNTS][m.TAIL] = -1
        remove(run, of_run(run, m.NEXT, M), instance, M)
        touch(instance, M)

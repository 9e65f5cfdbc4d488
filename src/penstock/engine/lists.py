"""Runs and what they have matched: lists that share their beginnings, so that they are cheap to grow and to compare."""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.vm import mix


@inlined
def of_run(run, column, M):
    """A cell of a run."""
    return M[m.RUNS][run * m.RUN_WIDTH + column]


@inlined
def set_run(run, column, value, M):
    """Changes a cell of a run."""
    M[m.RUNS][run * m.RUN_WIDTH + column] = value


@inlined
def of_node(node, column, M):
    """A cell of a matched symbol."""
    return M[m.NODES][node * m.NODE_WIDTH + column]


@compiled
def same_nodes(a, b, M):
    """Whether two lists of matched symbols are equal."""
    while a != b:
        if a < 0 or b < 0 or of_node(a, m.HASH, M) != of_node(b, m.HASH, M):
            return False
        if of_node(a, m.SYMBOL, M) != of_node(b, m.SYMBOL, M) or of_node(a, m.LABELS, M) != of_node(b, m.LABELS, M):
            return False
        a, b = of_node(a, m.PARENT, M), of_node(b, m.PARENT, M)
    return True


@inlined
def add_node(symbol, identity, labels, parent, M):
    """A list with one more symbol; its hash tells symbols apart by what never changes, their identity."""
    node = M[m.COUNTS][m.NODE_COUNT]
    M[m.COUNTS][m.NODE_COUNT] = node + 1
    row = node * m.NODE_WIDTH
    before = of_node(parent, m.HASH, M) if parent >= 0 else 0
    M[m.NODES][row + m.SYMBOL] = symbol
    M[m.NODES][row + m.LABELS] = labels
    M[m.NODES][row + m.PARENT] = parent
    M[m.NODES][row + m.HASH] = mix(mix(identity, labels), before)
    return node


@inlined
def release(run, M):
    """Gives a run's row back."""
    set_run(run, m.NEXT, M[m.COUNTS][m.FREE], M)
    M[m.COUNTS][m.FREE] = run
    M[m.COUNTS][m.FREE_RUNS] += 1


@inlined
def take_row(M):
    """A free row for a run."""
    run = M[m.COUNTS][m.FREE]
    M[m.COUNTS][m.FREE] = of_run(run, m.NEXT, M)
    M[m.COUNTS][m.FREE_RUNS] -= 1
    return run


@inlined
def link(run, instance, M):
    """Puts a run behind the last one that was put into its instance's list."""
    tail = M[m.COUNTS][m.TAIL]
    if tail < 0:
        M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN] = run
    else:
        set_run(tail, m.NEXT, run, M)
    M[m.COUNTS][m.TAIL] = run


@inlined
def close(following, instance, M):
    """What comes behind the run that was put into the list last."""
    tail = M[m.COUNTS][m.TAIL]
    if tail < 0:
        M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN] = following
    else:
        set_run(tail, m.NEXT, following, M)


@inlined
def instant_before(now, length):
    """The instant so long before another, or the beginning of time."""
    return now - length if now >= m.NONE + length else m.NONE


@inlined
def instant_after(since, length):
    """The instant so long after another, or the end of time."""
    return since + length if since <= m.FAR - length else m.FAR


@inlined
def over_since(run, L, M):
    """The last instant at which some way on is still inside its limits; the end of time if one has none."""
    here = of_run(run, m.STATE, M) * m.STATE_WIDTH
    latest = m.NONE
    for option in range(L[m.STATES][here + m.STATE_FIRST], L[m.STATES][here + m.STATE_LAST]):
        row = option * m.OPTION_WIDTH
        position = L[m.OPTIONS][row + m.OPTION_POSITION] * m.POSITION_WIDTH
        inside = L[m.POSITIONS][position + m.POSITION_LIMITS] & ~L[m.OPTIONS][row + m.OPTION_ENTERS]
        earliest = m.FAR
        for limit in range(L[m.HEAD][m.LIMITS]):
            since = of_clock(run, L[m.HEAD][m.TIMERS] + limit, L, M)
            if (inside >> limit) & 1 and since != m.NONE:
                length = L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH] + limit]
                earliest = min(earliest, instant_after(since, length))
        latest = max(latest, earliest)
    return latest


@inlined
def of_clock(run, clock, L, M):
    """A run's deadline for a timer, or since when it is inside a limit."""
    return M[m.CLOCKS][run * L[m.HEAD][m.CLOCKED] + clock]


@inlined
def set_clock(run, clock, at, L, M):
    """Changes a deadline or the beginning of a limit."""
    M[m.CLOCKS][run * L[m.HEAD][m.CLOCKED] + clock] = at


@inlined
def has_no_bound(run, L, M):
    """Whether a run can wait for ever."""
    if not L[m.STATES][of_run(run, m.STATE, M) * m.STATE_WIDTH + m.STATE_UNBOUNDED]:
        return False
    for timer in range(L[m.HEAD][m.TIMERS]):
        if of_clock(run, timer, L, M) != m.NONE:
            return False
    return True


@inlined
def over(run, now, L, M):
    """Why a run is over before anything happens at ``now``: a reason, or 0 if it is not."""
    if L[m.HEAD][m.LIMITS] > 0 and now > over_since(run, L, M):
        return m.EXPIRED
    age = L[m.HEAD][m.AGE]
    if age >= 0 and now - (of_run(run, m.BEGAN, M) >> 1) > age and has_no_bound(run, L, M):
        return m.DROPPED
    return 0


@inlined
def end(run, reason, now, instance, L, M):
    """A run ends: it is counted, and reported if that is wanted and what it had matched came to nothing."""
    M[m.COUNTS][reason] += 1
    if L[m.HEAD][m.REPORTS] and not of_run(run, m.BEGAN, M) & 1:
        report(run, reason, now, instance, L, M)


@compiled
def report(run, reason, now, instance, L, M):
    """What a run had matched that came to nothing."""
    at = now
    if reason == m.EXPIRED:
        at = min(now, over_since(run, L, M))
    elif reason == m.DROPPED and L[m.HEAD][m.AGE] >= 0 and has_no_bound(run, L, M):
        at = min(now, max((of_run(run, m.BEGAN, M) >> 1) + L[m.HEAD][m.AGE], of_run(run, m.PREVIOUS, M)))
    row = M[m.COUNTS][m.ENDED_COUNT] * m.ENDED_WIDTH
    M[m.COUNTS][m.ENDED_COUNT] += 1
    M[m.ENDED][row + m.ENDED_INSTANCE] = instance
    M[m.ENDED][row + m.ENDED_LO] = of_run(run, m.LO, M)
    M[m.ENDED][row + m.ENDED_HI] = of_run(run, m.PREVIOUS, M)
    M[m.ENDED][row + m.ENDED_NODE] = of_run(run, m.HEAD_NODE, M)
    M[m.ENDED][row + m.ENDED_AT] = at
    M[m.ENDED][row + m.ENDED_REASON] = reason


@inlined
def touch(instance, M):
    """Marks an instance as changed."""
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.TOUCHED] = 1

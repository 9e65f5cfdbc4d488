"""Steps plain programs whose runs differ in their starts alone: those that no event can tell apart move as one.

A program is so whose runs have no timers, and no limit but one around all of it (see `memory`). Of runs that stand
behind each other in an instance's list and wait in the same state, the first one leads a *group*, and only it is in the
list. The others are its followers, in a ring: the leader knows the last one, behind which stands the first one. `lo`
rises in a group, so that those whose time is up are always the first ones.

The runs of a *loose* group have lists of matched symbols of their own, and ends of their own, of which the last is the
latest. Once they move they are *tied*: what they match from then on is one list, the group's. It can be read forwards,
from the symbol at which a run was tied to it, whose list can be read backwards as that of any run. Groups that move to
the same state through the same symbol become one.
"""

from __future__ import annotations

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.lists import of_run, set_run, take_row
from penstock.engine.plain import fail_start, grow, matches

LOOSE = -1
STAYS, FAILS = -1, -2


@inlined
def last_of(leader, M):
    """The last run of a group; a run that stands for itself is a group of one."""
    last = of_run(leader, m.LAST_OF_GROUP, M)
    return leader if last == m.NONE else last


@inlined
def behind(run, leader, last, M):
    """The run behind one of a group, which is not the last."""
    return of_run(last if run == leader else run, m.NEXT, M)


@inlined
def is_loose(leader, M):
    """Whether its runs have lists of their own."""
    return of_run(leader, m.LAST_OF_GROUP, M) == m.NONE or of_run(leader, m.TOP, M) == LOOSE


@inlined
def put_behind(before, leader, instance, M):
    """What stands in an instance's list behind a leader, or first."""
    if before < 0:
        M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN] = leader
    else:
        set_run(before, m.NEXT, leader, M)


@inlined
def give_back(run, reason, instance, M):
    """A run is over: it is counted, and its row is free."""
    set_run(run, m.NEXT, M[m.COUNTS][m.FREE], M)
    M[m.COUNTS][m.FREE] = run
    M[m.COUNTS][m.FREE_RUNS] += 1
    M[m.COUNTS][m.LIVE] -= 1
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] -= 1
    M[m.COUNTS][reason] += 1


@inlined
def end_first(leader, before, following, reason, instance, M):
    """The first run of a group is over; returns who leads the others, -1 for none."""
    last = last_of(leader, M)
    if last == leader:
        put_behind(before, following, instance, M)
        give_back(leader, reason, instance, M)
        return -1
    heir = of_run(last, m.NEXT, M)
    if heir != last:
        set_run(last, m.NEXT, of_run(heir, m.NEXT, M), M)
    hand_over(leader, heir, M)
    set_run(heir, m.LAST_OF_GROUP, last, M)
    set_run(heir, m.TOP, of_run(leader, m.TOP, M), M)
    set_run(heir, m.NEXT, following, M)
    put_behind(before, heir, instance, M)
    give_back(leader, reason, instance, M)
    return heir


@inlined
def hand_over(leader, run, M):
    """What the leader knows for a run of its group is written down there."""
    if not is_loose(leader, M):
        set_run(run, m.STATE, of_run(leader, m.STATE, M), M)
        set_run(run, m.PREVIOUS, of_run(leader, m.PREVIOUS, M), M)
        began = of_run(run, m.BEGAN, M) & ~1
        set_run(run, m.BEGAN, began | (of_run(leader, m.BEGAN, M) & 1), M)


@compiled
def end_late(leader, since, before, following, instance, M):
    """Ends the runs of a group that began before an instant; returns who leads the others, -1 for none."""
    while leader > 0 and of_run(leader, m.LO, M) < since:
        leader = end_first(leader, before, following, m.EXPIRED, instance, M)
    return leader


@compiled
def end_all(leader, before, following, reason, instance, M):
    """A group is over."""
    last = last_of(leader, M)
    put_behind(before, following, instance, M)
    run = leader
    while run != last:
        next_one = behind(run, leader, last, M)
        give_back(run, reason, instance, M)
        run = next_one
    give_back(last, reason, instance, M)


@compiled
def stand_apart(leader, following, M):
    """The runs of a loose group stand for themselves in the list."""
    last = last_of(leader, M)
    run = leader
    first = of_run(last, m.NEXT, M)
    while True:
        next_one = following if run == last else (first if run == leader else of_run(run, m.NEXT, M))
        set_run(run, m.NEXT, next_one, M)
        set_run(run, m.LAST_OF_GROUP, m.NONE, M)
        set_run(run, m.TOP, 0, M)
        if run == last:
            return
        run = next_one


@compiled
def begin_earlier(leader, lo, M):
    """What a group has matched begins at ``lo`` or before."""
    last = last_of(leader, M)
    run = leader
    while True:
        set_run(run, m.LO, min(lo, of_run(run, m.LO, M)), M)
        if run == last:
            return
        run = behind(run, leader, last, M)


@compiled
def tie(leader, node, M):
    """The runs of a group go on with a matched symbol, which all of them have."""
    last = last_of(leader, M)
    if not is_loose(leader, M):
        M[m.NODES][of_run(leader, m.TOP, M) * m.NODE_WIDTH + m.AFTER] = node
        return
    run = leader
    while True:
        M[m.NODES][of_run(run, m.HEAD_NODE, M) * m.NODE_WIDTH + m.AFTER] = node
        if run == last:
            return
        run = behind(run, leader, last, M)


@inlined
def join(before, leader, following, M):
    """Puts a group at the end of the one before it in the list."""
    last, end = last_of(before, M), last_of(leader, M)
    first = leader if last == before else of_run(last, m.NEXT, M)
    if end != leader:
        set_run(leader, m.NEXT, of_run(end, m.NEXT, M), M)
    if last != before:
        set_run(last, m.NEXT, leader, M)
    set_run(end, m.NEXT, first, M)
    set_run(before, m.LAST_OF_GROUP, end, M)
    set_run(before, m.NEXT, following, M)


@inlined
def make_one(instance, run, top, hi, node, place, M):
    """A composite of a run which has matched up to ``top``, with ``node`` after that if it is another symbol."""
    made = M[m.COUNTS][m.MADE_COUNT]
    M[m.COUNTS][m.MADE_COUNT] = made + 1
    row = made * m.MADE_WIDTH
    M[m.MADE][row + m.MADE_INSTANCE] = instance
    M[m.MADE][row + m.MADE_LO] = of_run(run, m.LO, M)
    M[m.MADE][row + m.MADE_HI] = hi
    M[m.MADE][row + m.MADE_NODE] = node
    M[m.MADE][row + m.MADE_START] = of_run(run, m.HEAD_NODE, M)
    M[m.MADE][row + m.MADE_TOP] = top
    M[m.MADE][row + m.MADE_PLACE] = place


@inlined
def make_all(leader, hi, node, instance, place, M):
    """A composite of each run of a group, all of which have matched a symbol."""
    last = last_of(leader, M)
    run = leader
    while run != last:
        make_one(instance, run, node, hi, node, place, M)
        run = behind(run, leader, last, M)
    make_one(instance, last, node, hi, node, place, M)


@inlined
def complete(leader, before, following, hi, node, instance, place, M):
    """A group is over with a composite of each of its runs, whose last symbol none of them keeps."""
    last, is_tied, top = last_of(leader, M), not is_loose(leader, M), of_run(leader, m.TOP, M)
    put_behind(before, following, instance, M)
    free, run, count = M[m.COUNTS][m.FREE], leader, 0
    while True:
        next_one = behind(run, leader, last, M)
        make_one(instance, run, top if is_tied else of_run(run, m.HEAD_NODE, M), hi, node, place, M)
        set_run(run, m.NEXT, free, M)
        free = run
        count += 1
        if run == last:
            break
        run = next_one
    M[m.COUNTS][m.FREE] = free
    M[m.COUNTS][m.FREE_RUNS] += count
    M[m.COUNTS][m.LIVE] -= count
    M[m.COUNTS][m.GONE_ON] += count
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] -= count


@inlined
def ends_differ(leader, lo, M):
    """Whether some of a group may end before ``lo`` and some not."""
    is_group = of_run(leader, m.LAST_OF_GROUP, M) != m.NONE
    return is_group and is_loose(leader, M) and of_run(last_of(leader, M), m.PREVIOUS, M) >= lo


@inlined
def choose(leader, state, sets, lo, L, M):
    """The option, a row, through which a group goes on, or what becomes of it."""
    first, last = L[m.STATES][state + m.STATE_FIRST], L[m.STATES][state + m.STATE_LAST]
    follows = of_run(leader, m.PREVIOUS, M) < lo
    for number in range(first, last):
        option = number * m.OPTION_WIDTH
        if matches(option, sets, L):
            return option if follows or not L[m.OPTIONS][option + m.OPTION_STRONG] else STAYS
    if follows or not L[m.STATES][state + m.STATE_STRONG]:
        for number in range(first, last):
            if sets & L[m.OPTIONS][number * m.OPTION_WIDTH + m.OPTION_HEARD]:
                return FAILS
    return STAYS


@inlined
def go(leader, option, before, joins, following, lo, hi, symbol, instance, place, L, M):
    """A group goes on through an option, a row; returns who leads it in the list then, -1 if it is gone.

    ``joins`` says that the group before it went the same way here.
    """
    is_alone = of_run(leader, m.LAST_OF_GROUP, M) == m.NONE
    if lo < of_run(last_of(leader, M), m.LO, M):
        begin_earlier(leader, lo, M)
    ends, target = L[m.OPTIONS][option + m.OPTION_ENDS], L[m.OPTIONS][option + m.OPTION_TARGET]
    if target < 0:
        if ends:
            complete(leader, before, following, hi, grow(symbol, option, -1, L, M), instance, place, M)
        else:
            end_all(leader, before, following, m.FAILED, instance, M)
        return -1
    joins = joins and of_run(last_of(before, M), m.LO, M) <= of_run(leader, m.LO, M)
    if joins:
        if of_run(before, m.LAST_OF_GROUP, M) == m.NONE:
            set_run(before, m.TOP, of_run(before, m.HEAD_NODE, M), M)
        node = of_run(before, m.TOP, M)
        tie(leader, node, M)
    elif is_alone:
        node = grow(symbol, option, of_run(leader, m.HEAD_NODE, M), L, M)
        set_run(leader, m.HEAD_NODE, node, M)
    else:
        node = grow(symbol, option, -1, L, M)
        tie(leader, node, M)
        set_run(leader, m.TOP, node, M)
    if ends:
        make_all(leader, hi, node, instance, place, M)
    if joins:
        join(before, leader, following, M)
        return before
    set_run(leader, m.STATE, target, M)
    set_run(leader, m.PREVIOUS, hi, M)
    set_run(leader, m.BEGAN, (of_run(leader, m.BEGAN, M) & ~1) | ends, M)
    return leader


@inlined
def step_together(instance, sets, lo, hi, symbol, place, since, L, M):
    """A place with one symbol, for one instance: every group moves, fails or ignores it, and a start is made.

    What began before ``since`` is over.
    """
    row = instance * m.INSTANCE_WIDTH
    before, way = -1, -1
    leader = M[m.INSTANCES][row + m.FIRST_RUN]
    while leader > 0:
        following = of_run(leader, m.NEXT, M)
        state = of_run(leader, m.STATE, M) * m.STATE_WIDTH
        went = -1
        if L[m.STATES][state + m.STATE_INTEREST] & sets:
            M[m.INSTANCES][row + m.TOUCHED] = 1
            if of_run(leader, m.LO, M) < since:
                leader = end_late(leader, since, before, following, instance, M)
            if leader >= 0:
                if ends_differ(leader, lo, M):
                    stand_apart(leader, following, M)
                    following = of_run(leader, m.NEXT, M)
                option = choose(leader, state, sets, lo, L, M)
                if option == FAILS or (option != STAYS and lo < since):
                    reason = m.FAILED if option == FAILS else m.EXPIRED
                    end_all(leader, before, following, reason, instance, M)
                    leader = -1
                elif option != STAYS:
                    went = L[m.OPTIONS][option + m.OPTION_WAY]
                    joins = went == way
                    leader = go(leader, option, before, joins, following, lo, hi, symbol, instance, place, L, M)
        if leader >= 0:
            before, way = leader, went
        leader = following
    if sets & L[m.HEAD][m.START_INTEREST] and not M[m.INSTANCES][row + m.DEAD]:
        start(before, instance, sets, lo, hi, symbol, place, since, L, M)


@inlined
def start(before, instance, sets, lo, hi, symbol, place, since, L, M):
    """A run starts behind the last group, or joins it, or the start fails."""
    state = L[m.HEAD][L[m.HEAD][m.START_STATES]] * m.STATE_WIDTH
    first, last = L[m.STATES][state + m.STATE_FIRST], L[m.STATES][state + m.STATE_LAST]
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.TOUCHED] = 1
    for number in range(first, last):
        option = number * m.OPTION_WIDTH
        if matches(option, sets, L):
            if lo >= since:
                wait(before, option, instance, lo, hi, symbol, place, L, M)
            return
    fail_start(instance, first, last, sets, L, M)


@inlined
def wait(before, option, instance, lo, hi, symbol, place, L, M):
    """A run that has matched its first symbol waits for the next, with the last group if that waits for the same."""
    run = M[m.COUNTS][m.FREE]
    target = L[m.OPTIONS][option + m.OPTION_TARGET]
    ends = L[m.OPTIONS][option + m.OPTION_ENDS]
    set_run(run, m.LO, lo, M)
    node = grow(symbol, option, -1, L, M)
    set_run(run, m.HEAD_NODE, node, M)
    if ends:
        make_one(instance, run, node, hi, node, place, M)
    if target < 0:
        return
    take_row(M)
    set_run(run, m.STATE, target, M)
    set_run(run, m.PREVIOUS, hi, M)
    set_run(run, m.TOP, 0, M)
    set_run(run, m.LAST_OF_GROUP, m.NONE, M)
    set_run(run, m.BEGAN, 2 * hi + ends, M)
    set_run(run, m.NEXT, -1, M)
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] += 1
    M[m.COUNTS][m.LIVE] += 1
    is_alike = before >= 0 and of_run(before, m.STATE, M) == target and is_loose(before, M)
    if is_alike and of_run(last_of(before, M), m.LO, M) <= lo:
        set_run(before, m.TOP, LOOSE, M)
        join(before, run, -1, M)
    else:
        put_behind(before, run, instance, M)


@compiled
def let_late_go(instance, since, M):
    """Ends an instance's runs that began before an instant."""
    before = -1
    leader = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while leader > 0:
        following = of_run(leader, m.NEXT, M)
        if of_run(leader, m.LO, M) < since:
            M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.TOUCHED] = 1
            leader = end_late(leader, since, before, following, instance, M)
        before = leader if leader >= 0 else before
        leader = following


@compiled
def drop_first(instance, M):
    """Ends an instance's first run, since there are too many."""
    leader = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    end_first(leader, -1, of_run(leader, m.NEXT, M), m.DROPPED, instance, M)
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.TOUCHED] = 1


@compiled
def needed_apart(instance, M):
    """How many matched symbols more there would be if each run of an instance had its own."""
    needed = 0
    leader = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while leader > 0:
        if not is_loose(leader, M):
            last, top = last_of(leader, M), of_run(leader, m.TOP, M)
            run = leader
            while True:
                node = of_run(run, m.HEAD_NODE, M)
                while node != top:
                    node = M[m.NODES][node * m.NODE_WIDTH + m.AFTER]
                    needed += 1
                if run == last:
                    break
                run = behind(run, leader, last, M)
        leader = of_run(leader, m.NEXT, M)
    return needed


@compiled
def part(instance, L, M):
    """All runs of an instance stand for themselves, as they do in other programs."""
    leader = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
    while leader > 0:
        following = of_run(leader, m.NEXT, M)
        last, top = last_of(leader, M), of_run(leader, m.TOP, M)
        is_tied = not is_loose(leader, M)
        run = leader
        while True:
            if is_tied:
                hand_over(leader, run, M)
                set_run(run, m.HEAD_NODE, own_list(of_run(run, m.HEAD_NODE, M), top, M), M)
            if L[m.HEAD][m.LIMITS]:
                M[m.CLOCKS][run * L[m.HEAD][m.CLOCKED]] = of_run(run, m.LO, M)
            if run == last:
                break
            run = behind(run, leader, last, M)
        stand_apart(leader, following, M)
        leader = following


@inlined
def own_list(node, top, M):
    """What a run has matched, as a list of its own that can be read backwards."""
    head = node
    while node != top:
        node = M[m.NODES][node * m.NODE_WIDTH + m.AFTER]
        fresh = M[m.COUNTS][m.NODE_COUNT]
        M[m.COUNTS][m.NODE_COUNT] = fresh + 1
        for column in (m.SYMBOL, m.LABELS):
            M[m.NODES][fresh * m.NODE_WIDTH + column] = M[m.NODES][node * m.NODE_WIDTH + column]
        M[m.NODES][fresh * m.NODE_WIDTH + m.PARENT] = head
        M[m.NODES][fresh * m.NODE_WIDTH + m.HASH] = 0
        head = fresh
    return head

# SPDX-License-Identifier: GPL-2.0
"""Currencies: cgroups with cpu.lottery.tickets, and processes; refusals first.

What they are worth, and what their members get of it. Needs root, and no other lottery tasks
that start or stop meanwhile.

  --window MS  in which shares are counted
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import E2BIG, EFAULT, EINVAL, ENOSPC, EPERM, ERANGE
from functools import partial

from inside import calls, cgroup, ktap, sched, workers
from inside.ktap import Case, Tests
from inside.sched import (
    CURRENCIES_MAX,
    CURRENCY,
    GET_CURRENCY,
    QUANTUM_MAX,
    TICKETS_MAX,
    join,
    make_currency,
)
from inside.task import WAIT_S, released, wait_until
from inside.workers import Workers

TURNS = 1000
"""At least, in a count: a third and a half are ten standard deviations apart then."""


def refused_tickets(case: Case) -> None:
    says = 7
    with Workers(case) as w:
        group = w.group("refused", says)
        path = f"{group}/cpu.lottery.tickets"
        for text, wanted in (
            ("1000001", ERANGE),
            ("18446744073709551615", ERANGE),
            ("-1", EINVAL),
            ("many", EINVAL),
            ("1000000", 0),
            ("0", 0),
            ("0", 0),
        ):
            case.equal(calls.fails(calls.write, path, text), wanted, text)
            says = says if wanted else int(text)
            case.equal(calls.number(path), says, f"after '{text}' it says")


def refused_depth(case: Case) -> None:
    with Workers(case) as w:
        groups = [w.group("d")]
        for _ in range(CURRENCIES_MAX):
            groups.append(w.group("d", 10, groups[-1]))
        # one more at the top would be above eight
        error = calls.fails(cgroup.back, groups[0], 1)
        case.equal(error, ENOSPC, "a ninth currency above")
        cgroup.back(groups[4], 0)
        cgroup.back(groups[0], 1)
        error = calls.fails(cgroup.back, groups[4], 1)
        case.equal(error, ENOSPC, "a ninth currency between")


def unprivileged_backs(outer: str, inner: str) -> list[int]:
    """The errno of each call on groups whose files belong to the caller."""
    calls.drop_user()
    plan = [(outer, 20), (outer, 0), (inner, 20), (inner, 0), (inner, TICKETS_MAX)]
    return [calls.fails(cgroup.back, *step) for step in plan]


def refused_delegation(case: Case) -> None:
    with Workers(case) as w:
        outer = w.group("outer", 10)
        inner = w.group("inner", 0, outer)
        for group in (outer, inner):
            os.chown(f"{group}/cpu.lottery.tickets", calls.NOBODY, calls.NOBODY)
        found = released(partial(unprivileged_backs, outer, inner))
    case.equal(found, [EPERM, EPERM, 0, 0, 0], "errno of each call, see unprivileged_backs()")


@contextmanager
def pair(case: Case, backs_a: int, backs_b: int) -> Iterator[tuple[Workers, str, str]]:
    """Two groups, with two tasks each that spin."""
    with Workers(case, *[100] * 4) as w:
        groups = w.group("a", backs_a), w.group("b", backs_b)
        for i, worker in enumerate(w):
            cgroup.move(groups[i // 2], worker.pid)
        w.spin()
        yield w, *groups


def inflation_is_inside(case: Case) -> None:
    with pair(case, 1000, 1000) as (w, *_):
        a1, _, b1, b2 = w
        w.expect_share(a1, 1 / 4)
        join(b1.pid, TICKETS_MAX)
        w.expect_share(a1, 1 / 4)
        w.expect_share(b1, 1 / 2)
        join(b1.pid, 300)
        w.expect_share(b1, 3 / 8)
        w.expect_share(b2, 1 / 8)


def value_is_with_the_active(case: Case) -> None:
    with pair(case, 2000, 1000) as (w, *_):
        a1, a2, b1, _ = w
        w.expect_share(a2, 1 / 3)
        a1.sleep()
        w.expect_share(a2, 2 / 3)
        a2.sleep()
        w.expect_share(b1, 1 / 2)
        a1.spin()
        w.expect_share(a1, 2 / 3)


def beside_those_outside(case: Case) -> None:
    with pair(case, 200, 100) as (w, *_):
        a1, *_, b2 = w
        cgroup.move(cgroup.ROOT, b2.pid)
        w.expect_share(b2, 1 / 4)
        w.expect_share(a1, 1 / 4)


def within_each_other(case: Case) -> None:
    with pair(case, 1000, 1000) as (w, _, b):
        a1, _, b1, b2 = w
        # a cgroup has tasks or groups
        cgroup.move(cgroup.ROOT, b1.pid)
        cgroup.move(cgroup.ROOT, b2.pid)
        inner = w.group("inner", 300, b)
        cgroup.move(w.group("one", 50, inner), b1.pid)
        cgroup.move(w.group("other", 100, inner), b2.pid)
        w.expect_share(b1, 1 / 6)
        w.expect_share(a1, 1 / 4)
        join(b1.pid, TICKETS_MAX)
        w.expect_share(b2, 2 / 6)
        b2.sleep()
        w.expect_share(b1, 1 / 2)


def expect_wins(case: Case, groups: list[str], due: float) -> None:
    """The first group has that part of the turns that both win, however long those are.

    In virtual time one of two busy CPUs stands still, often within a tick, while the other runs.
    """

    def won() -> list[int]:
        return [cgroup.lottery_stat(group)["wins"] for group in groups]

    before, wins = won(), [0]
    end = time.monotonic() + 2 * WAIT_S
    while sum(wins) < TURNS and time.monotonic() < end:
        time.sleep(Workers.window_s)
        wins = [now - then for now, then in zip(won(), before, strict=True)]
    turns = sum(wins)
    if case.expect(turns >= TURNS, f"{turns} turns, wanted {TURNS}"):
        bound = workers.bound_of(due, turns)
        part = f"{wins[0] / turns:.1%} of {turns} turns, due {due:.1%}, bound {bound:.1%}"
        case.expect_bound(abs(wins[0] / turns - due) <= bound, part)


def on_several_cpus(case: Case) -> None:
    """A's tickets are half here, half there, and so are B's until one of its tasks sleeps."""
    cpu = Workers.other_cpu
    if cpu is None:
        case.skip("one CPU")
        return
    with pair(case, 2000, 1000) as (w, *groups):
        _, a2, _, b2 = w
        os.sched_setaffinity(a2.pid, {cpu})
        os.sched_setaffinity(b2.pid, {cpu})
        expect_wins(case, groups, 2 / 3)
        b2.sleep()
        # A2 is alone there, and needs no draws
        expect_wins(case, groups, 1 / 2)


def loans_stay_inside(case: Case) -> None:
    """What B1 lends is of B, wherever it goes."""
    with pair(case, 1000, 1000) as (w, a, _):
        a1, a2, b1, b2 = w
        b2.sleep()
        b1.lend(a1)
        w.expect_share(a2, 1 / 4)
        w.expect_share(a1, 3 / 4)
        b2.spin()
        w.expect_share(b2, 1 / 4)
        cgroup.move(a, b1.pid)
        w.expect_share(b2, 1 / 2)
        w.expect_share(a1, 2 / 6)


def statistics(case: Case) -> None:
    def expect(name: str, value: int) -> None:
        # soon: a task that says that it sleeps may have been preempted on the way
        wait_until(lambda: cgroup.lottery_stat(a)[name] == value)
        case.equal(cgroup.lottery_stat(a)[name], value, name)

    with pair(case, 1000, 1000) as (w, a, _):
        expect("active", 200)
        expect("entries", 2)
        w.run(0.1)
        case.expect(cgroup.lottery_stat(a)["wins"] > 0, "no wins")
        w[0].sleep()
        expect("active", 100)


@contextmanager
def scene(case: Case, owned: int, backs: int) -> Iterator[tuple[Workers, str]]:
    """A group with one task, the first; another one has 100 tickets outside. Both spin."""
    with Workers(case, owned, 100) as w:
        group = w.group("g", backs)
        cgroup.move(group, w[0].pid)
        w.spin()
        yield w, group


def more_back_it(case: Case) -> None:
    with scene(case, 100, 100) as (w, group):
        w.expect_share(w[0], 1 / 2)
        cgroup.back(group, 300)
        w.expect_share(w[0], 3 / 4)
        cgroup.back(group, 1)
        w.expect_share(w[0], 1 / 101)


def it_becomes_one(case: Case) -> None:
    """A group whose tasks have tickets of the currency above becomes one, and is not one."""
    with scene(case, 300, 0) as (w, group):
        w.expect_share(w[0], 3 / 4)
        cgroup.back(group, 100)
        w.expect_share(w[0], 1 / 2)
        w.expect_tickets(200)
        cgroup.back(group, 0)
        w.expect_share(w[0], 3 / 4)
        w.expect_tickets(400)


def around_one(case: Case) -> None:
    """The same for one that is around a currency."""
    with scene(case, 300, 0) as (w, group):
        inside = w[0]
        cgroup.move(cgroup.ROOT, inside.pid)
        cgroup.move(w.group("inner", 50, group), inside.pid)
        w.expect_share(inside, 50 / 150)
        cgroup.back(group, 300)
        w.expect_share(inside, 3 / 4)
        cgroup.back(group, 0)
        w.expect_share(inside, 50 / 150)


def tasks_move(case: Case) -> None:
    with scene(case, 100, 300) as (w, group):
        for _ in range(20):
            cgroup.move(cgroup.ROOT, w[0].pid)
            w.expect_tickets(200)
            cgroup.move(group, w[0].pid)
            w.expect_tickets(400)
        w.expect_share(w[0], 3 / 4)


def what_comes_out(case: Case) -> None:
    """What it was given within a currency is no more than nice 0 outside."""
    with scene(case, 100, 100) as (w, _):
        join(w[0].pid, TICKETS_MAX)
        w.expect_tickets(200)
        cgroup.move(cgroup.ROOT, w[0].pid)
        w.expect_tickets(1124)
        join(w[0].pid, 2000)
        w.expect_tickets(2100)


def what_is_lent_comes_out(case: Case) -> None:
    """The same of a loan: its lender sleeps outside of the currency."""
    with scene(case, 100, 100) as (w, _):
        inside, outside = w
        join(inside.pid, TICKETS_MAX)
        inside.lend(outside)
        w.expect_tickets(200)
        cgroup.move(cgroup.ROOT, inside.pid)
        w.expect_tickets(1124)


def a_group_with_a_loan_goes(case: Case) -> None:
    """A loan leaves a group that goes away with its lender, before it wins."""
    with scene(case, 100, 300) as (w, group):
        inside, outside = w
        inside.lend(outside)
        w.expect_tickets(400)
        cgroup.back(group, 1)
        join(outside.pid, TICKETS_MAX)
        cgroup.move(cgroup.ROOT, inside.pid)
        w.expect_tickets(TICKETS_MAX + 100)
        cgroup.remove(group)
        w.expect_share(outside, 1)


def in_a_child(case: Case, work: Callable[[], object]) -> None:
    """It ends well, and leaves no tickets."""
    with Workers(case):
        released(work)


def refused(wanted: int, call: Callable[..., object], *args: int) -> None:
    """That is the call's errno, 0 if it is taken."""
    error = calls.fails(call, *args)
    assert error == wanted, f"{args}: {os.strerror(error)}, wanted {os.strerror(wanted)}"


def nest(depth: int) -> None:
    """One within the other: each of another process."""
    if depth == CURRENCIES_MAX:
        refused(ENOSPC, make_currency, 10)
        return
    make_currency(10)
    make_currency(20)
    released(partial(nest, depth + 1))


def process_asks() -> None:
    refused(ERANGE, make_currency, TICKETS_MAX + 1)
    refused(EINVAL, sched.prctl, CURRENCY, 1, 1)
    refused(ERANGE, make_currency, 1 << 32)
    nest(0)


def start_thread() -> None:
    """That waits for the end."""
    threading.Thread(target=signal.pause, daemon=True).start()


def unprivileged_asks() -> None:
    join(0, 100)
    calls.drop_user()
    refused(EPERM, join, 0, 101)
    join(0, 90)
    refused(EPERM, join, 0, 100)
    refused(EPERM, join, 0, 80, QUANTUM_MAX)
    refused(EPERM, make_currency, 91)
    refused(EPERM, make_currency, 0)
    make_currency(90)
    refused(EPERM, make_currency, 0)
    refused(EPERM, make_currency, 91)
    make_currency(80)
    refused(EPERM, make_currency, 90)
    # within it, any number
    for tickets in (TICKETS_MAX, 1, 0, 500):
        join(0, tickets)
    refused(EPERM, join, 0, 500, QUANTUM_MAX)
    start_thread()


def threads_ask() -> None:
    join(0, 100)
    calls.drop_user()
    start_thread()
    # the other thread may have as many of its own
    refused(EPERM, make_currency, 100)


def told(pid: int, tickets: int, inner: bool = False) -> None:
    """The caller's process is in a currency of that process."""
    found = sched.currency()
    values = found.pid, found.tickets, found.inner, found.pad
    assert values == (pid, tickets, inner, 0), f"it says {values}"


def child_tells(parent: int) -> None:
    told(parent, 300)
    make_currency(20)
    told(os.getpid(), 20, inner=True)
    # not only the one that it has made
    make_currency(0)
    told(0, 0)
    make_currency(40)
    told(os.getpid(), 40)


def process_tells() -> None:
    told(0, 0)
    make_currency(0)
    make_currency(300)
    told(os.getpid(), 300)
    released(partial(child_tells, os.getpid()))
    told(os.getpid(), 300)
    for wanted, args in ((EINVAL, (8, 15)), (E2BIG, (8, 1 << 20)), (EFAULT, (8, 16))):
        refused(wanted, sched.prctl, GET_CURRENCY, *args)
    refused(EINVAL, sched.prctl, GET_CURRENCY, 8, 16, 1)


def without_privilege(case: Case) -> None:
    in_a_child(case, unprivileged_asks)
    in_a_child(case, threads_ask)


def children_are_inside(case: Case) -> None:
    with Workers(case, 100, 100) as w:
        maker, other = w
        w.spin()
        maker.act("make_currency", 300)
        w.expect_tickets(400)
        w.expect_share(other, 1 / 4)
        maker.act("fork")
        maker.act("fork")
        w.run(0.3)
        w.expect_part_of_cpu(other, 1 / 4)
        maker.act("inflate", TICKETS_MAX)
        w.expect_part_of_cpu(other, 1 / 4)
        maker.act("make_currency", 100)
        w.expect_part_of_cpu(other, 1 / 2)


def left_with_privilege(case: Case) -> None:
    """A task that leaves has its own tickets again; its children stay."""
    with Workers(case, 100, 100) as w:
        maker, other = w
        w.spin()
        maker.act("make_currency", 300)
        maker.act("fork")
        w.expect_tickets(400)
        maker.act("make_currency", 0)
        w.expect_tickets(500)
        w.expect_part_of_cpu(other, 1 / 5)


def raised_without_privilege(case: Case) -> None:
    """What the unprivileged raise is at their own expense."""
    with Workers(case, 100, 100) as w:
        maker, other = w
        w.spin()
        maker.act("drop_privileges")
        maker.act("make_currency", 100)
        maker.act("fork")
        maker.act("inflate", 300)
        w.expect_part_of_cpu(other, 1 / 2)
        w.expect_part_of_cpu(maker, 3 / 8)


def between_groups(case: Case) -> None:
    """In a cgroup with another currency it has tickets of that, and back again."""
    with Workers(case, 100, 100) as w:
        maker, other = w
        group = w.group("g", 900)
        w.spin()
        maker.act("make_currency", 300)
        w.expect_share(other, 1 / 4)
        cgroup.move(group, maker.pid)
        w.expect_share(other, 1 / 10)
        cgroup.move(cgroup.ROOT, maker.pid)
        w.expect_share(other, 1 / 4)


GROUPS: Tests = {
    "refusals": {
        "tickets of a cgroup": refused_tickets,
        "too many within each other": refused_depth,
        "base tickets for the unprivileged": refused_delegation,
    },
    "values": {
        "inflation is at the expense of the same currency": inflation_is_inside,
        "value is with the active": value_is_with_the_active,
        "beside those outside": beside_those_outside,
        "within each other": within_each_other,
        "on several CPUs": on_several_cpus,
        "loans stay inside": loans_stay_inside,
        "statistics": statistics,
    },
    "changes": {
        "more tickets back it": more_back_it,
        "a group becomes a currency, and a group again": it_becomes_one,
        "the same around a currency": around_one,
        "tasks move in and out": tasks_move,
        "what was given inside is less outside": what_comes_out,
        "what is lent inside is less outside": what_is_lent_comes_out,
        "a group with a loan goes": a_group_with_a_loan_goes,
    },
    "processes": {
        "refused arguments": partial(in_a_child, work=process_asks),
        "what it tells": partial(in_a_child, work=process_tells),
        "without a privilege": without_privilege,
        "children are inside": children_are_inside,
        "left with a privilege": left_with_privilege,
        "raised without a privilege": raised_without_privilege,
        "between groups": between_groups,
    },
}


def main() -> None:
    """All groups."""
    workers.begin(2000, 0.01)
    if not cgroup.usable():
        ktap.stop(ktap.SKIPPED, cgroup.MISSING)
    ktap.run(GROUPS)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""Loans that tasks have made, how they are listed, and how they end."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EFAULT, ENOSPC
from functools import partial

from inside import calls, cgroup, sched
from inside.ktap import Case, Tests
from inside.sched import GET_LOANS, LOAN_KEEP, MS, Loan, prctl
from inside.task import released, wait_until
from inside.workers import Workers

SIZE = ctypes.sizeof(Loan)
PROGRAM = "/usr/bin/another"
"""A copy of Python, beside it so that it finds its library."""


def lottery_task_lists(one: int, other: int) -> None:
    """Of its own loans; those that are over are not listed."""
    sched.join(0, 10)
    assert not sched.loans(), "it has lent nothing"
    sched.lend(one, 5)
    sched.lend(other, 0, 0, 1000 * MS)
    found = sched.loans()
    values = [(loan.pid, loan.tickets, loan.flags) for loan in found]
    assert values == [(one, 5, LOAN_KEEP), (other, 0, 0)], f"it lists {values}"
    left = [loan.timeout_ns for loan in found]
    assert not left[0] and 500 * MS < left[1] <= 1000 * MS, f"they end after {left} ns"
    # a larger element than the kernel knows, and no room
    larger = (ctypes.c_uint8 * (2 * SIZE + 16))(*[0xFF] * (2 * SIZE + 16))
    for wanted, args in (
        (ENOSPC, (ctypes.addressof(larger), SIZE, 1)),
        (EFAULT, (8, SIZE, 2)),
        (0, (ctypes.addressof(larger), SIZE + 8, 2)),
    ):
        error = calls.fails(prctl, GET_LOANS, *args)
        assert error == wanted, f"{args}: {os.strerror(error)}, wanted {os.strerror(wanted)}"
    assert bytes(larger)[SIZE : SIZE + 8] == bytes(8), "what it does not know is not 0"
    sched.lend(other, 0, LOAN_KEEP, 1)
    assert len(sched.loans()) == 1, "one that has expired is listed"
    sched.revoke(one)
    assert not sched.loans(), "one that was revoked is listed"


def listed(case: Case) -> None:
    with Workers(case, 0, 0) as w:
        released(partial(lottery_task_lists, *(worker.pid for worker in w)))


@contextmanager
def served(case: Case, *owned: int) -> Iterator[Workers]:
    """A hog and a server that spin, and tasks that sleep and lend."""
    with Workers(case, *owned) as w:
        hog, server, *_ = w
        server.spin()
        hog.spin()
        yield w


@contextmanager
def lent(case: Case, flags: int = LOAN_KEEP, timeout_ns: int = 0) -> Iterator[Workers]:
    """A hog, a server that has borrowed, and its lender."""
    with served(case, 100, 100, 200) as w:
        _, server, lender = w
        lender.lend(server, 0, flags, timeout_ns)
        if not timeout_ns:
            w.expect_tickets(400)
        yield w


def at_a_wakeup(case: Case) -> None:
    with lent(case, 0) as w:
        _, server, lender = w
        lender.sleep()
        w.expect_tickets(200)
        w.expect_share(server, 1 / 2)


def not_at_a_wakeup(case: Case) -> None:
    with lent(case) as w:
        _, server, lender = w
        lender.sleep()
        w.expect_tickets(400)
        w.expect_share(server, 3 / 4)


def while_it_runs(case: Case) -> None:
    """While the lender runs, it has them itself."""
    with lent(case) as w:
        lender = w[2]
        lender.spin()
        w.expect_tickets(400)
        w.expect_share(lender, 1 / 2)


def at_a_time(case: Case) -> None:
    with lent(case, timeout_ns=200 * MS) as w:
        w.expect_tickets(200)
        w.expect_share(w[1], 1 / 2)


def revoked(case: Case) -> None:
    with lent(case) as w:
        _, server, lender = w
        lender.act("revoke", server.pid, spins=False)
        w.expect_tickets(200)
        w.expect_share(server, 1 / 2)


def lender_exits(case: Case) -> None:
    with lent(case) as w:
        lender = w[2]
        lender.tell("exit", 0)
        w.expect_tickets(200)
        lender.result()


def lender_is_killed(case: Case) -> None:
    with lent(case) as w:
        w[2].end()
        w.expect_tickets(200)


def borrower_exits(case: Case) -> None:
    with lent(case) as w:
        _, server, lender = w
        server.tell("exit", 0)
        server.result()
        w.expect_tickets(100)
        lender.sleep()
        w.expect_tickets(100)


def one_borrower_exits(case: Case) -> None:
    """The other one has its part when the lender is blocked again."""
    with served(case, 100, 100, 200, 0) as w:
        _, server, lender, second = w
        lender.lend(second)
        lender.lend(server)
        second.tell("exit", 0)
        second.result()
        lender.sleep()
        w.expect_tickets(400)


def dead_borrower_goes(case: Case) -> None:
    """Its lender, which sleeps, does not keep it: a cgroup goes when its last task does."""
    if not cgroup.usable():
        case.skip(cgroup.MISSING)
        return

    def dying() -> int:
        return calls.values(f"{cgroup.ROOT}/cgroup.stat")["nr_dying_descendants"]

    wait_until(lambda: not dying())
    with lent(case) as w:
        server = w[1]
        group = w.group("goes")
        cgroup.move(group, server.pid)
        server.tell("exit", 0)
        server.result()
        cgroup.remove(group)
        case.expect(wait_until(lambda: not dying()), "its cgroup is still there")


def executes(pid: int) -> bool:
    """It is that program already."""
    return calls.read(f"/proc/{pid}/comm") == os.path.basename(PROGRAM) + "\n"


def program_executed(case: Case) -> None:
    """A loan survives that, unless the program has the privileges of another user."""
    with open("/proc/self/exe", "rb") as python, open(PROGRAM, "wb") as copy:
        copy.write(python.read())
    try:
        for mode, tickets in ((0o755, 400), (0o4755, 200)):
            os.chmod(PROGRAM, mode)
            with lent(case) as w:
                lender = w[2]
                lender.act("drop_privileges")
                lender.tell("execute", PROGRAM)
                case.expect(wait_until(partial(executes, lender.pid)), "it is not executed")
                lender.await_asleep()
                w.expect_tickets(tickets)
    finally:
        os.unlink(PROGRAM)


ENDS: Tests = {
    "at a wake-up": at_a_wakeup,
    "not at a wake-up": not_at_a_wakeup,
    "while the lender runs": while_it_runs,
    "at a time": at_a_time,
    "revoked": revoked,
    "the lender exits": lender_exits,
    "the lender is killed": lender_is_killed,
    "the borrower exits": borrower_exits,
    "one borrower of two exits": one_borrower_exits,
    "a dead borrower goes": dead_borrower_goes,
    "a program is executed": program_executed,
}

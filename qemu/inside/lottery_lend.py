# SPDX-License-Identifier: GPL-2.0
"""What blocked lottery tasks do with their tickets, refusals first.

They lend them to tasks that they name and to the owners of priority inheritance mutexes. Needs
root, and no other lottery tasks that start or stop meanwhile.

  --window MS  in which shares are counted
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from errno import E2BIG, EFAULT, EINVAL, ENOSPC, EPERM, ERANGE, ESRCH
from functools import partial

from inside import calls, cgroup, ktap, lottery, sched, workers
from inside.ktap import Case, Tests
from inside.lottery_loans import ENDS, lent, listed, served
from inside.sched import GET_LOANS, LEND, LOANS_MAX, REVOKE, TICKETS_MAX, Loan, prctl
from inside.task import released, wait_until
from inside.workers import Workers

SERVER_PART = 0.06
"""A fair task has, in addition to those turns, the turns of its class."""
FLOOR_S = 4.0
FLOOR_MIN = 0.04
"""Of 5 %; without its part it has none."""
SIZE = ctypes.sizeof(Loan)
LETTERS = 96
LETTERS_PIECE = 16
"""A CPU reads N letters at once, and a draw throws out N stale loans."""
LETTERS_IRQS = 3
"""Each piece but the first waits for a timer."""


def refused_arguments(case: Case) -> None:
    loan = Loan(1)
    larger = ctypes.create_string_buffer(SIZE + 8)
    larger[SIZE] = b"\1"
    address = ctypes.addressof(loan)
    for what, wanted, args in (
        ("operation 7", EINVAL, (7,)),
        ("a fifth argument", EINVAL, (LEND, address, SIZE, 1)),
        ("a size of 23", EINVAL, (LEND, address, 23)),
        ("a huge size", E2BIG, (LEND, address, 1 << 20)),
        ("an address of 8", EFAULT, (LEND, 8, SIZE)),
        (
            "a larger structure with something in it",
            E2BIG,
            (LEND, ctypes.addressof(larger), SIZE + 8),
        ),
        ("revoke with a fourth argument", EINVAL, (REVOKE, 1, 1)),
        ("revoke of pid -1", EINVAL, (REVOKE, -1)),
        ("a list of elements of 23", EINVAL, (GET_LOANS, address, 23, 1)),
        ("a list of huge elements", E2BIG, (GET_LOANS, address, 1 << 20, 1)),
        ("revoke of nothing", ESRCH, (REVOKE, 0)),
        ("revoke from init", ESRCH, (REVOKE, 1)),
    ):
        case.equal(calls.fails(prctl, *args), wanted, what)


def refused_loans(case: Case) -> None:
    with Workers(case, 0) as w:
        for what, wanted, loan in (
            ("flag 2", EINVAL, Loan(w[0].pid, flags=2)),
            ("a padding", EINVAL, Loan(w[0].pid, pad=1)),
            ("1000001 tickets", ERANGE, Loan(w[0].pid, tickets=TICKETS_MAX + 1)),
            ("a timeout of 2^63", ERANGE, Loan(w[0].pid, timeout_ns=1 << 63)),
            ("without tickets", EPERM, Loan(w[0].pid)),
        ):
            error = calls.fails(prctl, LEND, ctypes.addressof(loan), SIZE)
            case.equal(error, wanted, what)


def lottery_task_asks(pids: list[int]) -> list[int]:
    """What a lottery task itself is refused: the errno of each call."""
    sched.join(0, 10)
    # the last one is in place of the one to it
    borrowers = (os.getpid(), -1, 0x3FFFFFFF, *pids, pids[0])
    return [
        *(calls.fails(sched.lend, pid, 0, 0) for pid in borrowers),
        *(calls.fails(sched.revoke, pid) for pid in (pids[0], pids[0], 0, 0)),
    ]


def refused_to_a_lottery_task(case: Case) -> None:
    with Workers(case, *[0] * (LOANS_MAX + 1)) as w:
        found = released(partial(lottery_task_asks, [worker.pid for worker in w]))
    wanted = [EINVAL, ESRCH, ESRCH, *[0] * LOANS_MAX, ENOSPC, 0, 0, ESRCH, 0, ESRCH]
    case.equal(found, wanted, "errno of each call, see lottery_task_asks()")


def unprivileged_task_lends(pids: list[int]) -> list[int]:
    """The errno of each call."""
    sched.join(0, 10)
    calls.drop_user()
    return [calls.fails(sched.lend, pid, 0, 0) for pid in pids]


def refused_to_other_users(case: Case) -> None:
    with Workers(case, 0, 0) as w:
        w[0].act("set_user", 1000, spins=False)
        w[1].act("drop_privileges", spins=False)
        found = released(partial(unprivileged_task_lends, [os.getpid(), *(x.pid for x in w)]))
    case.equal(found, [EPERM, EPERM, 0], "errno of a loan to root, to another user, to itself")


def to_a_lottery_task(case: Case) -> None:
    with served(case, 100, 100, 200) as w:
        _, server, lender = w
        w.expect_share(server, 1 / 2)
        lender.lend(server)
        w.expect_tickets(400)
        w.expect_share(server, 3 / 4)


def to_a_fair_task(case: Case) -> None:
    with served(case, 100, 0, 300) as w:
        _, server, lender = w
        lender.lend(server)
        w.expect_tickets(400)
        w.expect_share(server, 3 / 4)


def before_fair_tasks(case: Case) -> None:
    """With no lottery task awake its borrower comes before other fair tasks."""
    with served(case, 0, 0, 300) as w:
        _, server, lender = w
        w.expect_share(server, 1 / 2)
        lender.lend(server)
        w.expect_share(server, 1)


def fair_tasks_keep_their_part(case: Case) -> None:
    """They have turns although the borrower is a fair task, too."""
    with served(case, 0, 0, 300) as w:
        _, server, lender = w
        lender.lend(server)
        part = w.run(FLOOR_S)[0] / FLOOR_S
        found = f"the other fair task has {part:.1%} of the CPU, wanted {FLOOR_MIN:.1%}"
        case.expect_bound(part >= FLOOR_MIN, found)


def a_part(case: Case) -> None:
    with served(case, 100, 100, 300) as w:
        _, server, lender = w
        lender.lend(server, 100)
        w.expect_tickets(300)
        w.expect_share(server, 2 / 3)


def to_several(case: Case) -> None:
    """Each its part; no more than there is if they were promised more."""
    with served(case, 100, 100, 400, 100) as w:
        _, server, lender, second = w
        second.spin()
        lender.lend(server, 300)
        lender.lend(second, 100)
        w.expect_tickets(700)
        w.expect_share(server, 4 / 7)
        lender.lend(second)
        w.expect_tickets(300 + 171 + 228)


def along_a_chain(case: Case) -> None:
    with served(case, 100, 100, 200, 200) as w:
        _, server, lender, second = w
        second.lend(lender)
        lender.lend(server)
        # the loan sleeps with the lender until that wakes up once
        lender.sleep()
        w.expect_tickets(600)
        w.expect_share(server, 5 / 6)


def in_a_circle(case: Case) -> None:
    """No task can use the tickets, and the search for one ends; until one of them wakes up."""
    with served(case, 100, 100, 200, 200) as w:
        _, server, lender, second = w
        lender.lend(second)
        second.lend(lender)
        w.expect_tickets(200)
        w.expect_share(server, 1 / 2)
        second.spin()
        w.expect_tickets(600)
        w.expect_share(second, 4 / 6)


def in_a_larger_circle(case: Case) -> None:
    """The CPU of the lender is idle when another task of the circle wakes up."""
    with Workers(case, 100, 100, 200) as w:
        first, second, lender = w
        os.sched_setaffinity(lender.pid, {Workers.other_cpu or 0})
        first.lend(second)
        second.lend(lender)
        lender.lend(first)
        w.run(0.1)
        w.expect_tickets(0)
        second.spin()
        w.expect_tickets(400)


def to_a_sleeper(case: Case) -> None:
    """A borrower that sleeps has them when it wakes up."""
    with Workers(case, 100, 100, 200) as w:
        hog, server, lender = w
        hog.spin()
        lender.lend(server)
        w.expect_tickets(100)
        server.spin()
        w.expect_tickets(400)
        w.expect_share(server, 3 / 4)
        server.sleep()
        w.expect_tickets(100)


def to_another_cpu(case: Case) -> None:
    """Tickets follow a borrower to its CPU, and leave again."""
    cpu = Workers.other_cpu
    if cpu is None:
        case.skip("needs two CPUs")
        return

    def tickets() -> int:
        return lottery.state().cpus[cpu].tickets

    def expect(wanted: int) -> None:
        wait_until(lambda: tickets() == others + wanted)
        case.equal(tickets() - others, wanted, f"tickets on CPU {cpu}")

    others = tickets()
    with served(case, 100, 100, 200) as w:
        _, server, lender = w
        lender.lend(server)
        os.sched_setaffinity(server.pid, {cpu})
        expect(300)
        w.expect_tickets(400)
        lender.spin()
        w.expect_tickets(400)
        expect(100)


@contextmanager
def owned_mutex(case: Case, *owned: int, sleeps: bool = False) -> Iterator[Workers]:
    """A hog spins; the owner has mutex 0 and spins or sleeps."""
    with Workers(case, *owned) as w:
        hog, owner, *_ = w
        owner.act("lock", w.mutex[0], spins=not sleeps)
        hog.spin()
        yield w


def lottery_owner(case: Case) -> None:
    with owned_mutex(case, 100, 100, 200) as w:
        _, owner, waiter = w
        waiter.wait_for(w.mutex[0])
        w.expect_tickets(400)
        w.expect_share(owner, 3 / 4)
        owner.act("unlock", w.mutex[0])
        waiter.await_done()
        w.expect_tickets(400)
        w.expect_share(owner, 1 / 4)


def fair_owner(case: Case) -> None:
    with owned_mutex(case, 100, 0, 300) as w:
        _, owner, waiter = w
        waiter.wait_for(w.mutex[0])
        w.expect_share(owner, 3 / 4)
        owner.act("unlock", w.mutex[0])
        waiter.await_done()
        w.expect_share(waiter, 3 / 4)


def many_waiters(case: Case) -> None:
    """All that wait lend, not only the first."""
    with owned_mutex(case, 200, *[100] * 6) as w:
        _, owner, *waiters = w
        for waiter in waiters:
            waiter.wait_for(w.mutex[0])
        w.expect_tickets(800)
        w.expect_share(owner, 6 / 8)


def next_owner(case: Case) -> None:
    """It has the tickets of those that still wait."""
    with owned_mutex(case, 100, 100, 100, 300) as w:
        _, owner, waiter, second = w
        waiter.wait_for(w.mutex[0])
        second.wait_for(w.mutex[0])
        w.expect_share(owner, 5 / 6)
        owner.act("unlock", w.mutex[0])
        waiter.await_done()
        w.expect_tickets(600)
        w.expect_share(waiter, 4 / 6)


def chain_of_owners(case: Case) -> None:
    """A task that waits for one that waits lends to the one that runs."""
    with owned_mutex(case, 100, 100, 100, 300) as w:
        _, owner, waiter, second = w
        waiter.act("lock", w.mutex[1], spins=False)
        waiter.wait_for(w.mutex[0])
        second.wait_for(w.mutex[1])
        w.expect_tickets(600)
        w.expect_share(owner, 5 / 6)


def owner_sleeps(case: Case) -> None:
    """The owner sleeps with the mutex: no task has the tickets until it wakes up."""
    with owned_mutex(case, 100, 100, 200, sleeps=True) as w:
        _, owner, waiter = w
        waiter.wait_for(w.mutex[0])
        w.expect_tickets(100)
        owner.spin()
        w.expect_tickets(400)
        w.expect_share(owner, 3 / 4)


def inversion(case: Case) -> None:
    """Many tickets wait for few, with some between them."""
    with owned_mutex(case, 1000, 10, 10_000) as w:
        _, owner, waiter = w
        waiter.wait_for(w.mutex[0])
        w.expect_share(owner, 10_010 / 11_010)


def switched_off(case: Case) -> None:
    lottery.switch("transfers", False)
    try:
        with owned_mutex(case, 1000, 10, 10_000) as w:
            _, owner, waiter = w
            waiter.wait_for(w.mutex[0])
            w.expect_tickets(1010)
            w.expect_share(owner, 10 / 1010)
    finally:
        lottery.switch("transfers", True)


def lender_changes(case: Case) -> None:
    """Its loan does as well, though it sleeps."""
    with lent(case) as w:
        _, server, lender = w
        sched.join(lender.pid, 500)
        w.expect_tickets(700)
        w.expect_share(server, 6 / 7)
        sched.join(lender.pid, 0)
        w.expect_tickets(200 + lottery.WEIGHTS[0])
        os.setpriority(os.PRIO_PROCESS, lender.pid, 5)
        w.expect_tickets(200 + lottery.WEIGHTS[5])


def lender_is_boosted(case: Case) -> None:
    """It lends again when the real-time task that waits for it has gone."""
    with owned_mutex(case, 100, 100, 200, 0, sleeps=True) as w:
        _, owner, waiter, impatient = w
        waiter.act("lock", w.mutex[1], spins=False)
        waiter.wait_for(w.mutex[0])
        sched.set_policy(impatient.pid, os.SCHED_FIFO, 1)
        impatient.wait_for(w.mutex[1])
        impatient.end()
        owner.spin()
        w.expect_tickets(400)


def irq_works() -> int:
    """The interrupts for work that is queued from one, since boot."""
    for line in calls.read("/proc/interrupts").splitlines():
        if line.endswith("IRQ work interrupts"):
            return sum(int(word) for word in line.split() if word.isdigit())
    return 0


def draws_without_winner() -> int:
    """That have been held, to a constant, while the statistics are on."""
    cpus = lottery.state().cpus.values()
    return sum(cpu.ops["draw_count"] - cpu.lotteries for cpu in cpus)


def many_letters(case: Case) -> None:
    """A CPU does not read them one piece after the other, and draws with all of them stale."""
    letters = LETTERS if ktap.bounds_on() else LETTERS // 4
    with lottery.statistics(True), Workers(case, 100, *[1] * letters) as w:
        server, *lenders = w
        for lender in lenders:
            lender.lend(server)
        before = irq_works()
        server.tell()
        w.expect_tickets(100 + letters)
        irqs = irq_works() - before
        found = f"{irqs} interrupts, allowed {LETTERS_IRQS}"
        case.note(found)
        case.expect(irqs <= LETTERS_IRQS, found)
        before = draws_without_winner()
        server.sleep()
        w.expect_tickets(0)
        draws, least = draws_without_winner() - before, letters // LETTERS_PIECE - 1
        found = f"{draws} draws without a winner, wanted {least} or more"
        case.note(found)
        case.expect(draws >= least, found)
        server.spin()
        w.expect_tickets(100 + letters)
        lenders[0].spin()
        server.sleep()
        w.expect_tickets(1)


def lender_is_stopped(case: Case) -> None:
    with lent(case) as w:
        lender = w[2]
        os.kill(lender.pid, signal.SIGSTOP)
        w.expect_tickets(200)
        os.kill(lender.pid, signal.SIGCONT)
        w.expect_tickets(400)


def lender_is_frozen(case: Case) -> None:
    with lent(case) as w:
        group = w.group("frozen")
        cgroup.move(group, w[2].pid)
        calls.write(f"{group}/cgroup.freeze", "1")
        w.expect_tickets(200)
        calls.write(f"{group}/cgroup.freeze", "0")
        w.expect_tickets(400)


GROUPS: Tests = {
    "refusals": {
        "arguments": refused_arguments,
        "loans": refused_loans,
        "of a lottery task": refused_to_a_lottery_task,
        "to another user's task": refused_to_other_users,
        "a list": listed,
    },
    "named": {
        "to a lottery task": to_a_lottery_task,
        "to a fair task": to_a_fair_task,
        "before fair tasks": before_fair_tasks,
        "fair tasks keep their part": fair_tasks_keep_their_part,
        "a part": a_part,
        "to several": to_several,
        "along a chain": along_a_chain,
        "in a circle": in_a_circle,
        "in a larger circle": in_a_larger_circle,
        "to a sleeper": to_a_sleeper,
        "to another CPU": to_another_cpu,
        "many at once": many_letters,
    },
    "locks": {
        "a lottery task owns it": lottery_owner,
        "a fair task owns it": fair_owner,
        "many wait": many_waiters,
        "the next owner": next_owner,
        "a chain": chain_of_owners,
        "the owner sleeps": owner_sleeps,
        "inversion": inversion,
        "inversion without transfers": switched_off,
    },
    "changes": {
        "the lender's tickets": lender_changes,
        "the lender's class": lender_is_boosted,
        "the lender is stopped": lender_is_stopped,
        "the lender is frozen": lender_is_frozen,
    },
    "ends": ENDS,
}


def main() -> None:
    """All groups."""
    workers.begin(1000, SERVER_PART)
    ktap.run(GROUPS)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""Where the class puts its tasks on 2 to 4 CPUs, the first 4 of more.

The sums of two CPUs may differ by the tickets of the greatest task and a sixteenth of the mean,
MOVE_S after a change at the latest. Placing one task after the other on the CPU with the
smallest sum keeps that, and while it does not hold, moving any task from the fullest to the
emptiest CPU is a gain. The sixteenth is for what real-time tasks, such as the caller, take of
a CPU. Needs root.

  --seconds S  of the longer tests
  --tickless   instead, the tests of two CPUs, of which the last has no ticks
"""

from __future__ import annotations

import ctypes
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from inside import calls, ktap, lottery, sched
from inside.ktap import Case, Tests
from inside.task import shared, stat, wait_until
from inside.workers import SIGMAS, Worker, Workers

CPUS = sorted(os.sched_getaffinity(0))[:4]
FIRST, LAST, ALL = CPUS[0], CPUS[-1], {*CPUS}
RANDOM = random.Random(1)
MOVE_S = 10.0
"""For the class to move tasks after something has changed."""
SLOW_MOVE_S = 60.0
TICKLESS_MOST = 0.5
"""A CPU without the class's help is its own: 1."""


def moved(condition: Callable[[], object]) -> bool:
    """It holds in time; where bounds are off, that is as long as a start may take."""
    return wait_until(condition, MOVE_S if ktap.bounds_on() else SLOW_MOVE_S)


def random_tickets() -> int:
    """Of a task among others."""
    return RANDOM.randint(100, 1000)


def mixed(per_cpu: int) -> list[tuple[int, set[int]]]:
    """Hogs with random numbers of tickets that may run everywhere."""
    return [(random_tickets(), ALL) for _ in range(per_cpu * len(CPUS))]


@contextmanager
def hogs(case: Case, *placed: tuple[int, set[int]]) -> Iterator[Workers]:
    """One for each number of tickets, on these CPUs."""
    with Workers(case, *(tickets for tickets, _ in placed)) as w:
        for worker, (_, cpus) in zip(w, placed, strict=True):
            os.sched_setaffinity(worker.pid, cpus)
        w.spin()
        yield w


@contextmanager
def caller_on(cpu: int) -> Iterator[None]:
    """And everywhere afterwards."""
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, ALL)


def counts(what: str) -> list[int]:
    """The tasks, tickets or lotteries of each CPU; 0 if it is offline."""
    cpus = lottery.state().cpus
    return [getattr(cpus[cpu], what) if cpu in cpus else 0 for cpu in CPUS]


def on(cpu: int, what: str = "tasks") -> int:
    """The same of one of them."""
    return counts(what)[CPUS.index(cpu)]


def expect_work_everywhere(case: Case) -> None:
    case.expect(moved(lambda: all(counts("tasks"))), f"a CPU without a task: {counts('tasks')}")


def expect_progress(case: Case, w: Workers) -> None:
    """All that have not ended get ahead."""
    before = [(worker, worker.ran_s()) for worker in w if not worker.ended]

    def still() -> list[int]:
        return [worker.pid for worker, ran in before if worker.ran_s() == ran]

    case.expect(moved(lambda: not still()), f"these stand still: {still()}")


def expect_balance(case: Case, w: Workers, when: str) -> None:
    alive = [worker.owned for worker in w if not worker.ended]
    wanted, bound = sum(alive), max(alive)
    sums: list[int] = []

    def balanced() -> bool:
        sums[:] = counts("tickets")
        total = sum(sums)
        return total >= wanted and max(sums) - min(sums) <= bound + total // len(CPUS) // 16

    good = wait_until(balanced, MOVE_S)
    found = f"{when}: sums {sums} of {wanted}, bound {bound} and a 16th of the mean"
    case.expect_bound(good, found)


def release_spreads(case: Case) -> None:
    with hogs(case, *[(100, ALL) for _ in CPUS]) as w:
        expect_work_everywhere(case)
        expect_progress(case, w)


def waking_finds_idle(case: Case) -> None:
    """All CPUs but the last are busy.

    A task that was on the first one when it fell asleep goes to the last one when it wakes, not
    some balancing later. The caller stays on the first one: a CPU with a real-time task is a
    bad place to wake on. A real-time task of the kernel may be where it should wake.
    """
    wakeups, elsewhere_max = 20, 2
    with hogs(case, *[(100, {cpu}) for cpu in CPUS[:-1]]) as w:
        w.append(sleeper := Worker(100))

        def wakes_on(cpus: set[int]) -> int:
            os.sched_setaffinity(sleeper.pid, cpus)
            return sleeper.act("here", spins=False)

        with caller_on(FIRST):
            found = [wakes_on(cpus) for _ in range(wakeups) for cpus in ({FIRST}, ALL)][1::2]
        elsewhere = wakeups - found.count(LAST)
        case.expect_bound(
            elsewhere <= elsewhere_max,
            f"{elsewhere} of {wakeups} times it did not wake on the idle CPU {LAST}",
        )


def idle_gets_work(case: Case) -> None:
    """Tasks that were bound to one CPU are let go."""
    with hogs(case, *[(100, {FIRST})] * 2 * len(CPUS)) as w:
        bound = moved(lambda: on(FIRST) >= len(w))
        case.expect(bound, "not all tasks are on the CPU that they are bound to")
        for worker in w:
            os.sched_setaffinity(worker.pid, ALL)
        expect_work_everywhere(case)
        expect_balance(case, w, "after letting go")
        expect_progress(case, w)


def fuller_cpus_hide_nothing(case: Case) -> None:
    """Two CPUs are the fullest, but what they have may not go elsewhere.

    Of the other two one has three tasks and one has one: the fullest must not hide them.
    """
    if len(CPUS) < 4:
        case.skip("needs four CPUs")
        return
    one, other, some, few = CPUS
    hidden = [(100, {some})] * 3
    with hogs(case, *hidden, (100, {few}), *[(100, {one, other})] * 8) as w:
        there = moved(lambda: (on(one) + on(other), on(some), on(few)) == (8, 3, 1))
        case.expect(there, "not all tasks are on the CPUs that they are bound to")
        for worker in w[: len(hidden)]:
            os.sched_setaffinity(worker.pid, {some, few})
        case.expect(moved(lambda: on(few) == 2), f"CPU {few} has {on(few)} tasks, wanted 2 of 4")


def sums_balance(case: Case) -> None:
    with hogs(case, *mixed(8)) as w:
        expect_balance(case, w, "after the release")
        expect_progress(case, w)


def neighbours(w: Workers) -> list[Worker]:
    """The tasks that are where the first one is, and that one."""
    first, *others = w
    cpu = stat(first.pid).cpu
    return [first, *(worker for worker in others if stat(worker.pid).cpu == cpu)]


def balance_after_exit(case: Case) -> None:
    """A CPU whose tasks have all gone gets others."""
    with hogs(case, *mixed(8)) as w:
        expect_balance(case, w, "before")
        for worker in neighbours(w):
            worker.end()
        expect_balance(case, w, "after the exits")
        expect_progress(case, w)


def balance_after_change(case: Case) -> None:
    """All tasks of one CPU suddenly hold five times as many tickets."""
    with hogs(case, *mixed(8)) as w:
        expect_balance(case, w, "before")
        for worker in neighbours(w):
            worker.owned *= 5
            sched.join(worker.pid, worker.owned)
        expect_balance(case, w, "after the change")
        expect_progress(case, w)


class _Allowed(ctypes.Structure):
    """The CPUs that hold while the mark is even, and how often it was elsewhere."""

    _fields_ = [
        ("mark", ctypes.c_uint32),
        ("elsewhere", ctypes.c_uint32),
        ("mask", ctypes.c_uint64),
    ]


class Watcher(Worker):
    """A hog that notes where it runs."""

    def __init__(self, owned: int) -> None:
        self.allowed = shared(_Allowed)
        super().__init__(owned)
        self.allow(ALL)

    def look(self) -> None:
        allowed = self.allowed
        mark, cpu, mask = allowed.mark, calls.here(), allowed.mask
        if not mark & 1 and allowed.mark == mark and not mask >> cpu & 1:
            allowed.elsewhere += 1

    def allow(self, cpus: set[int]) -> None:
        """From now on."""
        self.allowed.mark += 1
        os.sched_setaffinity(self.pid, cpus)
        self.allowed.mask = sum(1 << cpu for cpu in cpus)
        self.allowed.mark += 1


def affinity_holds(seconds: int, case: Case) -> None:
    changes = 0
    with Workers(case) as w:
        watchers = [Watcher(random_tickets()) for _ in range(3 * len(CPUS))]
        w.extend(watchers)
        w.spin()
        before = [worker.ran_s() for worker in w]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            cpus = RANDOM.sample(CPUS, RANDOM.randint(1, len(CPUS)))
            RANDOM.choice(watchers).allow({*cpus})
            changes += 1
            time.sleep(RANDOM.uniform(0.001, 0.003))
        for worker in watchers:
            times = worker.allowed.elsewhere
            case.expect(not times, f"pid {worker.pid} ran {times} times where it may not")
        ran = [worker.ran_s() - then for worker, then in zip(watchers, before, strict=True)]
        case.expect_bound(min(ran) > 0, f"each ran for {min(ran):.3f} s at least")
    case.note(f"{changes} changes of {len(watchers)} masks")


def bound_tasks_share(case: Case) -> None:
    """By the kernel's own count of lotteries, of long quanta.

    Virtual CPUs that share fewer real ones stand still most of the time. A quantum of many ticks
    lasts about as long for the one as for the other nevertheless, a short one does not.
    """
    quantum_ns, enough, least, seconds = 20 * lottery.state().tick_ns, 200, 50, 60
    others = [(random_tickets(), ALL - {LAST}) for _ in range(3 * len(CPUS))]
    with hogs(case, (300, {LAST}), (100, {LAST}), *others) as w, caller_on(LAST):
        first, second, *_ = w
        for worker in (first, second):
            sched.join(worker.pid, worker.owned, quantum_ns)

        def seen() -> list[float]:
            return [first.ran_s(), second.ran_s(), on(LAST, "lotteries")]

        begin = seen()
        wait_until(lambda: on(LAST, "lotteries") >= begin[2] + enough, seconds)
        ran, other, n = (now - then for now, then in zip(seen(), begin, strict=True))
    if not case.expect(n and ran + other, f"no lotteries in {seconds} s"):
        return
    wins = n * ran / (ran + other)
    error = (wins - 0.75 * n) / (0.75 * 0.25 * n) ** 0.5
    found = f"3:1 on CPU {LAST}: wins {wins:.1f} of {n}, error {error:.2f} sigma"
    case.expect_bound(n >= least, f"{n} lotteries in {seconds} s")
    case.expect_bound(abs(error) < SIGMAS, found)


def fifo_drives_off(case: Case) -> None:
    """One CPU has no lottery task; a hog's CPU is taken over by a SCHED_FIFO hog."""
    with hogs(case, *[(100, ALL)] * (len(CPUS) - 1)) as w:
        expect_progress(case, w)
        with Workers(case) as taken:
            taken.append(fifo := Worker(0))
            os.sched_setaffinity(fifo.pid, {stat(w[0].pid).cpu})
            sched.set_policy(fifo.pid, os.SCHED_FIFO, 1)
            fifo.spin()
            expect_progress(case, w)
            expect_progress(case, w)


def file_of(cpu: int) -> str:
    """Where it is taken offline."""
    return f"/sys/devices/system/cpu/cpu{cpu}/online"


UNPLUGGABLE = [cpu for cpu in CPUS if os.access(file_of(cpu), os.W_OK)]


def set_online(online: bool, *cpus: int) -> None:
    """Take them offline or back."""
    for cpu in cpus:
        calls.write(file_of(cpu), f"{online:d}")


def off_and_on(case: Case, cpu: int) -> None:
    with hogs(case, *mixed(3), (500, {cpu})) as w:

        def expect_all() -> None:
            w.expect_tickets(sum(worker.owned for worker in w))
            expect_progress(case, w)

        case.expect(moved(lambda: on(cpu)), f"CPU {cpu} has no work at first")
        set_online(False, cpu)
        case.equal(on(cpu), 0, f"tasks of CPU {cpu}, which is offline")
        places = {stat(worker.pid).cpu for worker in w}
        case.expect(cpu not in places, f"a task is on the offline CPU {cpu}")
        expect_all()
        set_online(True, cpu)
        case.expect(moved(lambda: on(cpu)), f"CPU {cpu} is back and gets no work")
        expect_all()


def each_cpu_off_and_on(case: Case) -> None:
    for cpu in UNPLUGGABLE:
        off_and_on(case, cpu)
    if not UNPLUGGABLE:
        case.skip("no CPU of this machine can go offline")
    case.note(f"{len(UNPLUGGABLE)} of {len(CPUS)} CPUs went offline and came back")


def all_but_one_off(case: Case) -> None:
    """The last one runs everything."""
    others = CPUS[1:]
    if not {*others} <= {*UNPLUGGABLE}:
        case.skip("a CPU of this machine cannot go offline")
        return
    with hogs(case, *mixed(3), (500, {FIRST})) as w:
        expect_progress(case, w)
        set_online(False, *others)
        expect_progress(case, w)
        set_online(True, *others)
        expect_work_everywhere(case)
        expect_progress(case, w)


@contextmanager
def let_go(case: Case, alone: int, *others: int) -> Iterator[Workers]:
    """The last CPU has one of the tasks to itself, and so no ticks, when they may go to both."""
    with hogs(case, (alone, {LAST}), *[(tickets, {FIRST}) for tickets in others]) as w:
        w.run(0.1)
        for worker in w:
            os.sched_setaffinity(worker.pid, {FIRST, LAST})
        yield w


def fuller_cpu_gives(seconds: int, case: Case) -> None:
    with let_go(case, 1, 100, 100) as w:
        part = w.run(seconds)[0] / seconds
    found = f"1 ticket beside 200 on two CPUs has {part:.1%} of one, due 1 %"
    case.expect_bound(part <= TICKLESS_MOST, found)


def three_take_turns(case: Case) -> None:
    """Each is on both CPUs in the end."""
    with let_go(case, 100, 100, 100) as w:
        seen: set[tuple[int, int]] = set()

        def everywhere() -> bool:
            seen.update((worker.pid, stat(worker.pid).cpu) for worker in w)
            return len(seen) == 2 * len(w)

        case.expect(moved(everywhere), f"pids and their CPUs: {sorted(seen)}")


def tickless(seconds: int) -> Tests:
    """Such a CPU does not balance."""
    return {
        "without ticks": {
            "it gets a task of a fuller CPU": partial(fuller_cpu_gives, seconds),
            "its tasks take turns": three_take_turns,
        }
    }


def groups(seconds: int) -> Tests:
    """All of them."""
    return {
        "balance": {
            "a task for each CPU finds it": release_spreads,
            "a task that wakes finds the idle CPU": waking_finds_idle,
            "an idle CPU gets work": idle_gets_work,
            "fuller CPUs hide no task": fuller_cpus_hide_nothing,
            "the sums of tickets balance": sums_balance,
            "they balance again after exits": balance_after_exit,
            "they balance again after changes of tickets": balance_after_change,
        },
        "affinity": {
            "affinity holds at all times": partial(affinity_holds, seconds),
            "bound tasks share while other CPUs are busy": bound_tasks_share,
            "a SCHED_FIFO hog drives a task to a free CPU": fifo_drives_off,
        },
        "hotplug": {
            "tasks leave a CPU that goes offline and come back": each_cpu_off_and_on,
            "one CPU runs everything": all_but_one_off,
        },
    }


def main() -> None:
    """Every CPU is online again in the end."""
    options = ktap.options(seconds=5, tickless=False)
    chosen = tickless if options["tickless"] else groups
    if len(CPUS) < 2:
        ktap.stop(ktap.SKIPPED, "needs 2 CPUs, there is 1")
    sched.begin(*CPUS)
    try:
        ktap.run(chosen(options["seconds"]))
    finally:
        set_online(True, *UNPLUGGABLE)


if __name__ == "__main__":
    main()

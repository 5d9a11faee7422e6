# SPDX-License-Identifier: GPL-2.0
"""What users of other schedulers reported, with tickets; each test names its report.

Needs root, 4 CPUs and virtual time. Bounds are of independent draws, one each tick.
"""

from __future__ import annotations

import _thread
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import log, sqrt

from inside import calls, cgroup, ktap, lottery, sched
from inside.ktap import Case
from inside.lottery_smp import ALL, CPUS, FIRST, UNPLUGGABLE, hogs, set_online
from inside.sched import MS, TICKETS_MAX, join
from inside.task import Task, wait_until
from inside.workers import Worker, Workers

SIGMAS = 4.0


def here(w: Workers) -> Workers:
    """All of them are bound to the first CPU."""
    for worker in w:
        os.sched_setaffinity(worker.pid, {FIRST})
    return w


def expect_wins(case: Case, ran: Sequence[float], tickets: Sequence[int]) -> None:
    """Of one CPU's time each has the part that its tickets buy, but for chance."""
    total = sum(ran) * 1e9 / lottery.state().tick_ns
    for got, own in zip(ran, tickets, strict=True):
        wins, due = total * got / sum(ran), own / sum(tickets)
        error = (wins - total * due) / sqrt(total * due * (1 - due))
        found = f"{own} of {sum(tickets)}: {wins:.1f} of {total:.1f} wins, {error:.2f} sigma off"
        case.expect_bound(abs(error) < SIGMAS, found)


def ratios_survive(case: Case) -> None:
    """opencontainers/runc#4772: 1024 shares become a weight of 39, and ratios are lost.

    The smallest has hardly a turn while all run, so that two run first. The longest of n waits
    is (log(n) + 5) times the mean or less, but for one case in 150.
    """
    few, some, many = backed = [2, 1024, 102400]
    with Workers(case, 1, 1, 1) as w:
        for tickets, worker in zip(backed, here(w), strict=True):
            cgroup.move(w.group(f"backed{tickets}", tickets), worker.pid)
        w[1].spin()
        w[0].spin()
        expect_wins(case, w.run(30)[:2], [few, some])
        mean_s = (few + some) / few * lottery.state().tick_ns / 1e9
        found = f"the smallest waited for {w[0].gap_s():.2f} s at most, {mean_s:.2f} s is the mean"
        case.expect_bound(w[0].gap_s() <= mean_s * (log(30 / mean_s) + 5), found)
        w[2].spin()
        w.expect_tickets(sum(backed))
        expect_wins(case, w.run(20)[1:], [some, many])


class Caller(Worker):
    """A hog that exchanges a byte with a master each second."""

    def __init__(self, owned: int, ask: int, answer: int) -> None:
        self.pipes = ask, answer
        self.next = 0.0
        super().__init__(owned)

    def look(self) -> None:
        if time.monotonic() > self.next:
            os.write(self.pipes[0], b"?")
            os.read(self.pipes[1], 1)
            self.next = time.monotonic() + 1


def answer_all(ask: int, answer: int) -> None:
    """The master."""
    while os.read(ask, 1):
        os.write(answer, b"!")


def low_ones_stay_low(case: Case) -> None:
    """serverfault.com/questions/405092: four of nice 19 had 40 % beside four of nice 0."""
    seconds, most = 30.0, 0.03
    (asked, ask), (answer, answers) = os.pipe(), os.pipe()
    with Task(partial(answer_all, asked, answers)) as master, Workers(case) as w:
        join(master.pid, 1024)
        master.release()
        w.extend(Worker(1024) for _ in CPUS)
        w.extend(Caller(15, ask, answer) for _ in CPUS)
        w.spin()
        parts = [got / seconds for got in w.run(seconds)]
    case.note(f"parts of a CPU: {' '.join(f'{part:.2%}' for part in parts)}")
    case.expect(min(parts), "a task that never ran")
    low = max(parts[len(CPUS) :])
    case.expect_bound(low <= most, f"{low:.2%} of a CPU with 15 tickets, wanted {most:.0%}")


class Napper(Worker):
    """It sleeps for 1 ms after each 4 ms of work."""

    rested = 0

    def look(self) -> None:
        if time.thread_time_ns() > self.rested + 4 * MS:
            time.sleep(0.001)
            self.rested = time.thread_time_ns()


def ratio_of_nappers(case: Case, low: int, high: int, seconds: float) -> float:
    """The CPU time of one of nice -5, of one of nice 5."""
    with Workers(case) as w:
        w.extend(Napper(0) for _ in range(low + high))
        for nice, worker in zip([5] * low + [-5] * high, here(w), strict=True):
            os.setpriority(os.PRIO_PROCESS, worker.pid, nice)
            join(worker.pid)
        w.spin()
        ran = w.run(seconds)
    ratio = sum(ran[low:]) / high / (sum(ran[:low]) / low)
    case.note(f"{low} of nice 5, {high} of nice -5: {ratio:.3f} times as much each")
    return ratio


def nice_counts_for_sleepers(case: Case) -> None:
    """sched-ext/scx#419: nice 5 and -5 had the same, both of which sleep now and then.

    Of two alone the higher one can have 4 ms of 5 at most, and no wake-up ends the other one's
    turn, so that is noted. Of many none lacks the time in which it sleeps, but for 1 %.
    """
    due = lottery.WEIGHTS[-5] / lottery.WEIGHTS[5]
    ratio_of_nappers(case, 1, 1, 4)
    off = ratio_of_nappers(case, 80, 20, 60) / due - 1
    case.expect_bound(abs(off) <= 0.05, f"{off:+.1%} off {due:.3f}, wanted 5 %")


def two_cpus(case: Case) -> None:
    """A student's scheduler for xv6: 20:35:45 of two CPUs for 10, 20 and 70 tickets."""
    due, most = (1 / 6, 1 / 3, 1 / 2), 0.01
    set_online(False, *CPUS[2:])
    try:
        with hogs(case, (10, ALL), (20, ALL), (70, ALL)) as w:
            time.sleep(0.2)
            ran = w.run(20)
    finally:
        set_online(True, *CPUS[2:])
    for part, got in zip(due, ran, strict=True):
        found = f"{got / sum(ran):.2%} of the time, due {part:.2%}"
        case.expect_bound(abs(got / sum(ran) - part) <= most, found)


def sleep_in_threads(tickets: int, borrowers: Sequence[int]) -> None:
    """A million tickets each, and one the rest; they lend to each of these in turn."""

    def rest(i: int = 0) -> None:
        sched.lend(borrowers[i % len(borrowers)])
        os.read(never, 1)

    never, _ = os.pipe()
    _thread.stack_size(32768)
    os.sched_setaffinity(0, {FIRST})
    join(0, TICKETS_MAX)
    for i in range(tickets // TICKETS_MAX):
        _thread.start_new_thread(rest, (i,))
    join(0, tickets % TICKETS_MAX)
    rest()


def beyond_32_bits(total: int, case: Case) -> None:
    """A hobby kernel's total overflows, and a task that sleeps wins: all but 400 tickets sleep."""
    own = [300, 100]
    with Workers(case, *own) as w:
        one, other = (worker.pid for worker in here(w))
        rest = total - sum(own)
        with Task(partial(sleep_in_threads, rest, [one, other, one, one])) as sleepers:
            sleepers.release()
            threads = f"/proc/{sleepers.pid}/task"
            wait_until(lambda: len(os.listdir(threads)) > rest // TICKETS_MAX)
            w.spin()
            w.expect_tickets(total)
            expect_wins(case, w.run(4), own)


class Builder(Worker):
    """It has one child after the other, each with 10 ms of work."""

    def look(self) -> None:
        pid = os.fork()
        if not pid:
            while time.thread_time_ns() < 10 * MS:
                pass
            os._exit(0)
        os.waitpid(pid, 0)


def play(periods: int) -> list[int]:
    """1 ms of work every 10 ms: how often it is late, and the longest that it took [us]."""
    took = []
    due = time.monotonic_ns()
    for _ in range(periods):
        due += 10 * MS
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        done = time.thread_time_ns() + MS
        while time.thread_time_ns() < done:
            pass
        took.append(time.monotonic_ns() - due)
    return [sum(ns > 10 * MS for ns in took), max(took) // 1000]


def late(case: Case, name: str, become: Callable[[int], object], app: int, tasks: int) -> float:
    """The part of the periods; tasks is what each of the others holds, 0 for fair ones."""
    periods = 2000
    with Workers(case) as w:
        # neither is a currency where the fair class shares the CPU
        groups = [w.group(name, n if tasks else 0) for name, n in (("app", app), ("player", 100))]
        calls.write(f"{groups[0]}/cpu.weight", str(app))
        w.extend(Builder(tasks) for _ in range(40))
        for worker in here(w):
            cgroup.move(groups[0], worker.pid)
        with Task(partial(play, periods)) as player:
            cgroup.move(groups[1], player.pid)
            os.sched_setaffinity(player.pid, {FIRST})
            become(player.pid)
            for worker in w:
                worker.tell()
            player.release()
            time.sleep(periods * 0.01)
            missed, longest = player.result()
    case.note(f"{name} of 100 beside {app}: {missed} of {periods} late, longest {longest} us")
    return float(missed / periods)


def a_build_leaves_time(case: Case) -> None:
    """mpv-player/mpv#11826: a build in one slice starves a player in another one.

    Four virtual CPUs stand still for longer than a period, so this is one of them, with the
    quarter of the build that is on it. With all of the build that is noted: the player waits
    for the end of a turn and wins every second draw then, since no wake-up ends a turn.
    """
    most = 0.001
    ticketed = partial(join, tickets=100)
    part = late(case, "a currency", ticketed, 25, 100)
    case.expect_bound(part <= most, f"{part:.2%} of the periods are late, wanted {most:.1%}")
    late(case, "a currency", ticketed, 100, 100)
    late(case, "cpu.weight", int, 100, 0)


def main() -> None:
    """Every CPU is online again in the end."""
    ktap.options()
    sched.begin(*CPUS)
    if len(CPUS) < 4 or not cgroup.usable():
        ktap.stop(ktap.SKIPPED, f"needs 4 CPUs, or {cgroup.MISSING}")
    totals = {f"2^32{n:+d} tickets": partial(beyond_32_bits, 2**32 + n) for n in (-1, 0, 1)}
    try:
        ktap.run(
            {
                "ratios of cgroups are what they are backed with": ratios_survive,
                "few tickets that sleep at times have little of 4 CPUs": low_ones_stay_low,
                "nice values count for tasks that sleep": nice_counts_for_sleepers,
                "10:20:70 on two CPUs": two_cpus,
                "totals beyond 32 bits": totals,
                "a build leaves time to a player": a_build_leaves_time,
            }
        )
    finally:
        set_online(True, *UNPLUGGABLE)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""Tasks that do what they are told and spin or sleep until the next order, and what they get."""

from __future__ import annotations

import ctypes
import marshal
import math
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import NoReturn, Self

from inside import calls, cgroup, ktap, lottery, sched
from inside.ktap import Case
from inside.task import WAIT_S, Task, asleep, shared, spin

SIGMAS = 5.0
"""By how many standard deviations chance may move a share."""
MUTEXES = 3


class _Mutexes(ctypes.Structure):
    _fields_ = [("mutex", ctypes.c_uint32 * MUTEXES)]


class _Words(ctypes.Structure):
    """How many orders one has got and has done, what the last one found, and times [ns]."""

    _fields_ = [
        ("told", ctypes.c_uint32),
        ("done", ctypes.c_uint32),
        ("found", ctypes.c_int32),
        ("looked", ctypes.c_uint64),
        ("gap", ctypes.c_uint64),
    ]


def _drop_privileges() -> None:
    calls.drop_user()
    calls.signal_at_death_of_parent(signal.SIGKILL)


def _execute(path: str) -> None:
    """Become a Python that sleeps."""
    hold, let_go = os.pipe()
    os.dup2(hold, 0)
    os.set_inheritable(let_go, True)
    os.execv(path, ["python3", "-BESc", "input()"])


def _fork_spinner() -> None:
    parent = os.getpid()
    if not os.fork():
        calls.signal_at_death_of_parent(signal.SIGKILL)
        if os.getppid() == parent:
            spin()
        os._exit(1)


_ACTIONS: dict[str, Callable[..., object]] = {
    "": lambda: None,
    "here": calls.here,
    "lock": calls.lock,
    "unlock": calls.unlock,
    "lend": sched.lend,
    "revoke": sched.revoke,
    "make_currency": sched.make_currency,
    "inflate": partial(sched.join, 0),
    "drop_privileges": _drop_privileges,
    "set_user": os.setuid,
    "fork": _fork_spinner,
    "execute": _execute,
    "exit": os._exit,
}


class Worker(Task):
    """One of them, in the class if it has tickets; it sleeps at first."""

    def __init__(self, owned: int) -> None:
        self.owned = owned
        self._words = shared(_Words)
        super().__init__(self._obey)
        if owned:
            sched.join(self.pid, owned)

    def _obey(self) -> NoReturn:
        words, spins = self._words, False
        while True:
            while spins and words.told <= words.done:
                self.look()
                # Looks at the clock cost the host much: 0.1 ms pass between two of them.
                sum(range(1000))
            action, spins, *args = marshal.loads(os.read(self._orders, calls.PIECE))
            words.found = _ACTIONS[action](*args) or 0
            words.done += 1

    def look(self) -> None:
        """What it does while it spins: it notes how long it did not run."""
        now = time.monotonic_ns()
        self._words.gap = max(self._words.gap, now - self._words.looked)
        self._words.looked = now

    def gap_s(self) -> float:
        """The longest time for which it did not spin since it was told to."""
        words, now = self._words, time.monotonic_ns()
        return float(max(words.gap, now - words.looked)) / 1e9

    def tell(self, action: str = "", *args: int | str, spins: bool = True) -> None:
        """Let it do that, and then spin or sleep; returns at once."""
        if not self._words.told:
            self.release()
        self._words.gap, self._words.looked = 0, time.monotonic_ns()
        os.write(self._go, marshal.dumps((action, spins, *args)))
        self._words.told += 1

    def await_done(self) -> None:
        """What it was told last."""
        self._expect(lambda: self._words.done == self._words.told, "do what it was told")

    def act(self, action: str = "", *args: int, spins: bool = True) -> int:
        """As tell(); returns what it found once that is done, and it asleep if it is to sleep."""
        self.tell(action, *args, spins=spins)
        self.await_done()
        if not spins:
            self.await_asleep()
        return int(self._words.found)

    def await_asleep(self) -> None:
        """It is blocked."""
        self._expect(lambda: asleep(self.pid), "sleep")

    def spin(self) -> None:
        """From now on."""
        self.act()

    def sleep(self) -> None:
        """From now on; one that sleeps wakes up once before."""
        self.act(spins=False)

    def lend(
        self, to: Task, tickets: int = 0, flags: int = sched.LOAN_KEEP, timeout_ns: int = 0
    ) -> None:
        """Whenever it is blocked, as it is from now on."""
        self.act("lend", to.pid, tickets, flags, timeout_ns, spins=False)

    def wait_for(self, mutex: int) -> None:
        """Ask for one that another task holds."""
        self.tell("lock", mutex)
        self.await_asleep()

    def ran_s(self) -> float:
        """Its CPU time; 0 once it has ended."""
        try:
            return time.clock_gettime(~self.pid << 3 | 2)
        except OSError:
            return 0.0


class Workers(list[Worker]):
    """Some on one CPU, one for each number of tickets, and cgroups for them."""

    window_s = 1.0
    """In which shares are counted."""
    slack = 0.0
    """In shares, in addition to chance: for what else there is on the CPU."""
    other_cpu: int | None = None

    def __init__(self, case: Case, *owned: int) -> None:
        self.case = case
        self._groups = ExitStack()
        self._others = lottery.tickets()
        self._mutexes = shared(_Mutexes)
        self.mutex = [ctypes.addressof(self._mutexes) + 4 * i for i in range(MUTEXES)]
        super().__init__(map(Worker, owned))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        with self._groups:
            # all at once: one after the other they would run on meanwhile
            for worker in self:
                worker.kill()
            for worker in self:
                worker.__exit__(*why)
            self.expect_tickets(0)

    def spin(self) -> None:
        """All of them."""
        for worker in self:
            worker.tell()
        for worker in self:
            worker.await_done()

    def group(self, name: str, tickets: int = 0, above: str = cgroup.ROOT) -> str:
        """The path of a new cgroup, which is a currency if it has tickets."""
        path = self._groups.enter_context(cgroup.made(name, above))
        if tickets:
            cgroup.back(path, tickets)
        return path

    def expect_tickets(self, wanted: int) -> None:
        """So many of them come to be in the pools."""
        lottery.expect_tickets(self.case, self._others, wanted)

    def run(self, seconds: float) -> list[float]:
        """The CPU time that each gets in that time [s]."""
        before = [worker.ran_s() for worker in self]
        time.sleep(seconds)
        return [worker.ran_s() - then for worker, then in zip(self, before, strict=True)]

    def expect_share(self, worker: Worker, due: float) -> None:
        """It has that part of what all of them get in a window in which one of them runs."""
        end = time.monotonic() + WAIT_S
        while not any(ran := self.run(self.window_s)) and time.monotonic() < end:
            pass
        self._expect_due(worker, due, ran, sum(ran))

    def expect_part_of_cpu(self, worker: Worker, due: float) -> None:
        """The same of all time, which also tasks have that are not workers."""
        self._expect_due(worker, due, self.run(self.window_s), self.window_s)

    def _expect_due(self, worker: Worker, due: float, ran: list[float], of_s: float) -> None:
        if not self.case.expect(of_s, "no task ran"):
            return
        index = self.index(worker)
        got = ran[index] / of_s
        lotteries = of_s * 1e9 / lottery.state().tick_ns
        bound = bound_of(due, lotteries) + self.slack
        shares = f"task {index}: {got:.1%} of the time, due {due:.1%}, bound {bound:.1%}"
        self.case.expect_bound(abs(got - due) <= bound, shares)


def bound_of(due: float, lotteries: float) -> float:
    """How far a part of that many lotteries may be from the one that is due."""
    return SIGMAS * math.sqrt(due * (1 - due) / lotteries)


def begin(window_ms: int, slack: float) -> None:
    """The options of such a program, --window MS; its tasks run on the first CPU."""
    Workers.window_s = ktap.options(window=window_ms)["window"] / 1000
    Workers.slack = slack
    cpu, *others = sorted(os.sched_getaffinity(0))
    Workers.other_cpu = others[0] if others else None
    sched.begin(cpu)

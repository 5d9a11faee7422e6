# SPDX-License-Identifier: GPL-2.0
"""The lottery mutex: who gets it, who waits, and that one at a time has it."""

from __future__ import annotations

import ctypes
import heapq
import json
import random
import threading
from collections.abc import Iterator
from ctypes import c_bool, c_size_t, c_uint32, c_uint64
from math import sqrt
from pathlib import Path

import pytest

from lab.paths import Paths
from tests.host import native
from tests.host.programs import run

PARTS = tuple(f"userland/lib/{name}.c" for name in ("futex", "clock"))
SIDE = ("qemu/tests/host/lottery_mutex_side.c", *PARTS)
STRESS = (
    *("qemu/tests/host/lottery_mutex_stress.c", "userland/lib/lottery_mutex.c"),
    *("userland/lib/work.c", *PARTS),
)
NOBODY = 2**32 - 1
ALIGNMENT = 64
SIGMAS = 5.0
# The paper's threads: four with twice the tickets of the other four.
PAPER = (2, 2, 2, 2, 1, 1, 1, 1)


class Mutex:
    """A mutex whose contenders are all played by the caller; none of them sleeps."""

    def __init__(self, library: ctypes.CDLL, room: int, seed: int = 1) -> None:
        self.library = library
        self.memory = ctypes.create_string_buffer(library.lottery_mutex_size(room) + ALIGNMENT)
        begin = ctypes.addressof(self.memory)
        self.at = ctypes.c_void_p(begin + -begin % ALIGNMENT)
        library.lottery_mutex_init(self.at, room, c_uint64(seed))

    def begin(self, slot: int, tickets: int = 1) -> bool:
        """Up to the wait. Whether the mutex was free."""
        return bool(self.library.begin_to_lock(self.at, slot, tickets))

    def unlock(self) -> int:
        self.library.lottery_mutex_unlock(self.at)
        return self.holder

    def has_won(self, slot: int) -> bool:
        return bool(self.library.has_won(self.at, slot))

    @property
    def holder(self) -> int:
        return int(self.library.lottery_mutex_holder(self.at))

    def losers(self) -> Iterator[int]:
        slot = self.library.lottery_mutex_first_loser(self.at)
        while slot != NOBODY:
            yield slot
            slot = self.library.lottery_mutex_next_loser(self.at, slot)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = native.load(tmp_path_factory.mktemp("lottery_mutex"), *SIDE)
    library.lottery_mutex_size.restype = c_size_t
    library.unbiased.restype = c_uint64
    for name in ("holder", "first_loser", "next_loser"):
        getattr(library, f"lottery_mutex_{name}").restype = c_uint32
    for name in ("begin_to_lock", "has_won"):
        getattr(library, name).restype = c_bool
    return library


def test_the_last_waiter_has_it_before_it_is_free(library: ctypes.CDLL) -> None:
    mutex = Mutex(library, 3)
    assert mutex.begin(0)
    assert not mutex.begin(1) and not mutex.has_won(1)
    assert mutex.unlock() == 1 and mutex.has_won(1)
    # one that comes while the list is empty, and one while it is not
    assert not mutex.begin(0) and not mutex.begin(2)
    first = mutex.unlock()
    assert {first, *mutex.losers()} == {0, 2} and mutex.has_won(first)
    assert not mutex.begin(1)
    second = mutex.unlock()
    assert {first, second, *mutex.losers()} == {0, 1, 2}
    assert mutex.has_won(mutex.unlock())
    assert mutex.unlock() == NOBODY
    assert mutex.begin(2), "free again"


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_forgotten(library: ctypes.CDLL, seed: int) -> None:
    dice = random.Random(seed)
    mutex = Mutex(library, 40, seed)
    waiting: set[int] = set()
    assert mutex.begin(0)
    for _ in range(500):
        out = [slot for slot in range(40) if slot not in waiting and slot != mutex.holder]
        for slot in dice.sample(out, dice.randint(0, min(4, len(out)))):
            assert not mutex.begin(slot, dice.choice((1, 7, 1_000_000)))
            waiting.add(slot)
        if not waiting:
            continue
        winner = mutex.unlock()
        assert winner in waiting and mutex.has_won(winner)
        waiting.remove(winner)
        losers = list(mutex.losers())
        assert len(losers) == len(waiting) and set(losers) == waiting
        assert not any(mutex.has_won(slot) for slot in waiting)
    while waiting:
        waiting.remove(mutex.unlock())
    assert mutex.unlock() == NOBODY


@pytest.mark.parametrize("tickets", [PAPER, (1,) * 5, (1_000_000, 1, 999_999), tuple(range(1, 20))])
def test_draws_are_by_tickets(library: ctypes.CDLL, tickets: tuple[int, ...]) -> None:
    """Fault: a draw that ignores tickets, or a place in the list that wins more than its share.

    All but the one that releases wait: the chances of each are known, draw by draw.
    """
    mutex = Mutex(library, len(tickets))
    wins, expected, variance = ([0.0] * len(tickets) for _ in range(3))
    mutex.begin(0, tickets[0])
    for slot in range(1, len(tickets)):
        mutex.begin(slot, tickets[slot])
    for _ in range(20_000):
        last = mutex.holder
        total = sum(tickets) - tickets[last]
        for slot in range(len(tickets)):
            p = tickets[slot] / total if slot != last else 0
            expected[slot] += p
            variance[slot] += p * (1 - p)
        winner = mutex.unlock()
        wins[winner] += 1
        mutex.begin(last, tickets[last])
    for slot in range(len(tickets)):
        bound = SIGMAS * sqrt(max(variance[slot], 25))
        assert wins[slot] == pytest.approx(expected[slot], abs=bound)


def test_numbers_are_unbiased(library: ctypes.CDLL) -> None:
    """Fault: a remainder without rejection: the first third would come twice as often."""
    state = c_uint64(1)
    draws, bound = 30_000, 3 << 62
    seen = [0, 0, 0]
    for _ in range(draws):
        seen[library.unbiased(ctypes.byref(state), c_uint64(bound)) >> 62] += 1
    assert seen == pytest.approx([draws / 3] * 3, abs=SIGMAS * sqrt(draws * 2 / 9))


def test_won_before_it_sleeps(library: ctypes.CDLL) -> None:
    """Fault: a wake-up that is lost between queueing and waiting. The wait would not end."""
    mutex = Mutex(library, 2)
    mutex.begin(0)
    mutex.begin(1)
    assert mutex.unlock() == 1
    waiter = threading.Thread(target=library.go_on_to_wait, args=(mutex.at, 1), daemon=True)
    waiter.start()
    waiter.join(timeout=20)
    assert not waiter.is_alive()


def ratio(library: ctypes.CDLL, tickets: tuple[int, ...], hold: float, compute: float) -> float:
    """Acquisitions of the first half against the second's, each with a CPU of its own."""
    mutex = Mutex(library, len(tickets))
    had = [0] * len(tickets)
    # when it wants the mutex; all at once at first, and after that never at the same time
    coming = [(slot * 1e-6, slot) for slot in range(len(tickets))]
    now, holder = 0.0, NOBODY
    for _ in range(20_000):
        end = now + hold
        while coming and (coming[0][0] < end or holder == NOBODY):
            when, slot = heapq.heappop(coming)
            if mutex.begin(slot, tickets[slot]):
                now, holder, end = when, slot, when + hold
        had[holder] += 1
        now = end
        heapq.heappush(coming, (now + compute, holder))
        holder = mutex.unlock()
    half = len(tickets) // 2
    return sum(had[:half]) / sum(had[half:])


@pytest.mark.parametrize("each", [4, 7, 16])
def test_full_ratio(library: ctypes.CDLL, each: int) -> None:
    """Fault: the full ratio that lottery-mutex reports is not that of the mutex.

    Who computes for less time than others hold misses its own draw only; who computes for
    longer misses more, and the ratio is further from that of the tickets.
    """
    tickets = (2,) * each + (1,) * each
    full = 2 * (1 - 1 / (3 * each - 1))
    for compute in (0.0, 0.9):
        assert ratio(library, tickets, 1, compute) == pytest.approx(full, rel=0.04)
    assert ratio(library, tickets, 1, each) < 0.95 * full


@pytest.mark.parametrize("sanitizer", ["none", "thread"])
def test_threads(tmp_path: Path, sanitizer: str) -> None:
    """Faults: two at a time, a lost wake-up (a hang), and memory order, for ThreadSanitizer."""
    options: tuple[str, ...] = ()
    if sanitizer == "thread":
        why = native.no_thread_sanitizer(tmp_path)
        if why:
            pytest.skip(why)
        options = ("-fsanitize=thread",)
    program = native.build(tmp_path, *STRESS, options=options)
    done = run(program)
    assert done.returncode == 0, done.stderr
    *rounds, counted, draws, free = (int(word) for word in done.stdout.split())
    assert len(set(rounds)) == 1 and counted == sum(rounds) and free == 1
    assert draws > counted / 10, "there was something to test"


WORK = ("lottery-mutex", "--policy", "other", "--hold-us", "200", "--compute-us", "0")


def test_processes(lab_paths: Paths) -> None:
    """Fault: what holds for threads does not for processes of the ordinary scheduler."""
    program, *work = WORK
    done = run(lab_paths.bin / program, *work, "--seconds", "3", "--ktap")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("kind", "drawn"), [("user", True), ("pthread", False)])
def test_kinds(lab_paths: Paths, kind: str, drawn: bool) -> None:
    """Of a mutex that holds no draws, nothing is said of draws."""
    program, *work = WORK
    done = run(lab_paths.bin / program, *work, "--kind", kind, "--seconds", "1", "--json")
    assert done.returncode == 0, done.stderr
    for row in map(json.loads, done.stdout.splitlines()):
        assert row["kind"] == kind and row["acquired"] >= row["won"]
        assert (row["won"] > 0) == drawn and (row["sigma_error"] is not None) == drawn
        assert row["full_ratio"] == pytest.approx(20 / 11 if row["group"] == 1 else 1)

# SPDX-License-Identifier: GPL-2.0
"""What tickets buy of several CPUs: cases done by hand, then against all sets of tasks."""

import ctypes
import random
import time
from collections.abc import Sequence
from ctypes import c_bool, c_double, c_size_t, c_uint32, c_uint64
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import pytest

from tests.host import native

SOURCES = native.lib("waterfill", "args", "files")
SETS_MAX = 256


class Task(ctypes.Structure):
    _fields_: ClassVar = [("cpus", c_uint64), ("tickets", c_uint32), ("share", c_double)]


# Tickets, and a bit for each CPU that the task may use.
Wanted = Sequence[tuple[int, int]]


@dataclass
class Waterfill:
    library: ctypes.CDLL

    def __post_init__(self) -> None:
        self.library.waterfill.restype = c_bool

    def shares(self, wanted: Wanted, cpus: int) -> list[float] | None:
        tasks = (Task * len(wanted))(*(Task(mask, tickets, -1) for tickets, mask in wanted))
        good = self.library.waterfill(tasks, c_size_t(len(wanted)), c_uint64(cpus))
        untouched = all(task.share == -1 for task in tasks)
        return [task.share for task in tasks] if good and (not untouched or not wanted) else None


@pytest.fixture(scope="module")
def fill(tmp_path_factory: pytest.TempPathFactory) -> Waterfill:
    return Waterfill(native.load(tmp_path_factory.mktemp("waterfill"), *SOURCES))


def anywhere(*tickets: int) -> Wanted:
    return [(count, 2**64 - 1) for count in tickets]


@pytest.mark.parametrize(
    ("wanted", "cpus", "shares"),
    [
        pytest.param(anywhere(), 0b1111, [], id="no task"),
        pytest.param(anywhere(7), 0b1, [1], id="alone"),
        pytest.param(anywhere(3, 1), 0b1, [0.75, 0.25], id="one CPU"),
        pytest.param(anywhere(1, 1000000), 0b11, [1, 1], id="more CPUs would not help"),
        pytest.param(anywhere(5, 1, 3), 2**64 - 1, [1, 1, 1], id="more CPUs than tasks"),
        pytest.param(anywhere(4, 1, 1, 1, 1), 0b1111, [1, 0.75, 0.75, 0.75, 0.75], id="4:1:1:1:1"),
        pytest.param(
            anywhere(1000000, 1, 1), 0b11, [1, 0.5, 0.5], id="one with everything has one CPU"
        ),
        pytest.param(anywhere(10, 20, 70), 0b11, [1 / 3, 2 / 3, 1], id="10:20:70"),
        pytest.param(anywhere(100, 10, 1, 1), 0b111, [1, 1, 0.5, 0.5], id="two at the limit"),
        # 16 of 136 tickets on 4 CPUs are less than one CPU
        pytest.param(
            anywhere(*range(1, 17)), 0b1111, [4 * i / 136 for i in range(1, 17)], id="1..16"
        ),
        pytest.param([(3, 1), (1, 1), (1, 2)], 0b11, [0.75, 0.25, 1], id="pinned"),
        pytest.param([(1, 1), (1, 2), (2, 3)], 0b11, [0.5, 0.5, 1], id="as in lottery(1)"),
        # the free one takes CPU 1, which no other task has
        pytest.param([(1, 1), (1, 1), (9, 3)], 0b11, [0.5, 0.5, 1], id="two pinned, one free"),
        # the free one leaves CPU 0 to those that have nothing else
        pytest.param([(1, 1), (1, 1), (1, 1), (1, 3)], 0b11, [1 / 3] * 3 + [1], id="crowd"),
        # the free one is worth 0.8 on either CPU: together 2 CPUs of 5 tickets
        pytest.param([(2, 1), (1, 2), (2, 3)], 0b11, [0.8, 0.4, 0.8], id="free one levels out"),
        # a chain: what is free flows along it
        pytest.param([(1, 1), (1, 3), (1, 6), (1, 4)], 0b111, [0.75] * 4, id="chain"),
        pytest.param([(1, 1), (1, 1), (1, 3), (1, 2)], 0b11, [0.5] * 4, id="pushed aside"),
        pytest.param([(5, 4), (1, 1)], 0b11, [0, 1], id="no CPU of its own is there"),
        pytest.param([(0, 1), (5, 1)], 0b11, [0, 1], id="one that does not take part"),
        pytest.param([(1, 1 << 63), (3, 1 << 63)], 1 << 63, [0.25, 0.75], id="the last CPU"),
    ],
)
def test_by_hand(fill: Waterfill, wanted: Wanted, cpus: int, shares: list[float]) -> None:
    assert fill.shares(wanted, cpus) == pytest.approx(shares, abs=1e-6)


def level(tickets: Sequence[int], cpus: int) -> Fraction | None:
    """CPUs per ticket at which the tasks ask for just that many; None: they never do."""
    rest = sorted(tickets, reverse=True)
    if len(rest) <= cpus:
        return None
    while rest[0] * cpus > sum(rest):
        cpus -= 1
        rest.pop(0)
    return Fraction(cpus, sum(rest))


def slow_shares(wanted: Wanted, cpus: int) -> list[Fraction]:
    """The same by looking at every set of tasks, in fractions."""
    left = {i: mask & cpus for i, (_, mask) in enumerate(wanted)}
    shares = [Fraction(0)] * len(wanted)
    while left:
        levels = []
        for size in range(1, len(left) + 1):
            for chosen in combinations(left, size):
                union = 0
                for i in chosen:
                    union |= left[i]
                found = level([wanted[i][0] for i in chosen], union.bit_count())
                if found is not None:
                    levels.append((found, chosen, union))
        if not levels:
            for i in left:
                shares[i] = Fraction(1)
            break
        least, chosen, union = min(levels, key=lambda entry: entry[0])
        for i in chosen:
            shares[i] = min(Fraction(1), least * wanted[i][0])
            del left[i]
        left = {i: mask & ~union for i, mask in left.items()}
    return shares


@pytest.mark.parametrize("seed", range(300))
def test_against_every_set(fill: Waterfill, seed: int) -> None:
    dice = random.Random(seed)
    cpus = 2 ** dice.randint(1, 5) - 1
    top = dice.choice((1, 4, 100, 1_000_000))
    wanted = [(dice.randint(1, top), dice.randint(1, cpus)) for _ in range(dice.randint(1, 8))]
    slow = [float(share) for share in slow_shares(wanted, cpus)]
    assert fill.shares(wanted, cpus) == pytest.approx(slow, abs=1e-6)


def test_many(fill: Waterfill) -> None:
    """What the greatest machine could have, within a part of a refresh."""
    dice = random.Random(1)
    masks = [dice.getrandbits(64) & dice.getrandbits(64) | 1 for _ in range(SETS_MAX)]
    wanted = [(dice.randint(1, 1_000_000), dice.choice(masks)) for _ in range(20_000)]
    begin = time.process_time()
    shares = fill.shares(wanted, 2**64 - 1)
    assert time.process_time() - begin < 2
    assert shares is not None
    assert sum(shares) == pytest.approx(64, abs=1e-3)
    assert min(shares) > 0 and max(shares) <= 1


def test_pinned_to_64_cpus(fill: Waterfill) -> None:
    wanted = [(t, 1 << cpu) for cpu in range(64) for t in range(1, cpu + 2)]
    expected = [t / sum(range(1, cpu + 2)) for cpu in range(64) for t in range(1, cpu + 2)]
    assert fill.shares(wanted, 2**64 - 1) == pytest.approx(expected, abs=1e-6)


def test_too_many_sets_are_refused(fill: Waterfill) -> None:
    wanted = [(1, mask) for mask in range(1, SETS_MAX + 1)]
    assert fill.shares(wanted, 2**64 - 1) is not None
    assert fill.shares([*wanted, (1, SETS_MAX + 1)], 2**64 - 1) is None
    # sets that differ only by CPUs that are not there are the same
    assert fill.shares([*wanted, (1, 1 | 1 << 63)], 2**63 - 1) is not None

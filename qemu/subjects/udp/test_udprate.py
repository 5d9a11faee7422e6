# SPDX-License-Identifier: GPL-2.0
"""udprate: its schedule, its controller on a fake clock, and its bookkeeping."""

import ctypes
import random
from collections import Counter
from itertools import pairwise

import pytest

from subjects.udp import rates
from subjects.udp.udprates import SOURCES, WINDOW, Pace, Plan, Sequence, UdpRate, Wall, Window
from tests.host import native

SECOND = rates.SECOND
RATES_MBPS = (3, 6, 12, 64, 128, 256, 512, 1024)


@pytest.fixture(scope="module")
def udp(tmp_path_factory: pytest.TempPathFactory) -> UdpRate:
    return UdpRate(native.load(tmp_path_factory.mktemp("udprate"), *SOURCES))


def plan(mbps: float, seconds: float = 3, **more: int) -> Plan:
    usual = {"workers": 1, "worker": 0, "size": 1472, "quantum_ns": 500_000}
    return Plan(
        bytes_per_s=round(mbps * 125_000),
        stop_ns=round(seconds * SECOND),
        rate=rates.params("constant"),
        **{**usual, **more},
    )


@pytest.mark.parametrize("mbps", [*RATES_MBPS, 0.05, 0.7, 33.333333, 4000])
@pytest.mark.parametrize("workers", [1, 3, 16])
def test_every_second_carries_the_same(udp: UdpRate, mbps: float, workers: int) -> None:
    """To a byte of each packet of a batch and worker, and never more than was asked for."""
    wanted = round(mbps * 125_000)
    seconds: Counter[int] = Counter()
    for worker in range(workers):
        for batch in udp.batches(plan(mbps, 2, workers=workers, worker=worker)):
            seconds[batch.due_ns // SECOND] += batch.bytes
            assert batch.size <= 1472
    assert set(seconds) == {0, 1}
    for sent in seconds.values():
        assert abs(sent - wanted) <= 64 * workers
    assert sum(seconds.values()) <= 2 * wanted


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.0333, 0.5, 1, 1.234567])
@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_due_is_known_before(udp: UdpRate, seconds: float, workers: int) -> None:
    for mbps in (0.05, 3, 512):
        wanted = [plan(mbps, seconds, workers=workers, worker=i) for i in range(workers)]
        due = sum(batch.bytes for one in wanted for batch in udp.batches(one))
        assert udp.due(wanted[0]) == due


@pytest.mark.parametrize("mbps", RATES_MBPS)
def test_batches_are_even_and_not_too_close(udp: UdpRate, mbps: int) -> None:
    batches = list(udp.batches(plan(mbps, 1)))
    gaps = [two.due_ns - one.due_ns for one, two in pairwise(batches)]
    assert max(gaps) - min(gaps) <= 1
    full_gap = 1472 * 8000 / mbps
    assert min(gaps) >= min(0.99 * full_gap, 1e9) or min(gaps) >= 500_000 * 0.9
    assert len({batch.packets for batch in batches}) == 1
    assert max(batch.size for batch in batches) - min(batch.size for batch in batches) <= 1
    # half a gap from both ends of the second: what is a little late still counts in it
    assert batches[0].due_ns == pytest.approx(gaps[0] / 2, abs=2)
    assert SECOND - batches[-1].due_ns == pytest.approx(gaps[0] / 2, abs=2)


def test_it_never_runs_ahead_by_more_than_half_a_batch(udp: UdpRate) -> None:
    sent = 0
    for batch in udp.batches(plan(512, 2)):
        sent += batch.bytes
        assert sent <= 64_000_000 * batch.due_ns / SECOND + batch.bytes / 2 + 64


def test_workers_take_turns(udp: UdpRate) -> None:
    due = sorted(
        batch.due_ns
        for worker in range(4)
        for batch in udp.batches(plan(100, 1, workers=4, worker=worker))
    )
    gaps = [two - one for one, two in pairwise(due)]
    assert max(gaps) - min(gaps) <= 1


@pytest.mark.parametrize("shape", ["poisson", "normal", "peaks", "ramp"])
def test_shapes_send_what_is_due_and_not_before(udp: UdpRate, shape: str) -> None:
    wanted = plan(100, 2)
    wanted.rate = rates.params(shape, on_ns=30_000_000, off_ns=20_000_000)
    batches = list(udp.batches(wanted))
    assert sum(batch.bytes for batch in batches) == pytest.approx(25_000_000, rel=0.03)
    for one, two in pairwise(batches):
        assert one.begin_ns <= one.due_ns < two.begin_ns
        assert two.begin_ns - one.begin_ns >= 500_000
    assert batches[-1].due_ns < 2 * SECOND


def test_workers_of_a_random_shape_have_seeds_of_their_own(udp: UdpRate) -> None:
    def due(worker: int) -> list[int]:
        wanted = plan(10, 1, workers=2, worker=worker)
        wanted.rate = rates.params("poisson")
        return [batch.due_ns for batch in udp.batches(wanted)]

    assert due(0) == due(0) != due(1)


@pytest.mark.parametrize("size", [64, 100, 1472, 9000, 65507])
def test_batches_fit_what_the_kernel_takes_at_once(udp: UdpRate, size: int) -> None:
    for batch in udp.batches(plan(2000, 0.01, size=size)):
        assert batch.packets <= 64 and batch.bytes <= 65507 and batch.size >= 32


class FakeSleeper:
    """A machine whose wake-ups are late; `spun` is what the worker spins in all."""

    def __init__(self, udp: UdpRate, spin_ns: int, seed: int) -> None:
        self.library = udp.library
        self.pace = Pace()
        self.library.pace_init(ctypes.byref(self.pace), spin_ns)
        self.dice = random.Random(seed)
        self.now = 0
        self.spun = 0

    def late_at(self, due: int, delay: float) -> int:
        """One deadline on a machine that wakes late, by `delay` on average."""
        wake = self.library.pace_sleep_until(ctypes.byref(self.pace), due)
        if self.now < wake:
            self.now = wake + round(self.dice.expovariate(1 / delay))
            self.library.pace_woke(ctypes.byref(self.pace), self.now)
        self.spun += max(0, due - self.now)
        self.now = max(self.now, due)
        return self.now - due


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_learns_how_late_it_wakes(udp: UdpRate, seed: int) -> None:
    """Nine of ten deadlines are met, also when the machine becomes slower or faster."""
    sleeper = FakeSleeper(udp, 50_000, seed)
    start = 0
    for delay in (5_000, 15_000, 3_000):
        late = [sleeper.late_at(start + i * 1_000_000, delay) for i in range(1, 4001)]
        met = sum(x == 0 for x in late[1000:]) / 3000
        assert 0.86 < met < 0.94
        start += 4_000_000_000


@pytest.mark.parametrize("spin", [0, 10_000])
def test_it_spins_no_longer_than_allowed(udp: UdpRate, spin: int) -> None:
    sleeper = FakeSleeper(udp, spin, 1)
    for i in range(1, 5001):
        sleeper.late_at(i * 1_000_000, 100_000)
        assert sleeper.pace.early_ns <= spin
    assert sleeper.spun <= 5000 * spin


def test_lateness_does_not_add_up(udp: UdpRate) -> None:
    """After a stop of a second the deadlines that were missed follow at once."""
    sleeper = FakeSleeper(udp, 0, 1)
    sleeper.now = SECOND
    late = [sleeper.late_at(i * 1_000_000, 100) for i in range(1, 2001)]
    assert late[0] == SECOND - 1_000_000
    assert late[998] == 1_000_000 and max(late[1000:]) < 5_000


def test_spinning_is_a_small_part_of_the_time(udp: UdpRate) -> None:
    assert udp.library.pace_auto_spin(500_000) == 10_000
    assert udp.library.pace_auto_spin(SECOND) == 50_000


@pytest.mark.parametrize("ahead", [1_700_000_000 * SECOND, 0, -5 * SECOND])
def test_a_clock_that_is_set_moves_no_time(udp: UdpRate, ahead: int) -> None:
    """Neither does a reader that is off the CPU between its readings of two clocks."""
    dice = random.Random(3)
    wall, now, off = Wall(), 1000 * SECOND, 0
    for step in range(2000):
        if step and step % 500 == 0:
            ahead += dice.choice((-3600, 1, 3600)) * SECOND
        now += 1_000_000
        before, after = dice.randint(20, 40), dice.choice((20, 30, 5_000_000))
        shown = (now + ahead) % 2**64
        udp.library.wall_learn(ctypes.byref(wall), now - before, shown, now + after)
        came = now - dice.randint(0, 900_000)
        shown = (came + ahead) % 2**64
        found = udp.library.wall_time(ctypes.byref(wall), shown, now - SECOND, now + after)
        if step % 500 > 20:
            off = max(off, abs(found - came))
    assert off <= 60


def test_a_stamp_of_before_the_clock_was_set_is_not_believed(udp: UdpRate) -> None:
    wall = Wall(ahead_ns=5000)
    limits = (100, 200)
    stamps = {5150: 150, 5000: 100, 5300: 200, 3_600_000_005_000: 200}
    for stamp, found in stamps.items():
        assert udp.library.wall_time(ctypes.byref(wall), stamp, *limits) == found


def seen(udp: UdpRate, numbers: list[int]) -> tuple[int, int, int, int]:
    state, window = Sequence(), Window()
    for number in numbers:
        udp.library.sequence_see(ctypes.byref(state), ctypes.byref(window), number)
    lost = udp.library.sequence_lost(ctypes.byref(state))
    return state.received, lost, state.late, state.duplicates


@pytest.mark.parametrize(
    ("numbers", "fate"),
    [
        ([], (0, 0, 0, 0)),
        ([0, 1, 2, 3], (4, 0, 0, 0)),
        ([2, 3], (2, 2, 0, 0)),
        ([0, 5], (2, 4, 0, 0)),
        ([0, 2, 1, 3], (4, 0, 1, 0)),
        ([0, 1, 1, 2, 0], (3, 0, 0, 2)),
        ([0, 200, 100], (3, 198, 1, 0)),
        ([0, 64, 1, 0], (3, 62, 1, 1)),
        ([0, 1, WINDOW, 1, 0], (3, WINDOW - 2, 1, 1)),
        ([0, WINDOW - 1, 0], (2, WINDOW - 2, 0, 1)),
        ([5, WINDOW + 5, 5, 6], (3, WINDOW + 3, 2, 0)),
        ([0, 5 * WINDOW, 5 * WINDOW - 1, 4 * WINDOW + 1], (4, 5 * WINDOW - 3, 2, 0)),
    ],
)
def test_sequence(udp: UdpRate, numbers: list[int], fate: tuple[int, int, int, int]) -> None:
    assert seen(udp, numbers) == fate


def test_each_number_arrives_once(udp: UdpRate) -> None:
    """However often it comes, and in which order, a window apart; a tenth never comes."""
    dice = random.Random(2)
    kept = [n for n in range(10_000) if dice.random() > 0.1]
    numbers = [n for n in kept for _ in range(dice.randint(1, 3))]
    dice.shuffle(numbers)
    received, lost, _, duplicates = seen(udp, numbers)
    assert (received, lost) == (len(kept), kept[-1] + 1 - len(kept))
    assert duplicates == len(numbers) - len(kept)

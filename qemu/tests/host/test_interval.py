# SPDX-License-Identifier: GPL-2.0
"""The mean's 95 % interval: how often it holds the truth, in simulated measurements."""

import ctypes
import math
import statistics
from collections.abc import Sequence
from typing import ClassVar

import numpy
import pytest

from tests.host import native

SIMULATED = 1000


class Repeat(ctypes.Structure):
    _fields_: ClassVar = [("samples", ctypes.c_uint64), ("mean", ctypes.c_double)]


class Interval(ctypes.Structure):
    _fields_: ClassVar = [("low", ctypes.c_double), ("high", ctypes.c_double)]


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = native.load(tmp_path_factory.mktemp("interval"), "userland/lib/interval.c")
    library.interval_of_repeats.restype = Interval
    return library


def interval(
    lib: ctypes.CDLL, means: Sequence[float], samples: Sequence[int] = ()
) -> tuple[float, float]:
    pairs = zip(samples or [1] * len(means), means, strict=True)
    repeats = (Repeat * len(means))(*(Repeat(*pair) for pair in pairs))
    found = lib.interval_of_repeats(repeats, len(means))
    return found.low, found.high


@pytest.mark.parametrize(
    ("repeats", "messages", "next_to", "log_sd"),
    [
        (10, 1000, 0.9, 0.5),
        (10, 1000, 0.9, 1.0),
        (5, 1000, 0.9, 1.0),
        (60, 500, 0.9, 0.5),
        (60, 500, 0.0, 1.0),
        (200, 200, 0.9, 0.5),
    ],
)
def test_it_holds_the_true_mean(
    lib: ctypes.CDLL, repeats: int, messages: int, next_to: float, log_sd: float
) -> None:
    """In 93 to 97 of 100 measurements whose samples are log-normal and depend on the last one.

    The logarithms are an AR(1) process that goes on from repeat to repeat.
    """
    dice = numpy.random.default_rng(1)
    now = dice.standard_normal(SIMULATED)
    means = numpy.zeros((repeats, SIMULATED))
    for repeat in range(repeats):
        for _ in range(messages):
            now = next_to * now + math.sqrt(1 - next_to**2) * dice.standard_normal(SIMULATED)
            means[repeat] += numpy.exp(log_sd * now) / messages
    truth, held = math.exp(log_sd**2 / 2), 0
    for found in means.T:
        low, high = interval(lib, list(found))
        held += low <= truth <= high
    assert 0.93 <= held / SIMULATED <= 0.97, held


@pytest.mark.parametrize("means", [[1, 1e6], [5] * 199 + [1e9], [1, 2, 3, 4], [7, 7, 7]])
def test_it_holds_its_own_mean(lib: ctypes.CDLL, means: list[float]) -> None:
    low, high = interval(lib, means)
    mean = statistics.mean(means)
    assert 0 < low <= mean * (1 + 1e-12) and mean <= high * (1 + 1e-12)


@pytest.mark.parametrize(
    ("count", "student"), [(2, 12.706), (3, 4.303), (4, 3.182), (10, 2.262), (200, 1.972)]
)
def test_few_repeats_have_a_wider_one(lib: ctypes.CDLL, count: int, student: float) -> None:
    """Half its logarithm is Student's quantile times the relative error of the mean."""
    means = [1000 + (-1) ** number for number in range(count)]
    error = statistics.stdev(means) / math.sqrt(count) / statistics.mean(means)
    low, high = interval(lib, means)
    assert math.log(high / low) / 2 == pytest.approx(student * error, rel=0.005)


def test_a_repeat_that_ended_early_weighs_less(lib: ctypes.CDLL) -> None:
    full = interval(lib, [10, 11, 12, 30], [100, 100, 100, 100])
    early = interval(lib, [10, 11, 12, 30], [100, 100, 100, 1])
    assert early[0] < 3330 / 301 < early[1] < full[1]


@pytest.mark.parametrize("means", [[], [3], [-1, -2, -3]])
def test_what_says_nothing(lib: ctypes.CDLL, means: list[float]) -> None:
    """One repeat has no spread, and a mean below 0 no logarithm."""
    assert all(map(math.isnan, interval(lib, means)))

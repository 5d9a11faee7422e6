# SPDX-License-Identifier: GPL-2.0
"""The histogram of durations: every sample to 1 %, quantiles, and the fitted distributions."""

from __future__ import annotations

import math
import random
import statistics
from itertools import pairwise

import pytest

from tests.host import native
from tests.host.udprates import BUCKETS, SOURCES, UdpRate


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> UdpRate:
    return UdpRate(native.load(tmp_path_factory.mktemp("histogram"), *SOURCES))


def test_buckets_are_narrower_than_a_hundredth(lib: UdpRate) -> None:
    floors = [lib.library.histogram_floor(bucket) for bucket in range(BUCKETS)]
    assert floors[:257] == list(range(257))
    for one, two in pairwise(floors[128:]):
        assert two - one <= max(1, one / 128)
    assert floors[-1] + 2**56 == 2**64


@pytest.mark.parametrize("sample", [0, 1, 127, 128, 255, 256, 257, 10**6 - 1, 2**40 + 5, 2**64 - 1])
def test_a_sample_comes_back(lib: UdpRate, sample: int) -> None:
    made = lib.histogram([sample])
    assert (made.count, made.sum, made.min, made.max) == (1, sample, sample, sample)
    assert lib.quantile(made, 0.5) == float(sample)
    twin = lib.histogram([sample, 2**64 - 1, 0])
    assert lib.quantile(twin, 0.5) == pytest.approx(sample, rel=0.004)


def test_quantiles_are_those_of_the_samples(lib: UdpRate) -> None:
    dice = random.Random(1)
    samples = sorted(round(dice.lognormvariate(9, 1)) for _ in range(20_001))
    made = lib.histogram(samples)
    for q in (0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0):
        exact = samples[int(q * 20_000)]
        assert lib.quantile(made, q) == pytest.approx(exact, rel=0.004)
    assert lib.fit(made).mean == pytest.approx(statistics.fmean(samples))


def test_each_quantile_takes_its_rank(lib: UdpRate) -> None:
    """Below 256 every value has a bucket of its own."""
    made = lib.histogram(random.Random(4).sample(range(129), 129))
    assert [lib.quantile(made, rank / 128) for rank in range(129)] == list(range(129))


def test_nothing_says_nothing(lib: UdpRate) -> None:
    made = lib.histogram([])
    assert lib.quantile(made, 0.5) == 0 and lib.fit(made).mean == 0


def test_fit_of_log_normal_samples(lib: UdpRate) -> None:
    dice = random.Random(2)
    fit = lib.fit(lib.histogram(round(dice.lognormvariate(8, 0.5)) for _ in range(20_000)))
    mean = math.exp(8 + 0.125)
    assert fit.log_mean == pytest.approx(8, abs=0.02)
    assert fit.log_sd == pytest.approx(0.5, abs=0.02)
    assert fit.low < mean < fit.high and fit.low < fit.model_mean < fit.high
    assert fit.distance_lognormal < 0.015 < 0.05 < fit.distance_normal


def test_fit_of_normal_samples(lib: UdpRate) -> None:
    dice = random.Random(3)
    fit = lib.fit(lib.histogram(round(dice.gauss(100_000, 20_000)) for _ in range(20_000)))
    assert fit.sd == pytest.approx(20_000, rel=0.03)
    assert fit.distance_normal < 0.015 < 0.03 < fit.distance_lognormal


def test_the_interval_holds_the_mean_as_often_as_it_says(lib: UdpRate) -> None:
    """95 of 100 times, two standard deviations of these 2000 runs more or less."""
    mean, dice, hits = math.exp(7 + 0.18), random.Random(1), 0
    for _ in range(2000):
        fit = lib.fit(lib.histogram(round(dice.lognormvariate(7, 0.6)) for _ in range(200)))
        hits += fit.low < mean < fit.high
    assert 0.94 <= hits / 2000 <= 0.96


def test_samples_that_are_all_the_same(lib: UdpRate) -> None:
    fit = lib.fit(lib.histogram([500] * 10))
    assert fit.sd < 2 and fit.low == pytest.approx(fit.high)

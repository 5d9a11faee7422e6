# SPDX-License-Identifier: GPL-2.0
"""The histogram of durations: every sample to 1 %, quantiles, and the fitted distributions."""

import math
import random
import statistics
from itertools import pairwise

import pytest

from subjects.udp.udprates import BUCKETS, SOURCES, UdpRate
from tests.host import native


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
        exact = samples[max(math.ceil(round(q * 20_001, 6)) - 1, 0)]
        assert lib.quantile(made, q) == pytest.approx(exact, rel=0.004)
    assert lib.fit(made).mean == pytest.approx(statistics.fmean(samples))


def test_each_quantile_takes_its_rank(lib: UdpRate) -> None:
    """The least that a part q is not greater than; every value has a bucket of its own."""
    made = lib.histogram(random.Random(4).sample(range(1, 101), 100))
    assert [lib.quantile(made, rank / 100) for rank in range(1, 101)] == list(range(1, 101))
    assert lib.quantile(made, 0) == 1
    assert [lib.quantile(made, q) for q in (0.001, 0.011, 0.989, 0.991)] == [1, 2, 99, 100]


@pytest.mark.parametrize(("count", "rank"), [(500, 500), (999, 999), (1000, 999), (2500, 2498)])
def test_the_rank_of_a_high_quantile_is_not_floored(lib: UdpRate, count: int, rank: int) -> None:
    made = lib.histogram([*[1] * (rank - 1), 100, *[200] * (count - rank)])
    assert lib.quantile(made, 0.999) == 100


def test_nothing_says_nothing(lib: UdpRate) -> None:
    made = lib.histogram([])
    assert lib.quantile(made, 0.5) == 0 and lib.fit(made).mean == 0


def test_fit_of_log_normal_samples(lib: UdpRate) -> None:
    dice = random.Random(2)
    fit = lib.fit(lib.histogram(round(dice.lognormvariate(8, 0.5)) for _ in range(20_000)))
    mean = math.exp(8 + 0.125)
    assert fit.log_mean == pytest.approx(8, abs=0.02)
    assert fit.log_sd == pytest.approx(0.5, abs=0.02)
    assert fit.model_mean == pytest.approx(mean, rel=0.02)
    assert fit.distance_lognormal < 0.015 < 0.05 < fit.distance_normal


def test_fit_of_normal_samples(lib: UdpRate) -> None:
    dice = random.Random(3)
    fit = lib.fit(lib.histogram(round(dice.gauss(100_000, 20_000)) for _ in range(20_000)))
    assert fit.sd == pytest.approx(20_000, rel=0.03)
    assert fit.distance_normal < 0.015 < 0.03 < fit.distance_lognormal


def test_samples_that_are_all_the_same(lib: UdpRate) -> None:
    fit = lib.fit(lib.histogram([500] * 10))
    assert fit.sd < 2 and fit.model_mean == pytest.approx(500, rel=0.004)


def test_an_offset_may_be_more_than_a_sample(lib: UdpRate) -> None:
    """The mean is then negative: nothing is clamped but what the logarithm cannot be of."""
    fit = lib.fit(lib.histogram([10, 20, 30]), 50)
    assert fit.mean == -30 and fit.sd == pytest.approx(8.165, rel=0.001)
    assert fit.log_mean == pytest.approx(math.log(0.5))

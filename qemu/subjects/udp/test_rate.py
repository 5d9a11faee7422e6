# SPDX-License-Identifier: GPL-2.0
"""The rate functions: bad parameters, then the distribution of each, with fixed seeds."""

import bisect
import errno
import itertools
import math
from collections.abc import Callable, Sequence
from statistics import NormalDist, fmean, pstdev

import pytest

from subjects.udp.rates import SECOND, SHAPES, Params, Rates, State, params
from tests.host import native

COUNT = 100_000
# Kolmogorov's limit for a true distribution to be refused once in a million times.
KS_LIMIT = 2.69 / math.sqrt(COUNT)
# Of the standard normal: beyond it lies a millionth.
SIGMAS = 4.9


@pytest.fixture(scope="module")
def rates(tmp_path_factory: pytest.TempPathFactory) -> Rates:
    return Rates(native.load(tmp_path_factory.mktemp("rate"), "modules/napi_livelock/rate.c"))


def distance(samples: Sequence[int], cdf: Callable[[float], float]) -> float:
    """Kolmogorov's and Smirnov's: the greatest difference from the distribution."""
    ordered = sorted(samples)
    count = len(ordered)
    return max(
        max(abs(cdf(x) - i / count), abs((i + 1) / count - cdf(x))) for i, x in enumerate(ordered)
    )


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Params(shape=5, packets=1, per_ns=SECOND), "shape: allowed constant"),
        (params("constant", packets=0), "rate: allowed are mean gaps of 10 ns to 60 s"),
        (params("constant", per_ns=0), "rate: "),
        (params("constant", rate=100_000_001), "rate: "),
        (params("constant", rate=1, per_ns=60 * SECOND + 1), "rate: "),
        (params("constant", rate=2**64 - 1, per_ns=2**64 - 1), "rate: "),
        (params("normal", sd_permille=334), "sd: allowed 0..333 permille"),
        (params("peaks", on_ns=999), "on: allowed 1 us to 1 h"),
        (params("peaks", on_ns=3601 * SECOND), "on: allowed"),
        (params("peaks", off_ns=0), "off: allowed 1 us to 1 h"),
        (params("peaks", rate=1000, on_ns=100_000, off_ns=800_000), "on: with off, at least"),
        (params("peaks", rate=100_000_000, on_ns=1000, off_ns=9_001_000), "on: too short"),
        (params("ramp", depth_permille=0), "depth: allowed 1..1000 permille"),
        (params("ramp", depth_permille=1001), "depth: allowed"),
        (params("ramp", period_ns=3601 * SECOND), "period: allowed 1 us to 1 h"),
        (params("ramp", rate=1000, period_ns=3_999_999), "period: at least four mean gaps"),
    ],
)
def test_bad_parameters_are_named_and_change_nothing(
    rates: Rates, wanted: Params, words: str
) -> None:
    fault = rates.fault(wanted)
    assert fault is not None and fault.startswith(words)
    state = State()
    before = bytes(state)
    assert rates.init(state, wanted) == -errno.EINVAL
    assert bytes(state) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_the_limits_themselves_are_good(rates: Rates, shape: str) -> None:
    hour = 3600 * SECOND
    for wanted in (
        params(shape, rate=100_000_000, on_ns=1000, off_ns=1000, period_ns=1000),
        params(shape, rate=1, per_ns=60 * SECOND, on_ns=hour, off_ns=hour, period_ns=hour),
        params(shape, sd_permille=333, depth_permille=1000, seed=2**64 - 1),
        params(shape, sd_permille=0, depth_permille=1, seed=0, period_ns=hour),
    ):
        assert rates.fault(wanted) is None
        assert all(gap < 2**53 for gap in rates.gaps(wanted, 1000))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_seed_gives_the_same_gaps(rates: Rates, shape: str) -> None:
    assert rates.gaps(params(shape, seed=7), 1000) == rates.gaps(params(shape, seed=7), 1000)
    same = rates.gaps(params(shape, seed=8), 1000) == rates.gaps(params(shape, seed=7), 1000)
    assert same == (shape not in ("poisson", "normal"))


@pytest.mark.parametrize("shape", ["constant", "peaks", "ramp"])
@pytest.mark.parametrize("rate", [3, 1000, 86_956, 333_333, 7_000_001])
def test_the_mean_rate_is_kept(rates: Rates, shape: str, rate: int) -> None:
    """Over whole periods (the longest has 4 gaps), to a packet and a billionth."""
    period = max(10_000_000, 10 * SECOND // rate)
    wanted = params(shape, rate, on_ns=period * 3 // 10, off_ns=period * 7 // 10, period_ns=period)
    periods = max(1, 50_000 * SECOND // rate // period)
    times = itertools.accumulate(rates.gaps(wanted, periods * period * rate // SECOND + 2))
    expected = rate * periods * period / SECOND
    assert abs(sum(time <= periods * period for time in times) - expected) <= 1.01


def test_constant_gaps_differ_by_what_a_nanosecond_cannot_hold(rates: Rates) -> None:
    gaps = rates.gaps(params("constant", rate=3, per_ns=100), 30_000)
    assert set(gaps) == {33, 34}
    assert 999_999 <= sum(gaps) <= 1_000_000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_poisson_gaps_are_exponential(rates: Rates, seed: int) -> None:
    mean = 10_000_000
    gaps = rates.gaps(params("poisson", rate=100, seed=seed), COUNT)
    assert distance(gaps, lambda x: -math.expm1(-x / mean)) < KS_LIMIT
    assert abs(fmean(gaps) / mean - 1) < SIGMAS / math.sqrt(COUNT)
    # the variance of an exponential sample variance: (9 - 1) mean^4 / n
    assert abs(pstdev(gaps) ** 2 / mean**2 - 1) < SIGMAS * math.sqrt(8 / COUNT)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_poisson_arrivals_do_not_depend_on_each_other(rates: Rates, seed: int) -> None:
    """Counts in a window have their mean as their variance; gaps do not follow gaps."""
    gaps = rates.gaps(params("poisson", rate=1000, seed=seed), COUNT)
    windows = [0] * (sum(gaps) // 20_000_000)
    for time in itertools.accumulate(gaps):
        window = time // 20_000_000
        if window < len(windows):
            windows[window] += 1
    mean = fmean(windows)
    # chi-square of dispersion, normal for that many windows
    chi2 = sum((count - mean) ** 2 for count in windows) / mean
    freedom = len(windows) - 1
    assert abs(chi2 - freedom) < SIGMAS * math.sqrt(2 * freedom)
    middle = fmean(gaps)
    product = fmean((a - middle) * (b - middle) for a, b in itertools.pairwise(gaps))
    assert abs(product / middle**2) < SIGMAS / math.sqrt(COUNT)


@pytest.mark.parametrize("permille", [1, 50, 200])
def test_normal_gaps_are_normal(rates: Rates, permille: int) -> None:
    mean = 10_000_000
    sd = mean * permille // 1000
    gaps = rates.gaps(params("normal", rate=100, sd_permille=permille, seed=permille), COUNT)
    assert distance(gaps, NormalDist(mean, sd).cdf) < KS_LIMIT
    assert abs(fmean(gaps) - mean) < SIGMAS * sd / math.sqrt(COUNT)
    assert abs(pstdev(gaps) / sd - 1) < SIGMAS / math.sqrt(2 * COUNT)


def test_wide_normal_gaps_are_cut_off_on_both_sides(rates: Rates) -> None:
    mean, sd = 10_000_000, 3_330_000
    gaps = rates.gaps(params("normal", rate=100, sd_permille=333), COUNT)
    assert min(gaps) >= 0 and max(gaps) <= 2 * mean
    assert abs(fmean(gaps) - mean) < SIGMAS * sd / math.sqrt(COUNT)


def test_normal_without_spread_is_constant(rates: Rates) -> None:
    assert set(rates.gaps(params("normal", rate=100, sd_permille=0), 1000)) == {10_000_000}


def test_peaks_send_only_in_the_on_phase(rates: Rates) -> None:
    """At a rate that makes up for the silence, and evenly."""
    wanted = params("peaks", rate=100_000, on_ns=3_000_000, off_ns=7_000_000)
    gaps = rates.gaps(wanted, 100_000)
    times = list(itertools.accumulate(gaps))
    assert times[-1] == SECOND
    assert all(time % 10_000_000 <= 3_000_000 for time in times)
    assert {gap for gap in gaps if gap < 7_000_000} == {3000}
    assert sum(gap >= 7_000_000 for gap in gaps) == 100


@pytest.mark.parametrize("permille", [1, 500, 1000])
def test_ramp_rises_and_falls_linearly(rates: Rates, permille: int) -> None:
    rate, period, depth = 100_000, SECOND, permille / 1000
    gaps = rates.gaps(params("ramp", rate, depth_permille=permille, period_ns=period), 3 * rate)
    slots = 40
    counts = [0] * (3 * slots)
    for time in itertools.accumulate(gaps):
        if time < 3 * period:
            counts[time * slots // period] += 1
    for slot, count in enumerate(counts):
        place = (slot % slots + 0.5) / slots
        height = 4 * place - 1 if place < 0.5 else 3 - 4 * place
        assert abs(count - rate / slots * (1 + depth * height)) <= 1.01


def test_ramp_is_smooth_where_it_turns(rates: Rates) -> None:
    gaps = rates.gaps(params("ramp", 100_000, depth_permille=500), 200_000)
    for one, two in itertools.pairwise(gaps):
        assert abs(one - two) <= max(3, one // 1000)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [99_991, 7])
def test_skipping_is_counting(rates: Rates, shape: str, rate: int) -> None:
    """Packets are passed over as one by one, parts of a nanosecond included."""
    wanted = params(shape, rate, period_ns=10 * SECOND, on_ns=SECOND, off_ns=SECOND)
    due = list(itertools.accumulate(rates.gaps(wanted, 3 * rate + 50)))
    times = [0, due[0] - 1, due[0], due[0], due[5], due[5] + 1, due[rate] - 1, due[3 * rate]]
    passed = 0
    for time, (count, following) in zip(times, rates.skips(wanted, times), strict=True):
        passed += count
        assert passed == bisect.bisect_right(due, time)
        assert following == due[passed]

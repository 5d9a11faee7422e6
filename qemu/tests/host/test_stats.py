# SPDX-License-Identifier: GPL-2.0
"""Spread, ranks and their correlation, and what stands for samples of one key."""

import pytest

from lab.report.records import Sample
from lab.report.stats import rank_correlation, ranks, spread
from lab.report.summary import summarise


def test_spread_of_one_and_of_more() -> None:
    assert spread([2.0]) == {"sd": 0.0, "min": 2.0, "max": 2.0}
    assert spread([1.0, 3.0]) == {"sd": pytest.approx(2**0.5), "min": 1.0, "max": 3.0}


def test_samples_of_a_key_make_one_record() -> None:
    kinds = [("a", 3.0), ("b", 7.0), ("a", 1.0), ("a", 8.0)]
    samples = [Sample("x", metric, "v", {"k": 1}, value, "s", "1") for metric, value in kinds]
    one, two = summarise(samples, lambda metric: max if metric == "b" else min, {"last": max})
    assert (one.metric, one.value, one.n) == ("a", 1.0, 3)
    assert one.spread == {**spread([3.0, 1.0, 8.0]), "last": 8.0}
    assert (two.metric, two.value, two.n) == ("b", 7.0, 1)


def test_ranks_share_ties() -> None:
    assert ranks([30.0, 10.0, 30.0]) == [2.5, 1.0, 2.5]


def test_rank_correlation() -> None:
    assert rank_correlation([1.0, 2.0, 3.0], [30.0, 20.0, 10.0]) == pytest.approx(-1)
    assert rank_correlation([1.0, 2.0, 3.0], [1.0, 4.0, 9.0]) == pytest.approx(1)
    assert rank_correlation([1.0, 1.0], [1.0, 2.0]) == 0.0
    with pytest.raises(ValueError, match="same length"):
        rank_correlation([1.0], [1.0])

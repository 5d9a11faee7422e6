# SPDX-License-Identifier: GPL-2.0
"""The mutants fit the tree as it is, and the cheapest of each kind is caught.

make test-mutants tries them all.
"""

from collections import Counter

import pytest

from lab.host.overlay import refusal
from lab.mutants import Kind, Mutant, Verdict, load, of_tier, try_mutant
from lab.paths import Paths

MUTANTS = load(Paths.from_env())
OFTEN = [mutant for mutant in MUTANTS if mutant.often]
# Kinds of which a build takes long.
SLOW = (Kind.KERNEL, Kind.MODULE)


def test_one_of_each_kind() -> None:
    assert Counter(mutant.kind for mutant in OFTEN) == Counter(Kind)


def test_the_gate_has_a_test_for_each(lab_paths: Paths) -> None:
    assert of_tier(lab_paths, MUTANTS, "gate")[1] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_it_fits(lab_paths: Paths, mutant: Mutant) -> None:
    text = mutant.path(lab_paths).read_text()
    for before, after in mutant.changes:
        assert text.count(before) == 1 and before != after, before
        text = text.replace(before, after)


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(mutant, id=mutant.kind, marks=[pytest.mark.long] * (mutant.kind in SLOW))
        for mutant in OFTEN
    ],
)
def test_it_is_caught(lab_paths: Paths, mutant: Mutant) -> None:
    why = refusal()
    if why:
        pytest.skip(why)
    result = try_mutant(lab_paths, mutant)
    assert result.verdict is Verdict.CAUGHT, str(result)

# SPDX-License-Identifier: GPL-2.0
"""What an experiment is to the verbs that run, judge and draw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lab.experiments.boots import Boot, Finished
from lab.experiments.goals import Goal
from lab.experiments.measured import Measured
from lab.records import Record

S = TypeVar("S")

Chooser = Callable[[bool, str | None], list[Boot]]
"""What to run: quick or not, and for one metric or, None, for all."""


def by_scope(boots: Callable[[S, str | None], list[Boot]], full: S, quick: S) -> Chooser:
    """The chooser of a plan that has a scope for each of the two lengths."""
    return lambda quickly, only: boots(quick if quickly else full, only)


@dataclass(frozen=True)
class Experiment:
    """Names, and the four things an experiment can do.

    `boots(quick, only)` is what to run, `only` a metric or None for all;
    `evaluate` turns the output into records, `goals` judges records, and
    `draw(results, plots, stem)` draws figures and returns the files.
    """

    name: str
    metrics: tuple[str, ...]
    raw: tuple[str, ...]
    boots: Chooser
    evaluate: Callable[[Sequence[Finished]], Measured]
    goals: Callable[[Sequence[Record]], list[Goal]]
    draw: Callable[[Path, Path, str], list[Path]]

# SPDX-License-Identifier: GPL-2.0
"""Verdicts on rows that are computed, until every goal is data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lab.report.goals import Verdict

Found = Mapping[str, float | None]
"""What was measured, by the name of the row; None where it was not."""


def judge(
    what: str, wanted: str, found: Found, good: Callable[[float], bool], form: str
) -> Verdict:
    """A goal of several rows: one that is bad spoils it, all must be there to meet it."""
    there = {name: number for name, number in found.items() if number is not None}
    if not there:
        return Verdict(what, wanted, "not measured", None)
    numbers = {
        name: "-" if number is None else f"{number:{form}}" for name, number in found.items()
    }
    shown = ", ".join(f"{name} {text}".strip() for name, text in numbers.items())
    met = all(good(number) for number in there.values())
    return Verdict(what, wanted, shown, met if len(there) == len(found) or not met else None)


def at_least(what: str, least: float, found: Found, form: str = ".3f") -> Verdict:
    """A goal whose rows must not be less."""
    return judge(what, f">= {least:g}", found, lambda number: number >= least, form)


def at_most(what: str, most: float, found: Found, form: str = ".3f") -> Verdict:
    """A goal whose rows must not be greater."""
    return judge(what, f"<= {most:g}", found, lambda number: number <= most, form)

# SPDX-License-Identifier: GPL-2.0
"""Goals as data: which records they find, and when they are met."""

from __future__ import annotations

import json

import pytest

from lab.report.goals import Best, Goal, best_peer, goals_json, goals_text, judge, missed
from lab.report.records import Param, Record
from lab.subjects.livelock.goals import GOALS as GOVERNED


def record(variant: str, value: float, n: int = 3, **params: Param) -> Record:
    return Record("x", "cost_ns", variant, params, value, "ns", n, 0.0)


RECORDS = [
    record("list", 10.0, tasks=2),
    record("list", 100.0, tasks=20),
    record("tree", 8.0, tasks=2),
    record("tree", 20.0, tasks=20),
    record("tree", 30.0, n=1, tasks=200),
]


def of(**fields: object) -> Goal:
    return Goal(name="a goal", metric="cost_ns", **fields)  # type: ignore[arg-type]


def test_one_row() -> None:
    goal = of(variant="list", where={"tasks": 2}, high=10.0)
    assert judge(goal, RECORDS, True) == judge(goal, RECORDS, False)
    assert judge(goal, RECORDS, True).met is True
    assert judge(of(variant="list", where={"tasks": 2}, high=9.9), RECORDS, True).met is False
    assert judge(of(variant="list", where={"tasks": 2}, low=10.1), RECORDS, True).met is False


def test_each_row_counts() -> None:
    goal = of(variant="tree", where={"tasks": (2, 20)}, by="tasks", high=19.0)
    verdict = judge(goal, RECORDS, False)
    assert (verdict.met, verdict.measured) == (False, "2 8.000, 20 20.000")
    assert judge(
        of(variant="tree", by="tasks", where={"tasks": (2, 20)}, high=20), RECORDS, True
    ).met


def test_ratio_to_another_variant() -> None:
    goal = of(variant="tree", over="list", by="tasks", where={"tasks": (2, 20)}, high=0.8)
    assert judge(goal, RECORDS, True).measured == "2 0.800, 20 0.200"
    assert judge(goal, RECORDS, True).met is True
    growth = of(variant="tree", where={"tasks": 20}, over_where={"tasks": 2}, high=2.4)
    assert judge(growth, RECORDS, True).measured == "2.500"
    assert judge(growth, RECORDS, True).met is False


def test_a_row_without_its_divisor_is_not_there() -> None:
    goal = of(variant="tree", over="list", where={"tasks": 200}, high=1)
    assert judge(goal, RECORDS, True).measured == "not measured"


def test_rows_that_are_missing() -> None:
    """Of the whole experiment they must be there, of a part of it need not."""
    goal = of(variant="list", by="tasks", where={"tasks": (2, 20, 3000)}, high=100)
    assert judge(goal, RECORDS, True).met is None
    assert judge(goal, RECORDS, True).measured.endswith("3000 -")
    assert judge(goal, RECORDS, False).met is True
    bad = of(variant="list", by="tasks", where={"tasks": (2, 20, 3000)}, high=50)
    assert judge(bad, RECORDS, True).met is False


def test_nothing_measured_is_neither() -> None:
    verdict = judge(of(variant="heap", high=1), RECORDS, True)
    assert (verdict.met, verdict.measured, verdict.word()) == (None, "not measured", "-")
    assert judge(of(variant="heap", high=1), [], True).why == ""


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"variant": "heap"}, "needs heap"),
        ({"variant": "tree", "where": {"tasks": 3000}}, "needs 3,000 tasks"),
        ({"variant": "tree", "where": {"depth": 8}}, "needs depth 8"),
        ({"variant": "tree", "where": {"tasks": 20}, "over_where": {"tasks": 9}}, "needs 9 tasks"),
        ({"variant": "tree", "where": {"tasks": 200}, "over": "list"}, "needs other rows"),
        ({"variant": "tree", "where": {"tasks": 200}, "least_n": 3}, "needs n = 3"),
        ({"variant": "list", "where": {"tasks": (2, 9)}, "by": "tasks"}, "needs tasks 9"),
        ({"variant": "list", "judged": False}, "only reported"),
        ({"variant": "list", "where": {"tasks": 2}}, ""),
    ],
)
def test_what_a_judgement_lacks_is_told(fields: dict[str, object], why: str) -> None:
    assert judge(of(high=100, **fields), RECORDS, True).why == why


def test_zero_has_no_sign() -> None:
    assert judge(of(high=0.1, form=".4f"), [record("a", -0.00001)], True).measured == "0.0000"
    assert judge(of(low=3, form="+.1f"), [record("a", -0.01)], True).measured == "0.0"


def test_too_few_samples_are_shown_but_not_judged() -> None:
    goal = of(variant="tree", by="tasks", high=25, least_n=3)
    verdict = judge(goal, RECORDS, False)
    assert verdict.met is True and "200 30.000" in verdict.measured
    assert "judged from n = 3 on" in verdict.measured
    alone = of(variant="tree", where={"tasks": 200}, high=25, least_n=3)
    assert judge(alone, RECORDS, False).met is None


def test_magnitude_scale_and_what_is_only_reported() -> None:
    errors = [record("a", -0.5)]
    assert judge(of(high=0.1), errors, True).met is True
    assert judge(of(high=0.1, magnitude=True), errors, True).met is False
    assert judge(of(high=60, low=40, scale=-100, form=".0f"), errors, True).measured == "50"
    reported = judge(of(high=0.1, magnitude=True, judged=False), errors, True)
    assert (reported.met, reported.bound) == (None, "reported")


@pytest.mark.parametrize(
    ("goal", "bound"),
    [(of(high=1.05), "<= 1.05"), (of(low=20), ">= 20"), (of(low=4, high=6), "4 to 6")],
)
def test_bounds_in_words(goal: Goal, bound: str) -> None:
    assert goal.bound == bound


def test_the_worst_row() -> None:
    goal = of(variant="tree", by="tasks", high=100, worst=True, form=".3g")
    assert judge(goal, RECORDS, False).measured == "worst 30 at 200, 3 rows"
    least = of(variant="list", by="tasks", low=1, worst=True, form=".3g")
    assert judge(least, RECORDS, False).measured == "worst 10 at 2, 2 rows"


def test_the_table_names_what_was_missed_last() -> None:
    verdicts = [
        judge(of(variant="list", where={"tasks": 2}, high=1), RECORDS, True),
        judge(of(variant="list", where={"tasks": 2}, high=10), RECORDS, True),
        judge(of(variant="heap", high=1), RECORDS, True),
    ]
    assert missed(verdicts) == ["a goal"]
    lines = goals_text(verdicts).splitlines()
    assert lines[-2:] == ["1 of 2 measured goals met", "missed: a goal"]
    assert [item["met"] for item in json.loads(goals_json(verdicts))] == [False, True, None]


@pytest.mark.parametrize(
    ("bound", "form", "number", "text"),
    [
        ({"low": 20.0}, ".1f", 19.96, "19.96"),
        ({"low": 20.0}, ".1f", 19.9996, "19.9996"),
        ({"low": 20.0}, ".1f", 19.9, "19.9"),
        ({"low": 20.0}, ".1f", 20.04, "20.0"),
        ({"low": 3.0}, "+.1f", 2.98, "+2.98"),
        ({"high": 530.0}, ".0f", 530.4, "530.4"),
        ({"high": 1.0}, ".3g", 1.0004, "1.0004"),
        ({"high": 1.1}, ".2f", 1.104, "1.104"),
        ({"high": 0.9995}, ".3f", 0.9996, "1.000"),
        ({"high": 0.9995}, ".4f", 0.99953, "0.99953"),
        ({"high": 0.9998}, ".3f", 0.9996, "0.9996"),
        ({"high": 0.1, "magnitude": True}, ".2f", -0.1004, "-0.1004"),
        ({"high": 0.1, "judged": False}, ".2f", 0.1004, "0.10"),
    ],
)
def test_a_figure_has_the_digits_that_show_its_verdict(
    bound: dict[str, object], form: str, number: float, text: str
) -> None:
    """It never reads as one side of its bound while it lies on the other."""
    goal = of(variant="a", form=form, **bound)
    assert goal.text(number) == text
    assert not goal.judged or goal.good(float(text)) == goal.good(number)
    assert judge(goal, [record("a", number)], True).measured == text


def test_the_worst_row_has_the_digits_that_show_its_verdict() -> None:
    goal = of(variant="a", by="tasks", low=20, form=".1f", worst=True)
    found = [record("a", 19.97, tasks=1), record("a", 25.0, tasks=2)]
    assert judge(goal, found, False).measured == "worst 19.97 at 1, 2 rows"


def test_a_stretch_is_no_miss() -> None:
    """It is shown as not met, and neither missed nor counted."""
    stretch = Goal(name="more of it, stretch", metric="cost_ns", variant="list", high=1)
    asked = of(variant="list", where={"tasks": 2}, high=10)
    verdicts = [judge(goal, RECORDS, True) for goal in (stretch, asked)]
    assert [(v.met, v.word(), v.outcome) for v in verdicts] == [
        (False, "no", "not reached"),
        (True, "yes", "met"),
    ]
    assert missed(verdicts) == []
    assert goals_text(verdicts).splitlines()[-1] == "1 of 1 measured goals met"


def test_the_governors_stretch_is_known_for_one() -> None:
    named = [goal for goal in GOVERNED if "stretch" in goal.name]
    assert [judge(goal, [], True).stretch for goal in named] == [True]


def test_the_best_of_the_others() -> None:
    goal = of(variant="tree", where={"tasks": (2, 20)}, by="tasks", high=5, form=".0f")
    assert best_peer(goal, RECORDS, ("list", "tree", "heap")) == Best("list", "100")
    others = [*RECORDS, record("heap", 7.0, tasks=2), record("heap", 9.0, tasks=20)]
    assert best_peer(goal, others, ("list", "heap")) == Best("heap", "9")
    growing = of(variant="tree", where={"tasks": 20}, over="list", low=2, form=".2f")
    assert best_peer(growing, others, ("heap",)) == Best("heap", "0.09")
    assert best_peer(goal, RECORDS, ("heap",)) is None
    assert best_peer(of(high=1), RECORDS, ("list",)) is None

# SPDX-License-Identifier: GPL-2.0
"""Goals as data: which records they find, and when they are met."""

import json

import pytest

from lab.report.goals import Goal, best_peer, goals_json, goals_text, judge, missed
from lab.report.records import Param, Record


def record(variant: str, value: float, n: int = 3, **params: Param) -> Record:
    return Record("x", "cost_ns", variant, params, value, "ns", n, 0.0)


RECORDS = [
    record("list", 10.0, tasks=2),
    record("list", 100.0, tasks=20),
    record("tree", 8.0, tasks=2),
    record("tree", 20.0, tasks=20),
    record("tree", 30.0, n=1, tasks=200),
]
ERRORS = [record("error", -0.5)]
LIST = {"variant": "list", "where": {"tasks": 2}}
TREES = {"variant": "tree", "where": {"tasks": (2, 20)}, "by": "tasks"}
MISSING = {"variant": "list", "by": "tasks", "where": {"tasks": (2, 20, 3000)}}
GROWTH = {"variant": "tree", "where": {"tasks": 20}, "over_where": {"tasks": 2}}
ALONE = {"variant": "tree", "where": {"tasks": 200}, "least_n": 3}
ERROR = {"variant": "error"}
WORST = {"by": "tasks", "worst": True, "form": ".3g"}
TWO = {**ALONE, "where": {"tasks": (20, 200)}, "by": "tasks"}


def of(**fields: object) -> Goal:
    return Goal(name="a goal", metric="cost_ns", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "whole", "met", "measured"),
    [
        # what lies on a bound is good
        *(
            ({**LIST, end: bound}, whole, met, "10.000")
            for whole in (True, False)
            for end, bound, met in (
                *(("high", 10.0, True), ("high", 9.9, False)),
                *(("low", 10.0, True), ("low", 10.1, False)),
            )
        ),
        # each row counts
        ({**TREES, "high": 19.0}, False, False, "2 8.000, 20 20.000"),
        ({**TREES, "high": 20.0}, True, True, "2 8.000, 20 20.000"),
        # over another variant, and over other parameters
        ({**TREES, "over": "list", "high": 0.8}, True, True, "2 0.800, 20 0.200"),
        ({**GROWTH, "high": 2.4}, True, False, "2.500"),
        ({"variant": "tree", "where": {"tasks": 200}, "over": "list"}, True, None, "not measured"),
        # rows must be there of the whole experiment, of a part of it need not
        ({**MISSING, "high": 100}, True, None, "2 10.000, 20 100.000, 3000 -"),
        ({**MISSING, "high": 100}, False, True, "2 10.000, 20 100.000, 3000 -"),
        ({**MISSING, "high": 50}, True, False, "2 10.000, 20 100.000, 3000 -"),
        ({"variant": "heap", "high": 1}, True, None, "not measured"),
        # too few samples are shown and not judged
        ({**ALONE, "high": 25}, False, None, "30.000 (judged from n = 3 on)"),
        ({**TWO, "high": 25}, False, True, "20 20.000, 200 30.000 (judged from n = 3 on)"),
        ({**ERROR, "high": 0.1}, True, True, "-0.500"),
        ({**ERROR, "high": 0.1, "magnitude": True}, True, False, "-0.500"),
        ({**ERROR, "high": 60, "low": 40, "scale": -100, "form": ".0f"}, True, True, "50"),
        ({**ERROR, "high": 0.1, "judged": False}, True, None, "-0.500"),
        # the worst row alone
        ({**WORST, "variant": "tree", "high": 100}, False, True, "worst 30 at 200, 3 rows"),
        ({**WORST, "variant": "list", "low": 1}, False, True, "worst 10 at 2, 2 rows"),
        ({**LIST, "low": 10.04, "form": ".1f", "worst": True}, False, False, "worst 10.0"),
    ],
)
def test_what_is_found_and_judged(
    fields: dict[str, object], whole: bool, met: bool | None, measured: str
) -> None:
    verdict = judge(of(**fields), [*RECORDS, *ERRORS], whole)
    assert (verdict.met, verdict.measured) == (met, measured)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"variant": "heap"}, "needs heap"),
        ({"variant": "tree", "where": {"tasks": 3000}}, "needs 3,000 tasks"),
        ({"variant": "tree", "where": {"depth": 8}}, "needs depth 8"),
        ({**GROWTH, "over_where": {"tasks": 9}}, "needs 9 tasks"),
        ({"variant": "tree", "where": {"tasks": 200}, "over": "list"}, "needs other rows"),
        (ALONE, "needs n = 3"),
        ({"variant": "list", "where": {"tasks": (2, 9)}, "by": "tasks"}, "needs tasks 9"),
        ({"variant": "list", "judged": False}, "only reported"),
        (LIST, ""),
    ],
)
def test_what_a_judgement_lacks_is_told(fields: dict[str, object], why: str) -> None:
    assert judge(of(high=100, **fields), RECORDS, True).why == why
    assert judge(of(high=100, **fields), [], True).why == "needs make bench"


@pytest.mark.parametrize(
    ("goal", "bound"),
    [
        (of(high=1.05), "<= 1.05"),
        (of(low=20), ">= 20"),
        (of(low=4, high=6), "4 to 6"),
        (of(high=1, judged=False), "reported"),
    ],
)
def test_bounds_in_words(goal: Goal, bound: str) -> None:
    assert goal.bound == bound


def test_the_table_names_what_was_missed_last() -> None:
    """A stretch is shown as not met, and neither missed nor counted."""
    verdicts = [judge(of(**LIST, high=high), RECORDS, True) for high in (1, 10)]
    verdicts.append(judge(of(variant="heap", high=1), RECORDS, True))
    assert missed(verdicts) == ["a goal"]
    assert [verdict.outcome for verdict in verdicts] == ["missed", "met", "-"]
    lines = goals_text(verdicts).splitlines()
    assert lines[-2:] == ["1 of 2 measured goals met", "missed: a goal"]
    assert [item["met"] for item in json.loads(goals_json(verdicts))] == [False, True, None]


def test_a_stretch_is_no_miss() -> None:
    stretch = Goal(name="more of it, stretch", metric="cost_ns", variant="list", high=1)
    verdicts = [judge(goal, RECORDS, True) for goal in (stretch, of(**LIST, high=10))]
    assert [(v.met, v.outcome) for v in verdicts] == [(False, "not reached"), (True, "met")]
    assert missed(verdicts) == []
    lines = goals_text(verdicts).splitlines()
    assert lines[2].endswith("  not reached") and lines[3].endswith("  met")
    assert lines[-1] == "1 of 1 measured goals met"


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
        # zero has no sign
        ({"high": 0.1}, ".4f", -0.00001, "0.0000"),
        ({"low": 3.0}, "+.1f", -0.01, "0.0"),
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


def test_the_best_of_the_others() -> None:
    goal = of(variant="tree", where={"tasks": (2, 20)}, by="tasks", high=5, form=".0f")
    assert best_peer(goal, RECORDS, ("list", "tree", "heap")) == "list: 100"
    others = [*RECORDS, record("heap", 7.0, tasks=2), record("heap", 9.0, tasks=20)]
    assert best_peer(goal, others, ("list", "heap")) == "heap: 9"
    growing = of(variant="tree", where={"tasks": 20}, over="list", low=2, form=".2f")
    assert best_peer(growing, others, ("heap",)) == "heap: 0.09"
    assert best_peer(goal, RECORDS, ("heap",)) is None
    assert best_peer(of(high=1), RECORDS, ("list",)) is None

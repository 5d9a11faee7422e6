# SPDX-License-Identifier: GPL-2.0
"""What the references print, as data: whole, in one place, and compared with the right records."""

import msgspec
import pytest

from lab import LabError
from lab.registry import EXPERIMENTS, names
from lab.report.charts import comparison
from lab.report.compared import Cell, Holds, holds, lacks, table
from lab.report.goals import NOT_MEASURED, Verdict
from lab.report.records import Record
from lab.report.references import FILE, Figure, Series, parse, references


def test_what_figures_name_is_there() -> None:
    figures = references().figures
    assert sorted(references().documents) == names() == sorted({f.document for f in figures})
    assert len({(f.document, f.number) for f in figures}) == len(figures)
    for figure in figures:
        experiment = EXPERIMENTS[figure.document]
        assert set(figure.goals) <= {verdict.name for verdict in experiment.judge([], True)}
        assert {s.metric for s in figure.series if s.metric} <= set(experiment.metrics)
        assert not (figure.goals and figure.order)
        assert not figure.order or set(figure.order) <= set(figure.series[0].theirs)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('note = "CFQ', 'colour = "red"\nnote = "CFQ', "unknown field `colour`"),
        ('id = "wrais-16"', 'id = "wrais-15"', "figure 'wrais-15': one of a known document, once"),
        (
            'plots = ["inproc-ipc"]',
            'plots = ["mechanisms"]',
            "plot 'mechanisms': must be of one figure",
        ),
    ],
)
def test_a_text_that_is_not_right_is_named(old: str, new: str, told: str) -> None:
    with pytest.raises(LabError, match=told):
        parse(FILE.read_text().replace(old, new, 1))


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(LabError, match="no column 'soup'"):
        references().column("ipc-t5", "soup")


def record(metric: str, variant: str, value: float, **params: int | str) -> Record:
    return Record("udp", metric, variant, params, value, "percent", 3, {"sd": 1.0, "min": -2.0})


SERIES = Series(
    name="s", by="rate", metric="error_pct", variant="v", error=True, theirs={"8": 4, "16": "never"}
)
FIGURE = Figure(
    id="f", document="udp", number="1", title="t", claim="c", note="n", row="r", goals=("g",),
    series=(SERIES,),
)  # fmt: skip


def test_ours_stands_beside_theirs_with_n_and_spread() -> None:
    """A quantile has no deviation of the samples."""
    records = [record("error_pct", "v", -50.0, rate=8), record("error_pct", "w", 1.0, rate=8)]
    found = table(FIGURE, records)
    assert found.rows == ["8", "16"]
    assert found.columns[0].cells["8"] == Cell(4, 4.0, 3, 8 * 0.98, None, 0.08)
    assert found.columns[0].cells["16"] == Cell("never")
    quantile = Series(name="s", by="rate", metric="error_pct", variant="v", where={"stat": "p99"})
    records = [record("error_pct", "v", 1.0, rate=8, stat="p99")]
    found = table(msgspec.structs.replace(FIGURE, series=(quantile,)), records)
    assert found.columns[0].cells["8"] == Cell(None, 1.0, 3, -2.0, None, None)


def test_a_chart_has_each_number_and_no_word() -> None:
    chart = comparison(table(FIGURE, [record("error_pct", "v", 0.0, rate=8)]), "r", "u")
    assert chart is not None and (chart.kind, chart.xscale) == ("line", "linear")
    lines = {line.name: line.points for line in chart.series}
    assert lines == {"s, theirs": [{"x": 8, "y": 4}], "s, ours": [{"x": 8, "y": 8}]}
    assert comparison(table(FIGURE, []), "r", "u") is not None
    assert chart.series[0].theirs is True


@pytest.mark.parametrize(
    ("met", "refuted", "word"),
    [
        (True, False, Holds.YES),
        (False, False, Holds.NO),
        (True, True, Holds.BETTER),
        (False, True, Holds.YES),
        (None, False, Holds.MISSING),
        (None, True, Holds.MISSING),
    ],
)
def test_goals_say_whether_a_claim_holds(met: bool | None, refuted: bool, word: Holds) -> None:
    figure = msgspec.structs.replace(FIGURE, refuted=refuted)
    goals = {"g": Verdict("g", "<= 1", NOT_MEASURED, met, why="needs n = 5")}
    assert holds(figure, table(figure, []), goals) is word
    assert holds(figure, table(figure, []), {}) is Holds.MISSING
    if met is None:
        ours = table(figure, [record("error_pct", "v", 1.0, rate=8)])
        assert holds(figure, ours, goals) is Holds.SHORT
        assert lacks(figure, ours, goals) == "needs n = 5"
        shown = {"g": Verdict("g", "<= 1", "0.5 (judged from n = 5 on)", None)}
        assert holds(figure, table(figure, []), shown) is Holds.SHORT


def test_an_order_says_whether_a_claim_holds() -> None:
    series = Series(name="s", by="variant", metric="error_pct", theirs={"v": 1, "w": 2})
    figure = msgspec.structs.replace(FIGURE, goals=(), order=("v", "w"), series=(series,))

    def said(*values: float) -> Holds:
        pairs = zip(("v", "w"), values, strict=False)
        return holds(figure, table(figure, [record("error_pct", *one) for one in pairs]), {})

    assert [said(1, 2), said(2, 1)] == [Holds.YES, Holds.NO]
    assert [said(1), said()] == [Holds.SHORT, Holds.MISSING]
    assert lacks(figure, table(figure, [record("error_pct", "v", 1)]), {}) == "needs w"

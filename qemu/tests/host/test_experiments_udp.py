# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment with recorded output: what it runs, iperf3's report, records, goals, figures.

The recording is of a busy host: there the rates were not held.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.bench import make_bench, run
from lab.guest.boot import Boot, Program
from lab.paths import Paths
from lab.report.goals import Goal, Verdict, judge_all
from lab.report.records import Param, Record, read_json
from lab.subjects.udp import experiment, iperf
from lab.subjects.udp.experiment import DEMO, FULL, QUICK, RATES, Cell
from lab.subjects.udp.goals import GOALS
from lab.subjects.udp.metrics import evaluate
from tests.host.bounds import check
from tests.host.recorded import Recorded, Rows


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return evaluate(Recorded("udp").all(experiment.boots(QUICK))).records


def programs(boots: Sequence[Boot]) -> list[tuple[Program, Cell]]:
    pairs = [(program, program.what) for boot in boots for program in boot.programs]
    return [(program, cell) for program, cell in pairs if isinstance(cell, Cell)]


def cells(scope: experiment.Scope) -> list[Cell]:
    return [cell for _, cell in programs(experiment.boots(scope))]


# What it runs


@pytest.mark.parametrize("scope", [FULL, QUICK, DEMO])
def test_each_boot_measures_something(scope: experiment.Scope) -> None:
    boots = experiment.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    assert all(boot.programs for boot in boots)


def test_the_full_scope_is_that_of_the_reference() -> None:
    found = cells(FULL)
    alone = [cell for cell in found if cell.workers == 1 and cell.load == "none"]
    for variant in ("udprate", "quantum-0", "iperf3", "naive"):
        rates = {c.rate_mbps for c in alone if c.variant == variant and c.where == "host"}
        assert set(RATES) <= rates
    assert any(cell.workers == 16 and not cell.most for cell in found)
    hogs = {cell.policy for cell in found if (cell.where, cell.load) == ("guest", "hogs")}
    assert hogs == {"other", "fifo", "lottery"}


def test_peers_take_turns() -> None:
    """Whatever disturbs the host disturbs all of them."""
    order = [c.variant for c in cells(FULL) if c.where == "host" and c.rate_mbps == 64]
    assert order == ["udprate", "quantum-0", "iperf3", "naive"] * FULL.repeats


def test_under_load_iperf3_has_the_same_hogs() -> None:
    """udprate starts its hogs itself; for iperf3 the host does."""
    found = programs([boot for boot in experiment.boots(FULL) if boot.host])
    loaded = [(program, cell) for program, cell in found if cell.load == "hogs"]
    turns = [("udprate", "other"), ("iperf3", "other"), ("udprate", "fifo"), ("iperf3", "fifo")]
    assert [(cell.variant, cell.policy) for _, cell in loaded] == turns * FULL.repeats
    for program, cell in loaded:
        words = program.argv
        assert (program.hogs or int(words[words.index("--hogs") + 1])) == experiment.HOGS
        if cell.variant == "iperf3":
            assert (words[:3] == ("chrt", "--fifo", "90")) == (cell.policy == "fifo")
    assert not any(program.hogs for program, cell in found if cell.load == "none")


def test_nine_tenths_of_the_tickets() -> None:
    (cell,) = [
        c for c in cells(FULL) if (c.where, c.load, c.policy) == ("guest", "hogs", "lottery")
    ]
    words = cell.argv()
    mine = int(words[words.index("--policy") + 1].removeprefix("lottery:"))
    hogs = int(words[words.index("--hogs") + 1]) * int(words[words.index("--hog-tickets") + 1])
    assert mine / (mine + hogs) == 0.9


def test_only() -> None:
    assert [boot.name for boot in experiment.boots(QUICK, "max_mbps")] == ["udp-host"]
    assert not any(cell.most for _, cell in programs(experiment.boots(QUICK, "cpu_pct")))


# iperf3


def report(rates: Sequence[float], rest_s: float = 0.0) -> dict[str, Any]:
    parts = [{"sum": {"bits_per_second": rate * 1e6, "seconds": 1.0}} for rate in rates]
    if rest_s:
        parts.append({"sum": {"bits_per_second": 0.0, "seconds": rest_s}})
    total = sum(rates) * 1e6 / 8
    return {
        "intervals": parts,
        "end": {
            "sum": {"bytes": total, "seconds": 1.1 * len(rates)},
            "sum_sent": {"bytes": total, "seconds": float(len(rates))},
            "cpu_utilization_percent": {"host_total": 12.5},
        },
    }


def test_iperf_row() -> None:
    """Of the sender, whose time is not that of a receiver who waits for a CPU."""
    row = iperf.row(report([99, 101, 100], rest_s=0.1), 100, 3)
    assert row["achieved_mbps"] == pytest.approx(100)
    assert row["rate_error_pct"] == pytest.approx(0)
    assert row["rate_sd_mbps"] == pytest.approx(1)
    assert row["cpu_pct"] == 12.5


def test_iperf_report_that_is_none() -> None:
    with pytest.raises(LabError, match="iperf3: no 'intervals' in its report"):
        iperf.row({}, 100, 3)


def test_iperf_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="iperf3 is not installed: make deps"):
        iperf.run(Program("x", iperf.argv(1, 1, 100)))


# Records and goals


def test_records_say_what_was_printed(records: list[Record]) -> None:
    """Of each program, under the parameters of its cell."""
    results = Recorded("udp").all(experiment.boots(QUICK))
    rows = {p.name: json.loads(p.output[0]) for result in results for p in result.programs}
    by_key = {(r.metric, r.variant, tuple(sorted(r.params.items()))): r for r in records}
    for _, cell in programs(experiment.boots(QUICK)):
        where: dict[str, Param] = {"workers": cell.workers, "where": cell.where}
        where |= {"load": cell.load, "policy": cell.policy}
        if not cell.most:
            where["rate_mbps"] = cell.rate_mbps
        metrics = ("rate_error_pct", "rate_sd_mbps", "cpu_pct")
        pairs = [("max_mbps", "achieved_mbps")] if cell.most else [(m, m) for m in metrics]
        for metric, field in pairs:
            key = (metric, cell.variant, tuple(sorted(where.items())))
            assert by_key[key].value == rows[cell.name][field]
            assert by_key[key].n == 1
    units = {"rate_error_pct": "percent", "received_error_pct": "percent"}
    units |= {"rate_sd_mbps": "Mbit/s", "cpu_pct": "percent"}
    units |= {"gap_us": "us", "max_mbps": "Mbit/s"}
    assert {record.metric: record.unit for record in records} == units


def verdict(verdicts: Sequence[Verdict], name: str) -> Verdict:
    (found,) = [verdict for verdict in verdicts if verdict.name == name]
    return found


def test_verdicts_on_the_busy_host(records: list[Record]) -> None:
    """One run says nothing of the host, but a rate that is missed by 5 %; and all of the guest."""
    found = judge_all(GOALS, records, False)
    busy = verdict(found, "udprate, the same on a busy host")
    assert (busy.met, busy.measured) == (False, "worst -5.0912 at 100, 4 rows")
    fifo = verdict(found, "guest, 4 hogs, 100 Mbit/s, fifo: rate_error_pct")
    assert (fifo.met, fifo.measured) == (True, "0.0000")
    others = [v for v in found if v not in (busy, fifo)]
    assert {v.met for v in others} == {None}
    assert all(v.measured != "not measured" for v in others)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_bounds(goal: Goal, records: list[Record]) -> None:
    check(goal, records)


def test_one_disturbed_repeat_does_not_decide() -> None:
    """A record is the median of its repeats."""
    results = []
    for repeat, spread in ((1, 0.5), (2, 5.0), (3, 0.4)):

        def change(_boot: Boot, _program: Program, rows: Rows, spread: float = spread) -> Rows:
            return [{**row, "rate_sd_mbps": spread} for row in rows]

        for result in Recorded("udp", change).all(experiment.boots(QUICK)):
            again = [
                replace(program, what=replace(program.what, repeat=repeat))
                for program in result.boot.programs
                if isinstance(program.what, Cell)
            ]
            results.append(replace(result, boot=replace(result.boot, programs=tuple(again))))
    spreads = [r for r in evaluate(results).records if r.metric == "rate_sd_mbps"]
    assert spreads and {(record.value, record.n) for record in spreads} == {(0.5, 3)}


def test_output_that_is_not_right_is_named() -> None:
    boots = experiment.boots(QUICK, "cpu_pct")
    broken = Recorded("udp", lambda *_: [{"tool": "udprate"}])
    with pytest.raises(LabError, match=r"udprate: .*workers"):
        evaluate(broken.all(boots))


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


def test_bench_writes_records_tables_and_figures(paths: Paths) -> None:
    """And fails, as a goal is missed."""

    def change(_boot: Boot, program: Program, rows: Rows) -> Rows:
        hogs = "-hogs-fifo-" in program.name and program.name.startswith("udprate")
        return [{**row, "rate_error_pct": -1e-6} for row in rows] if hogs else rows

    assert run(make_bench("udp", "quick", None, 1, 1), paths, Recorded("udp", change)) == 1
    assert read_json(paths.results / "udp-quick.json")
    names = {path.name for path in paths.plots.iterdir()}
    for number in (1, 2, 3, 4):
        assert {f"udp-quick-figure-{number}.png", f"udp-quick-figure-{number}.svg"} <= names
    text = (paths.plots / "udp-quick-tables.txt").read_text()
    for table in ("Greatest rate", "Actual against expected", "Standard deviation", "Policies"):
        assert table in text
    policies = [line.split()[:4] for line in text[text.index("Policies") :].splitlines()]
    for variant in ("udprate", "iperf3"):
        for policy in ("other", "fifo"):
            assert [variant, "host", "hogs", policy] in policies
    assert " 0.0000 " in text and "-0.0000" not in text


def test_a_part_of_the_metrics_can_be_drawn(paths: Paths) -> None:
    bench = make_bench("udp", "quick", "max_mbps", 1, 1)
    assert run(bench, paths, Recorded("udp")) == 0
    assert (paths.plots / "udp-quick-figure-1.png").exists()
    assert not (paths.plots / "udp-quick-figure-2.png").exists()

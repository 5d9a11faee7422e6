# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: what it runs, iperf3's report, records and tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.bench import make_bench, run
from lab.guest.boot import Boot, Program
from lab.paths import Paths
from lab.report.goals import find
from subjects.udp import experiment, iperf
from subjects.udp.experiment import FULL, QUICK, Cell
from subjects.udp.figures import tables_text
from subjects.udp.metrics import evaluate
from tests.host.recorded import Recorded, Rows, printing, rows_of

ALL = [
    (program, program.what)
    for boot in experiment.boots(FULL)
    for program in boot.programs
    if isinstance(program.what, Cell)
]


def test_peers_take_turns() -> None:
    """Whatever disturbs the host disturbs all of them; of ours, one sends packets one by one."""
    order = [c.variant for _, c in ALL if c.where == "host" and c.rate_mbps == 64]
    assert order == ["udprate", "quantum-0", "iperf3", "naive"] * FULL.repeats
    single = {c.variant for _, c in ALL if "--quantum 0" in " ".join(c.argv())}
    assert single == {"quantum-0"}


def test_under_load_iperf3_has_the_same_hogs() -> None:
    """udprate starts its hogs itself; for iperf3 the host does."""
    found = [(program, cell) for program, cell in ALL if cell.where == "host"]
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
    (words,) = [c.argv() for _, c in ALL if (c.load, c.policy) == ("hogs", "lottery")]
    mine = int(words[words.index("--policy") + 1].removeprefix("lottery:"))
    hogs = int(words[words.index("--hogs") + 1]) * int(words[words.index("--hog-tickets") + 1])
    assert mine / (mine + hogs) == 0.9


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
    """Of the sender: the time of a receiver that waits for a CPU is another."""
    row = iperf.row(report([99, 101, 100], rest_s=0.1), 100, 3)
    names = ("achieved_mbps", "rate_error_pct", "rate_sd_mbps", "cpu_pct")
    assert [row[name] for name in names] == pytest.approx([100, 0, 1, 12.5])


def test_iperf_that_says_nothing_or_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(LabError, match="iperf3: no 'intervals' in its report"):
        iperf.row({}, 100, 3)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="iperf3 is not installed: make deps"):
        iperf.run(Program("x", iperf.argv(1, 1, 100)))


def test_a_record_is_the_median_of_its_repeats() -> None:
    """One that is disturbed does not decide; the greatest rate has no rate that was asked for."""
    (boot,) = experiment.boots(replace(QUICK, repeats=3), "max_mbps")
    disturbed = {1: 30.0, 2: 500.0, 3: 10.0}
    pairs = [(program, rows_of(boot, program)) for program in boot.programs]
    rows = [[{**row, "achieved_mbps": disturbed[p.repeat]}] for p, (row,) in pairs]
    for record in evaluate([printing(boot, *rows)]).records:
        assert (record.metric, record.value, record.n) == ("max_mbps", 30.0, 3)
        assert "rate_mbps" not in record.params


def test_what_arrives_is_held_against_what_was_asked_for() -> None:
    boot = experiment.boots(QUICK, "cpu_pct")[1]
    rows = [
        [{**row, "received_mbps": 98.0, "cpu_pct": 7.5}]
        for program in boot.programs
        for row in rows_of(boot, program)
    ]
    records = evaluate([printing(boot, *rows)]).records
    assert all(r.value == pytest.approx(-2) for r in find(records, "received_error_pct"))
    assert {r.params["policy"] for r in find(records, "cpu_pct", "udprate")} == set(QUICK.policies)
    assert {r.value for r in find(records, "cpu_pct")} == {7.5}


def test_tables_have_policies_and_no_zero_below_zero() -> None:
    def change(_boot: Boot, _program: Program, rows: Rows) -> Rows:
        return [{**row, "rate_error_pct": -1e-6} for row in rows]

    text = tables_text(evaluate(Recorded(change).all(experiment.boots(QUICK))).records)
    policies = [line.split()[:4] for line in text[text.index("Policies") :].splitlines()]
    for variant in ("udprate", "iperf3"):
        for policy in ("other", "fifo"):
            assert [variant, "host", "hogs", policy] in policies
    assert " 0.0000 " in text and "-0.0000" not in text


def test_a_part_of_the_metrics_can_be_drawn(tmp_path: Path) -> None:
    paths = Paths(top=tmp_path, out=tmp_path / "build")
    assert run(make_bench("udp", "quick", "max_mbps", 1, 1), paths, Recorded()) == 0
    assert (paths.plots / "udp-quick-figure-1.png").exists()
    assert not (paths.plots / "udp-quick-figure-2.png").exists()

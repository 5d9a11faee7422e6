# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment with recorded output: what it runs, its records, its goals, its figures."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench import Bench, run
from lab.guest.boot import Boot, Program
from lab.paths import Paths
from lab.report.goals import Goal, Verdict, judge_all
from lab.report.records import Record, read_csv, read_json
from lab.report.rows import read_results
from lab.subjects import ipc
from lab.subjects.ipc import experiment
from lab.subjects.ipc.experiment import DEMO, FULL, QUICK, Cell, Scope
from lab.subjects.ipc.figures import distance, distributions
from lab.subjects.ipc.goals import GOALS, REFERENCE
from lab.subjects.ipc.metrics import STATS, Bucket, LatencyRow, evaluate
from tests.host.bounds import check
from tests.host.recorded import Recorded, Rows

RECORDED = Scope(
    messages=100,
    repeats=2,
    container_repeats=1,
    guest_messages=50,
    host_policies=("other",),
    guest_policies=("other", "lottery"),
    mechanisms=(*DEMO.mechanisms, "zmq-inproc", *experiment.CONTAINERS),
)


def recorded_boots() -> list[Boot]:
    """What the recording is of."""
    return experiment.boots(RECORDED)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return evaluate(Recorded("ipc").all(recorded_boots())).records


def cells(scope: Scope) -> list[tuple[Boot, Cell]]:
    boots = experiment.boots(scope)
    pairs = [(boot, program.what) for boot in boots for program in boot.programs]
    return [(boot, cell) for boot, cell in pairs if isinstance(cell, Cell)]


# What it runs


@pytest.mark.parametrize("scope", [FULL, QUICK, DEMO])
def test_each_boot_measures_something_and_the_host_comes_alone(scope: Scope) -> None:
    boots = experiment.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    assert [boot.host for boot in boots] == [True, *[False] * (len(boots) - 1)]
    assert all(boot.programs for boot in boots)


def test_the_full_scope_is_everything() -> None:
    """Every mechanism everywhere, each policy where there is one, with and without hogs."""
    seen = {
        (cell.where, cell.load, cell.policy, name)
        for _, cell in cells(FULL)
        for name in cell.mechanisms
    }
    for load in ("none", "hogs"):
        for policy in experiment.POLICIES:
            for name in experiment.MECHANISMS:
                assert ("guest", load, policy, name) in seen
                assert (("host", load, policy, name) in seen) == (policy != "lottery")
    assert set(REFERENCE) <= set(experiment.MECHANISMS)


def test_what_spins_has_two_cpus_and_containers_have_a_runtime() -> None:
    for boot, cell in cells(FULL):
        names = set(cell.mechanisms)
        if not boot.host and names & {*experiment.SPINNING, *experiment.SHM_CONTAINERS}:
            assert boot.machine.cpus == 2
        if not boot.host and names & set(experiment.CONTAINERS):
            assert boot.machine.root


def test_only_the_host_may_lack_something() -> None:
    """A guest is ours: what it lacks is a failure."""
    for boot, cell in cells(FULL):
        assert ("--available" in cell.argv()) == boot.host


def test_hogs_of_a_lottery_are_in_it() -> None:
    cell = Cell(("pipe",), "guest", "hogs", "lottery", 10, 1, 1, 2)
    words = cell.argv()
    assert words[words.index("--policy") + 1] == f"lottery:{experiment.TICKETS}"
    assert words[words.index("--hog-tickets") + 1] == str(experiment.HOG_TICKETS)
    assert "--hog-tickets" not in replace(cell, policy="fifo").argv()


# Records and goals


def test_records_say_what_was_printed(records: list[Record]) -> None:
    """Each statistic of each row, under the parameters of its cell."""
    latencies = {
        (r.variant, *(str(r.params[name]) for name in ("where", "load", "policy", "stat"))): r
        for r in records
        if r.metric == "latency_ns"
    }
    count = 0
    for result in Recorded("ipc").all(recorded_boots()):
        for program in result.boot.programs:
            cell = program.what
            assert isinstance(cell, Cell)
            for row in read_results(LatencyRow, result.lines(program)):
                for stat in STATS:
                    value = row.stat(stat, "ns")
                    if value is None:
                        continue
                    key = (row.mechanism, cell.where, cell.load, cell.policy, stat)
                    assert latencies[key].value == value
                    assert (latencies[key].n, latencies[key].unit) == (row.samples, "ns")
                    count += 1
    assert count == len(latencies)


def verdict(verdicts: Sequence[Verdict], name: str) -> Verdict:
    (found,) = [verdict for verdict in verdicts if verdict.name == name]
    return found


def test_verdicts_on_a_few_messages(records: list[Record]) -> None:
    """Of medians of 200 only the wide bounds are judged; virtual time needs no more."""
    found = {v.name: (v.met, v.measured) for v in judge_all(GOALS, records, False)}
    assert found["semaphore in the guest, median: lottery / other"] == (True, "1.143")
    assert found["zmq-ipc, the same on a busy host"] == (True, "0.917")
    met, text = found["zmq-ipc, median / local_lat and remote_lat"]
    assert met is None and text == "0.917 (judged from n = 7500 on)"
    met, text = found["mechanisms of the reference measured natively"]
    assert met is True and text.startswith("worst 1 at ")


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_bounds(goal: Goal, records: list[Record]) -> None:
    check(goal, records)


def missing(boot: Boot, _program: Program, rows: Rows) -> Rows:
    """As on a host without a runtime for containers."""
    (document,) = rows
    if boot.host:
        for row in document["results"]:
            if row["mechanism"] in experiment.CONTAINERS:
                percentiles = dict.fromkeys(row["percentiles_ns"])
                row |= dict.fromkeys(key for key in row if key.endswith(("_ns", "_cycles")))
                row |= {"percentiles_ns": percentiles, "percentiles_cycles": percentiles}
                row |= {"samples": 0, "missing": "no runtime", "buckets_ns": []}
    return [document]


def test_what_cannot_be_measured_is_in_the_raw_table_with_why() -> None:
    measured = evaluate(Recorded("ipc", missing).all(recorded_boots()))
    native = [r for r in measured.records if r.params["where"] == "host"]
    latencies = {record.variant for record in native if record.metric == "latency_ns"}
    assert latencies and not latencies & set(experiment.CONTAINERS)
    table = measured.raw["runs"]
    column = table.header.index("missing")
    assert {row[column] for row in table.rows} == {"", "no runtime"}
    name = "mechanisms of the reference measured natively"
    line = verdict(judge_all(GOALS, measured.records, False), name)
    assert line.met is False and "worst 0 at zmq-tcp-containers" in line.measured


def test_nothing_measured_is_neither_met_nor_missed() -> None:
    assert {v.met for v in judge_all(GOALS, [], True)} == {None}


def test_fits_tell_the_shapes_apart() -> None:
    """Samples of a log-normal distribution are nearer to that than to a normal one."""
    dice = random.Random(1)
    values = sorted(dice.lognormvariate(8, 0.8) for _ in range(5000))
    buckets = [Bucket(value, value + 0.01, 1) for value in values]
    normal, logs = distributions(buckets)
    assert distance(buckets, logs, True) < 0.03 < 0.1 < distance(buckets, normal, False)


def test_bench_writes_records_tables_and_figures(tmp_path: Path) -> None:
    paths = Paths(top=tmp_path, out=tmp_path / "build")
    recorded = replace(ipc.EXPERIMENT, boots=lambda _scope, _only: recorded_boots())
    assert run(Bench(recorded, "quick"), paths, Recorded("ipc")) == 0
    assert read_json(paths.results / "ipc-quick.json")
    buckets = read_csv(paths.results / "ipc-quick-histograms.csv")
    assert {row["where"] for row in buckets} == {"host", "guest"}
    names = {path.name for path in paths.plots.iterdir()}
    for figure in ("histogram-zmq-ipc", "inproc-ipc", "mechanisms", "policies"):
        assert {f"ipc-quick-{figure}.png", f"ipc-quick-{figure}.svg"} <= names
    text = (paths.plots / "ipc-quick-tables.txt").read_text()
    assert "host, load none, policy other" in text and "shm-containers" in text
    assert re.search(
        r"^Table 1: .*\n\ncycles .*\n(-.*\n)?spin +reference +122.4 ", text, re.MULTILINE
    )

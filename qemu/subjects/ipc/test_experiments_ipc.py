# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment: what it runs, what each statistic becomes, what could not be measured."""

import random
from collections.abc import Iterator

from lab.guest.boot import Boot, Program
from lab.report.goals import find, judge_all, value
from subjects.ipc import experiment
from subjects.ipc.experiment import FULL, QUICK, Cell
from subjects.ipc.figures import distance, distributions, table_text
from subjects.ipc.goals import GOALS, NATIVE
from subjects.ipc.metrics import UNITS, Bucket, evaluate, params_of
from tests.host.recorded import Recorded, Rows, printed


def cells(scope: experiment.Scope) -> Iterator[tuple[Boot, Cell]]:
    for boot in experiment.boots(scope):
        for program in boot.programs:
            assert isinstance(program.what, Cell)
            yield boot, program.what


def test_guests_have_what_mechanisms_need_and_only_the_host_may_lack_it() -> None:
    """Two CPUs for what spins, a runtime for containers, and the host comes alone and first."""
    hosts = [boot.host for boot in experiment.boots(FULL)]
    assert hosts == [True, *[False] * (len(hosts) - 1)]
    for boot, cell in cells(FULL):
        names = set(cell.mechanisms)
        assert ("--available" in cell.argv()) == boot.host
        if not boot.host:
            both = names & {*experiment.SPINNING, *experiment.SHM_CONTAINERS}
            assert boot.machine.cpus == (2 if both else 1)
            assert boot.machine.root == bool(names & set(experiment.CONTAINERS))


def test_records_say_what_was_printed() -> None:
    (boot,) = [boot for boot in experiment.boots(QUICK) if boot.name == "ipc-waiting-hogs"]
    records = evaluate([Recorded()(boot)]).records
    (result,) = printed("ipclat")[0]["results"]
    names = {"p1": "1", "p50": "50", "p99": "99", "p999": "99.9"}
    for _, cell in (pair for pair in cells(QUICK) if pair[0].name == boot.name):
        for unit, stats in UNITS.items():
            quantiles = {stat: result[f"percentiles_{unit}"][key] for stat, key in names.items()}
            wanted = [quantiles.get(stat, result.get(f"{stat}_{unit}")) for stat in stats]
            where = {**params_of(cell), "stat": stats}
            for name in cell.mechanisms:
                found = find(records, f"latency_{unit}", name, **where)
                assert [record.value for record in found] == wanted


def missing(boot: Boot, _program: Program, rows: Rows) -> Rows:
    """As on a host without a runtime for containers."""
    (document,) = rows
    for row in document["results"] if boot.host else ():
        if row["mechanism"] in experiment.CONTAINERS:
            percentiles = dict.fromkeys(row["percentiles_ns"])
            row |= dict.fromkeys(key for key in row if key.endswith(("_ns", "_cycles")))
            row |= {"percentiles_ns": percentiles, "percentiles_cycles": percentiles}
            row |= {"samples": 0, "missing": "no runtime", "buckets_ns": []}
    return [document]


def test_what_cannot_be_measured_is_in_the_raw_table_with_why() -> None:
    measured = evaluate(Recorded(missing).all(experiment.boots(QUICK)))
    native = [r for r in measured.records if r.params["where"] == "host"]
    latencies = {record.variant for record in native if record.metric == "latency_ns"}
    assert latencies and not latencies & set(experiment.CONTAINERS)
    table = measured.raw["runs"]
    column = table.header.index("missing")
    assert {row[column] for row in table.rows} == {"", "no runtime"}
    (line,) = [v for v in judge_all(GOALS, measured.records, False) if "natively" in v.name]
    assert line.met is False and "worst 0 at zmq-tcp-containers" in line.measured


def test_tables_have_ours_below_the_reference() -> None:
    records = evaluate(Recorded(missing).all(experiment.boots(QUICK))).records
    text = table_text(records)
    mean = value(records, "latency_cycles", "spin", **NATIVE, stat="mean")
    table = [line.split()[:3] for line in text.partition("Table 2")[0].splitlines()]
    assert ["spin", "reference", "122.4"] in table and ["spin", "here", f"{mean:.1f}"] in table
    for where, policies in (("host", QUICK.host_policies), ("guest", QUICK.guest_policies)):
        for policy in policies:
            assert f"{where}, load hogs, policy {policy}\n" in text


def test_fits_tell_the_shapes_apart() -> None:
    """Samples of a log-normal distribution are nearer to that than to a normal one."""
    dice = random.Random(1)
    values = sorted(dice.lognormvariate(8, 0.8) for _ in range(5000))
    buckets = [Bucket(value, value + 0.01, 1) for value in values]
    normal, logs = distributions(buckets)
    assert distance(buckets, logs, True) < 0.03 < 0.1 < distance(buckets, normal, False)

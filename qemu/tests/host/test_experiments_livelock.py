# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment on what livelock-run has printed in a guest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.bench import Bench, run
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Status
from lab.guest.result import BootResult, ProgramResult
from lab.paths import Paths
from lab.report.goals import Goal, find, judge, judge_all, value
from lab.report.records import Record, read_csv, read_json, write_json
from lab.subjects.livelock import EXPERIMENT, derived, experiment, governed
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.experiment import Curve, Scope
from lab.subjects.livelock.figures import draw
from lab.subjects.livelock.goals import GOALS
from lab.subjects.livelock.metrics import UNITS, evaluate
from tests.host.recorded import Change, Recorded, Rows

SCOPES = {"full": experiment.FULL, "quick": experiment.QUICK, "demo": experiment.DEMO}
SCOPE: Scope = tuple(
    replace(curves, duration_ms=experiment.SHORT_MS, frames=0, turns=1)
    for curves in (*experiment.QUICK, experiment.COST)
)
"""What was recorded: the quick scope and the price, each rate once and for a second."""
CURVE = Curve(v.HYBRID, 1, experiment.CONSTANT, "off", (2000, 60000))


def records_with(change: Change | None = None) -> list[Record]:
    return evaluate(Recorded("livelock", change).all(experiment.boots(SCOPE))).records


@pytest.fixture(scope="module")
def quick() -> list[Record]:
    return records_with()


@pytest.fixture(scope="module")
def rows() -> Rows:
    """What the hybrid has printed at the rates of CURVE."""
    curve = next(c for group in SCOPE for c in group.curves() if c.variant == v.HYBRID)
    (result,) = Recorded("livelock").all([curve.boot()])
    found = [json.loads(line) for line in result.program("curve").output]
    return [row for row in found if row["offered_pps"] in CURVE.rates]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


# What runs


def curves(scope: Scope) -> list[Curve]:
    return [curve for group in scope for curve in group.curves()]


def test_the_full_scope_covers_the_goals() -> None:
    found = curves(experiment.FULL)
    names = {"interrupt", "poll", "napi", "napi-threaded", "hybrid", "e1000", "e1000-threaded"}
    names |= {"e1000-governor", "e1000-nogro", "e1000-threaded-nogro", "e1000-static"}
    names |= {"e1000-busy", "e1000-threaded-nogro-nice2", "e1000-threaded-nogro-nice5"}
    for driver in ("e1000e", "virtio_net"):
        names |= {f"{driver}-governor", f"{driver}-nogro", f"{driver}-threaded-nogro"}
    for ports in (1, 3):
        mine = [c for c in found if c.ports == ports and c.rates == experiment.RATES]
        assert {curve.variant.name for curve in mine} == names
        assert {curve.turns for curve in mine} == {5 if ports == 1 else 1}
    assert min(experiment.RATES) == 2000 and max(experiment.RATES) == 300000
    assert {curve.function for curve in found} == {*experiment.FUNCTIONS, experiment.STRAY}
    assert {curve.mitigation for curve in found} == {"on", "off"}
    assert {curve.variant.limit_pct for curve in found} >= set(governed.LIMITS)


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_guests_have_cards_and_no_disk(scope: Scope) -> None:
    boots = experiment.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    for boot, curve in zip(boots, curves(scope), strict=True):
        machine = boot.machine
        assert boot.render()
        assert not machine.root and machine.accel == "icount" and machine.icount_shift == 3
        built_in = curve.variant.driver == "virtio_net"
        assert machine.modules == ("nll_source", *(() if built_in else (curve.variant.driver,)))
        models = {"e1000e": "e1000e", "virtio_net": "virtio-net-pci"}
        receivers = {nic.model for nic in machine.nics[: curve.ports]}
        assert receivers == {models.get(curve.variant.driver, "e1000")}
        assert len(machine.nics) == 2 * curve.ports
        assert {nic.mitigation for nic in machine.nics} == {curve.mitigation == "on"}


def words(curve: Curve) -> str:
    return " ".join(curve.argv())


def test_commands() -> None:
    assert "--driver napi_livelock" in words(CURVE) and "--set nll/mode=napi" in words(CURVE)
    assert words(CURVE).endswith(" 2000 60000")
    assert "--set nll/mode=napi --set threaded=1" in words(replace(CURVE, variant=v.THREADED))
    assert "--driver e1000 --set threaded=0 " in words(replace(CURVE, variant=v.E1000))
    assert "--set governor/limit=40" in words(replace(CURVE, variant=v.limited(40)))
    assert "--nice 2 --set threaded=1" in words(replace(CURVE, variant=v.niced(2)))
    assert "--busy-poll 50" in words(replace(CURVE, variant=v.BUSY))
    assert "--driver virtio_net --no-gro --set threaded=1" in words(
        replace(CURVE, variant=v.VIRTIOS.threads[0])
    )
    assert all("--no-gro --hog-idle --set" in words(replace(CURVE, variant=c)) for c in v.COSTS)
    stray = words(replace(CURVE, function=experiment.STRAY))
    assert "--function constant --malformed stray --every 2" in stray
    assert "--ports 3 --function ramp" in words(replace(CURVE, ports=3, function="ramp"))


def test_no_guest_is_ever_idle() -> None:
    """QEMU lets an idle guest's time leap a little differently now and then."""
    assert "--never-idle" in CURVE.argv()
    assert "idle=poll" in CURVE.boot().machine.command_line().split()


def test_the_price_is_that_of_two_kernels() -> None:
    off, out = experiment.COST.curves()
    assert [curve.boot().machine.kernel for curve in (off, out)] == ["guest", "plain"]
    assert "governor/mode=off" in words(off) and "governor" not in words(out)
    assert (off.rates, off.turns) == (out.rates, out.turns) == ((2000, 6000, 10000), 5)
    assert CURVE.boot().machine.kernel == "guest"


def test_low_rates_last_until_there_are_enough_frames() -> None:
    short = replace(CURVE, duration_ms=1200, frames=6001)
    assert "--duration 1200 --warmup 200 --frames 6001 " in words(short)
    assert [short.lasts_ms(rate) for rate in (1000, 2000, 60000)] == [6201, 3201, 1200]
    assert replace(short, frames=0).lasts_ms(1) == 1200


# From output to records


def records_of(rows: Sequence[dict[str, Any]], curve: Curve = CURVE) -> list[Record]:
    """Records of one boot."""
    boot = curve.boot()
    lines = [json.dumps(row) for row in rows]
    result = ProgramResult(boot.programs[0].name, Status.OK, output=lines)
    return evaluate([BootResult(boot, [result], Path("console.log"))]).records


def test_metrics_and_their_parameters(quick: list[Record]) -> None:
    assert {record.metric for record in quick} == {*UNITS, *derived.UNITS}
    keys = {"offered_pps", "ports", "rate_function", "mitigation"}
    more = {"latency_us": {"quantile"}, "lost_pps": {"place"}}
    for record in quick:
        if record.metric in UNITS:
            assert set(record.params) == keys | more.get(record.metric, set())
            assert record.unit == UNITS[record.metric]
    key = derived.point(1, 60000)
    places = [record.params["place"] for record in find(quick, "lost_pps", "hybrid", **key)]
    assert set(places) == set(experiment.PLACES) and len(places) == len(experiment.PLACES)


def test_low_rates_are_measured_in_turns(rows: Rows) -> None:
    short = replace(CURVE, turns=3)
    assert short.windows == ((2000, 1), (2000, 2), (2000, 3), (60000, 1))
    assert words(short).endswith(" 2000 2000 2000 60000")
    turns = [{**rows[0], "latency_p99_us": us} for us in (900.0, 300.0, 500.0)]
    found = find(records_of([*turns, rows[1]], short), "latency_us", "hybrid", quantile="p99")
    assert [(record.value, record.n) for record in found] == [
        (500.0, 3),
        (rows[1]["latency_p99_us"], 1),
    ]
    assert found[0].spread == {"sd": pytest.approx(305.505, abs=0.001), "min": 300, "max": 900}


def test_losses_are_rates(rows: Rows) -> None:
    lost = {**rows[1], "duration_ms": 1200, "lost_tail": 600, "lost_socket": 1200}
    records = records_of([rows[0], lost])
    assert value(records, "lost_pps", "hybrid", offered_pps=60000, place="tail") == 500
    assert value(records, "lost_pps", "hybrid", offered_pps=60000, place="socket") == 1000


def test_without_a_frame_there_is_no_latency(rows: Rows) -> None:
    empty = {**rows[1], "latencies": 0, "latency_ns": "", "goodput_pps": 0, "port_most_pps": 0}
    records = records_of([rows[0], empty])
    assert {r.params["offered_pps"] for r in find(records, "latency_us")} == {2000}
    assert value(records, "goodput_pps", "hybrid", **derived.point(1, 60000)) == 0
    assert find(records, "port_split") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"missing": 3}, "60000 packets/s: 3 frames missing"),
        ({"disorder": 1}, "1 frames out of order"),
        ({"strange": 2}, "2 strange: must be 0"),
        ({"offered_pps": 30000}, r"rates \(2000, 30000\): must be \(2000, 60000\)"),
        ({"goodput_pps": None}, r"`null` - at `\$\.goodput_pps`"),
        ({"latency_ns": "1:x"}, "latency_ns '1:x': must be BOUND:COUNT"),
        ({"tool": "livelock-apps"}, "must be a JSON object of this tool"),
    ],
)
def test_output_that_is_not_right_is_named(rows: Rows, change: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=told) as error:
        records_of([rows[0], {**rows[1], **change}])
    assert error.value.exit_code == 1


def scaled(name: str, field: str, factor: float, *rates: int) -> Change:
    """Multiplies a field of what the boot with that name prints at the rates, or at all."""

    def change(boot: Boot, _program: Program, rows: Rows) -> Rows:
        if boot.name != f"{name}-mitigation-off":
            return rows
        return [
            row
            if rates and row["offered_pps"] not in rates
            else {**row, field: row[field] * factor}
            for row in rows
        ]

    return change


def test_the_best_is_named_where_it_is_not_the_hybrid() -> None:
    def best_at(change: Change | None, metric: str, rate: int) -> object:
        done = Recorded("livelock", change).all(experiment.boots(SCOPE))
        table = evaluate(done).raw["best"]
        wanted = {**derived.point(1, rate), "metric": metric}
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        (row,) = [row for row in rows if all(row[k] == text for k, text in wanted.items())]
        return row["best"]

    assert best_at(None, "goodput_pps", 60000) == "e1000-governor"
    assert best_at(scaled("poll-1-constant", "goodput_pps", 1.5), "goodput_pps", 60000) == "poll"
    assert best_at(scaled("napi-1-constant", "latency_p50_us", 0.1), "latency_us", 2000) == "napi"


# Goals


def goal(name: str) -> Goal:
    (found,) = [goal for goal in GOALS if name in goal.name]
    return found


def test_what_was_recorded_is_judged_by_every_goal(quick: list[Record]) -> None:
    """The figures are those of one short run in the guest."""
    verdicts = judge_all(GOALS, quick, whole=True)
    assert {v.name: (v.met, *v.measured.split(", ")) for v in verdicts} == JUDGED


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ours: goodput at 10 x", scaled("hybrid-3-constant", "goodput_pps", 0.9, 200000)),
        ("ours: goodput at 60k", scaled("napi-1-constant", "goodput_pps", 30.0)),
        ("hybrid / interrupt", scaled("hybrid-1-constant", "latency_p50_us", 1.1, 6000)),
        ("2k, hybrid / e1000", scaled("hybrid-1-constant", "latency_p50_us", 1.2, 2000)),
        ("3 ports, smallest", scaled("hybrid-3-constant", "port_least_pps", 0.9, 200000)),
        ("switches", scaled("hybrid-1-peaks", "switches_per_s", 60.0)),
        ("e1000: goodput at 10 x", scaled("e1000-governor-3-constant", "goodput_pps", 0.9, 60000)),
        ("e1000: goodput at 60k", scaled("e1000-nogro-1-constant", "goodput_pps", 30.0)),
        (
            "e1000: goodput at the user share of threaded NAPI, governor / threaded, 3",
            scaled("e1000-threaded-nogro-3-constant", "goodput_pps", 1.4),
        ),
        ("e1000e: goodput at 60k", scaled("e1000e-nogro-1-constant", "goodput_pps", 30.0)),
        (
            "e1000e: goodput at the user share of threaded NAPI, governor / threaded, 3",
            scaled("e1000e-threaded-nogro-3-constant", "goodput_pps", 1.4),
        ),
        ("virtio_net: goodput at 60k", scaled("virtio_net-nogro-3-constant", "goodput_pps", 30.0)),
        (
            "virtio_net: goodput at 10 x",
            scaled("virtio_net-governor-1-constant", "goodput_pps", 0.9, 200000),
        ),
        ("10k, governor, us", scaled("e1000-governor-1-constant", "latency_p50_us", 1.1, 10000)),
        ("nobody reads", scaled("e1000-governor-1-stray", "goodput_pps", 0.9)),
        ("stock interrupts", scaled("e1000-governor-1-constant", "latency_p50_us", 1.1, 6000)),
    ],
)
def test_a_figure_that_is_spoilt_misses_its_goal(name: str, change: Change) -> None:
    wanted = [goal for goal in GOALS if name in goal.name and "stretch" not in goal.name]
    assert [judge(goal, records_with(change), whole=True).met for goal in wanted] == [False]


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("ours: goodput at 10 x", "hybrid"),
        ("ours: goodput at the", "napi-threaded"),
        ("nice values of 2 and 5, 3", "e1000-threaded-nogro-nice2"),
    ],
)
def test_a_curve_that_was_not_measured_is_noticed(name: str, gone: str) -> None:
    boots = [curve.boot() for curve in curves(SCOPE) if curve.variant.name != gone]
    records = evaluate(Recorded("livelock").all(boots)).records
    assert judge(goal(name), records, whole=True).met is not True


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    table = judge_all(GOALS, [], whole=True)
    assert {(verdict.met, verdict.measured) for verdict in table} == {(None, "not measured")}


# What follows from the records


def flood(variant: str, goodput: float, share: float, **more: float) -> list[Record]:
    """Records of a variant at 60,000 frames a second."""
    metrics = {"goodput_pps": goodput, "user_share_pct": share, **more}
    key = derived.point(1, 60000)
    return [
        Record("livelock", metric, variant, key, number, "x", 1, 0.0)
        for metric, number in metrics.items()
    ]


def test_a_frame_is_late_from_a_bucket_on(rows: Rows) -> None:
    late = {**rows[1], "latencies": 8, "latency_ns": "917504:5 1048576:2 9961472:1"}
    key = derived.point(1, 60000)
    assert value(records_of([rows[0], late]), "late_share_pct", "hybrid", **key) == 37.5


def test_the_recorded_shares_of_late_frames(quick: list[Record], rows: Rows) -> None:
    for row in rows:
        key = derived.point(1, row["offered_pps"])
        share = value(quick, "late_share_pct", "hybrid", **key)
        assert share is not None
        assert (share >= 1) == (row["latency_p99_us"] >= 1048.6)


@pytest.mark.parametrize(
    ("late", "turns", "told", "met"),
    [
        (0.54, 5, "1.08", True),
        (0.56, 5, "1.12", False),
        (0.56, 4, "1.12", None),
        (0.0, 5, "0.20", True),
    ],
)
@pytest.mark.parametrize(
    ("who", "best", "other"),
    [("hybrid", "e1000", "poll"), ("e1000-governor", "e1000-busy", "e1000-nogro")],
)
def test_late_frames_are_held_against_the_best(
    who: str, best: str, other: str, late: float, turns: int, told: str, met: bool | None
) -> None:
    key = derived.point(1, 2000)
    shares = {who: (late, turns), best: (0.5, 5), other: (7.0, 5)}
    records = [
        Record("livelock", metric, variant, {**key, **more}, number, "x", n, 0.0)
        for variant, (share, n) in shares.items()
        for metric, number, more in (
            ("lost_pps", 0.0, {"place": "tail"}),
            ("late_share_pct", share, {}),
        )
    ]
    (wanted,) = [g for g in GOALS if g.metric == "late_over_best" and g.variant == who]
    verdict = judge(wanted, derived.derived(records), whole=False)
    assert (verdict.met, verdict.measured[:9]) == (met, f"2000 {told}")


def test_so_few_late_frames_are_none() -> None:
    key = derived.point(1, 2000)
    records = [
        Record("livelock", "late_share_pct", variant, key, share, "%", 5, 0.0)
        for variant, share in (("hybrid", 0.09), ("napi", 0.001))
    ]
    assert derived.late_over_best(records, "hybrid", 2000) == (1.0, 5)
    assert derived.late_over_best(records[:1], "hybrid", 2000) is None


@pytest.mark.parametrize(
    ("off", "on", "turns", "met"),
    [
        (1000.9, 2040.0, 5, (True, True)),
        (1001.2, 2050.0, 5, (False, False)),
        (1001.2, 2050.0, 4, (None, None)),
    ],
)
def test_the_price_of_what_is_not_used(
    off: float, on: float, turns: int, met: tuple[bool | None, bool | None]
) -> None:
    costs = {"e1000-compiled-out": 1000.0, "e1000-off": off}
    costs |= {"e1000-nogro": 2000.0, "e1000-governor": on}
    records = [
        Record("livelock", "receiving_ns", name, derived.point(1, 2000), ns, "ns", turns, 0.0)
        for name, ns in costs.items()
    ]
    found = derived.derived(records)
    wanted = (goal("governor off / compiled out"), goal("2k, e1000, governor on / off"))
    assert tuple(judge(one, found, whole=False).met for one in wanted) == met


def test_what_receiving_takes(rows: Rows) -> None:
    shares = {"user_share_pct": 50.0, "apps_share_pct": 20.0, "source_pct": 5.0}
    row = {**rows[1], **shares, "goodput_pps": 10000.0}
    records = records_of([rows[0], row])
    assert value(records, "receiving_ns", "hybrid", **derived.point(1, 60000)) == 25000


def test_the_loss_free_rate_ends_at_the_first_loss() -> None:
    def point(metric: str, rate: int, number: float, **more: str) -> Record:
        key = {**derived.point(1, rate), **more}
        return Record("livelock", metric, "hybrid", key, number, "x", 1, 0.0)

    losses = {1000: 1.0, 2000: 2.1, 4000: 0.0}
    records = [point("lost_pps", rate, lost, place="socket") for rate, lost in losses.items()]
    goodput = {1000: 900.0, 2000: 1000.0, 4000: 1000.0, 9999: 970.0, 10000: 950.0}
    records += [point("goodput_pps", rate, number) for rate, number in goodput.items()]
    assert derived.loss_free(records, "hybrid", 1) == 1000
    assert derived.flatness(records, "hybrid", 1) == 0.95
    assert derived.flatness(records[:-1], "hybrid", 1) is None


# The verb and the figures


def test_bench_writes_everything(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = replace(EXPERIMENT, boots=lambda _scope, _only: experiment.boots(SCOPE))
    run(Bench(recorded), paths, Recorded("livelock"))
    names = {path.name for path in paths.results.iterdir()}
    for name in ("points", "latencies", "best"):
        assert f"livelock-{name}.csv" in names
    assert read_json(paths.results / "livelock.json")
    points = read_csv(paths.results / "livelock-points.csv")
    assert {row["missing"] for row in points} == {"0"}
    printed = capsys.readouterr().out
    for name in ("throughput", "loss", "buffer", "latency", "mogul", "share", "limit"):
        assert str(paths.plots / f"livelock-{name}.png") in printed


def test_figures_are_the_same_bytes_each_time(paths: Paths, quick: list[Record]) -> None:
    write_json(paths.results / "livelock.json", quick)
    first = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "livelock")}
    again = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "livelock")}
    assert first and first == again


def test_nothing_is_drawn_of_what_was_not_measured(paths: Paths, quick: list[Record]) -> None:
    records = [r for r in quick if r.variant == "hybrid"]
    write_json(paths.results / "livelock.json", records)
    assert draw(paths.results, paths.plots, "livelock") == []


@pytest.mark.parametrize(("x", "y"), [(1, 10), (2, 10), (3, 20), (4, 30), (9, 30)])
def test_the_line_through_the_limits(x: float, y: float) -> None:
    assert governed.at([(4, 30), (2, 10)], x) == y


def test_threads_are_held_against_the_line_of_the_governor() -> None:
    ours = [*flood("e1000-governor", 24000, 15), *flood("e1000-governor-limit40", 20000, 25)]
    threads = [
        *flood("e1000-threaded", 20000, 20),
        *flood("e1000-threaded-nogro", 21000, 20),
    ]
    niced = flood("e1000-threaded-nogro-nice2", 22000, 20)
    key = derived.point(1, 60000)
    assert governed.over_threads([*ours, *threads], key) == pytest.approx((22000 / 21000, 2.5))
    found = governed.over_threads([*ours, *niced], key, peers=[v.niced(2)])
    assert found == pytest.approx((1.0, 0.0))
    assert governed.over_threads([*ours, *threads[:2]], key) is None
    assert governed.over_threads(threads, key) is None


JUDGED: dict[str, tuple[bool | str | None, ...]] = {
    "median latency, hybrid / interrupt": (False, "2000 1.090", "6000 1.065"),
    "median latency at 2k, hybrid / e1000": (True, "1.002"),
    "frames later than 1 ms up to the loss-free rate, hybrid / best other": (
        None,
        "2000 2.33",
        "6000 4.00",
        "16000 0.10",
        "20000 0.16 (judged from n = 5 on)",
    ),
    "frames later than 1 ms up to the loss-free rate, e1000's governor / best other": (
        None,
        "2000 2.33",
        "6000 2.13",
        "10000 0.42",
        "20000 1.34 (judged from n = 5 on)",
    ),
    "goodput of 3 ports, smallest / largest, hybrid": (True, "60000 0.991", "200000 0.973"),
    "switches per second, hybrid, the most at any load": (
        True,
        "worst 63.3 at constant",
        "230 rows",
    ),
    "ours: goodput at 10 x the loss-free rate / peak, governor": (True, "1 1.000", "3 1.000"),
    "ours: goodput at 60k, governor / stock": (True, "1 447", "3 612"),
    "ours: goodput at the user share of threaded NAPI, governor / threaded": (
        True,
        "60000 1.085",
        "200000 1.087",
    ),
    "ours: user share at the goodput of threaded NAPI, governor - threaded, points": (
        True,
        "60000 +4.8",
        "200000 +4.9",
    ),
    "ours: the same goodput, stretch": (False, "60000 1.085", "200000 1.087"),
    "e1000: goodput at 10 x the loss-free rate / peak, governor": (True, "1 1.000", "3 1.000"),
    "e1000: goodput at 60k, governor / stock": (True, "1 840", "3 1394"),
    "e1000: goodput at the user share of threaded NAPI, governor / threaded": (
        False,
        "60000 1.043",
        "200000 1.041",
    ),
    "e1000: user share at the goodput of threaded NAPI, governor - threaded, points": (
        False,
        "60000 +2.5",
        "200000 +2.4",
    ),
    "e1000: goodput at the user share of threaded NAPI, governor / threaded, 3 cards": (
        True,
        "60000 1.499",
        "200000 1.451",
    ),
    "e1000: the same goodput, against threads with nice values of 2 and 5": (
        False,
        "60000 0.975",
        "200000 0.979",
    ),
    "e1000: the same goodput, against threads with nice values of 2 and 5, 3 cards": (
        False,
        "60000 0.938",
        "200000 0.928",
    ),
    "e1000e: goodput at 10 x the loss-free rate / peak, governor": (True, "1 1.000", "3 0.990"),
    "e1000e: goodput at 60k, governor / stock": (True, "1 539", "3 702"),
    "e1000e: goodput at the user share of threaded NAPI, governor / threaded": (
        False,
        "60000 0.986",
        "200000 0.979",
    ),
    "e1000e: user share at the goodput of threaded NAPI, governor - threaded, points": (
        False,
        "60000 -0.9",
        "200000 -1.4",
    ),
    "e1000e: goodput at the user share of threaded NAPI, governor / threaded, 3 cards": (
        True,
        "60000 1.430",
        "200000 1.437",
    ),
    "virtio_net: goodput at 10 x the loss-free rate / peak, governor": (
        True,
        "1 0.978",
        "3 0.953",
    ),
    "virtio_net: goodput at 60k, governor / stock": (True, "1 1624", "3 723"),
    "virtio_net: goodput at the user share of threaded NAPI, governor / threaded": (
        False,
        "60000 0.984",
        "200000 0.981",
    ),
    "virtio_net: user share at the goodput of threaded NAPI, governor - threaded, points": (
        False,
        "60000 -1.1",
        "200000 -1.3",
    ),
    "virtio_net: goodput at the user share of threaded NAPI, governor / threaded, 3 cards": (
        False,
        "60000 1.394",
        "200000 1.463",
    ),
    "user share at 10k, governor": (False, "37.5"),
    "median latency at 10k, governor, us": (True, "244"),
    "user share at 20k, governor": (False, "19.9"),
    "median latency at 20k, governor, us": (False, "541"),
    "median latency, governor / stock interrupts, e1000": (True, "2000 1.037", "6000 1.044"),
    "CPU time for a frame, e1000, governor off / compiled out": (
        None,
        "2000 0.9957",
        "6000 1.0016",
        "10000 1.0024 (judged from n = 5 on)",
    ),
    "CPU time for a frame at 2k, e1000, governor on / off": (None, "1.018 (judged from n = 5 on)"),
    "goodput beside a socket that nobody reads, with as many frames / alone, governor": (
        False,
        "20000 1.000",
        "40000 0.770",
    ),
    "receiving, off its limit, governor, points": (False, "20 1.3", "40 3.4", "60 3.8"),
}

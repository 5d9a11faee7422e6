# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment: what it runs, and the arithmetic from rows to records."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lab import LabError
from lab.report.goals import find, judge
from lab.report.records import Param, Record
from subjects.livelock import derived, experiment
from subjects.livelock import variants as v
from subjects.livelock.experiment import Curve
from subjects.livelock.goals import GOALS
from subjects.livelock.metrics import best, evaluate
from tests.host.recorded import printed, printing

CURVE = Curve(v.HYBRID, 1, experiment.CONSTANT, "off", (2000, 60000))
KEY = derived.point(1, 60000)


def words(curve: Curve) -> str:
    return " ".join(curve.argv())


def records_of(
    change: Mapping[str, object] | None = None, curve: Curve = CURVE, *turns: Mapping[str, object]
) -> list[Record]:
    """Records of a boot: what the hybrid printed, with changes in its last row, or more turns."""
    rows = [row for row in printed("curve") if row["offered_pps"] in CURVE.rates]
    low, high = rows
    lines: list[dict[str, Any]] = [{**low, **turn} for turn in turns or ({},)]
    return evaluate([printing(curve.boot(), [*lines, {**high, **(change or {})}])]).records


def record(
    metric: str, variant: str, rate: int, number: float, n: int = 1, **more: Param
) -> Record:
    key = {**derived.point(1, rate), **more}
    return Record("livelock", metric, variant, key, number, "x", n, 0.0)


def test_guests_have_cards_and_no_disk_and_are_never_idle() -> None:
    """QEMU lets an idle guest's time leap a little differently now and then."""
    models = {"e1000e": "e1000e", "virtio_net": "virtio-net-pci"}
    for curve in experiment.FULL:
        machine, driver = curve.boot().machine, curve.variant.driver
        shift = 0 if curve.function == experiment.FAST else 3
        assert not machine.root and machine.accel == "icount" and machine.icount_shift == shift
        assert machine.modules == ("nll_source", *(() if driver == "virtio_net" else (driver,)))
        receivers = {nic.model for nic in machine.nics[: curve.ports]}
        assert receivers == {models.get(driver, "e1000")}
        assert len(machine.nics) == 2 * curve.ports
        assert {nic.mitigation for nic in machine.nics} == {curve.mitigation == "on"}
        assert "--never-idle" in curve.argv() and "idle=poll" in machine.append


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "--driver napi_livelock"),
        ({}, "--set nll/mode=napi"),
        ({"variant": v.THREADED}, "--set nll/mode=napi --set threaded=1"),
        ({"variant": v.E1000}, "--driver e1000 --set threaded=0 "),
        ({"variant": v.limited(v.HYBRID, 40)}, "--set governor/limit=40"),
        ({"variant": v.niced(2)}, "--nice 2 --set threaded=1"),
        ({"variant": v.BUSY}, "--busy-poll 50"),
        ({"variant": v.VIRTIOS.threads[0]}, "--driver virtio_net --no-gro --set threaded=1"),
        ({"function": experiment.STRAY}, "--function constant --malformed stray --every 2"),
        ({"function": experiment.FAST}, "--function constant --duration"),
        ({"ports": 3, "function": "ramp"}, "--ports 3 --function ramp"),
        ({"turns": 3}, " 2000 2000 2000 60000"),
        ({"duration_ms": 1200, "frames": 6001}, "--duration 1200 --warmup 200 --frames 6001 "),
    ],
)
def test_commands(change: dict[str, Any], told: str) -> None:
    assert told in words(replace(CURVE, **change))


def test_the_price_is_that_of_two_kernels() -> None:
    off, out = experiment.COST
    assert [curve.boot().machine.kernel for curve in (off, out)] == ["guest", "plain"]
    assert "governor/mode=off" in words(off) and "governor" not in words(out)
    assert (off.rates, off.turns) == (out.rates, out.turns) == ((2000, 6000, 10000), 5)
    assert all("--no-gro --hog-idle --set" in words(curve) for curve in (off, out))


def test_low_rates_last_until_there_are_enough_frames() -> None:
    short = replace(CURVE, duration_ms=1200, frames=6001)
    assert [short.lasts_ms(rate) for rate in (1000, 2000, 60000)] == [6201, 3201, 1200]
    assert replace(short, frames=0).lasts_ms(1) == 1200


def test_low_rates_are_measured_in_turns() -> None:
    turns = [{"latency_p99_us": us} for us in (900.0, 300.0, 500.0)]
    records = records_of({"latency_p99_us": 7.0}, replace(CURVE, turns=3), *turns)
    low, high = find(records, "latency_us", "hybrid", quantile="p99")
    assert [(low.value, low.n), (high.value, high.n)] == [(500.0, 3), (7.0, 1)]
    assert low.spread == {"sd": pytest.approx(305.505, abs=0.001), "min": 300, "max": 900}


SHARES = {"user_share_pct": 50.0, "apps_share_pct": 20.0, "source_pct": 5.0}
LATE = {"latencies": 8, "latency_ns": "917504:5 1048576:2 9961472:1"}
SPLIT = {"ports": 3, "port_least_pps": 3.0, "port_most_pps": 4.0}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"duration_ms": 1200, "lost_tail": 600}, {"lost_pps tail": 500, "lost_pps socket": 0}),
        ({"duration_ms": 1200, "lost_socket": 1200}, {"lost_pps socket": 1000}),
        ({**SHARES, "goodput_pps": 10000.0}, {"receiving_ns": 25000}),
        # a frame is late from a bucket on
        (LATE, {"late_share_pct": 37.5}),
        # without a frame there is no latency, and no cost of one
        ({"latencies": 0, "latency_ns": ""}, {"latency_us p50": None, "late_share_pct": None}),
        ({"goodput_pps": 0}, {"goodput_pps": 0, "receiving_ns": None, "port_split": None}),
        (SPLIT, {"port_split": 0.75}),
        ({**SPLIT, "port_most_pps": 0}, {"port_split": None}),
    ],
)
def test_what_becomes_of_a_row(change: dict[str, object], wanted: dict[str, float | None]) -> None:
    high = [
        r for r in records_of({"lost_socket": 0, **change}) if r.params.get("offered_pps") == 60000
    ]
    more = [r.params.get("place", r.params.get("quantile", "")) for r in high]
    found = {f"{r.metric} {of}".strip(): r.value for r, of in zip(high, more, strict=True)}
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"missing": 3}, "60000 packets/s: 3 frames missing"),
        ({"disorder": 1}, "1 frames out of order"),
        ({"strange": 2}, "2 strange: must be 0"),
        ({"offered_pps": 30000}, r"rates \(2000, 30000\): must be \(2000, 60000\)"),
        ({"goodput_pps": None}, r"`null` - at `\$\.goodput_pps`"),
        ({"latency_ns": "1:x"}, "latency_ns '1:x': must be BOUND:COUNT"),
    ],
)
def test_output_that_is_not_right_is_named(change: dict[str, object], told: str) -> None:
    with pytest.raises(LabError, match=told) as error:
        records_of(change)
    assert error.value.exit_code == 1


def test_the_best_is_named_where_it_is_not_the_hybrid() -> None:
    records = [
        record("goodput_pps", "hybrid", 60000, 5.0),
        record("goodput_pps", "poll", 60000, 6.0),
        record("goodput_pps", "hybrid-limit40", 60000, 7.0),
        record("latency_us", "hybrid", 60000, 5.0, quantile="p50"),
        record("latency_us", "napi", 60000, 4.0, quantile="p50"),
    ]
    table = best(records)
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [(row["metric"], row["best"], row["hybrid"]) for row in rows] == [
        ("goodput_pps", "poll", 5.0),
        ("latency_us", "napi", 5.0),
    ]


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
    ("ours", "best", "other"),
    [("hybrid", "e1000", "poll"), ("e1000-governor", "e1000-busy", "e1000-nogro")],
)
def test_late_frames_are_held_against_the_best(
    ours: str, best: str, other: str, late: float, turns: int, told: str, met: bool | None
) -> None:
    shares = {ours: (late, turns), best: (0.5, 5), other: (7.0, 5)}
    records = []
    for variant, (share, n) in shares.items():
        records.append(record("lost_pps", variant, 2000, 0.0, n, place="tail"))
        records.append(record("late_share_pct", variant, 2000, share, n))
    (wanted,) = [g for g in GOALS if g.metric == "late_over_best" and g.variant == ours]
    verdict = judge(wanted, derived.derived(records), whole=False)
    assert (verdict.met, verdict.measured[:9]) == (met, f"2000 {told}")


def test_so_few_late_frames_are_none() -> None:
    shares = {"hybrid": 0.09, "napi": 0.001}
    records = [record("late_share_pct", name, 2000, share, 5) for name, share in shares.items()]
    assert derived.late_over_best(records, "hybrid", 2000) == (1.0, 5)
    assert derived.late_over_best(records[:1], "hybrid", 2000) is None


@pytest.mark.parametrize(
    ("off", "on", "turns", "met"),
    [(1000.9, 2040.0, 5, True), (1001.2, 2050.0, 5, False), (1001.2, 2050.0, 4, None)],
)
def test_the_price_of_what_is_not_used(off: float, on: float, turns: int, met: bool | None) -> None:
    costs = {"e1000-compiled-out": 1000.0, "e1000-off": off}
    costs |= {"e1000-nogro": 2000.0, "e1000-governor": on}
    records = [record("receiving_ns", name, 2000, ns, turns) for name, ns in costs.items()]
    found = derived.derived(records)
    goals = [g for g in GOALS if g.metric in ("governed_off_ratio", "governed_idle_ratio")]
    assert [judge(goal, found, whole=False).met for goal in goals] == [met, met]


def test_the_loss_free_rate_ends_at_the_first_loss() -> None:
    losses = {1000: 1.0, 2000: 2.1, 4000: 0.0}
    goodput = {1000: 900.0, 2000: 1000.0, 4000: 1000.0, 9999: 970.0, 10000: 950.0}
    lost = [record("lost_pps", "hybrid", *pair, place="socket") for pair in losses.items()]
    records = [*lost, *(record("goodput_pps", "hybrid", *pair) for pair in goodput.items())]
    assert derived.loss_free(records, "hybrid", 1) == 1000
    assert derived.flatness(records, "hybrid", 1) == 0.95
    assert derived.flatness(records[:-1], "hybrid", 1) is None


@pytest.mark.parametrize(("x", "y"), [(1, 10), (2, 10), (3, 20), (4, 30), (9, 30)])
def test_the_line_through_the_limits(x: float, y: float) -> None:
    assert derived.at([(4, 30), (2, 10)], x) == y


def test_threads_are_held_against_the_line_of_the_governor() -> None:
    def flood(variant: str, goodput: float, share: float) -> list[Record]:
        pairs = (("goodput_pps", goodput), ("user_share_pct", share))
        return [record(metric, variant, 60000, number) for metric, number in pairs]

    ours = [*flood("e1000-governor", 24000, 15), *flood("e1000-governor-limit40", 20000, 25)]
    threads = [*flood("e1000-threaded", 20000, 20), *flood("e1000-threaded-nogro", 21000, 20)]
    niced = flood("e1000-threaded-nogro-nice2", 22000, 20)
    assert derived.over_threads([*ours, *threads], KEY) == pytest.approx((22000 / 21000, 2.5))
    found = derived.over_threads([*ours, *niced], KEY, peers=[v.niced(2)])
    assert found == pytest.approx((1.0, 0.0))
    assert derived.over_threads([*ours, *threads[:2]], KEY) is None
    assert derived.over_threads(threads, KEY) is None


def test_other_ratios_of_the_governor() -> None:
    """Over stock, with frames for a socket without a reader, and off the limit of 40 %."""
    records = [
        record("goodput_pps", "e1000-governor", 60000, 20000.0),
        record("goodput_pps", "e1000-nogro", 60000, 0.5),
        record("goodput_pps", "e1000-governor", 10000, 9000.0),
        record("goodput_pps", "e1000-governor", 20000, 8100.0, rate_function=experiment.STRAY),
        record("user_share_pct", "e1000-governor-limit40", 60000, 30.0),
        record("apps_share_pct", "e1000-governor-limit40", 60000, 20.0),
        record("source_pct", "e1000-governor-limit40", 60000, 7.0),
    ]
    found = {one.metric: one.value for one in derived.derived(records)}
    assert found == {
        "governed_stock_ratio": 20000,
        "governed_beside_ratio": pytest.approx(0.9),
        "governed_limit_points": pytest.approx(3),
    }

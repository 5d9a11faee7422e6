# SPDX-License-Identifier: GPL-2.0
"""The demo verb: its last screen, its files and its exit status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from lab import LabError, demo
from lab.bench import Bench
from lab.experiment import DEMO
from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.paths import Paths
from lab.report.goals import Goal, Verdict, judge_all
from lab.report.measured import Measured
from lab.subjects.registry import EXPERIMENTS
from tests.host import toy
from tests.host.recorded import Recorded

BOUND_PASSED = 20.0
STOCK = {"wrais": "bfq", "livelock": "e1000", "ipc": "pipe", "udp": "iperf3"}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


@cache
def measured_of(name: str) -> Measured:
    """What was recorded, and twice as much of what ours is compared with."""
    experiment = EXPERIMENTS[name]
    measured = experiment.evaluate(Recorded().all(experiment.boots(DEMO, None)))
    records = [
        replace(r, value=2 * r.value) if r.variant == STOCK.get(name) else r
        for r in measured.records
    ]
    return replace(measured, records=records)


def drawn(paths: Paths, stem: str, pictures: Sequence[str]) -> list[Path]:
    return [paths.plots / f"{stem}-{name}.{kind}" for name in pictures for kind in ("png", "svg")]


def seen_of(paths: Paths) -> list[demo.Seen]:
    """All subjects, from what was recorded."""
    seen = []
    for name in EXPERIMENTS:
        part = Bench(EXPERIMENTS[name], DEMO)
        measured = measured_of(name)
        verdicts = part.experiment.judge(measured.records, False)
        pictures = ("first", demo.SUBJECTS[name].picture)
        seen.append(demo.Seen(part, measured, verdicts, drawn(paths, part.stem, pictures)))
    return seen


def screen(paths: Paths, seen: Sequence[demo.Seen]) -> list[str]:
    return demo.screen(seen, paths, 245.0, paths.out / "report.html").splitlines()


def fits(lines: Sequence[str]) -> bool:
    return len(lines) <= 24 and max(map(len, lines)) <= 80


# The last screen


def test_the_last_screen_fits_and_names_everything(paths: Paths) -> None:
    """Each subject in words, its figure and its picture; the goals, their file, what is next."""
    lines = screen(paths, seen_of(paths))
    assert fits(lines), lines
    text = "\n".join(lines)
    assert lines[0].startswith("All of it ran, in 4 min.")
    assert lines[-1] == "Next: open build/report.html"
    for name, subject in demo.SUBJECTS.items():
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} "))
        assert lines[at].endswith(".") and any(letter.isdigit() for letter in lines[at])
        assert lines[at + 1].strip() == f"build/plots/{name}-demo-{subject.picture}.svg"
    assert "build/results/demo.txt" in text
    assert text.count("missed: ") >= 1


def test_what_it_says_is_what_was_recorded(paths: Paths) -> None:
    told = [one.subject.told(one.measured) for one in seen_of(paths)]
    assert told == [
        "A task with 10 tickets got 9.95 times the CPU of one with 1.",
        "A start beside load took 1.00 x that on an idle disk, stock 2.00 x.",
        "Of 60,000 packets/s 23,257 arrived, with the stock driver 46,514.",
        "A message took 0.1 us by a pipe, 0.06 us to a spinning thread.",
        "512 Mbit/s were sent 0.000 % off, by iperf3 0.093 %.",
    ]


def test_what_was_not_measured_is_said_so(paths: Paths) -> None:
    nothing = [replace(one, measured=Measured([], [], {}), drawn=()) for one in seen_of(paths)]
    lines = screen(paths, nothing)
    assert sum(line.endswith("It was not measured.") for line in lines) == len(nothing)
    assert fits(lines)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 50])
def test_as_many_misses_as_there_is_room_for(paths: Paths, count: int) -> None:
    first, *others = [replace(one, verdicts=()) for one in seen_of(paths)]
    long = "a goal with a name that is as long as names of goals are, of a governor, with threads"
    missed = [Verdict(f"{long} {number}", ">= 1", "0.999", False) for number in range(count)]
    lines = screen(paths, [replace(first, verdicts=missed), *others])
    assert fits(lines), lines
    shown = sum(line.startswith("missed: a goal") for line in lines)
    left = count - shown
    assert (f"missed: {left} more" in lines) == (left > 0)
    assert shown >= min(count, 1)


def test_a_long_name_of_the_build_directory_is_not_cut(tmp_path: Path) -> None:
    paths = Paths(top=tmp_path / "checkout", out=tmp_path / ("a-long-name-" * 8))
    assert f"Next: open {paths.out}/report.html" in screen(paths, seen_of(paths))


# What was missed


def test_a_miss_stands_beside_the_best_of_the_others(paths: Paths) -> None:
    seen = next(one for one in seen_of(paths) if one.name == "livelock")
    misses = {text.partition(":")[0]: text for text in seen.misses()}
    assert misses["user share at 20k, governor"] == (
        "user share at 20k, governor: 19.5, wanted >= 20; best peer e1000: 39.1"
    )
    text = demo.table([seen])
    assert "missed, beside the best that others reached:\n" in text
    assert f"  {misses['user share at 20k, governor']}\n" in text
    assert str(seen.drawn[0]) in text


def test_every_peer_is_a_name_that_something_has() -> None:
    for name, subject in demo.SUBJECTS.items():
        boots = EXPERIMENTS[name].boots("full", None)
        there = "\n".join(map(repr, boots))
        for peer in subject.peers:
            assert f"'{peer}'" in there, (name, peer)


# The verb


def demo_of(
    monkeypatch: pytest.MonkeyPatch,
    paths: Paths,
    runner: toy.Runner,
    judged: bool = False,
    goals: Sequence[Goal] = toy.GOALS,
) -> int:
    experiment = replace(
        toy.EXPERIMENT, judge=lambda records, whole: judge_all(goals, records, whole)
    )
    monkeypatch.setattr(demo, "parts", lambda: [Bench(experiment, "demo")])
    return demo.main(paths, runner, workers=1, judged=judged)


def test_the_demo_judges_by_the_same_goals(
    monkeypatch: pytest.MonkeyPatch, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo_of(monkeypatch, paths, toy.Runner(), judged=True) == 0
    printed = capsys.readouterr()
    assert "1 of 1 measured goals met; all of them: build/results/demo.txt" in printed.out
    assert "build/plots/toy-demo.svg" in printed.out
    assert "demo, drawing: 1/1 subjects" in printed.err
    assert {path.name for path in paths.plots.iterdir()} == {"toy-demo.svg"}
    names = {path.name for path in paths.results.iterdir()}
    assert all(name.startswith("toy-demo") or name == "demo.txt" for name in names)
    assert "1 of 1 measured goals met" in (paths.results / "demo.txt").read_text()
    assert (paths.out / "report.html").exists()


def test_a_missed_goal_is_shown_and_fails_only_where_goals_are_judged(
    monkeypatch: pytest.MonkeyPatch, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = toy.Runner(cost=lambda _: BOUND_PASSED)
    assert demo_of(monkeypatch, paths, bad) == 0
    missed = "missed: cost stays below its bound: 1 20.000, 2 -, 4 -, wanted <= 10"
    assert missed in capsys.readouterr().out.splitlines()
    assert "cost stays below its bound: 1 20.000" in (paths.results / "demo.txt").read_text()
    assert demo_of(monkeypatch, paths, bad, judged=True) == 1
    assert missed in capsys.readouterr().out.splitlines()


def test_a_stretch_is_no_miss_even_where_goals_are_judged(
    monkeypatch: pytest.MonkeyPatch, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    stretch = (*toy.GOALS, replace(toy.GOALS[0], name="cost, stretch", high=0.5))
    assert demo_of(monkeypatch, paths, toy.Runner(), judged=True, goals=stretch) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 measured goals met" in printed and "missed" not in printed
    assert "cost, stretch" in (paths.results / "demo.txt").read_text()


def test_a_boot_that_failed_fails_the_demo(monkeypatch: pytest.MonkeyPatch, paths: Paths) -> None:
    def broken(boot: Boot) -> BootResult:
        raise LabError(f"{boot.name}: panic", exit_code=1)

    monkeypatch.setattr(demo, "parts", lambda: [Bench(toy.EXPERIMENT, "demo")])
    with pytest.raises(LabError, match="panic"):
        demo.main(paths, broken, workers=1)
    assert not (paths.results / "demo.txt").exists()


@pytest.mark.parametrize(
    ("environment", "judged"),
    [({}, False), ({"STRICT": ""}, False), ({"STRICT": "0"}, False), ({"STRICT": "1"}, True)],
)
def test_strict_is_said_in_the_environment(environment: dict[str, str], judged: bool) -> None:
    assert demo.strict(environment) is judged


def test_the_next_demo_knows_how_long_boots_took(
    monkeypatch: pytest.MonkeyPatch, paths: Paths
) -> None:
    assert demo.known_seconds(paths) == {}
    demo_of(monkeypatch, paths, toy.Runner())
    assert demo.known_seconds(paths) == {"toy-1": 0.0}
    for text in ("cut sho", "[1]", '{"toy-1": null}', '{"toy-1": "x"}'):
        (paths.logs / demo.SECONDS).write_text(text)
        assert demo.known_seconds(paths) == {}


def test_the_demo_shows_every_experiment() -> None:
    parts = demo.parts()
    assert [part.experiment for part in parts] == list(EXPERIMENTS.values())
    assert all(part.stem == f"{part.experiment.name}-demo" for part in parts)
    assert set(demo.SUBJECTS) == set(EXPERIMENTS)


def test_the_demo_needs_one_kernel_and_no_root_image() -> None:
    guests = [boot for part in demo.parts() for boot in part.boots() if not boot.host]
    assert {boot.machine.kernel for boot in guests} == {"guest"}
    assert not [boot.name for boot in guests if boot.machine.root or boot.image]

# SPDX-License-Identifier: GPL-2.0
"""The demo verb: its last screen, its files and its exit status."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lab import demo
from lab.bench import Bench
from lab.experiment import DEMO
from lab.paths import Paths
from lab.registry import EXPERIMENTS, SHOWN
from lab.report.goals import Verdict
from lab.report.measured import Measured
from tests.host import toy
from tests.host.recorded import Recorded

BOUND_PASSED = 20.0
STOCK = {"wrais": "bfq", "livelock": "e1000", "ipc": "pipe", "udp": "iperf3"}
HERE = Paths(Path("/top"), Path("/top/build"))


@pytest.fixture(scope="module")
def seen() -> list[demo.Seen]:
    """All subjects, from what was recorded, with twice as much of what ours is compared with."""
    found = []
    for name, experiment in EXPERIMENTS.items():
        measured = experiment.evaluate(Recorded().all(experiment.boots(DEMO, None)))
        records = [
            replace(r, value=2 * r.value) if r.variant == STOCK.get(name) else r
            for r in measured.records
        ]
        part = Bench(experiment, DEMO)
        verdicts = experiment.judge(records, False)
        drawn = [HERE.plots / f"{part.stem}-{SHOWN[name].picture}.svg"]
        found.append(demo.Seen(part, replace(measured, records=records), verdicts, drawn))
    return found


def screen(seen: Sequence[demo.Seen]) -> list[str]:
    """Its lines, which have to fit."""
    lines = demo.screen(seen, HERE, 245.0, HERE.out / "report.html").splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, lines
    return lines


def test_the_last_screen_fits_and_names_everything(seen: list[demo.Seen]) -> None:
    """Each subject in words, its figure and its picture; the goals, their file, what is next."""
    lines = screen(seen)
    assert lines[0].startswith("All of it ran, in 4 min.")
    assert lines[-1] == "Next: open build/report.html"
    for name, subject in SHOWN.items():
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} "))
        assert lines[at].endswith(".") and any(letter.isdigit() for letter in lines[at])
        assert lines[at + 1].strip() == f"build/plots/{name}-demo-{subject.picture}.svg"
    text = "\n".join(lines)
    assert "build/results/demo.txt" in text and "missed: " in text
    nothing = [replace(one, measured=Measured([], [], {}), drawn=()) for one in seen]
    unmeasured = [line for line in screen(nothing) if line.endswith("It was not measured.")]
    assert len(unmeasured) == len(nothing)
    # A long name of the build directory is not cut.
    report = Path(f"/{'a-long-name-' * 8}/report.html")
    assert f"Next: open {report}\n" in demo.screen(nothing, HERE, 245.0, report) + "\n"


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 50])
def test_as_many_misses_as_there_is_room_for(seen: list[demo.Seen], count: int) -> None:
    first, *others = [replace(one, verdicts=()) for one in seen]
    long = "a goal with a name that is as long as names of goals are, of a governor, with threads"
    missed = [Verdict(f"{long} {number}", ">= 1", "0.999", False) for number in range(count)]
    lines = screen([replace(first, verdicts=missed), *others])
    shown = sum(line.startswith("missed: a goal") for line in lines)
    left = count - shown
    assert (f"missed: {left} more" in lines) == (left > 0)
    assert shown >= min(count, 1)


def test_a_miss_stands_beside_the_best_of_the_others(seen: list[demo.Seen]) -> None:
    (one,) = (one for one in seen if one.name == "livelock")
    missed = [miss for miss in one.misses() if re.search(r": [\d.]+, wanted .*; best peer ", miss)]
    text = demo.table([one])
    assert missed and "missed, beside the best that others reached:\n" in text
    assert all(f"  {miss}\n" in text for miss in missed) and str(one.drawn[0]) in text


def test_every_peer_is_a_name_that_something_has() -> None:
    for name, subject in SHOWN.items():
        boots = EXPERIMENTS[name].boots("full", None)
        there = "\n".join(map(repr, boots))
        for peer in subject.peers:
            assert f"'{peer}'" in there, (name, peer)


Shown = Callable[..., tuple[int, str]]


@pytest.fixture
def shown(
    monkeypatch: pytest.MonkeyPatch, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> Shown:
    def run(runner: toy.Runner, judged: bool = True) -> tuple[int, str]:
        monkeypatch.setattr(demo, "parts", lambda: [Bench(toy.EXPERIMENT, "demo")])
        status = demo.main(paths, runner, workers=1, judged=judged)
        return status, "".join(capsys.readouterr())

    return run


def test_the_demo_judges_by_the_same_goals(shown: Shown, paths: Paths) -> None:
    status, printed = shown(toy.Runner())
    assert status == 0
    assert "1 of 1 measured goals met; all of them: build/results/demo.txt" in printed
    assert "build/plots/toy-demo.svg" in printed and "demo, drawing: 1/1 subjects" in printed
    assert {path.name for path in paths.plots.iterdir()} == {"toy-demo.svg"}
    names = {path.name for path in paths.results.iterdir()}
    assert all(name.startswith("toy-demo") or name == "demo.txt" for name in names)
    assert "1 of 1 measured goals met" in (paths.results / "demo.txt").read_text()
    assert (paths.out / "report.html").exists()
    # The next demo knows how long boots took.
    assert demo.known_seconds(paths) == {"toy-1": 0.0}
    for text in ("cut sho", "[1]", '{"toy-1": null}', '{"toy-1": "x"}'):
        (paths.logs / demo.SECONDS).write_text(text)
        assert demo.known_seconds(paths) == {}


def test_a_missed_goal_is_shown_and_fails_only_where_goals_are_judged(
    shown: Shown, paths: Paths
) -> None:
    for judged in (False, True):
        status, printed = shown(toy.Runner(cost=lambda _: BOUND_PASSED), judged)
        assert status == judged
        assert re.search(r"^missed: cost stays below its bound: 1 20.000, ", printed, re.M)
        assert "cost stays below its bound: 1 20.000" in (paths.results / "demo.txt").read_text()


@pytest.mark.filterwarnings("error")
def test_the_demo_tells_its_progress_and_has_no_warnings(
    paths: Paths, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert demo.main(paths, Recorded(), workers=1) == 0
    said, told = capfd.readouterr()
    assert said.startswith("All of it ran, ") and not caplog.records
    line = r"demo, (in guests|on this machine|drawing): \d+/\d+ (boots|subjects) \(\d+ %\)"
    assert re.fullmatch(rf"({line}(, .* done, .* left)?\n)+", told), told


@pytest.mark.parametrize(
    ("environment", "judged"),
    [({}, False), ({"STRICT": ""}, False), ({"STRICT": "0"}, False), ({"STRICT": "1"}, True)],
)
def test_strict_is_said_in_the_environment(environment: dict[str, str], judged: bool) -> None:
    assert demo.strict(environment) is judged


def test_the_demo_shows_every_experiment() -> None:
    parts = demo.parts()
    assert [part.experiment for part in parts] == list(EXPERIMENTS.values())
    guests = [boot for part in parts for boot in part.boots() if not boot.host]
    assert {boot.machine.kernel for boot in guests} == {"guest"}
    assert not [boot.name for boot in guests if boot.machine.root or boot.image]

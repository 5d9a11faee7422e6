# SPDX-License-Identifier: GPL-2.0
"""The `demo` verb: each experiment in its smallest scope, and a last screen that says what came.

Some seconds of latencies and of paced sending on the host itself, then guests in
virtual time.  Figures, the page and the table of goals are files that the screen names.
That a goal was missed is shown and fails nothing, unless STRICT=1 is in the environment.
"""

import argparse
import json
import os
import textwrap
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lab.bench import Bench, add_jobs, run_all, settle
from lab.experiment import DEMO, Shown, measuring, require
from lab.guest.result import BootResult
from lab.host.progress import Progress, duration
from lab.paths import Paths
from lab.registry import EXPERIMENTS, PEERS, PICTURES, SHOWN
from lab.report import page, three
from lab.report.goals import NOT_MEASURED, Verdict, best_peer, counted, goals_text, missed
from lab.report.measured import Measured
from lab.report.records import write_text
from lab.schedule import Runner

COLUMNS, LINES = 80, 24
INDENT = 10
TABLE = "demo.txt"
NOTHING = "It was not measured."
QUICK_START = "Documentation/quick-start.rst"
LONGER = "make bench"
SECONDS = "demo-seconds.json"


@dataclass
class Seen:
    """What came of a part of the demo."""

    part: Bench
    measured: Measured
    verdicts: Sequence[Verdict]
    drawn: Sequence[Path] = ()

    @property
    def name(self) -> str:
        """Of the subject."""
        return self.part.experiment.name

    @property
    def subject(self) -> Shown:
        """How it is told of."""
        return SHOWN.get(self.name, Shown())

    @property
    def picture(self) -> Path | None:
        """The plot that shows it, if it was drawn."""
        wanted = "-".join(filter(None, (self.part.stem, self.subject.picture)))
        return next((path for path in self.drawn if path.name == f"{wanted}.svg"), None)

    def misses(self) -> list[str]:
        """Each goal that was missed, beside the best of the peers."""
        names = missed(self.verdicts)
        return [self._miss(verdict) for verdict in self.verdicts if verdict.name in names]

    def _miss(self, verdict: Verdict) -> str:
        text = f"{verdict.name}: {verdict.measured}, wanted {verdict.bound}"
        for goal in self.subject.goals:
            best = best_peer(goal, self.measured.records, self.subject.peers)
            if goal.name == verdict.name and best:
                return f"{text}; best peer {best}"
        return text


def verdicts_of(seen: Sequence[Seen]) -> list[Verdict]:
    """All that were measured, in the order of the subjects."""
    return [v for one in seen for v in one.verdicts if v.measured != NOT_MEASURED]


def table(seen: Sequence[Seen]) -> str:
    """The whole of it: every goal, what was missed beside the best peer, every picture."""
    misses = [f"  {text}\n" for one in seen for text in one.misses()]
    beside = ["\nmissed, beside the best that others reached:\n", *misses] if misses else []
    files = [f"{path}\n" for one in seen for path in one.drawn]
    return "".join([goals_text(verdicts_of(seen)), *beside, "\n", *files])


def _line(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(
        text,
        COLUMNS,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def screen(seen: Sequence[Seen], paths: Paths, took_s: float, report: Path) -> str:
    """The last screen: LINES lines of COLUMNS columns at most, where the paths allow that."""

    def short(path: Path) -> str:
        """As seen from the checkout, where make is called."""
        return str(path.relative_to(paths.top) if path.is_relative_to(paths.top) else path)

    head = [f"All of it ran, in {duration(took_s)}. What was shown, and where it is drawn:", ""]
    for one in seen:
        head.append(f"{one.name:<{INDENT}}{one.subject.told(one.measured) or NOTHING}")
        if one.picture:
            head.append(" " * INDENT + short(one.picture))
    tail = [
        "",
        f"To do it by hand: {QUICK_START}; to measure longer: {LONGER}",
        f"Next: open {short(report)}",
    ]
    goals = [
        "",
        *_line(f"{counted(verdicts_of(seen))}; all of them: {short(paths.results / TABLE)}"),
    ]
    room = LINES - len(head) - len(tail) - len(goals)
    return "\n".join([*head, *goals, *_misses(seen, room), *tail]) + "\n"


def _misses(seen: Sequence[Seen], room: int) -> list[str]:
    """As many as there is room for, and how many are left."""
    texts = [_line(f"missed: {text}") for one in seen for text in one.misses()]
    shown: list[str] = []
    for number, lines in enumerate(texts):
        last = number == len(texts) - 1
        if len(shown) + len(lines) > room - (0 if last else 1):
            return [*shown, f"missed: {len(texts) - number} more"]
        shown += lines
    return shown


def known_seconds(paths: Paths) -> dict[str, float]:
    """Host seconds of the boots of the last demo, by name; empty if there was none."""
    try:
        found = json.loads((paths.logs / SECONDS).read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def remember_seconds(paths: Paths, results: Sequence[BootResult]) -> None:
    """For the next one."""
    took = {result.boot.name: round(result.seconds, 1) for result in results}
    write_text(paths.logs / SECONDS, json.dumps(took, indent=1) + "\n")


def strict(environment: Mapping[str, str]) -> bool:
    """Whether goals decide the exit status."""
    return environment.get("STRICT", "") not in ("", "0")


def parts() -> list[Bench]:
    """The experiments, in the order of the table."""
    return [Bench(experiment, DEMO) for experiment in EXPERIMENTS.values()]


def main(paths: Paths, runner: Runner, workers: int, judged: bool = False) -> int:
    """Boot, draw, tell.  Returns 0; if the goals are `judged`, 1 if one was missed."""
    started = time.monotonic()
    shown = parts()
    boots = [boot for part in shown for boot in part.boots()]
    done = run_all(boots, runner, workers, "demo", known_seconds(paths))
    remember_seconds(paths, done)
    results = {result.boot: result for result in done}
    seen: list[Seen] = []
    with closing(Progress("demo, drawing", len(shown), "subjects")) as progress:
        for part in shown:
            ended = [results[boot] for boot in part.boots()]
            seen.append(Seen(part, *settle(paths, part, ended)))
            progress.update(len(seen))
    write_text(paths.results / TABLE, table(seen))
    three.draw(paths)
    report = page.write(paths, pictured=tuple(PICTURES))
    print(screen(seen, paths, time.monotonic() - started, report), end="")
    return 1 if judged and missed(verdicts_of(seen)) else 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "each experiment in its smallest scope: what it shows, the figures, a table of goals"
    )
    parser.epilog = (
        "Exits 0 when everything ran; with STRICT=1 in the environment only if no goal is missed."
    )
    add_jobs(parser)


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    require(paths, {boot.machine.kernel for part in parts() for boot in part.boots()})
    return main(paths, measuring(paths, "demo", PEERS), args.jobs, strict(os.environ))

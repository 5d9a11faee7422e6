# SPDX-License-Identifier: GPL-2.0
"""A toy experiment: what bench and demo do with any experiment, seen on the smallest one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.experiment import Experiment, by_scope
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.report.goals import Goal, judge_all
from lab.report.measured import Measured, RawTable
from lab.report.records import Sample, write_text
from lab.report.summary import summarise
from tests.host.recorded import TEXT, printing

SIZES = {"full": (1, 2, 4), "quick": (1, 2), "demo": (1,)}
GOALS = (
    Goal(name="cost stays below its bound", metric="cost_ns", by="size", high=10.0,
         where={"size": SIZES["full"]}),
)  # fmt: skip


def program(size: int) -> Program:
    return Program("toy", ("toy", str(size)), busy_s=size, what=size)


def boots(sizes: Sequence[int], _only: str | None = None) -> list[Boot]:
    machine = Machine(accel="icount", root=False)
    return [Boot(f"toy-{size}", machine, (program(size),)) for size in sizes]


def evaluate(results: Sequence[BootResult]) -> Measured:
    samples, rows = [], RawTable(["size", "cost"])
    for result in results:
        for done in result.boot.programs:
            size, cost = int(str(done.what)), float(result.lines(done)[0])
            samples.append(Sample("toy", "cost_ns", "v", {"size": size}, cost, "ns", "1"))
            rows.rows.append([size, cost])
    return Measured(summarise(samples, lambda _: max), samples, {"rows": rows})


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    assert (results / f"{stem}.json").exists()
    write_text(plots / f"{stem}.svg", "<svg/>\n")
    return [plots / f"{stem}.svg"]


EXPERIMENT = Experiment(
    name="toy",
    metrics=("cost_ns",),
    raw=("rows",),
    boots=by_scope(boots, SIZES["full"], SIZES["quick"], SIZES["demo"]),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)


@dataclass
class Runner:
    cost: Callable[[int], float] = float
    booted: list[str] = field(default_factory=list)

    def __call__(self, boot: Boot) -> BootResult:
        self.booted.append(boot.name)
        costs = (self.cost(int(str(program.what))) for program in boot.programs)
        return printing(boot, *([{TEXT: str(cost)}] for cost in costs))

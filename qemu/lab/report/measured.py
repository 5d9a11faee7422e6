# SPDX-License-Identifier: GPL-2.0
"""What one run of an experiment measured, and the files that hold it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from lab.report.goals import Verdict
from lab.report.records import Param, Record, Sample, samples_csv, to_csv, to_gobench, to_json


@dataclass
class RawTable:
    """Raw rows of one tool, for the CSV beside the records."""

    header: list[str]
    rows: list[list[Param]] = field(default_factory=list)


def tabulate(raw: dict[str, RawTable], name: str, line: Mapping[str, Any]) -> None:
    """Add a line, with its columns, to the table of a name."""
    raw.setdefault(name, RawTable([*line])).rows.append([*line.values()])


@dataclass
class Measured:
    """Records, the samples behind them, and the tools' raw rows by a short name."""

    records: list[Record]
    samples: list[Sample]
    raw: dict[str, RawTable]

    def files(self, stem: str) -> dict[str, str]:
        """Text by file name: records, samples, raw rows, and samples for benchstat."""
        texts = {
            f"{stem}.json": to_json(self.records),
            f"{stem}.bench": to_gobench(self.samples),
            f"{stem}-samples.csv": samples_csv(self.samples),
        }
        for name, table in self.raw.items():
            texts[f"{stem}-{name}.csv"] = to_csv(table.header, table.rows)
        return texts


def repeat_goal(runs: Sequence[dict[str, str]]) -> Verdict:
    """Whether all runs wrote the same bytes; not measured with one run."""
    what, wanted = "two runs of the same bench", "same figures"
    if len(runs) < 2:
        return Verdict(what, wanted, "one run (--repeat 2 compares)", None)
    differ = differing(runs)
    measured = f"{len(runs)} runs, " + (f"{differ[0]} differs" if differ else "all files identical")
    return Verdict(what, wanted, measured, not differ)


def differing(runs: Sequence[dict[str, str]]) -> list[str]:
    """Names of the files that are not the same bytes in every run, sorted."""
    every = sorted({name for run in runs for name in run})
    return [name for name in every if len({run.get(name) for run in runs}) > 1]


def first_difference(name: str, one: dict[str, str], two: dict[str, str]) -> str:
    """The first line in which two runs' file differs, in one line."""
    left, right = (run.get(name, "").splitlines() for run in (one, two))
    for number, pair in enumerate(zip_longest(left, right, fillvalue="(end)"), 1):
        if pair[0] != pair[1]:
            return f"{name}:{number}: {pair[0]!r} against {pair[1]!r}"
    return f"{name}: differs in its line ends"

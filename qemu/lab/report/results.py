# SPDX-License-Identifier: GPL-2.0
"""The results directory as the page reads it: of each experiment its fullest run."""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import LabError
from lab.paths import Paths
from lab.report.goals import Verdict
from lab.report.records import Record, read_csv, read_json

# The fullest first.
SCOPES = ("full", "quick", "demo")
COMMANDS = {
    "full": "make bench EXP={name}",
    "quick": "make bench EXP={name} QUICK=1",
    "demo": "make demo",
}
FULL = COMMANDS["full"]
MANY_SEEDS = 12


@dataclass(frozen=True)
class Origin:
    """Where figures come from: releases of kernels, the day, QEMU, and the host in words."""

    kernels: tuple[str, ...]
    day: str
    qemu: str
    host: str


@dataclass(frozen=True)
class Run:
    """What a run left: stem of its files, scope, records, verdicts, and what it depends on.

    Without any the stem is empty, and the command is the one that would make it.
    """

    name: str
    stem: str = ""
    scope: str = "full"
    records: list[Record] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    conditions: list[tuple[str, str]] = field(default_factory=list)
    origin: Origin | None = None

    @property
    def command(self) -> str:
        """What repeats it."""
        return COMMANDS[self.scope].format(name=self.name)

    @property
    def whole(self) -> str:
        """What measures all of it."""
        return FULL.format(name=self.name)

    @property
    def goals(self) -> dict[str, Verdict]:
        """Verdicts by the goals' names."""
        return {verdict.name: verdict for verdict in self.verdicts}


def stem(name: str, scope: str) -> str:
    """Of the files of an experiment's results in a scope."""
    return name if scope == "full" else f"{name}-{scope}"


def fullest(results: Path, name: str) -> str | None:
    """The scope of an experiment's fullest results."""
    there = (scope for scope in SCOPES if (results / f"{stem(name, scope)}.json").exists())
    return next(there, None)


def _json(path: Path) -> Any:
    """Raises LabError if it is not JSON; None if it is not there."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LabError(f"{path}: not JSON: {error}") from None


def _verdicts(path: Path) -> list[Verdict]:
    try:
        return [Verdict(**item) for item in _json(path) or []]
    except TypeError:
        raise LabError(f"{path}: must be a list of name, bound, measured and met") from None


def _seeds(path: Path) -> str:
    if not path.exists():
        return "unknown"
    found = list(dict.fromkeys(row.get("run") or "" for row in read_csv(path)))
    more = f" and {len(found) - MANY_SEEDS} more" if len(found) > MANY_SEEDS else ""
    return ", ".join(found[:MANY_SEEDS]) + more


def _host(host: dict[str, Any]) -> str:
    return f"{host['cpus']} x {host['cpu']}, {host['memory']} MiB, {host['system']}"


def _conditions(results: Path, found: str) -> tuple[list[tuple[str, str]], Origin | None]:
    path = results / f"{found}-provenance.json"
    told = _json(path)
    if told is None:
        return [], None
    try:
        kernels = tuple(one["release"] for one in told["kernels"].values())
        qemu = told["qemu"].partition(" (")[0].removeprefix("QEMU emulator version ")
        origin = Origin(kernels, told.get("day", ""), qemu, _host(told["host"]))
        text = [
            *(
                (f"kernel {name}", f"{one['release']}, {one['compiler']}, config {one['config']}")
                for name, one in told["kernels"].items()
            ),
            ("series", f"{told['series']}, commit {told['commit'][:12]}"),
            ("QEMU", f"{told['qemu']}, CPU model {told['cpu']}"),
            ("QEMU line", told.get("command") or "not noted by this run"),
            ("host", origin.host),
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise LabError(f"{path}: no {error} in it") from None
    if origin.day:
        text.append(("measured", origin.day))
    return [*text, ("seeds, repeats", _seeds(results / f"{found}-samples.csv"))], origin


def run(paths: Paths, name: str, scope: str | None = None) -> Run:
    """What there is of an experiment, in that scope or the fullest.

    Raises LabError that names a file that is not right.
    """
    results = paths.results
    scope = scope or fullest(results, name) or "full"
    found = stem(name, scope)
    if not (results / f"{found}.json").exists():
        return Run(name, scope=scope)
    return Run(
        name,
        found,
        scope,
        read_json(results / f"{found}.json"),
        _verdicts(results / f"{found}-goals.json"),
        *_conditions(results, found),
    )


def numbers(path: Path, *columns: str) -> list[tuple[float, ...]]:
    """Columns of a raw table, row by row.  Raises LabError that names what is not a number."""
    if not path.exists():
        return []
    try:
        return [tuple(float(row[name]) for name in columns) for row in read_csv(path)]
    except (KeyError, ValueError, csv.Error) as error:
        raise LabError(f"{path}: {error}: must have numbers in {', '.join(columns)}") from None

# SPDX-License-Identifier: GPL-2.0
"""A runner that answers with what guests have really printed.

golden/printed.txt has what a program of each kind printed: its kind, a space, and a line.
Of other sizes, variants and repeats it is the same, under the names and numbers that were
asked for.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.guest.boot import Boot, Program
from lab.guest.ktap import Status
from lab.guest.result import BootResult, ProgramResult
from subjects.ipc import experiment as ipc
from subjects.livelock import experiment as livelock
from subjects.udp import experiment as udp
from subjects.wrais import experiment as wrais

PRINTED = Path(__file__).resolve().parents[1] / "golden/printed.txt"

Rows = list[dict[str, Any]]
Change = Callable[[Boot, Program, Rows], Rows]
"""Falsifies what a program printed, as JSON objects; another line is {TEXT: line}."""

TEXT = "text"
SAME = dict.fromkeys(("ratio", "yield", "draws"), "share")
"""Kinds of the lottery that are measured by the same program."""


def printed(kind: str) -> Rows:
    pairs = (line.partition(" ") for line in PRINTED.read_text().splitlines())
    lines = [line for name, _, line in pairs if name == SAME.get(kind, kind)]
    return [json.loads(line) if line.startswith("{") else {TEXT: line} for line in lines]


def lottery(boot: Boot, program: Program) -> Rows:
    """A list is as slow as it is long; a task wins what it is due, and five draws more."""
    kind, pool = str(program.what), boot.machine.append[0].partition("=")[2]
    argv = program.argv[1:] if program.argv[0] == "lottery-bench" else program.argv
    rows = printed(kind)
    if argv[0] == "@cat":
        return printed(program.name.rpartition("-")[2])
    if kind == "scale":
        (row,), tasks = rows, int(argv[1])
        length = tasks if pool == "list" else 1
        row |= {
            "draw_ns": row["draw_ns"] * length,
            "enqueue_ns": row["enqueue_ns"] + boot.machine.seed,
        }
        return [{**row, "pool": pool, "tasks": tasks}]
    if argv[0] == "share":
        (row,), tickets = rows, [int(word) for word in argv[1].split(":")]
        draw = "low-variance" if "--low-variance" in argv else "independent"
        row |= {"case": argv[1], "draw": draw, "total": sum(tickets)}
        due = [row["lotteries"] * mine / sum(tickets) for mine in tickets]
        pairs = zip(tickets, due, strict=True)
        return [{**row, "tickets": n, "expected": won, "wins": won + 5} for n, won in pairs]
    if kind == "pipe":
        repeats = int(argv[argv.index("--repeats") + 1])
        return [{**rows[0], "policy": argv[2], "repeat": n} for n in range(1, repeats + 1)]
    if kind == "transfers" and "--server-tickets" not in argv:
        return [{**row, "server_tickets": 0} for row in rows]
    if kind == "currencies":
        return [{**row, "currencies": "--no-currencies" not in argv} for row in rows]
    return rows


def _livelock(curve: livelock.Curve) -> Rows:
    """At each rate what the hybrid does at the nearest of those that were recorded."""
    known, rows = printed("curve"), []
    for rate, _ in curve.windows:
        nearest = min(known, key=lambda row: abs(int(row["offered_pps"]) - rate))
        rows.append({**nearest, "offered_pps": rate, "ports": curve.ports})
    return rows


def _wrais(cell: wrais.Cell) -> Iterator[dict[str, Any]]:
    database = cell.probe in wrais.DATABASES
    for repeat in range(1, 1 + cell.repeats):
        if database:
            (row,) = printed("sqlite")
            tool = "wrais-pgbench" if cell.probe == wrais.PGBENCH else "wrais-sqlite"
            yield {**row, "tool": tool, "clients": 4, "transactions": row["commits"]}
        kind = "idle" if cell.background == "idle" else "loaded"
        (row,) = printed("endless" if cell.probe.startswith("endless") else kind)
        window = {"background_window_mbps": 1.4} if "--window" in cell.argv() else {}
        yield {**row, "repeat": repeat, **window}


def _ipc(cell: ipc.Cell) -> Rows:
    (document,) = printed("ipclat")
    (result,) = document["results"]
    result |= {"samples": cell.messages * cell.repeats, "repeats": cell.repeats}
    results = [{**result, "mechanism": name} for name in cell.mechanisms]
    return [{**document, "results": results}]


def _udp(cell: udp.Cell) -> Rows:
    (row,) = printed("iperf3" if cell.variant == "iperf3" else "udprate")
    return [{**row, "workers": cell.workers, "requested_mbps": cell.rate_mbps}]


def rows_of(boot: Boot, program: Program) -> Rows:
    what = program.what
    if isinstance(what, livelock.Curve):
        return _livelock(what)
    if isinstance(what, wrais.Cell):
        return list(_wrais(what))
    if isinstance(what, ipc.Cell):
        return _ipc(what)
    if isinstance(what, udp.Cell):
        return _udp(what)
    return lottery(boot, program) if what else []


def said(program: Program, rows: Iterable[dict[str, Any]]) -> ProgramResult:
    lines = [row[TEXT] if TEXT in row else json.dumps(row) for row in rows]
    return ProgramResult(program.name, Status.OK, output=lines)


def printing(boot: Boot, *rows: Iterable[dict[str, Any]]) -> BootResult:
    pairs = zip(boot.programs, rows, strict=True)
    return BootResult(boot, [said(*pair) for pair in pairs], Path("console.log"))


@dataclass
class Recorded:
    """Runs boots of experiments from what was recorded; `change` spoils it."""

    change: Change = lambda _boot, _program, rows: rows
    booted: list[str] = field(default_factory=list)

    def __call__(self, boot: Boot) -> BootResult:
        self.booted.append(boot.name)
        return printing(boot, *(self.change(boot, p, rows_of(boot, p)) for p in boot.programs))

    def all(self, boots: Sequence[Boot]) -> list[BootResult]:
        return [self(boot) for boot in boots]

# SPDX-License-Identifier: GPL-2.0
"""Goals: what an experiment must show, what it showed, and the table of both.

A goal is data: which records, what of them, its bound, and where it is quoted.
"""

import json
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from tabulate import tabulate

from lab import LabError
from lab.report.records import Param, Record

NOT_MEASURED = "not measured"
ONLY_REPORTED = "only reported"
STRETCH = ", stretch"
"""Ends the name of a goal that is wished for and not asked for: it is never counted as missed."""

_FORM = re.compile(r"(?P<sign>\+?)\.(?P<digits>\d+)(?P<kind>[fg])")
_SUMS = ("where", "over_where", "words")
MOST_DIGITS = 17
"""More than that tell no two numbers apart."""

Choice = Param | tuple[Param, ...]
"""One value, or each of several."""


@dataclass(frozen=True)
class Verdict:
    """One line of the table; `met` is None when the run did not measure it, or not enough.

    `quoted` are the documents that have it in a table, see lab.report.quotes; `why` says what
    a judgement lacks, or is empty.
    """

    name: str
    bound: str
    measured: str
    met: bool | None
    quoted: Sequence[str] = ()
    why: str = ""

    @property
    def outcome(self) -> str:
        """met, missed, `-` (not judged); a stretch is not reached where a goal is missed."""
        if self.met is None:
            return "-"
        return "met" if self.met else "not reached" if self.stretch else "missed"

    @property
    def stretch(self) -> bool:
        """Whether it is only wished for."""
        return self.name.endswith(STRETCH)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Records of a metric, selected by variant and parameters, and the bound of their values.

    In `where` a tuple stands for each of its values.  `by` names the parameter
    (or "variant") that tells the rows apart; without it there is one row.  With
    `over` a row's value is divided by that of the variant `over`, and with
    `over_where` by the record with these parameters instead.  `low` and `high`
    include themselves.  `magnitude` judges the absolute value, `scale` is
    multiplied in.  A record with fewer samples than `least_n` is shown, but not
    judged, as is everything with `judged` False.  With `worst` only that row is
    shown, and how many there are.  `quoted` are the documents that quote it.
    """

    name: str
    metric: str
    variant: str | None = None
    where: Mapping[str, Choice] = field(default_factory=dict, hash=False)
    by: str = ""
    over: str | None = None
    over_where: Mapping[str, Param] = field(default_factory=dict, hash=False)
    low: float = -math.inf
    high: float = math.inf
    magnitude: bool = False
    scale: float = 1.0
    form: str = ".3f"
    least_n: int = 1
    judged: bool = True
    worst: bool = False
    quoted: tuple[str, ...] = ()

    @property
    def bound(self) -> str:
        """The bound in words."""
        if not self.judged:
            return "reported"
        if self.low == -math.inf:
            return f"<= {self.high:g}"
        if self.high == math.inf:
            return f">= {self.low:g}"
        return f"{self.low:g} to {self.high:g}"

    def good(self, number: float) -> bool:
        """Whether a row's value keeps the bound."""
        return self.low <= (abs(number) if self.magnitude else number) <= self.high

    def badness(self, number: float) -> float:
        """How far the bound is away, or was passed: the greatest is the worst row."""
        size = abs(number) if self.magnitude else number
        return max(size - self.high, self.low - size)

    def text(self, number: float) -> str:
        """The value in the goal's form; with more digits where rounding changes the verdict."""
        text = unsigned(f"{number:{self.form}}")
        form = _FORM.fullmatch(self.form)
        if not self.judged or not form:
            return text
        for digits in range(int(form["digits"]), MOST_DIGITS + 1):
            text = unsigned(f"{number:{form['sign']}.{digits}{form['kind']}}")
            if self.good(float(text)) == self.good(number):
                break
        return text


def read(path: Path) -> tuple[Goal, ...]:
    """The goals of a file: quoted for all, and groups of them.

    A goal has what its group has, then what one of `each` has, then its own; of `where` and
    `over_where` the parts add up.  `words` are filled into the name.  Raises LabError.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    found = []
    for group in content["group"]:
        shared = {key: value for key, value in group.items() if key not in ("each", "goals")}
        for each, own in product(group.get("each", ({},)), group["goals"]):
            row: dict[str, Any] = {"quoted": content["quoted"], "words": {}}
            for part in (shared, each, own):
                sums = {key: {**row.get(key, {}), **part[key]} for key in _SUMS if key in part}
                row |= {**part, **sums}
            row["name"] = row["name"].format(**row.pop("words"))
            if unknown := row.keys() - {field.name for field in fields(Goal)}:
                raise LabError(f"{path}: {row['name']}: unknown {', '.join(sorted(unknown))}")
            found.append(msgspec.convert(row, Goal))
    return tuple(found)


def unsigned(text: str) -> str:
    """Of a number: a zero is not less than nothing."""
    return text if float(text.replace(",", "")) else text.removeprefix("-")


def find(
    records: Sequence[Record], metric: str, variant: str | None = None, **params: Choice
) -> list[Record]:
    """Records of a metric whose variant and parameters, where given, are these."""
    return [
        record
        for record in records
        if record.metric == metric
        and variant in (None, record.variant)
        and all(_is(record.params.get(name), wanted) for name, wanted in params.items())
    ]


def _is(value: Param | None, wanted: Choice) -> bool:
    return value in wanted if isinstance(wanted, tuple) else value == wanted


def value(records: Sequence[Record], metric: str, variant: str, **params: Param) -> float | None:
    """The value of the one record asked for, or None if it was not measured."""
    found = find(records, metric, variant, **params)
    return found[0].value if len(found) == 1 else None


def ratio(above: float | None, below: float | None) -> float | None:
    """Quotient of two values, None where one is missing or the divisor is 0."""
    return None if above is None or not below else above / below


@dataclass(frozen=True)
class Row:
    """What was measured of a goal under one name; enough says whether n suffices."""

    name: str
    value: float
    enough: bool


def _divisor(goal: Goal, record: Record, records: Sequence[Record]) -> Record | None:
    variant = goal.over if goal.over is not None else record.variant
    params = {**record.params, **goal.over_where}
    found = find(records, record.metric, variant, **params)
    return found[0] if len(found) == 1 else None


def _row(goal: Goal, record: Record, records: Sequence[Record]) -> Row | None:
    name = record.named(goal.by)
    if goal.over is None and not goal.over_where:
        return Row(name, goal.scale * record.value, record.n >= goal.least_n)
    divisor = _divisor(goal, record, records)
    if divisor is None or not divisor.value:
        return None
    enough = min(record.n, divisor.n) >= goal.least_n
    return Row(name, goal.scale * record.value / divisor.value, enough)


def rows(goal: Goal, records: Sequence[Record]) -> list[Row]:
    """What was measured of a goal."""
    found = find(records, goal.metric, goal.variant, **goal.where)
    return [row for record in found if (row := _row(goal, record, records))]


def _missing(goal: Goal, found: Sequence[Row]) -> list[str]:
    """Rows that the goal names and that were not measured."""
    wanted = goal.where.get(goal.by, ())
    if not isinstance(wanted, tuple):
        return []
    names = {row.name for row in found}
    return [str(name) for name in wanted if str(name) not in names]


def _needs(goal: Goal, records: Sequence[Record]) -> str:
    """What of a goal's parameters no record has."""
    there = find(records, goal.metric)
    if not there:
        return "needs make bench"
    lacks = [
        f"{value:,} {name}" if isinstance(value, int) and name.endswith("s") else f"{name} {value}"
        for name, value in (*goal.where.items(), *goal.over_where.items())
        if not isinstance(value, tuple) and value not in {one.params.get(name) for one in there}
    ]
    variants = {one.variant for one in there}
    lacks += [name for name in (goal.variant, goal.over) if name and name not in variants]
    return f"needs {', '.join(lacks)}" if lacks else "needs other rows"


def judge(goal: Goal, records: Sequence[Record], whole: bool) -> Verdict:
    """A goal against what was measured: one bad row spoils it.

    If the whole experiment was measured, every row that the goal names must be
    there to meet it.
    """
    found = rows(goal, records)
    missing = _missing(goal, found)
    if not found:
        why = _needs(goal, records)
        return Verdict(goal.name, goal.bound, NOT_MEASURED, None, goal.quoted, why)
    shown = [f"{row.name} {goal.text(row.value)}".strip() for row in found]
    if goal.worst:
        worst = max(found, key=lambda row: goal.badness(row.value))
        count = f", {len(found)} rows" if len(found) > 1 else ""
        place = f" at {worst.name}" if goal.by else ""
        shown = [f"worst {goal.text(worst.value)}{place}{count}"]
    shown += [f"{name} -" for name in missing]
    judged = [row for row in found if row.enough and goal.judged]
    met: bool | None = all(goal.good(row.value) for row in judged) if judged else None
    why = "" if judged else f"needs n = {goal.least_n}" if goal.judged else ONLY_REPORTED
    if met and whole and missing:
        met, why = None, f"needs {goal.by} {', '.join(missing)}"
    text = ", ".join(shown)
    if goal.judged and len(judged) < len(found):
        text += f" (judged from n = {goal.least_n} on)"
    return Verdict(goal.name, goal.bound, text, met, goal.quoted, why)


def judge_all(goals: Sequence[Goal], records: Sequence[Record], whole: bool) -> list[Verdict]:
    """All goals, in their order."""
    return [judge(goal, records, whole) for goal in goals]


def best_peer(goal: Goal, records: Sequence[Record], peers: Collection[str]) -> str | None:
    """The best of the peers, variants by name, and its worst row; None if none was measured."""
    worst: dict[str, float] = {}
    for name in peers:
        values = [row.value for row in rows(replace(goal, variant=name), records)]
        if values and goal.variant not in (None, name):
            worst[name] = max(values, key=goal.badness)
    if not worst:
        return None
    best = min(worst, key=lambda name: goal.badness(worst[name]))
    return f"{best}: {goal.text(worst[best])}"


def missed(verdicts: Sequence[Verdict]) -> list[str]:
    """Names of the goals that were measured and not met, without the stretch goals."""
    return [verdict.name for verdict in verdicts if verdict.outcome == "missed"]


def goals_json(verdicts: Sequence[Verdict]) -> str:
    """The fields of each verdict, one a line."""
    items = [json.dumps(asdict(verdict), ensure_ascii=False) for verdict in verdicts]
    return "[\n" + ",\n".join(items) + "\n]\n" if items else "[]\n"


def format_table(header: Sequence[str], table_rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns under a ruled header; no trailing blanks; ends with a newline."""
    text = tabulate(table_rows, header, tablefmt="simple", disable_numparse=True)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def goals_text(verdicts: Sequence[Verdict]) -> str:
    """The table of goals, a line that counts them, and last the names of those missed."""
    cells = [(v.name, v.bound, v.measured, v.outcome) for v in verdicts]
    text = format_table(("goal", "bound", "measured", "verdict"), cells)
    text += f"\n{counted(verdicts)}\n"
    return text + "".join(f"missed: {name}\n" for name in missed(verdicts))


def counted(verdicts: Sequence[Verdict]) -> str:
    """How many goals were met, of those that are asked for."""
    judged = [verdict for verdict in verdicts if verdict.met is not None and not verdict.stretch]
    return f"{len(judged) - len(missed(verdicts))} of {len(judged)} measured goals met"

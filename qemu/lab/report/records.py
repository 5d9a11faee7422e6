# SPDX-License-Identifier: GPL-2.0
"""Records: what an experiment measured, in a form that any plot can be redrawn from.

A `Sample` is one measured number of one run.  A `Record` is what is said of a
set of samples: value, n and spread.  Files are byte-repeatable: the same
numbers always give the same bytes, so that two runs can be compared with cmp.
"""

import csv
import io
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from lab import LabError

Param = str | int | float
Spread = float | Mapping[str, float]

SIGNIFICANT = 6
"""Digits kept of a value: more than any experiment can tell apart."""

TIMES = ("cycles", "ns", "us", "ms", "s")
"""Units of times."""

_GO_UNSAFE = re.compile(r"[\s/=]")


def tidy(number: float) -> float:
    """The number with SIGNIFICANT digits, so that files hold no noise digits."""
    return float(f"{number:.{SIGNIFICANT}g}")


def _like(pattern: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_finite(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(cast(float, value))


# What fields may be, in words too: a file name, a CSV column and a Go benchmark hold the names.
Rule = tuple[Callable[[Any], bool], str]
_NAME: Rule = (_like(r"[a-z][a-z0-9_]*"), "lower-case letters, digits and _")
_VARIANT: Rule = (_like(r"[A-Za-z0-9][A-Za-z0-9._+-]*"), "letters, digits and . _ + -")
_WORD: Rule = (_like(r"\S+"), "one word")
_OBJECT: Rule = (lambda value: isinstance(value, Mapping), "an object of names and values")
_PARAM: Rule = (lambda v: isinstance(v, str) or _is_finite(v), "text or a finite number")
_FINITE: Rule = (_is_finite, "a finite number")
_COUNT: Rule = (lambda value: type(value) is int and value >= 1, "a count of at least 1")


def _checked(item: "_Keyed") -> Iterator[tuple[str, object, Rule]]:
    yield "experiment", item.experiment, _NAME
    yield "metric", item.metric, _NAME
    yield "variant", item.variant, _VARIANT
    yield "unit", item.unit, _WORD
    yield "params", item.params, _OBJECT
    for name, value in item.params.items():
        yield "params", name, (_NAME[0], f"named with {_NAME[1]}")
        yield f"params.{name}", value, _PARAM
    yield "value", item.value, _FINITE
    if isinstance(item, Record):
        yield "n", item.n, _COUNT
        for name, value in _spreads(item.spread).items():
            yield f"spread {name}".strip(), value, _FINITE


def _spreads(spread: Spread) -> Mapping[str, float]:
    return spread if isinstance(spread, Mapping) else {"": spread}


def _order(params: Mapping[str, Param]) -> tuple[tuple[str, bool, float, str], ...]:
    """A sort key over mixed parameters: numbers by size and before text."""
    key = []
    for name, value in sorted(params.items()):
        text = isinstance(value, str)
        key.append((name, text, 0.0 if text else float(value), str(value) if text else ""))
    return tuple(key)


@dataclass(frozen=True)
class _Keyed:
    """What a sample and a record have in common.  Raises LabError for a field out of range."""

    experiment: str
    metric: str
    variant: str
    params: Mapping[str, Param]
    value: float
    unit: str

    def __post_init__(self) -> None:
        for name, value, (good, allowed) in _checked(self):
            if not good(value):
                where = f"{type(self).__name__.lower()} {self.experiment}/{self.metric}"
                raise LabError(f"{where}: {name} {value!r}: must be {allowed}")

    def key(self) -> tuple[str, str, str, tuple[tuple[str, bool, float, str], ...]]:
        """Equal for the samples of a record; no two records of a file share it."""
        return (self.experiment, self.metric, self.variant, _order(self.params))


@dataclass(frozen=True)
class Sample(_Keyed):
    """One number measured by one run; `run` tells runs apart (a seed, a repetition)."""

    run: str


@dataclass(frozen=True)
class Record(_Keyed):
    """A measured value: `n` samples are behind it.

    `spread` is one number or named ones (sd, min, max), in `unit`.
    """

    n: int
    spread: Spread

    def named(self, by: str) -> str:
        """What tells it from others: its variant, or a parameter as text; empty without that."""
        return self.variant if by == "variant" else str(self.params.get(by, ""))

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object: fields in the documented order, numbers tidied."""
        spread = {name: tidy(value) for name, value in sorted(_spreads(self.spread).items())}
        tidied = {
            "params": dict(sorted(self.params.items())),
            "value": tidy(self.value),
            "spread": spread if isinstance(self.spread, Mapping) else spread[""],
        }
        return {name: tidied.get(name, getattr(self, name)) for name in FIELDS}


FIELDS = tuple(field.name for field in fields(Record))


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: readers never see half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def to_json(records: Iterable[Record]) -> str:
    """The records as JSON text, sorted, one a line.  Raises LabError for a duplicate."""
    ordered = sorted(records, key=Record.key)
    for one, two in itertools.pairwise(ordered):
        if one.key() == two.key():
            raise LabError(
                f"record {one.experiment}/{one.metric}: variant {one.variant!r} "
                f"params {dict(one.params)!r} is there twice: must be there once"
            )
    lines = ",\n".join(json.dumps(record.as_json(), ensure_ascii=False) for record in ordered)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def read_json(path: Path) -> list[Record]:
    """Read records.  Raises LabError (one line: file, record, field) if they are not valid."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise LabError(f"{path}: not JSON: {error}") from error
    if not isinstance(data, list):
        raise LabError(f"{path}: {type(data).__name__}: must be a list of records")
    records = []
    for number, item in enumerate(data, 1):
        if not isinstance(item, dict) or set(item) != set(FIELDS):
            raise LabError(f"{path}: record {number}: must have the fields {', '.join(FIELDS)}")
        try:
            records.append(Record(**item))
        except LabError as error:
            raise LabError(f"{path}: record {number}: {error}") from error
    return records


def to_csv(header: Sequence[str], rows: Iterable[Sequence[Param]]) -> str:
    """CSV text with a header line and unix line ends.  Raises LabError for a ragged row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise LabError(f"csv row {number}: {len(row)} columns: must be {len(header)}")
        writer.writerow(row)
    return buffer.getvalue()


def samples_csv(samples: Iterable[Sample]) -> str:
    """All samples as CSV text, sorted; a parameter that a metric does not have is empty."""
    ordered = sorted(samples, key=Sample.key)
    params = sorted({name for sample in ordered for name in sample.params})
    rows = []
    for sample in ordered:
        given = [sample.params.get(name, "") for name in params]
        head = [sample.experiment, sample.metric, sample.variant]
        rows.append([*head, *given, sample.run, sample.value, sample.unit])
    header = ["experiment", "metric", "variant", *params, "run", "value", "unit"]
    return to_csv(header, rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read raw samples, the text of to_csv.  Raises LabError if the file is not there."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error


def to_gobench(samples: Iterable[Sample]) -> str:
    """The samples in the Go benchmark format, one line each, for benchstat.

    Of two times the lower one is better; nothing is said of other units.
    """
    ordered = sorted(samples, key=Sample.key)
    times = {_go_unit(sample) for sample in ordered if sample.unit in TIMES}
    lines = [f"Unit {unit} better=lower" for unit in sorted(times)]
    for sample in ordered:
        parts = [f"Benchmark{sample.experiment.title().replace('_', '')}"]
        parts.append(f"variant={sample.variant}")
        for name, value in sorted(sample.params.items()):
            parts.append(f"{name}={_GO_UNSAFE.sub('_', str(value))}")
        lines.append(f"{'/'.join(parts)} 1 {tidy(sample.value):.{SIGNIFICANT}g} {_go_unit(sample)}")
    return "\n".join(lines) + "\n"


def _go_unit(sample: Sample) -> str:
    """Metric and unit in one word: enqueue_ns in ns is `enqueue-ns`."""
    stem = sample.metric.removesuffix(f"_{sample.unit}")
    return f"{stem}-{sample.unit}"

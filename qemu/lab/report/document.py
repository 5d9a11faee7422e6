# SPDX-License-Identifier: GPL-2.0
"""The JSON documents that ipclat and udprate print: what they ran on, settings, results.

A result is told from others by its words; its figures are its numbers, and those of the
objects in it under "NAME.KEY".
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lab import LabError
from lab.report.goals import format_table
from lab.report.rows import SCHEMA

# Words that say why or how, and not which.
REMARKS = ("missing", "runtime")
MACHINE = ("host", "kernel", "cpu_model", "cpus", "version")

TOOLS = ("ipclat", "udprate")
EXPECTED = f"must be what {' or '.join(TOOLS)} printed with --json"

HIDDEN = ("low_", "high_", "model_", "log_", "distance_")
HEADER = ("result", "figure", "old", "new", "new / old", "95 %")

# udprate's figures of a duration: gap_us_p99, gap_us_p999, gap_us_max, gap_us_buckets.
SENDER = "udprate"
_OF_DURATION = re.compile(r"(\w+)_us_(?:p(\d\d?)(\d*)|(max|buckets))")


@dataclass(frozen=True)
class Result:
    """One of the results, and its lists as they are."""

    name: str
    missing: str
    figures: dict[str, float]
    lists: dict[str, list[Any]]

    def interval(self, figure: str) -> tuple[float, float] | None:
        """The 95 % interval of a mean, if it is there."""
        stem, _, unit = figure.partition("_")
        ends = self.figures.get(f"low_{unit}"), self.figures.get(f"high_{unit}")
        if stem != "mean" or ends[0] is None or ends[1] is None:
            return None
        return ends[0], ends[1]


class Document(msgspec.Struct, frozen=True):
    """One run of an instrument."""

    tool: str
    schema: int
    version: str
    time: str
    host: str
    kernel: str
    cpu_model: str
    cpus: int
    settings: dict[str, Any]
    results: list[dict[str, Any]]

    def machine(self) -> dict[str, Any]:
        """What it ran on."""
        return {name: getattr(self, name) for name in MACHINE}

    def named(self) -> dict[str, Result]:
        """The results by their names, in order."""
        return {found.name: found for found in map(_result, self.results)}


def _result(item: Mapping[str, Any]) -> Result:
    words = [v for k, v in item.items() if isinstance(v, str) and k not in REMARKS]
    lists = {key: value for key, value in item.items() if isinstance(value, list)}
    figures = dict(_figures(item))
    return Result(" ".join(words), str(item.get("missing") or ""), figures, lists)


def _figures(item: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in item.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{name}", number) for name, number in _figures(value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield key, value


def _of_sender(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What udprate says of a run beside each other, as results: the run, and each duration."""
    known = {*Document.__struct_fields__, "machine", "peer", "run"}
    whole = {key: value for key, value in run.items() if key not in known}
    durations: dict[str, dict[str, Any]] = {}
    for key in list(whole):
        if not (found := _OF_DURATION.fullmatch(key)):
            continue
        name, percent, fraction, other = found.groups()
        duration = durations.setdefault(name, {"name": name, "percentiles_us": {}})
        if percent:
            percentile = f"{percent}.{fraction}" if fraction else percent
            duration["percentiles_us"][percentile] = whole.pop(key)
        else:
            duration[f"{other}_us"] = whole.pop(key)
    return [whole, *durations.values()]


def read_document(path: Path) -> Document:
    """What an instrument printed.  Raises LabError, naming the file, for anything else."""
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise LabError(f"{path}: not JSON: {EXPECTED}") from None
    if not isinstance(raw, dict) or raw.get("tool") not in TOOLS:
        raise LabError(f"{path}: not of {' or '.join(TOOLS)}: {EXPECTED}")
    if raw["tool"] == SENDER:
        raw["results"] = _of_sender(raw)
    try:
        document = msgspec.convert(raw, Document)
    except msgspec.ValidationError:
        lacks = [name for name in Document.__struct_fields__ if name not in raw]
        why = f"lacks {', '.join(lacks)}" if lacks else "has a value of another type"
        raise LabError(f"{path}: {why}: {EXPECTED}") from None
    if document.schema != SCHEMA:
        raise LabError(f"{path}: schema {document.schema}: only {SCHEMA} is understood")
    return document


def _differences(old: Document, new: Document) -> Iterator[str]:
    """What was not the same, apart from the results."""
    pairs = (old.machine() | old.settings, new.machine() | new.settings)
    for name in dict.fromkeys((*pairs[0], *pairs[1])):
        before, after = (pair.get(name) for pair in pairs)
        if before != after:
            yield f"{name}: {before} -> {after}"


def _quotient(old: Result, new: Result, figure: str) -> str:
    """The interval of the quotient of two means; "~" in front: it may well be 1."""
    before, after = old.interval(figure), new.interval(figure)
    if before is None or after is None or min(*before, *after) <= 0:
        return ""
    centre = math.log(new.figures[figure] / old.figures[figure])
    half = math.hypot(*(math.log(high / low) / 2 for low, high in (before, after)))
    low, high = math.exp(centre - half), math.exp(centre + half)
    return f"{'~ ' if low <= 1 <= high else ''}{low:.3f} .. {high:.3f}"


def _shown(figure: str) -> bool:
    """Not the ends of intervals, nor how well models fit, nor the same in cycles."""
    return not figure.startswith(HIDDEN) and "_cycles" not in figure


def _lines(old: Result, new: Result) -> Iterator[tuple[str, ...]]:
    name = old.name
    for figure in (figure for figure in old.figures if _shown(figure)):
        if figure not in new.figures:
            continue
        before, after = old.figures[figure], new.figures[figure]
        quotient = f"{after / before:.3f}" if before else "-"
        cells = (f"{before:.6g}", f"{after:.6g}", quotient, _quotient(old, new, figure))
        yield (name, figure, *cells)
        name = ""


def compared(old: Document, new: Document) -> str:
    """The table, below what else differs.  Raises LabError for runs of two tools."""
    if old.tool != new.tool:
        raise LabError(f"one run is of {old.tool}, the other of {new.tool}")
    text = "".join(f"{line}\n" for line in _differences(old, new))
    before, after = old.named(), new.named()
    lines: list[tuple[str, ...]] = []
    for name in dict.fromkeys((*before, *after)):
        one, two = before.get(name), after.get(name)
        if one is None or two is None:
            text += f"{name}: only in the {'old' if two is None else 'new'} run\n"
        elif one.missing or two.missing:
            which = "old" if one.missing else "new"
            text += f"{name}: missing in the {which} run: {one.missing or two.missing}\n"
        else:
            lines += _lines(one, two)
    return f"{text}\n{format_table(HEADER, lines)}" if text else format_table(HEADER, lines)

# SPDX-License-Identifier: GPL-2.0
"""The JSON documents that ipclat and udprate print: what they ran on, settings, results.

A result is told from others by its words; its figures are its numbers, and those of the
objects in it under "NAME.KEY".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lab import LabError
from lab.report.rows import SCHEMA

# Words that say why or how, and not which.
REMARKS = ("missing", "runtime")
MACHINE = ("host", "kernel", "cpu_model", "cpus", "version")

TOOLS = ("ipclat", "udprate")
EXPECTED = f"must be what {' or '.join(TOOLS)} printed with --json"

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

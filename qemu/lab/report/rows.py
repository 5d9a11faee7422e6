# SPDX-License-Identifier: GPL-2.0
"""What the guest's tools print with --json, as typed rows.

A row class has the fields of a tool's JSON object under the same names; a line
that is not such an object raises LabError, because a measurement that is half
understood is none.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, get_type_hints

from lab import LabError


class Row(Protocol):
    """A dataclass whose TOOL is the program that prints such objects."""

    TOOL: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=Row)


def _field(tool: str, item: dict[str, Any], name: str, kind: type) -> Any:
    """One field in its type; an int may stand for a float, nothing else is converted."""
    value = item.get(name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise LabError(f"{tool}: {name} {value!r}: must be {kind.__name__}", exit_code=1)
    return value


def read_rows(cls: type[R], lines: Sequence[str], beside: Collection[str] = ()) -> list[R]:
    """The rows a tool printed.  Raises LabError for no rows or a line that is not one.

    Objects of the tools named in `beside` may stand between them.
    """
    hints = get_type_hints(cls)
    kinds = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    rows = []
    for line in lines:
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if isinstance(item, dict) and item.get("tool") in beside:
            continue
        if not isinstance(item, dict) or item.get("tool") != cls.TOOL:
            raise LabError(
                f"{cls.TOOL}: output {line!r}: must be a JSON object of this tool", exit_code=1
            )
        rows.append(cls(**{name: _field(cls.TOOL, item, name, kinds[name]) for name in kinds}))
    if not rows:
        raise LabError(f"{cls.TOOL}: no output: must be at least one JSON object", exit_code=1)
    return rows

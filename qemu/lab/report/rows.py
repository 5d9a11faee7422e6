# SPDX-License-Identifier: GPL-2.0
"""What the guest's tools print with --json, as typed rows.

A row class has the fields of a tool's JSON object under the same names; a line
that is not such an object raises LabError, because a measurement that is half
understood is none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from lab import LabError


class Row(Protocol):
    """A dataclass whose TOOL is the program that prints such objects."""

    TOOL: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=Row)


def _object(tool: str, line: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise LabError(f"{tool}: output {line!r}: must be a JSON object of this tool", 1) from None


def read_rows(cls: type[R], lines: Sequence[str], beside: Collection[str] = ()) -> list[R]:
    """The rows a tool printed.  Raises LabError for no rows or a line that is not one.

    Objects of the tools named in `beside` may stand between them.
    """
    rows = []
    for line in filter(str.strip, lines):
        item = _object(cls.TOOL, line)
        if item.get("tool") in beside:
            continue
        if item.get("tool") != cls.TOOL:
            raise LabError(f"{cls.TOOL}: output {line!r}: must be a JSON object of this tool", 1)
        try:
            rows.append(msgspec.convert(item, cls))
        except msgspec.ValidationError as error:
            raise LabError(f"{cls.TOOL}: {error}: {line!r}", exit_code=1) from None
    if not rows:
        raise LabError(f"{cls.TOOL}: no output: must be at least one JSON object", exit_code=1)
    return rows

# SPDX-License-Identifier: GPL-2.0
"""What the guest's tools print with --json, as typed rows.

A row class has the fields of a tool's JSON object under the same names; a line
that is not such an object raises LabError, because a measurement that is half
understood is not valid.
"""

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


SCHEMA = 1
"""Of the JSON documents that are understood here: document.h."""


def read_results(cls: type[R], lines: Sequence[str]) -> list[R]:
    """The results in the one JSON document that a tool printed.  Raises LabError for others."""
    texts = [line for line in lines if line.strip()]
    if len(texts) != 1:
        raise LabError(f"{cls.TOOL}: {len(texts)} lines: must be one JSON document", exit_code=1)
    document = _object(cls.TOOL, texts[0])
    if (document.get("tool"), document.get("schema")) != (cls.TOOL, SCHEMA):
        raise LabError(f"{cls.TOOL}: not a document of this tool in schema {SCHEMA}", exit_code=1)
    try:
        rows = msgspec.convert(document.get("results"), list[cls])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise LabError(f"{cls.TOOL}: results: {error}", exit_code=1) from None
    if not rows:
        raise LabError(f"{cls.TOOL}: a document without results", exit_code=1)
    return rows

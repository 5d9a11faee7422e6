# SPDX-License-Identifier: GPL-2.0
"""Raw tables: what the programs printed, beside the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.report.measured import RawTable


def tabulate(raw: dict[str, RawTable], name: str, line: Mapping[str, Any]) -> None:
    """Add a line, with its columns, to the table of a name."""
    raw.setdefault(name, RawTable([*line])).rows.append([*line.values()])

# SPDX-License-Identifier: GPL-2.0
"""Stamps: small files that say what the files beside them were made of."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def digest(*made_of: object) -> str:
    """Changes with each of the things that something is made of."""
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def load(stamp: Path) -> dict[str, Any]:
    """Empty if it is missing, cut off, or of an older lab."""
    try:
        state = json.loads(stamp.read_text())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def save(stamp: Path, state: Mapping[str, Any]) -> None:
    stamp.write_text(json.dumps(state) + "\n")

# SPDX-License-Identifier: GPL-2.0
"""What other people's test labs take: jobs for them, and results in their forms."""

from collections import Counter


def told_apart(name: str, seen: Counter[str], mark: str) -> str:
    """The name; the second time and later with a mark and a number behind it."""
    seen[name] += 1
    return f"{name}{mark}{seen[name]}" if seen[name] > 1 else name

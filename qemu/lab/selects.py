# SPDX-License-Identifier: GPL-2.0
"""Which expressions for pytest -k select a test of a tier, as pytest itself reads them.

A program of its own, python3 -m lab.selects QEMU: expressions as JSON on standard input, for each
true or false on standard output. LAB_TIER and the like are those of make test.
"""

from __future__ import annotations

import contextlib
import json
import sys

import pytest
from _pytest.mark import KeywordMatcher
from _pytest.mark.expression import Expression


class Collected:
    """A plugin that keeps the tests that are left to be run."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What has been selected."""
        self.items = [*session.items]


def main(qemu: str) -> int:
    """Read expressions, write for each whether it selects a test. Returns pytest's status."""
    collected = Collected()
    config = ["-c", f"{qemu}/pyproject.toml", f"--rootdir={qemu}", "-p", "no:cacheprovider"]
    ignored = f"--ignore={qemu}/tests/test_mutants.py"
    with contextlib.redirect_stdout(sys.stderr):
        argv = [*config, "--collect-only", "-qq", ignored, f"{qemu}/tests"]
        status = pytest.main(argv, plugins=[collected])
    matchers = [KeywordMatcher.from_item(item) for item in collected.items]
    compiled = map(Expression.compile, json.load(sys.stdin))
    print(json.dumps([any(map(expression.evaluate, matchers)) for expression in compiled]))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

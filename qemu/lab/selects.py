# SPDX-License-Identifier: GPL-2.0
"""Which expressions for pytest -k select a test of a tier, as pytest itself reads them.

A program of its own, python3 -m lab.selects QEMU: expressions as JSON on standard input, for each
true or false on standard output. LAB_TIER and the like are those of make test.
"""

import contextlib
import json
import sys
from collections.abc import Callable

import pytest
from _pytest.mark import KeywordMatcher
from _pytest.mark.expression import Expression


def matcher(item: pytest.Item) -> Callable[..., bool]:
    """What pytest's KeywordMatcher answers, with the names of the test in one string."""
    names = "\n".join(KeywordMatcher.from_item(item)._names).lower()
    return lambda word, /, **_: word.lower() in names


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
        argv = [*config, "--collect-only", "-qq", ignored, qemu]
        status = pytest.main(argv, plugins=[collected])
    matchers = [matcher(item) for item in collected.items]
    compiled = map(Expression.compile, json.load(sys.stdin))
    print(json.dumps([any(map(expression.evaluate, matchers)) for expression in compiled]))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

# SPDX-License-Identifier: GPL-2.0
"""Which expressions for pytest -k select a test of a tier, as pytest itself reads them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
from _pytest.mark import KeywordMatcher
from _pytest.mark.expression import Expression

from lab import LabError
from lab.paths import Paths


class Collected:
    """A plugin that keeps the tests that are left to be run."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What has been selected."""
        self.items = [*session.items]


def selecting(paths: Paths, expressions: Sequence[str], tier: str) -> list[bool]:
    """For each expression, whether the tier has a test for it. Raises LabError, exit code 1."""
    env = {**os.environ, "LAB_TIER": tier, "LAB_KERNEL": "guest", "LAB_OUT": str(paths.out)}
    env["PYTHONPATH"] = str(paths.qemu)
    done = subprocess.run(
        [sys.executable, "-m", "lab.selects", str(paths.qemu)],
        input=json.dumps([*expressions]),
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(f"pytest collects nothing: {done.stdout[-500:]}{done.stderr[-500:]}", 1)
    found: list[bool] = json.loads(done.stdout)
    return found


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

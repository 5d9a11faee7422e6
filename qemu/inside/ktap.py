# SPDX-License-Identifier: GPL-2.0
"""Test results in the kernel's KTAP form, with subtests; the rules are those of lib/ktap.c.

A line is written with one write(2) as soon as it is known, so that the stream of a program that
dies ends with what it had done, and a forked child never repeats a buffered line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import NoReturn

GOOD, FAILED, USAGE, UNSUPPORTED, SKIPPED = range(5)
"""Exit codes: see lib/args.h."""


class Case:
    """One test while it runs."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.failed = False
        self.skipped = ""

    def expect(self, good: object, text: str) -> bool:
        """Note why and fail the test unless good holds; returns that."""
        if not good:
            self.failed = True
            put(self.depth, f"# {text}")
        return bool(good)

    def expect_bound(self, good: object, text: str) -> bool:
        """The same of a rate, share or time, which is only noted with LAB_BOUNDS=off."""
        judged = os.environ.get("LAB_BOUNDS") != "off"
        if good or judged:
            return self.expect(good, text)
        put(self.depth, f"# bound missed: {text}")
        return True

    def skip(self, text: str) -> None:
        """Say why it cannot be run here; a test that failed before stays failed."""
        self.skipped = text


Test = Callable[[Case], object]
Tests = Mapping[str, "Test | Tests"]
"""Tests and groups of tests by name."""


def put(depth: int, text: str) -> None:
    """A line of a group at that depth."""
    os.write(1, f"{'  ' * depth}{text}\n".encode())


def _run(tests: Tests, depth: int) -> int:
    """All of a group: GOOD, FAILED, or SKIPPED when all were."""
    codes = []
    put(depth, f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests.items(), 1):
        if callable(test):
            case = Case(depth)
            test(case)
            reason = case.skipped
            code = FAILED if case.failed else SKIPPED if reason else GOOD
        else:
            put(depth + 1, "KTAP version 1")
            put(depth + 1, f"# Subtest: {name}")
            code, reason = _run(test, depth + 1), "every test of it was skipped"
        word = "not ok" if code == FAILED else "ok"
        put(depth, f"{word} {number} {name}" + (f" # SKIP {reason}" if code == SKIPPED else ""))
        codes.append(code)
    return FAILED if FAILED in codes else GOOD if GOOD in codes else SKIPPED


def run(tests: Tests) -> NoReturn:
    """The program's own stream: run everything, and exit."""
    put(0, "KTAP version 1")
    sys.exit(_run(tests, 0))

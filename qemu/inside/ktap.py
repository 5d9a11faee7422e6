# SPDX-License-Identifier: GPL-2.0
"""Test results in the kernel's KTAP form, with subtests; the rules are those of lib/ktap.c.

A line is written with one write(2) as soon as it is known, so that the stream of a program that
dies ends with what it had done, and a forked child never repeats a buffered line.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn

GOOD, FAILED, USAGE, UNSUPPORTED, SKIPPED = range(5)
"""Exit codes: see lib/args.h."""


def bounds_on() -> bool:
    """Whether rates, shares and times are judged."""
    return os.environ.get("LAB_BOUNDS") != "off"


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
            self.note(text)
        return bool(good)

    def equal(self, found: object, wanted: object, what: str) -> bool:
        """The same, of two values."""
        return self.expect(found == wanted, f"{what}: {found}, wanted {wanted}")

    def note(self, text: str) -> None:
        """Lines that explain the result."""
        for line in text.splitlines():
            put(self.depth, f"# {line}")

    def expect_bound(self, good: object, text: str) -> bool:
        """Note a rate, share or time; fail the test unless good holds or with LAB_BOUNDS=off."""
        judged = bounds_on()
        self.note(text if good or judged else f"bound missed: {text}")
        self.failed |= judged and not good
        return bool(good) or not judged

    def skip(self, text: str) -> None:
        """Say why it cannot be run here; a test that failed before stays failed."""
        self.skipped = text


Test = Callable[[Case], object]
Tests = Mapping[str, "Test | Tests | AbstractContextManager[Tests]"]
"""Tests and groups of tests by name; a context manager makes what those of a group share."""


def put(depth: int, text: str) -> None:
    """A line of a group at that depth."""
    os.write(1, f"{'  ' * depth}{text}\n".encode())


def _run_one(test: Test, depth: int) -> tuple[int, str]:
    """GOOD, FAILED or SKIPPED, and why that; an exception is a failure of this test alone."""
    case = Case(depth)
    try:
        test(case)
    except Exception:
        case.expect(False, traceback.format_exc())
    return FAILED if case.failed else SKIPPED if case.skipped else GOOD, case.skipped


def _run(tests: Tests, depth: int) -> int:
    """All of a group: GOOD, FAILED, or SKIPPED when all were."""
    codes = []
    put(depth, f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests.items(), 1):
        if callable(test) and not isinstance(test, AbstractContextManager):
            code, reason = _run_one(test, depth)
        else:
            put(depth + 1, "KTAP version 1")
            put(depth + 1, f"# Subtest: {name}")
            group = nullcontext(test) if isinstance(test, Mapping) else test
            with group as inner:
                code, reason = _run(inner, depth + 1), "every test of it was skipped"
        word = "not ok" if code == FAILED else "ok"
        put(depth, f"{word} {number} {name}" + (f" # SKIP {reason}" if code == SKIPPED else ""))
        codes.append(code)
    return FAILED if FAILED in codes else GOOD if GOOD in codes else SKIPPED


def run(tests: Tests) -> NoReturn:
    """The program's own stream: run everything, and exit."""
    put(0, "KTAP version 1")
    sys.exit(_run(tests, 0))


def stop(code: int, text: str) -> NoReturn:
    """Say why, and exit."""
    sys.stderr.write(f"{text}\n")
    sys.exit(code)


def options(**found: int) -> dict[str, int]:
    """The command line: a flag where the default is False, else a number. --ktap has no effect."""
    words = iter(sys.argv[1:])
    for word in words:
        name = word.removeprefix("--")
        known = name in found and word != name
        text = "1" if known and isinstance(found[name], bool) else next(words, "") if known else ""
        if known and text.isascii() and text.isdigit() and 0 < int(text) < 10**9:
            found[name] = type(found[name])(text)
        elif word != "--ktap":
            stop(USAGE, f"{word}: bad value or option; there are {', '.join(found)}")
    return found

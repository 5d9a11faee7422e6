# SPDX-License-Identifier: GPL-2.0
"""KTAP is read strictly: nothing missing, doubled or cut off passes."""

from pathlib import Path
from textwrap import indent

import pytest

from lab.guest.ktap import Case, Status, Stream, parse, skips


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no KTAP version line"),
        ("1..1\nok 1 a", "plan before the version line"),
        ("KTAP version 1\nok 1 a", "result 1 before the plan"),
        ("KTAP version 1\nok 1 a\n1..1", "plan after the first result"),
        ("KTAP version 1\n1..1\n1..1\nok 1 a", "a second plan"),
        ("KTAP version 1\nKTAP version 1\n1..1\nok 1 a", "a second KTAP version line"),
        ("KTAP version 1\n1..2\nok 1 a", "truncated: 1 of 2 results"),
        ("KTAP version 1\n1..1\nok 1 a\nok 2 b", "result 2 of a plan of 1"),
        ("KTAP version 1\n1..2\nok 1 a\nok 1 a", "result 1 is there twice"),
        ("KTAP version 1\n1..2\nok 2 b\nok 1 a", "result 2 where 1 was due"),
        ("KTAP version 1\n1..2\nok 1 a\nBail out! no memory", "Bail out! no memory"),
    ],
)
def test_errors(text: str, error: str) -> None:
    assert error in parse(text.splitlines()).errors


def one(text: str) -> Case:
    parsed = parse(["KTAP version 1", "1..1", *text.splitlines()])
    assert parsed.errors == []
    return parsed.cases[0]


@pytest.mark.parametrize(
    ("line", "name", "status", "reason"),
    [
        ("ok 1 a", "a", Status.OK, ""),
        ("ok 1", "", Status.OK, ""),
        ("ok 1 - a b", "a b", Status.OK, ""),
        ("not ok 1 a # exit 3", "a", Status.FAIL, "exit 3"),
        ("not ok 1 a # exit 1: x # y", "a", Status.FAIL, "exit 1: x # y"),
        ("not ok 1 a # timeout", "a", Status.TIMEOUT, "timeout"),
        ("ok 1 a # SKIP no disk", "a", Status.SKIP, "no disk"),
        ("ok 1 a # skip", "a", Status.SKIP, ""),
        ("ok 1 # SKIP no disk", "", Status.SKIP, "no disk"),
        ("not ok 1 a # SKIP no disk", "a", Status.FAIL, "SKIP no disk"),
        ("ok 1 a # SKIPPING is no directive", "a", Status.OK, "SKIPPING is no directive"),
        ("ok 1 a#b", "a#b", Status.OK, ""),
    ],
)
def test_results(line: str, name: str, status: Status, reason: str) -> None:
    case = one(line)
    assert (case.name, case.status, case.reason) == (name, status, reason)


# What is in a program's document, and what becomes of a program that exits with 0.
NESTED_BAD = [
    ("1..2\nok 1 x", Status.FAIL, "truncated: 1 of 2 results"),
    ("ok 1 x", Status.FAIL, "result 1 before the plan"),
    ("1..1\nnot ok 1 x", Status.FAIL, "1 of 1 subtests failed: x"),
    ("1..1\nok 1 x # SKIP y", Status.SKIP, "all skipped: y"),
    ("1..0", Status.FAIL, "no tests"),
    ("1..0 # SKIP no disk", Status.FAIL, "no tests"),
    ("1..1\n    KTAP version 1\n    1..2\n    ok 1 x\nok 1 y", Status.FAIL, "subtests failed: y"),
    ("1..1\n    KTAP version 1\n    1..0\nok 1 y", Status.FAIL, "subtests failed: y"),
]


@pytest.mark.parametrize(("block", "status", "reason"), NESTED_BAD)
def test_program_lies(block: str, status: Status, reason: str) -> None:
    """An exit status of 0 does not cover what the subtests say."""
    case = one(indent(f"KTAP version 1\n{block}\n", "  ") + "ok 1 a")
    assert case.status is status and reason in case.reason


def test_plain_output() -> None:
    case = one("  ok 1 is just text\n    deeper\n  \n  not ok 2 either\nok 1 a")
    assert case.output == ["ok 1 is just text", "  deeper", "", "not ok 2 either"]
    assert case.subtests == () and case.status is Status.OK


def test_parameters_without_plan() -> None:
    """KUnit announces no plan for the parameters of a test."""
    lines = [
        *("  KTAP version 1", "  1..1", "      KTAP version 1", "      1..1"),
        *("          KTAP version 1", "          # Subtest: p"),
        *("          ok 1 n=1", "          ok 2 n=2", "      ok 1 p", "  ok 1 suite", "ok 1 a"),
    ]
    case = one("\n".join(lines))
    assert case.status is Status.OK
    assert [p.name for p in case.subtests[0].subtests[0].subtests] == ["n=1", "n=2"]


def test_skips_stay_visible(golden: Path) -> None:
    stream = Stream()
    stream.feed((golden / "part-skipped" / "result.ktap").read_bytes())
    cases = stream.close().cases
    assert [case.status for case in cases] == [Status.OK, Status.OK, Status.SKIP]
    assert skips(cases) == [
        ("alpha/share-10:1", "too few lotteries"),
        ("alpha/share-2:1", "too few lotteries"),
        ("beta/lottery_pool/chi_square/rbtree", "not built in"),
        ("gamma", "needs 4 CPUs, has 2"),
    ]


def test_a_document_of_skips_names_each() -> None:
    case = one("  KTAP version 1\n  1..2\n  ok 1 x # SKIP y\n  ok 2 z # SKIP y\nok 1 a")
    assert case.status is Status.SKIP
    assert skips([case]) == [("a/x", "y"), ("a/z", "y")]


def test_results_come_while_streaming() -> None:
    stream = Stream()
    stream.feed(b"KTAP version 1\n1..2\nok 1 a\n  half a li")
    assert [case.name for case in stream.cases] == ["a"] and stream.pending() == []
    stream.feed(b"ne\n")
    assert stream.pending() == ["half a line"]


def test_end_of_stream() -> None:
    text = b"KTAP version 1\n1..1\nok 1 a\n"
    cut = Stream()
    cut.feed(text)
    assert cut.close().errors == ["the stream ends without '# lab: done'"]
    on = Stream()
    on.feed(text + b"# lab: done\nok 2 b\n")
    assert on.close().errors == ["the stream goes on after its end"]


def test_bytes_that_are_no_text() -> None:
    stream = Stream()
    stream.feed(b"KTAP version 1\n1..1\n  \xff\xfe\x00\nok 1 a\n# lab: done\n")
    assert stream.close().errors == [] and stream.cases[0].status is Status.OK

# SPDX-License-Identifier: GPL-2.0
"""A streaming parser of KTAP that takes nothing on trust.

What is missing, doubled, miscounted or cut off is an error of the document, and
a document with an error has failed whatever its results say.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from lab.guest.protocol import REASON_TIMEOUT, RESULTS_DONE

INDENT = "  "
# Level 0 is the guest's stream, 1 what a program prints, 2 the tests inside a
# suite of it. KUnit prints no plan for the parameters of one.
PLAN_OPTIONAL_LEVEL = 2

VERSION = re.compile(r"(KTAP version 1|TAP version 1[34])$")
PLAN = re.compile(r"1\.\.(\d+)(?:\s+#\s*(.*))?$")
RESULT = re.compile(r"(ok|not ok)\s+(\d+)(?:\s+(?:-\s+)?(.*))?$")
SKIP = re.compile(r"SKIP\b[:\s]*(.*)$", re.IGNORECASE)


class Status(StrEnum):
    """How a test ended. crash: no result at all."""

    OK = "ok"
    FAIL = "fail"
    SKIP = "skip"
    CRASH = "crash"
    TIMEOUT = "timeout"


@dataclass
class Case:
    """One result line, with the subtests and the output that came before it."""

    number: int
    name: str
    status: Status
    reason: str = ""
    subtests: tuple["Case", ...] = ()
    output: list[str] = field(default_factory=list)


@dataclass
class Document:
    """plan is the announced number of results, None until it was announced."""

    plan: int | None = None
    cases: list[Case] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def verdict(self) -> tuple[Status, str]:
        """The document as one result: its status and the reason if it is not ok."""
        if self.errors:
            return Status.FAIL, self.errors[0]
        bad = [case for case in self.cases if case.status not in (Status.OK, Status.SKIP)]
        if bad:
            names = ", ".join(case.name or str(case.number) for case in bad[:3])
            more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
            return Status.FAIL, f"{len(bad)} of {len(self.cases)} subtests failed: {names}{more}"
        if not self.cases:
            return Status.FAIL, "no tests"
        if all(case.status is Status.SKIP for case in self.cases):
            return Status.SKIP, f"all skipped: {self.cases[0].reason}"
        return Status.OK, ""


def skips(cases: Iterable[Case], above: str = "") -> list[tuple[str, str]]:
    """Each test that was skipped, however deep: its path, "program/suite/test", and why.

    A document with skips in it is ok as a whole: the caller compares these with
    the skips that are allowed there.
    """
    found: list[tuple[str, str]] = []
    for case in cases:
        path = f"{above}{case.name or case.number}"
        below = skips(case.subtests, f"{path}/")
        if case.status is Status.SKIP and not below:
            below = [(path, case.reason)]
        found += below
    return found


def _subdocument(block: list[str], level: int) -> Document | None:
    """The KTAP document inside the lines before a result, if there is one."""
    for start, line in enumerate(block):
        if VERSION.match(line.strip()):
            margin = " " * (len(line) - len(line.lstrip(" ")))
            return parse((x.removeprefix(margin) for x in block[start:]), level)
    return None


class Parser:
    """Takes a document line by line; results are in document.cases at once."""

    def __init__(self, level: int = 0) -> None:
        self.document = Document()
        self._level = level
        self._versioned = False
        self._block: list[str] = []

    def line(self, line: str) -> None:
        """The next line, without its newline."""
        text = line.rstrip("\r")
        if text.startswith(INDENT):
            self._block.append(text)
        elif VERSION.match(text):
            self._version()
        elif match := PLAN.match(text):
            self._plan(int(match[1]))
        elif match := RESULT.match(text):
            self._result(match[1] == "ok", int(match[2]), match[3] or "")
        elif text.startswith("Bail out!"):
            self._error(text)

    def close(self) -> Document:
        """The document ends here: what is missing now stays missing."""
        document = self.document
        got = len(document.cases)
        if not self._versioned:
            self._error("no KTAP version line")
        elif document.plan is None:
            if self._level < PLAN_OPTIONAL_LEVEL:
                self._error("no plan")
        elif got < document.plan:
            self._error(f"truncated: {got} of {document.plan} results")
        return document

    def pending(self) -> list[str]:
        """Output that no result has claimed yet."""
        return [line.removeprefix(INDENT) for line in self._block]

    def _error(self, text: str) -> None:
        self.document.errors.append(text)

    def _version(self) -> None:
        if self._versioned:
            self._error("a second KTAP version line")
        self._versioned = True

    def _plan(self, count: int) -> None:
        if not self._versioned:
            self._error("plan before the version line")
        if self.document.plan is not None:
            self._error("a second plan")
        elif self.document.cases:
            self._error("plan after the first result")
        self.document.plan = count

    def _check_number(self, number: int) -> None:
        plan = self.document.plan
        expected = len(self.document.cases) + 1
        if plan is None:
            if self._level < PLAN_OPTIONAL_LEVEL:
                self._error(f"result {number} before the plan")
        elif number > plan:
            self._error(f"result {number} of a plan of {plan}")
        if any(case.number == number for case in self.document.cases):
            self._error(f"result {number} is there twice")
        elif number != expected:
            self._error(f"result {number} where {expected} was due")

    def _result(self, good: bool, number: int, rest: str) -> None:
        name, _, comment = f" {rest}".partition(" # ")
        self._check_number(number)
        case = Case(number, name.strip(), Status.OK if good else Status.FAIL, comment.strip())
        skip = SKIP.match(case.reason)
        if good and skip:
            case.status, case.reason = Status.SKIP, skip[1].strip()
        elif not good and case.reason == REASON_TIMEOUT:
            case.status = Status.TIMEOUT
        self._attach(case)
        self.document.cases.append(case)

    def _attach(self, case: Case) -> None:
        case.output = self.pending()
        self._block = []
        below = _subdocument(case.output, self._level + 1)
        if below is None:
            return
        case.subtests = tuple(below.cases)
        status, reason = below.verdict()
        if case.status is Status.OK:
            case.status, case.reason = status, reason
        elif case.status is Status.FAIL and reason:
            case.reason = f"{reason} ({case.reason})" if case.reason else reason


def parse(lines: Iterable[str], level: int = 0) -> Document:
    """A whole document."""
    parser = Parser(level)
    for line in lines:
        parser.line(line)
    return parser.close()


class Stream(Parser):
    """The result stream of a guest as its bytes arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.done = False
        self._rest = b""

    @property
    def cases(self) -> list[Case]:
        """The results so far."""
        return self.document.cases

    def feed(self, data: bytes) -> None:
        """Take the next bytes; a line counts once it is complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for raw in lines:
            line = raw.decode(errors="replace")
            if self.done:
                self._error("the stream goes on after its end")
                return
            self.done = line == RESULTS_DONE
            self.line(line)

    def close(self) -> Document:
        """The stream has ended; an unfinished line has not been said."""
        super().close()
        if not self.done:
            self._error(f"the stream ends without '{RESULTS_DONE}'")
        return self.document

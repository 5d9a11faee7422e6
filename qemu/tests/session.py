# SPDX-License-Identifier: GPL-2.0
"""Fixtures and hooks of all tests.

Those without a guest have a fake QEMU; the others share one boot a suite.

After the run: skips that are not allowed fail it, and the slowest boots are shown.
"""

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from lab import again, ledger
from lab.guest import slowdisk
from lab.guest.accel import apply, asked_for
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.paths import Paths
from lab.registry import left_out, suites
from lab.schedule import Chooser, Schedule
from lab.suite import kernel_variant, only_noted, tier
from tests import identity, skips
from tests.apart import Apart

GOLDEN = Path(__file__).parent / "golden"
# The programs of each run there.
PROGRAMS = tuple(Program(name, (name,), 60) for name in ("alpha", "beta", "gamma"))
GUESTS = Path(__file__).parent / "guest"

# These test the lab and PID 1: once is enough, with the normal kernel. So does a file system
# after a crash.
OF_THE_LAB = [
    *("test_init.py", "test_icount.py", "test_crash.py", "test_shell.py", "test_trace.py"),
    *("test_typed.py", "test_vng.py", "test_course.py"),
]
# A kernel that checks itself has frames in its suites.
IGNORED = {"guest": [], "debug": [*OF_THE_LAB, "test_outside.py"]}

SLOWEST = 10
# A test that judges shares, latencies or rates by the host's clock.
TIMED = "timed"
# Marks of tests that make test-long alone runs.
NOT_OF_GATE = (TIMED, "long")
# Nothing is run again, whatever came of it: a fault was planted.
NEVER_AGAIN = "never"

PR_SET_CHILD_SUBREAPER = 36
# What a test has told to end may take its time on a busy host.
END_S = 30
# Boots that run together with the tests end with the session itself.
BOOTS = b"tests.apart"


@pytest.fixture
def golden() -> Path:
    return GOLDEN


@pytest.fixture
def built(tmp_path: Path) -> Paths:
    """An output directory where everything seems to be built."""
    paths = Paths(tmp_path / "top", tmp_path / "out")
    for path in (paths.boot_image("guest"), paths.init, paths.rootfs, paths.bin / "lottery"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"not really {path.name}\n".encode())
    return paths


@pytest.fixture
def fake_qemu(tmp_path: Path) -> str:
    """A program that takes QEMU's arguments and replays what fake.* words ask for."""
    program = tmp_path / "fake-qemu"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {GOLDEN / "fake_qemu.py"} "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def fake_machine(fake_qemu: str) -> Machine:
    return Machine(qemu=fake_qemu)


def _children() -> dict[int, str]:
    """Processes below this one that have not ended: their numbers and command lines."""
    pids: list[str] = []
    found: dict[int, str] = {}
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            pids += listed.read_text().split()
    for pid in pids:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            # One that has ended and was not waited for has no words.
            if any(words) and BOOTS not in words:
                found[int(pid)] = os.fsdecode(b" ".join(words))
    return found


def nothing_is_left(of: str) -> Iterator[None]:
    """What is started meanwhile ends with it; orphans are handed to this process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = _children()
    yield
    deadline = time.monotonic() + END_S
    while (left := {p: w for p, w in _children().items() if p not in before}) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if left:
        pytest.fail(f"{of} has left behind: {'; '.join(left.values())}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def nothing_outlives_the_session() -> Iterator[None]:
    yield from nothing_is_left("a fixture of several tests")


@pytest.fixture(autouse=True)
def nothing_outlives_a_test(request: pytest.FixtureRequest) -> Iterator[None]:
    yield from nothing_is_left(request.node.name)


@pytest.fixture(scope="session")
def lab_paths() -> Paths:
    """The real output directory: guests boot what was built there."""
    return Paths.from_env()


SELECTED = pytest.StashKey[Mapping[str, Collection[str]]]()
SCHEDULE = pytest.StashKey[Schedule]()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """What a kernel has no use for."""
    ignored = IGNORED.get(kernel_variant(os.environ), OF_THE_LAB)
    return True if collection_path.parent == GUESTS and collection_path.name in ignored else None


def pytest_report_header() -> list[str]:
    return identity.header(Paths.from_env(), kernel_variant(os.environ))


def _known_suites() -> tuple[Boot, ...]:
    short = bool(os.environ.get("LAB_SHORT"))
    return suites(kernel_variant(os.environ), short, tier(os.environ))


def _selected(items: Iterable[pytest.Item]) -> Mapping[str, Collection[str]]:
    """Suites with those of their programs that have a test; a test of a suite wants all."""
    selected: dict[str, set[str]] = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        params = callspec.params if callspec and not item.get_closest_marker("skip") else {}
        if "suite" in params:
            selected.setdefault(params["suite"].name, set())
        if "program" in params:
            suite, program = params["program"]
            selected.setdefault(suite.name, set()).add(program.name)
    return selected


def _turn(item: pytest.Item) -> int:
    """Suites when there is nothing else to do; what keeps time on the host behind all guests."""
    if item.get_closest_marker(TIMED):
        return 2
    return int({"program", "suite"} & set(getattr(item, "fixturenames", ())) != set())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A lane of guests runs during the tests without one."""
    items.sort(key=_turn)
    if tier(os.environ) == "gate":
        rest = [item for item in items if any(map(item.get_closest_marker, NOT_OF_GATE))]
        config.hook.pytest_deselected(items=rest)
        items[:] = [item for item in items if item not in rest]


def pytest_collection_finish(session: pytest.Session) -> None:
    """After -k has had its say: which programs of which suites are to run."""
    session.config.stash[SELECTED] = _selected(session.items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a program and one a suite, named after them."""
    known = _known_suites()
    if "program" in metafunc.fixturenames:
        named = [(f"{s.name}-{p.name}", (s, p)) for s in known for p in s.programs]
        cases = [pytest.param(pair, id=name) for name, pair in named]
        for suite, program, why in left_out(kernel_variant(os.environ)):
            skip = pytest.mark.skip(reason=why)
            name = f"{suite.name}-{program.name}"
            cases.append(pytest.param((suite, program), id=name, marks=skip))
        metafunc.parametrize("program", cases)
    if "suite" in metafunc.fixturenames:
        metafunc.parametrize("suite", known, ids=[suite.name for suite in known])


def chosen(suite: Boot, names: Collection[str]) -> Boot:
    """The suite with the programs named, all if none is, and with what makes things ready.

    That is the disk, and what tools of the root image do in a guest without that. A part of
    a suite has no budget of its own.
    """
    here = any(p.name in names for p in suite.programs)
    programs = tuple(
        p
        for p in suite.programs
        if not names or p.name in names or (here and (p.argv == slowdisk.DISK or p.prepares))
    )
    part = len(programs) < len(suite.programs)
    budget_s = None if part and suite.machine.real_time else suite.budget_s
    return replace(suite, programs=programs, budget_s=budget_s)


@pytest.fixture(scope="session", autouse=True)
def begun(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> None:
    """The first guests boot while other tests run."""
    if pytestconfig.stash[SELECTED]:
        schedule: Schedule = request.getfixturevalue("schedule")
        schedule.begin()


@pytest.fixture(scope="session")
def schedule(lab_paths: Paths, pytestconfig: pytest.Config) -> Iterator[Schedule]:
    """The boots of this session, with their progress past pytest's capture."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        stderr = os.dup(sys.stderr.fileno())
    selected = pytestconfig.stash[SELECTED]
    accel = asked_for(None)
    boots = [
        replace(boot, machine=apply(lab_paths, boot.machine, accel))
        for suite in _known_suites()
        if suite.name in selected
        for boot in [chosen(suite, selected[suite.name])]
    ]
    with os.fdopen(stderr, "w") as stream:
        pytestconfig.stash[SCHEDULE] = Schedule(
            boots, Apart(lab_paths, stream), once_more=_once_more()
        )
        yield pytestconfig.stash[SCHEDULE]


def _once_more() -> Chooser | None:
    if os.environ.get("LAB_AGAIN") == NEVER_AGAIN:
        return None
    before = ledger.known(ledger.directory())
    # Of the kernel with checks only a hang is a verdict that a second run can change.
    hangs = only_noted(kernel_variant(os.environ))
    return lambda results: again.chosen(
        [result for result in results if not hangs or result.outcome in again.HUNG], before
    )


def _noted(results: Iterable[BootResult]) -> Iterator[str]:
    """What failed on the kernel with checks, where that is up to the normal kernel to judge."""
    for result in results if only_noted(kernel_variant(os.environ)) else ():
        for program in result.programs:
            if program.status is Status.FAIL:
                yield f"NOTED {result.boot.name}-{program.name}: {program.reason}"


def _reason(report: pytest.TestReport) -> str:
    where = report.longrepr
    return str(where[2] if isinstance(where, tuple) else where)


def _left_out(config: pytest.Config) -> list[str]:
    """Skips that are not allowed, of tests and of what programs test themselves."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    schedule = config.stash.get(SCHEDULE, None)
    found = [(report.nodeid, _reason(report)) for report in reports]
    found += skips.of_boots(schedule.finished()) if schedule else []
    return skips.unexpected(found)


def _notes(results: Iterable[BootResult]) -> Iterator[str]:
    for result in results:
        for program in result.programs:
            for line in program.output:
                if line.startswith("# "):
                    yield f"{result.boot.name}-{program.name}: {line.removeprefix('# ')}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skip that is not on the list fails the run."""
    if session.exitstatus == pytest.ExitCode.OK and _left_out(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Skips that are not allowed, and where the time went."""
    for line in _left_out(config):
        terminalreporter.write_line(f"SKIP NOT ALLOWED: {line}", red=True)
    schedule = config.stash.get(SCHEDULE, None)
    if schedule is None:
        return
    found = schedule.finished()
    if kernel_variant(os.environ) == "torture":
        terminalreporter.section("what was done")
        for line in _notes(found):
            terminalreporter.write_line(line)
    for line in (*again.lines(found), *_noted(found)):
        terminalreporter.write_line(line, yellow=True)
    results = sorted(found, key=lambda result: -result.seconds)
    terminalreporter.section(f"slowest {SLOWEST} boots")
    for result in results[:SLOWEST]:
        budget = result.boot.budget_s
        limit = f" of {budget:.0f}" if budget is not None else ""
        terminalreporter.write_line(f"{result.seconds:7.1f} s{limit}  {result.boot.name}")
    for result in results:
        if result.over_budget:
            terminalreporter.write_line(
                f"over its budget: {result.boot.name}, {result.seconds:.0f} s of "
                f"{result.boot.budget_s:.0f}",
                yellow=True,
            )
    durations = {result.boot.name: round(result.seconds, 1) for result in results}
    for result in results:
        took = {f"{result.boot.name}-{p.name}": round(p.seconds, 1) for p in result.programs}
        durations.update(took)
    logs = Paths.from_env().logs
    logs.mkdir(parents=True, exist_ok=True)
    red = [str(r.console) for r in found if not r.ok]
    red += [str(r.first.console) for r in found if r.first]
    for name, what in (("durations", durations), ("red", red), ("flaky", again.names(found))):
        path = logs / f"{name}-{kernel_variant(os.environ)}.json"
        path.write_text(json.dumps(what, indent=1) + "\n")

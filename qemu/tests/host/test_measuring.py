# SPDX-License-Identifier: GPL-2.0
"""What makes a run of a boot a measurement, and what makes it worthless."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError, experiment
from lab.experiment import fault, measuring, require
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind, Splat
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult, ProgramResult
from lab.paths import Paths

PROGRAMS = (
    Program("scale-20-1", ("lottery-bench", "scale", "20", "--json"), what="scale"),
    Program("pipe-other", ("lottery-bench", "pipe", "--policy", "other", "--json"), what="pipe"),
)
BOOT = Boot("cost-list-2", Machine(accel="icount", root=False), PROGRAMS, defer=True)
ONE, TWO = (ProgramResult(p.name, Status.OK, output=[f"{{{p.name}}}"]) for p in PROGRAMS)
SPLAT = Splat(Kind.WARNING, "WARNING: at kernel/sched", 7, "scale-20-1")
FAILED = ProgramResult("scale-20-1", Status.FAIL, reason="exit 3")
SILENT = ProgramResult("pipe-other", Status.OK)
SKIPPED = ProgramResult("pipe-other", Status.SKIP, reason="no class")


def measured(monkeypatch: pytest.MonkeyPatch, **change: Any) -> BootResult:
    def boot(_paths: Paths, boot: Boot, log_dir: Path) -> BootResult:
        good = BootResult(boot, [ONE, TWO], log_dir / "console.log")
        return replace(good, **change)

    monkeypatch.setattr(experiment, "run_boot", boot)
    return measuring(Paths(Path("top"), Path("out")), "bench", {})(BOOT)


def test_logs_are_kept_by_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    result = measured(monkeypatch)
    assert result.lines(PROGRAMS[1]) == ["{pipe-other}"]
    assert result.console == Path("out/logs/bench/cost-list-2/console.log")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"splats": [SPLAT]}, "WARNING in scale-20-1"),
        ({"errors": ["the kernel panicked"]}, "the kernel panicked"),
        ({"programs": [FAILED]}, "scale-20-1: fail: exit 3"),
        ({"programs": [ONE, SKIPPED]}, "pipe-other: skip: no class"),
        ({"programs": [ONE, SILENT]}, "pipe-other: ok: no output"),
    ],
)
def test_a_run_that_is_not_clean_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(LabError) as caught:
        measured(monkeypatch, **change)
    message = str(caught.value)
    assert message.startswith("cost-list-2: ")
    assert words in message and "console.log" in message and "\n" not in message
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("reason", "measured"), [("exit 1", True), ("exit 1: slow", True), ("exit 2: bad", False)]
)
def test_a_failed_check_of_a_tool_is_a_measurement(reason: str, measured: bool) -> None:
    failed = replace(ONE, status=Status.FAIL, reason=reason)
    assert (fault(BootResult(BOOT, [failed], Path())) is None) == measured
    assert fault(BootResult(BOOT, [replace(failed, output=[])], Path())) is not None


@pytest.mark.parametrize(("status", "good"), [(Status.OK, True), (Status.FAIL, False)])
def test_what_makes_something_ready_may_be_silent(status: Status, good: bool) -> None:
    ready = replace(BOOT, programs=(Program("mount", ("mount", "/dev/nullb0")),))
    results = [ProgramResult("mount", status, reason="" if good else "exit 255")]
    assert (fault(BootResult(ready, results, Path())) is None) == good


def test_each_kernel_must_be_built_before_any_boot(built: Paths, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"bzImage is missing: make kernel$"):
        require(Paths(top=tmp_path, out=tmp_path), {"guest"})
    require(built, {"guest"})
    with pytest.raises(LabError, match=r"kernel-plain/.*bzImage is missing: make kernel-plain$"):
        require(built, {"guest", "plain"})

# SPDX-License-Identifier: GPL-2.0
"""Boots of an experiment as plans of a guest, and what makes a run worthless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.experiments import guest
from lab.experiments.boots import Boot, Job
from lab.guest.plan import Plan

from lab import LabError
from lab.guest.console import Kind, Splat
from lab.guest.ext4 import Ext4
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.vm import EntryResult, Outcome, RunResult
from lab.paths import Paths

JOBS = (
    Job("scale", "scale-20-1", ("lottery-scale", "20", "--json"), 0.05),
    Job("pipe", "pipe-other", ("lottery-pipe", "--policy", "other", "--json"), 1),
)
BOOT = Boot("cost-list-2", 2, ("lottery_pool=list",), JOBS, shift=3)


def good(log_dir: Path) -> RunResult:
    """A run in which every job printed a line."""
    entries = [EntryResult(job.name, Status.OK, (), [f"{{{job.kind}}}"]) for job in JOBS]
    return RunResult(entries, log_dir / "console.log", [], Outcome.DONE, [])


class FakeGuest:
    """Stands in for run_plan; remembers what it was asked and answers `result`."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        self.asked: tuple[Machine, Plan, float, Path] | None = None
        self.extra: Mapping[str, Path] = {}

    def __call__(
        self,
        _paths: Paths,
        machine: Machine,
        plan: Plan,
        timeout_s: float,
        log_dir: Path,
        *,
        extra: Mapping[str, Path],
    ) -> RunResult:
        self.asked = (machine, plan, timeout_s, log_dir)
        self.extra = extra
        return self.result


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """An output directory that has a kernel and PID 1."""
    paths = Paths(top=tmp_path, out=tmp_path / "build")
    for path in (paths.bzimage(), paths.init):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    return paths


def test_a_boot_is_one_cpu_with_a_virtual_clock_and_no_disk() -> None:
    machine = guest.machine(BOOT)
    assert (machine.accel, machine.cpus, machine.root) == ("icount", 1, False)
    assert (machine.seed, machine.icount_shift, machine.append) == (2, 3, ("lottery_pool=list",))
    big = guest.machine(replace(BOOT, mem_mb=3072, cpu="max,-erms", kernel="debug"))
    assert (big.mem_mb, big.cpu, big.kernel) == (3072, "max,-erms", "debug")


def test_jobs_are_entries_whose_output_is_deferred() -> None:
    plan = guest.plan(BOOT)
    assert plan.defer
    assert [(e.name, e.argv, e.timeout_s) for e in plan.entries] == [
        ("scale-20-1", JOBS[0].argv, 30),
        ("pipe-other", JOBS[1].argv, 40),
    ]


def test_output_comes_back_by_job(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeGuest(good(paths.logs))
    monkeypatch.setattr(guest, "run_plan", fake)
    assert guest.guest_runner(paths, "bench")(BOOT) == {
        "scale-20-1": ["{scale}"],
        "pipe-other": ["{pipe}"],
    }
    assert fake.asked is not None
    assert fake.asked[2:] == (BOOT.timeout_s(), paths.logs / "bench" / "cost-list-2")


def test_a_disk_comes_along_in_the_initramfs(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeGuest(good(paths.logs))
    monkeypatch.setattr(guest, "run_plan", fake)
    run = guest.guest_runner(paths, "bench")
    run(BOOT)
    assert fake.extra == {}
    run(replace(BOOT, disk=Ext4(size_mb=16, journal_mb=4)))
    assert fake.extra["lab/disk"].read_bytes().startswith(b"LABDISK1")


SPLAT = Splat(Kind.WARNING, "WARNING: at kernel/sched", 7, "scale-20-1")
FAILED = EntryResult("scale-20-1", Status.FAIL, reason="exit 3")
SILENT = EntryResult("pipe-other", Status.OK)
SKIPPED = EntryResult("pipe-other", Status.SKIP, reason="no class")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"splats": [SPLAT]}, "WARNING in scale-20-1"),
        ({"errors": ["the kernel panicked"]}, "the kernel panicked"),
        ({"entries": [FAILED]}, "scale-20-1: fail: exit 3"),
        ({"entries": [*good(Path()).entries[:1], SKIPPED]}, "pipe-other: skip: no class"),
        ({"entries": [*good(Path()).entries[:1], SILENT]}, "pipe-other: ok: no output"),
    ],
)
def test_a_run_that_is_not_clean_measures_nothing(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(guest, "run_plan", FakeGuest(replace(good(paths.logs), **change)))
    with pytest.raises(LabError) as caught:
        guest.guest_runner(paths, "bench")(BOOT)
    message = str(caught.value)
    assert message.startswith("cost-list-2: ")
    assert words in message
    assert "console.log" in message
    assert "\n" not in message
    assert caught.value.exit_code == 1


def test_a_failed_check_of_a_tool_is_a_measurement_all_the_same() -> None:
    result = good(Path())
    failed = replace(result.entries[0], status=Status.FAIL, reason="exit 1")
    assert guest.fault(replace(result, entries=[failed])) is None
    assert guest.fault(replace(result, entries=[replace(failed, output=[])])) is not None


def test_a_kernel_that_is_not_built_is_named_before_any_boot(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"bzImage is missing: make kernel$"):
        guest.guest_runner(Paths(top=tmp_path, out=tmp_path), "bench")


def test_each_kernel_of_the_boots_must_be_built(paths: Paths) -> None:
    with pytest.raises(LabError, match=r"kernel-plain/.*bzImage is missing: make kernel-plain$"):
        guest.guest_runner(paths, "bench", {"guest", "plain"})

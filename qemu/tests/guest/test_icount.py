# SPDX-License-Identifier: GPL-2.0
"""Virtual time repeats: two boots of one image say the same, to the nanosecond."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lab.machine import Machine
from lab.paths import Paths
from lab.plan import Plan, PlanEntry
from lab.vm import RunResult, run_plan

WALL_S = 600.0
MACHINE = Machine(accel="icount", icount_shift=3, root=False)

PLAN = Plan(
    (
        PlanEntry("fair", ("lottery-fair", "--json", "--tasks", "8", "--work-ms", "10"), 60),
        PlanEntry("schedstat", ("@cat", "/proc/schedstat"), 60),
        PlanEntry("interrupts", ("@cat", "/proc/interrupts"), 60),
        PlanEntry("random", ("@cat", "/proc/sys/kernel/random/uuid"), 60),
    )
)


@pytest.mark.parametrize("cpus", [1, 4])
def test_two_boots_are_the_same(lab_paths: Paths, cpus: int) -> None:
    """Side by side, so that each disturbs the other's host time."""
    machine = replace(MACHINE, cpus=cpus)

    def boot(which: str) -> RunResult:
        log_dir = lab_paths.logs / machine.kernel / f"icount-{cpus}{which}"
        return run_plan(lab_paths, machine, PLAN, WALL_S, log_dir)

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(boot, "ab")
    assert one.ok, one.problems()
    assert [entry.output for entry in one.entries] == [entry.output for entry in other.entries]
    streams = [run.console.with_name("result.ktap").read_bytes() for run in (one, other)]
    assert streams[0] == streams[1]


def test_the_seed_counts(lab_paths: Paths) -> None:
    """Another seed is another run: repeats are samples, not copies."""
    plan = Plan((PLAN.entries[-1],))

    def boot(seed: int) -> list[str]:
        machine = replace(MACHINE, seed=seed)
        log_dir = lab_paths.logs / machine.kernel / f"icount-seed-{seed}"
        return run_plan(lab_paths, machine, plan, WALL_S, log_dir).entry("random").output

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(boot, (1, 2))
    assert one and other and one != other

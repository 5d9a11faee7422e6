# SPDX-License-Identifier: GPL-2.0
"""A skip that is not allowed fails the run, wherever it is."""

import os
import sys
from pathlib import Path

import pytest

from lab.guest.boot import Boot
from lab.guest.machine import Machine
from lab.guest.vm import run_boot
from lab.paths import Paths
from tests import skips
from tests.apart import QEMU
from tests.host.programs import Done, run
from tests.session import PROGRAMS


def test_what_programs_leave_out_is_held_against_the_list(
    built: Paths, fake_machine: Machine, tmp_path: Path
) -> None:
    """A program that is ok as a whole, too. One that is skipped altogether is a test's skip."""
    machine = fake_machine.with_append("fake.replay=part-skipped")
    result = run_boot(built, Boot("shares", machine, PROGRAMS), tmp_path / "logs", lost_s=30)
    assert result.ok
    assert skips.unexpected(skips.of_boots([result])) == [
        "shares-alpha/share-10:1: too few lotteries",
        "shares-alpha/share-2:1: too few lotteries",
        "shares-beta/lottery_pool/chi_square/rbtree: not built in",
    ]


def session(top: Path, *words: str | Path, **env: str) -> Done:
    """One of pytest, of tests below there."""
    argv = (sys.executable, "-m", "pytest", "-c", QEMU / "pyproject.toml", f"--rootdir={top}")
    environ = {**os.environ, "PYTHONPATH": str(QEMU), **env}
    return run(*argv, "-p", "no:cacheprovider", *words, env=environ, cwd=top)


def test_what_one_cpu_cannot_run_is_skipped_and_allowed(tmp_path: Path) -> None:
    """Nothing is booted for it: there is no kernel here."""
    words = ("-k", "lottery_lag or lottery-smp or lottery-torture")
    env = {"LAB_OUT": str(tmp_path), "LAB_KERNEL": "up", "LAB_SHORT": "1"}
    done = session(QEMU, *words, QEMU / "tests/guest/test_guest.py", **env)
    assert done.returncode == 0, done.stdout
    assert "3 skipped" in done.stdout and "needs 4 CPUs, kernel-up has 1" in done.stdout
    assert "SKIP NOT ALLOWED" not in done.stdout


@pytest.mark.parametrize(("where", "status"), [("other", 1), ("ipclat_containers", 0)])
def test_the_run_fails(tmp_path: Path, where: str, status: int) -> None:
    """The reason is allowed to some."""
    test = tmp_path / f"test_{where}.py"
    test.write_text("import pytest\ndef test_left_out():\n    pytest.skip('no podman here')\n")
    done = session(tmp_path, "-p", "tests.session", test)
    assert done.returncode == status
    assert ("SKIP NOT ALLOWED: test_other.py::test_left_out" in done.stdout) is bool(status)

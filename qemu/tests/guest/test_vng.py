# SPDX-License-Identifier: GPL-2.0
"""virtme-ng boots our kernel, with the host's own file system as its root: a smoke test."""

import shutil
import subprocess

import pytest

from lab.paths import Paths

LONGEST_S = 300
SHOWN = "/proc/sched_lottery"


def test_our_kernel_runs_under_virtme_ng(lab_paths: Paths) -> None:
    """As a person would: a look, not a measurement. It needs udev on the host."""
    image = lab_paths.boot_image("vng")
    if not shutil.which("vng"):
        pytest.skip("vng is missing: it is virtme-ng")
    if not image.is_file():
        pytest.skip("no kernel for it: make kernel-vng")
    done = subprocess.run(
        ["vng", "--disable-kvm", "--run", str(image), "--", f"head -n 3 {SHOWN}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:]
    assert "tick_ns" in done.stdout

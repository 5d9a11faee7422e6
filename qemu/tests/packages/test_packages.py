# SPDX-License-Identifier: GPL-2.0
"""Our packages on a Debian machine: installed, booted from its disk, used, removed.

make test-packages; 30 minutes on two CPUs, most of it for the kernel's build.
"""

import os
import re

import pytest

from lab.deb import KERNEL_DEBS, TOOLS_DEBS, found
from lab.guest.accel import asked_for, choose
from lab.paths import Paths
from tests.packages import disk

# The functions of the script, but for those that others call.
STEPS = re.findall(r"^([a-z_]{9,})\(\) \{$", (disk.HERE / "steps.sh").read_text(), re.M)
STEPS.remove("until_true")


@pytest.fixture(scope="session")
def results() -> str:
    """What the steps said, on a machine that was booted once for all of them."""
    paths = Paths.from_env()
    debs = found(paths, (*KERNEL_DEBS, *TOOLS_DEBS))
    accel = choose(paths, asked_for(None, os.environ))
    made = disk.machine(paths, paths.packages / "disk", debs, accel)
    said = made.results.read_text(errors="replace")
    assert said.endswith("end\n"), f"the steps did not come to their end: {made.console}\n{said}"
    return said


@pytest.mark.parametrize("step", STEPS)
def test_step(step: str, results: str) -> None:
    verdict = re.search(rf"^((?:# .*\n)*)(ok|not ok) {step}$", results, re.M)
    assert verdict, f"{step} did not run"
    assert verdict[2] == "ok", verdict[1]


def test_every_step_is_looked_at(results: str) -> None:
    assert re.findall(r"^(?:not )?ok (\w+)$", results, re.M) == STEPS


def test_the_driver_was_built_by_dkms_at_the_install() -> None:
    log = (Paths.from_env().packages / "disk/install.log").read_text()
    assert re.search(r"napi_livelock\.ko", log)

# SPDX-License-Identifier: GPL-2.0
"""How the guest is run: TCG, unless KVM has proved that it works.

A /dev/kvm that opens, and creates a machine, may still never leave the
firmware. So a guest is booted with KVM first, and KVM is used only if PID 1 of
that guest has answered in time. The verdict holds until the host reboots.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from lab import LabError
from lab.guest.boot import Boot
from lab.guest.machine import ACCELS, SHIFT_MAX, Machine
from lab.guest.result import Outcome
from lab.guest.vm import run_boot
from lab.host import stamps
from lab.host.program import run
from lab.paths import Paths

DEFAULT = "tcg"
AUTO = "auto"
PROBE_TIMEOUT_S = 8.0
PROBE_MACHINE = Machine(accel="kvm", root=False, mem_mb=256)
VERSION_TIMEOUT_S = 20.0
KVM = Path("/dev/kvm")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

VIRTUAL = re.compile(r"icount:(\d+)ns")
"""Virtual time with so many nanoseconds an instruction."""
NANOSECONDS = tuple(1 << shift for shift in range(SHIFT_MAX + 1))

Probe = Callable[[Paths], bool]


def asked_for(value: str | None, environ: Mapping[str, str] | None = None) -> str:
    """value, or else ACCEL of the environment, or else auto. Raises LabError."""
    env = os.environ if environ is None else environ
    wanted = value or env.get("ACCEL") or AUTO
    match = VIRTUAL.fullmatch(wanted)
    if wanted in (*ACCELS, AUTO) or (match and int(match[1]) in NANOSECONDS):
        return wanted
    known = f"{', '.join(ACCELS)}, {AUTO}, and icount:Nns, where N is a power of two"
    raise LabError(f"ACCEL '{wanted}': allowed are {known} up to {NANOSECONDS[-1]}")


def probe_kvm(
    paths: Paths, machine: Machine = PROBE_MACHINE, timeout_s: float = PROBE_TIMEOUT_S
) -> bool:
    """Boot a guest that has nothing to do, and see whether it says so in time."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return False
    with tempfile.TemporaryDirectory(prefix="lab-kvm-") as directory:
        boot = Boot("kvm-probe", machine)
        result = run_boot(paths, boot, Path(directory), lost_s=timeout_s)
    return result.outcome is Outcome.DONE and not result.errors


def _here(qemu: str) -> dict[str, str]:
    """What a verdict depends on: this boot of the host, this QEMU."""
    try:
        said = run(qemu, "--version", timeout_s=VERSION_TIMEOUT_S).said
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"cannot run {qemu}: {error}", exit_code=1) from error
    return {"boot_id": BOOT_ID.read_text().strip(), "qemu": said.partition("\n")[0]}


def kvm_works(paths: Paths, probe: Probe = probe_kvm) -> bool:
    """The verdict on KVM, from $(O)/kvm.json or from a probe boot."""
    if not KVM.exists():
        return False
    path = paths.out / "kvm.json"
    here = _here(Machine.qemu)
    verdict = stamps.load(path)
    if verdict not in ({**here, "kvm": True}, {**here, "kvm": False}):
        verdict = {**here, "kvm": probe(paths)}
        path.parent.mkdir(parents=True, exist_ok=True)
        stamps.save(path, verdict)
    return bool(verdict["kvm"])


def choose(paths: Paths, wanted: str, probe: Probe = probe_kvm) -> str:
    """What was wanted for a machine in real time; auto asks for the verdict."""
    if wanted != AUTO:
        return wanted
    return "kvm" if kvm_works(paths, probe) else DEFAULT


def apply(paths: Paths, machine: Machine, wanted: str, probe: Probe | None = None) -> Machine:
    """The machine as it is to be run here.

    What was asked for overrides the machine. Otherwise a machine in virtual
    time stays so, and one in real time gets KVM if that works: its own kernel
    is asked, since no other one need be there.
    """
    if wanted == AUTO and not machine.real_time:
        return machine
    probe = probe or partial(probe_kvm, machine=replace(PROBE_MACHINE, kernel=machine.kernel))
    return exactly(machine, choose(paths, wanted, probe))


def exactly(machine: Machine, wanted: str) -> Machine:
    """The machine run so, whatever works here; `wanted` is not auto."""
    if match := VIRTUAL.fullmatch(wanted):
        return replace(machine, accel="icount", icount_shift=NANOSECONDS.index(int(match[1])))
    return replace(machine, accel=wanted)

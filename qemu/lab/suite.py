# SPDX-License-Identifier: GPL-2.0
"""Suites: boots that are tests. Without the root image there is no shell in them."""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from lab import LabError, one_of
from lab.guest import python
from lab.guest.boot import DEBUG_SLOWNESS, Boot, Program
from lab.guest.machine import Machine
from lab.paths import CHECKED, MATRIX

# The kernels that are tested; others are only measured.
KERNELS = ("guest", "debug", "torture", *MATRIX)
# What gates a change, and everything, with what is judged in real time.
TIERS = ("gate", "long")
DEBUG_MEM_MB = 3072
KMEMLEAK_TIMEOUT_S = 300
INSIDE_TIMEOUT_S = 120

LAB = Path(__file__).resolve().parent
IN_GUEST = "lab/scenarios"
"""Where the guest has them, relative to /."""
BOUNDS_OFF = "LAB_BOUNDS=off"
"""A word of the kernel command line: PID 1 has it in its environment, and so has each program."""
_FIELD = re.compile(r"^# (Name|What|Needs|Time|Debug|Timed): +(.+)$")
_REQUIRED = ("Name", "What", "Needs")


def machine_for(kernel: str, machine: Machine) -> Machine:
    """The machine with that kernel and the room that it needs."""
    machine = replace(machine, kernel=kernel)
    checked_mb = max(DEBUG_MEM_MB, 2 * machine.mem_mb)
    return replace(machine, mem_mb=checked_mb) if kernel in CHECKED else machine


def inside(name: str, *args: str) -> Program:
    """The tests of qemu/inside/NAME.py, with what else is there."""
    argv = python.command(name.replace("-", "_"), "--ktap", *args)
    return with_python(Program(name, argv, INSIDE_TIMEOUT_S))


def with_python(program: Program) -> Program:
    """The program, which may use Python and what is in qemu/inside."""
    image = (*program.image, python.INTERPRETER)
    return replace(program, files={**program.files, **python.sources()}, image=image)


def refused(name: str, command: str) -> Program:
    """The command must end with status 2 and one line that says why."""
    program = scenario("refused")
    argv = (*program.argv, *shlex.split(command))
    return replace(program, name=name, argv=argv, debug=False)


@dataclass(frozen=True)
class Header:
    """The top of a scenario file."""

    name: str
    what: str
    needs: tuple[str, ...]
    time_s: int
    debug: bool
    timed: bool


def header(path: Path) -> Header:
    """The header of a scenario.  Raises LabError if a field is missing or twice there."""
    fields: dict[str, str] = {}
    for line in path.read_text().splitlines():
        match = _FIELD.match(line)
        if match and match[1] in fields:
            raise LabError(f"{path}: '{match[1]}' is there twice", exit_code=1)
        if match:
            fields[match[1]] = match[2]
    for field in _REQUIRED:
        if field not in fields:
            raise LabError(f"{path}: no '# {field}:' line", exit_code=1)
    if fields["Name"] != path.stem:
        raise LabError(f"{path}: is named '{fields['Name']}': must be {path.stem}", exit_code=1)
    needs = tuple(word for word in fields["Needs"].split() if word != "nothing")
    debug = fields.get("Debug", "yes") != "no"
    timed = fields.get("Timed", "no") == "yes"
    return Header(path.stem, fields["What"], needs, int(fields.get("Time", "30")), debug, timed)


def script(name: str) -> Path:
    """Of a scenario: SUBJECT/NAME is qemu/subjects/SUBJECT/guest/NAME.sh, NAME one of the lab."""
    subject, _, file = name.rpartition("/")
    folder = LAB.parent / "subjects" / subject if subject else LAB
    return folder / f"guest/{file}.sh"


def scenario(name: str, *args: str) -> Program:
    """The scenario of that name, with all scripts of its folder beside it.

    The shell says each step before it takes it, and ends at the first that fails.
    """
    path = script(name)
    if not path.is_file():
        raise LabError(f"{path}: no such scenario", exit_code=1)
    head = header(path)
    folder = PurePosixPath(IN_GUEST, name).parent
    files: Mapping[str, Path] = {
        f"{folder}/{file.name}": file for file in sorted(path.parent.glob("*.sh"))
    }
    argv = ("sh", "-ex", f"/{folder}/{path.name}", *args)
    return Program(head.name, argv, head.time_s, debug=head.debug, timed=head.timed, files=files)


def unmet(boot: Boot) -> list[str]:
    """What scenarios of the boot need and its machine does not have."""
    machine = boot.machine
    there = {
        *(["root"] if machine.root else []),
        *(f"module={name}" for name in machine.modules),
        *(f"cards={count}" for count in range(1, len(machine.nics) + 1)),
        *(f"cpus={count}" for count in range(1, machine.cpus + 1)),
        f"disks={machine.devices.count('-blockdev')}",
    }
    found = []
    for program in boot.programs:
        for guest_name, path in program.files.items():
            if program.argv[2:3] == (f"/{guest_name}",):
                missing = [word for word in header(path).needs if word not in there]
                found += [f"{boot.name}-{program.name}: needs {word}" for word in missing]
    return found


def patient(boot: Boot, kernel: str) -> Boot:
    """The boot with a kernel with checks: more time, more room, and what is worth it.

    In real time, always: virtual time costs it twice as much, and what it is to
    find are faults on the way, not shares to the per cent: bounds are off.
    """
    programs = tuple(
        replace(program, timeout_s=program.timeout_s * DEBUG_SLOWNESS)
        for program in boot.programs
        if program.debug
    )
    machine = replace(machine_for(kernel, boot.machine), accel="tcg", icount_shift=0)
    return without_bounds(replace(boot, machine=machine, programs=programs))


def without_bounds(boot: Boot) -> Boot:
    """The boot, in which programs judge what happened and only note a bound that was missed."""
    return replace(boot, machine=boot.machine.with_append(BOUNDS_OFF))


def of_gate(boot: Boot) -> Boot:
    """The boot without what is for the long tier; bounds are judged where runs are exact."""
    programs = tuple(program for program in boot.programs if program.gate and not program.timed)
    boot = replace(boot, programs=programs)
    return boot if boot.machine.exact else without_bounds(boot)


def only_noted(kernel: str) -> bool:
    """In the gate, the verdict of a kernel with checks is splat, crash, hang or leak."""
    return kernel in CHECKED and tier(os.environ) == "gate"


def not_debug(boot: Boot) -> Boot:
    """The boot, but not for the kernel with checks: another one does the same to it there."""
    return replace(boot, programs=tuple(replace(one, debug=False) for one in boot.programs))


def together(boots: Iterable[Boot]) -> tuple[Boot, ...]:
    """Boots that need the same machine as one, "ONE+OTHER", and the others as they are.

    Their programs follow each other, and their budgets add up. A root image does not disturb
    a boot without need of it. A boot that writes to a disk of its own stays alone.
    """
    groups: dict[object, list[Boot]] = {}
    for boot in boots:
        shared = not boot.disk and boot.mode == "plan"
        key = replace(boot.machine, root=True) if shared else boot.name
        groups.setdefault(key, []).append(boot)
    return tuple(
        replace(
            group[0],
            name="+".join(boot.name for boot in group),
            machine=replace(group[0].machine, root=any(boot.machine.root for boot in group)),
            leaks=any(boot.leaks for boot in group),
            programs=tuple(program for boot in group for program in boot.programs),
            budget_s=sum(boot.budget_s or 0.0 for boot in group) or None,
        )
        for group in groups.values()
    )


def for_debug(boots: Iterable[Boot]) -> tuple[Boot, ...]:
    """The boots for the kernel with checks; some look for leaks at their end.

    One guest for all that need the same machine: to boot it takes long.
    """
    look = Program("kmemleak", ("@kmemleak",), KMEMLEAK_TIMEOUT_S)
    worth_it = [patient(boot, "debug") for boot in boots if any(p.debug for p in boot.programs)]
    noting = (
        replace(boot, machine=boot.machine.with_append("kmemleak=on")) if boot.leaks else boot
        for boot in worth_it
    )
    return tuple(
        replace(boot, programs=(*boot.programs, look)) if boot.leaks else boot
        for boot in together(noting)
    )


def shortened(boot: Boot) -> Boot:
    """The boot with the shorter form of each program that has one."""
    programs = tuple(replace(p, argv=p.short or p.argv) for p in boot.programs)
    return replace(boot, programs=programs)


def tier(environ: Mapping[str, str]) -> str:
    """What is run of the suites: LAB_TIER, gate by default. Raises LabError."""
    found = environ.get("LAB_TIER") or TIERS[0]
    one_of("LAB_TIER", found, TIERS)
    return found


def kernel_variant(environ: Mapping[str, str]) -> str:
    """Which kernel the suites boot: LAB_KERNEL, guest by default. Raises LabError."""
    variant = environ.get("LAB_KERNEL") or KERNELS[0]
    one_of("LAB_KERNEL", variant, KERNELS)
    return variant

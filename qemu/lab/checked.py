# SPDX-License-Identifier: GPL-2.0
"""Four boots of the kernel with checks, in which each part of ours is driven once.

They are what the gate has of that kernel. What they find are complaints of the kernel, hangs
and leaks; bounds are off. make test-long runs all suites with it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from lab import LabError, plan
from lab.guest.boot import Boot, Program
from lab.suite import for_debug


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A boot of several suites' programs: of each suite those named, all of none is.

    Its machine has what any of the suites needs. budget_s are host seconds on two cores.
    """

    programs: dict[str, str]
    budget_s: int
    leaks: bool = True


_TEXT = (plan.HERE / "checked.toml").read_text(encoding="utf-8")
GROUPS = msgspec.convert(tomllib.loads(_TEXT), dict[str, Group])


def _programs(boot: Boot, names: list[str]) -> tuple[Program, ...]:
    there = {program.name: program for program in boot.programs if program.debug}
    for name in names:
        if name not in there:
            raise LabError(f"{boot.name}: no program '{name}' for the kernel with checks", 1)
    ready = [name for name, program in there.items() if program.prepares]
    wanted = dict.fromkeys((*ready, *names) if names else there)
    return tuple(replace(there[name], name=f"{boot.name}/{name}") for name in wanted)


def _appended(words: Iterable[str]) -> tuple[str, ...]:
    """Words of a kernel command line, of which the last value of each name holds."""
    return tuple({word.partition("=")[0]: word for word in words}.values())


def _boot(name: str, group: Group, known: Mapping[str, Boot]) -> Boot:
    """The suites of a group as one boot."""
    boots = [known[suite] for suite in group.programs]
    machines = [boot.machine for boot in boots]
    machine = replace(
        max(machines, key=lambda one: len(one.nics)),
        cpus=max(one.cpus for one in machines),
        root=any(one.root for one in machines),
        modules=tuple(dict.fromkeys(name for one in machines for name in one.modules)),
        append=_appended(word for one in machines for word in one.append),
        devices=tuple(word for one in machines for word in one.devices),
    )
    return replace(
        boots[0],
        name=name,
        machine=machine,
        programs=tuple(
            program
            for boot in boots
            for program in _programs(boot, group.programs[boot.name].split())
        ),
        disk=next((boot.disk for boot in boots if boot.disk), None),
        leaks=group.leaks,
        budget_s=group.budget_s,
    )


def boots(found: Iterable[Boot]) -> tuple[Boot, ...]:
    """The four boots, of the suites as they are in real time without checks."""
    known = {boot.name: boot for boot in found}
    return for_debug(_boot(name, group, known) for name, group in GROUPS.items())

# SPDX-License-Identifier: GPL-2.0
"""The suites of a subject as data: its plan.toml.

`place` is the subject's in tables and runs. [[boot]] has the fields of a Boot and of its Machine,
and rows of `programs`. `machine` names a table of fields that boots share; `ports` are that many
pairs of cards. `leaks` makes the kernel with checks two to three times as slow. `budget` are host
seconds on two cores, two to three times what was measured on a quiet machine: on the normal kernel
in full and, if it is worth its time there, on the kernel with checks, shortened. A suite that takes
longer is named at the end of the run, one that takes four times as long is lost;
$(O)/logs/durations-KERNEL.json has the last run.

A row has fields of a Program, and one of these for its argv:

run       a command line
shell     one for the shell of the root image
refused   one that must end with status 2 and a line that says why
scenario  a script of a subject, SUBJECT/NAME, without .sh, and its arguments
inside    the tests of a file in qemu/inside, and its arguments

[FULL|SHORT] is a part that a shortened run has otherwise. All other keys of a row, of a boot,
of its `program`, which has what its rows have in common, and of [words] are words: {WORD} stands
for one. `each` repeats a row, or a boot, for each of some words; `but` has what differs for some
names. `gate`, of a boot, begins the names of what the gate has of it.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from lab import LabError
from lab.arch import ARCH
from lab.guest import python
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.guest.nics import MODEL, Nic, pairs
from lab.paths import CHECKED, MATRIX
from lab.suite import inside, not_debug, refused, scenario, with_python

Row = dict[str, Any]

HERE = Path(__file__).resolve().parents[1] / "subjects"
DEEP = 5
"""How deep words hold others."""
WORDS = {"loader": ARCH.loader, "python": " ".join(python.command("")[:-1])}
ARGV = {"run", "shell", "refused", "scenario", "inside"}
MACHINE = {field.name for field in dataclasses.fields(Machine)}
PROGRAM = {field.name for field in dataclasses.fields(Program)}
BOOT = {"name", "machine", "budget", "programs", "program", "ports", "model"} | {
    *("disk", "leaks", "debug", "gate")
}
ROW = {*PROGRAM, *ARGV, "each", "but", "with_python"}
_CHOICE = re.compile(r"\[(\S[^|\]]*)?\|([^\]]*)\]")


def _filled(text: str, words: Mapping[str, Any]) -> str:
    """The text with its words, which may hold others.  Raises LabError for an unknown one."""
    try:
        for _ in range(DEEP):
            text = text.format_map(words)
    except KeyError as error:
        raise LabError(f"'{text}': no word {error}", exit_code=1) from None
    return text


def _check(where: str, keys: Iterable[str], text: str) -> None:
    """Raises LabError if one of the keys is no word that the text has."""
    unknown = sorted(key for key in keys if f"{{{key}}}" not in text)
    if unknown:
        raise LabError(f"{where}: unknown: {', '.join(unknown)}", exit_code=1)


def _list(value: Any, words: Mapping[str, Any]) -> tuple[Any, ...]:
    """A list, or the words of a text."""
    return tuple(_filled(value, words).split() if isinstance(value, str) else value)


def _repeated(row: Row, words: Mapping[str, Any]) -> Iterator[Row]:
    """A row for each of its words, with what differs for its name."""
    each = {name: _list(value, words) for name, value in row.get("each", {}).items()}
    for values in product(*each.values()):
        one = {key: value for key, value in row.items() if key not in ("each", "but")}
        for name, value in zip(each, values, strict=True):
            one |= value if isinstance(value, dict) else {name: value}
        if "name" in one:
            one["name"] = _filled(one["name"], {**words, **one})
            one |= row.get("but", {}).get(one["name"], {})
        yield one


def _made(kind: str, name: str, text: str) -> Program:
    """The program of a command, with what its kind gives it."""
    argv = shlex.split(text)
    if kind == "shell":
        return Program(name, ("sh", "-c", text))
    if kind == "refused":
        return refused(name, text)
    if kind == "scenario":
        return scenario(*argv)
    return inside(*argv) if kind == "inside" else Program(name or argv[0], tuple(argv))


def _program(row: Row, words: Mapping[str, Any]) -> Program:
    (kind,) = ARGV & row.keys()
    text = _filled(row[kind], {**words, **row})
    full, short = (
        _made(kind, row.get("name", ""), _CHOICE.sub(rf"\{number}", text)) for number in (1, 2)
    )
    fields = {name: value for name, value in row.items() if name in PROGRAM}
    if _CHOICE.search(text):
        fields["short"] = short.argv
    if "image" in fields:
        fields["image"] = _list(fields["image"], words)
    if "provokes" in fields:
        fields["provokes"] = tuple(Kind[name] for name in fields["provokes"])
    program = dataclasses.replace(full, **fields)
    return with_python(program) if row.get("with_python") else program


def _programs(boot: Row, words: Mapping[str, Any]) -> Iterator[Program]:
    for row in boot["programs"]:
        common = boot.get("program", {})
        _check(f"{boot['name']}: {row}", row.keys() - ROW, str((common, row, words)))
        if ARGV & row.keys():
            common = {key: value for key, value in common.items() if key not in ARGV}
        for one in _repeated({**common, **row}, words):
            yield _program(one, words)


def _machine(fields: Row, words: Mapping[str, Any]) -> Machine:
    """A machine of the fields of a boot."""
    found = {name: value for name, value in fields.items() if name in MACHINE}
    for name in ("append", "devices", "modules"):
        if name in found:
            found[name] = _list(found[name], words)
    found["nics"] = tuple(Nic(**nic) for nic in fields.get("nics", ()))
    if "ports" in fields:
        found["nics"] = pairs(fields["ports"], model=fields.get("model", MODEL))
    return Machine(**found)


def _boot(fields: Row, words: Mapping[str, Any]) -> Boot:
    _check(fields["name"], fields.keys() - MACHINE - BOOT, str((fields, words)))
    boot = Boot(
        fields["name"],
        _machine(fields, words),
        tuple(_programs(fields, words)),
        disk=Ext4(**fields["disk"]) if "disk" in fields else None,
        leaks=fields.get("leaks", False),
    )
    if "gate" in fields:
        gate = tuple(fields["gate"])
        programs = (dataclasses.replace(p, gate=p.name.startswith(gate)) for p in boot.programs)
        boot = dataclasses.replace(boot, programs=tuple(programs))
    return boot if fields.get("debug", True) else not_debug(boot)


@cache
def _plan(subject: str) -> Row:
    return tomllib.loads((HERE / subject / "plan.toml").read_text(encoding="utf-8"))


def subjects() -> list[str]:
    """The folders that have a plan, in the order of its `place`."""
    found = [file.parent.name for file in HERE.glob("*/plan.toml")]
    return sorted(found, key=lambda name: int(_plan(name)["place"]))


@cache
def _read(subject: str) -> Row:
    """The plan of a subject, its boots repeated."""
    plan = _plan(subject)
    words = {**WORDS, **plan.get("words", {})}
    boots = [one for boot in plan["boot"] for one in _repeated(boot, words)]
    machines = plan.get("machine", {})
    boots = [{**machines.get(boot.get("machine"), {}), **boot} for boot in boots]
    budgets = {boot["name"]: boot["budget"] for boot in boots if "budget" in boot}
    return {"words": words, "boots": boots, "budgets": {**budgets, **plan.get("budgets", {})}}


def boots(subject: str, **more: str) -> tuple[Boot, ...]:
    """The suites in the plan of a subject, and its long ones; more are words."""
    plan = _read(subject)
    return tuple(_boot(boot, {**plan["words"], **more, **boot}) for boot in plan["boots"])


def _budgets(kind: int) -> dict[str, int]:
    plans = map(_read, subjects())
    all_of = [one for plan in plans for one in plan["budgets"].items()]
    return {name: budget[kind] for name, budget in all_of if len(budget) > kind}


BUDGETS = {
    kernel: _budgets(kernel == "debug" or kernel in CHECKED)
    for kernel in ("guest", "debug", *MATRIX)
}


def budgeted(boot: Boot, kernel: str) -> Boot:
    """The suite with its budget on a kernel.  Raises LabError if it has none."""
    of_kernel = BUDGETS[kernel]
    if boot.name not in of_kernel:
        raise LabError(f"{boot.name}: no budget on the {kernel} kernel", exit_code=1)
    return dataclasses.replace(boot, budget_s=of_kernel[boot.name])

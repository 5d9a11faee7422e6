# SPDX-License-Identifier: GPL-2.0
"""Cgroups of version 2 with the cpu controller."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOENT

from inside import calls
from inside.task import wait_until

ROOT = "/sys/fs/cgroup"
MISSING = f"no cgroup2 with the cpu controller at {ROOT}"


def usable() -> bool:
    """Is there such a thing? If so its groups have the cpu controller from now on."""
    try:
        calls.write(f"{ROOT}/cgroup.subtree_control", "+cpu")
    except OSError:
        return False
    return True


@contextmanager
def controlled(*names: str) -> Iterator[bool]:
    """Groups have these controllers for a while; false if there are none."""
    file = f"{ROOT}/cgroup.subtree_control"
    before = calls.read(file).split() if os.path.exists(file) else []
    more = [name for name in names if name not in before]
    try:
        yield not calls.fails(calls.write, file, " ".join(f"+{name}" for name in names))
    finally:
        calls.fails(calls.write, file, " ".join(f"-{name}" for name in more))


def move(group: str, pid: int) -> None:
    """Into the group with that path."""
    calls.write(f"{group}/cgroup.procs", str(pid))


def back(group: str, tickets: int) -> None:
    """It is a currency with so many tickets; with 0 it is not one."""
    calls.write(f"{group}/cpu.lottery.tickets", str(tickets))


def lottery_stat(group: str) -> dict[str, int]:
    """What the class counts of it."""
    words = calls.read(f"{group}/cpu.lottery.stat").split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


def _gone(group: str) -> bool:
    try:
        os.rmdir(group)
    except OSError as error:
        return error.errno == ENOENT
    return True


def remove(group: str) -> None:
    """Once it is empty, which it becomes soon: a task that was killed can still be there."""
    if not wait_until(lambda: _gone(group)):
        raise TimeoutError(f"{group} cannot be removed")


@contextmanager
def made(name: str, above: str = ROOT) -> Iterator[str]:
    """The path of a group in another one without tasks; it becomes empty before it ends."""
    if above != ROOT:
        calls.write(f"{above}/cgroup.subtree_control", "+cpu")
    group = f"{above}/{name}"
    os.mkdir(group)
    try:
        yield group
    finally:
        remove(group)

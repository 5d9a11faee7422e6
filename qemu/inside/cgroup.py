# SPDX-License-Identifier: GPL-2.0
"""Cgroups of version 2 with the cpu controller."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

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


def move(group: str, pid: int) -> None:
    """Into the group with that path."""
    calls.write(f"{group}/cgroup.procs", str(pid))


def _gone(group: str) -> bool:
    try:
        os.rmdir(group)
    except OSError:
        return False
    return True


@contextmanager
def made(name: str) -> Iterator[str]:
    """The path of a group below the root, which becomes empty before it ends."""
    group = f"{ROOT}/{name}"
    os.mkdir(group)
    try:
        yield group
    finally:
        if not wait_until(lambda: _gone(group)):
            raise TimeoutError(f"{group} cannot be removed")

# SPDX-License-Identifier: GPL-2.0
"""Every bad value gets its errno and changes nothing, whatever the task is at the time."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import E2BIG, EACCES, EFAULT, EINVAL, EPERM, ERANGE, ESRCH
from functools import cache, partial

from inside import calls, lottery, sched
from inside.ktap import Case, Tests
from inside.lottery import Subject
from inside.sched import LOTTERY, MS, VER0, VER2, attr, join, set_attr, set_policy
from inside.task import released

PAGE = 4096
Call = Callable[[int], object]

BAD_ATTRS = {
    **{f"tickets {n}": (ERANGE, attr(tickets=n)) for n in (sched.TICKETS_MAX + 1, 1 << 31, -1)},
    **{
        f"tickets with {name}": (EINVAL, attr(policy, tickets=1, priority=priority))
        for name, (policy, priority) in sched.POLICIES.items()
    },
    "tickets with SCHED_DEADLINE": (
        EINVAL,
        attr(sched.DEADLINE, runtime=MS, deadline=100 * MS, period=100 * MS, tickets=1),
    ),
    **{f"priority {n}": (EINVAL, attr(priority=n)) for n in (1, 99, -1)},
    "priority 1 with tickets": (EINVAL, attr(priority=1, tickets=5)),
    "quantum 1 ns": (ERANGE, attr(runtime=1)),
    "quantum 1 ns too short": (ERANGE, attr(runtime=sched.QUANTUM_MIN - 1)),
    "quantum 1 ns too long": (ERANGE, attr(runtime=sched.QUANTUM_MAX + 1)),
    "quantum -1": (ERANGE, attr(runtime=-1)),
    "pad 1": (EINVAL, attr(tickets=5, pad=1)),
    "pad 1 without tickets": (EINVAL, attr(pad=1)),
    "pad 1 with SCHED_OTHER": (EINVAL, attr(os.SCHED_OTHER, pad=1)),
    "unknown sched_flags 0x80": (EINVAL, attr(flags=0x80)),
    "unknown sched_flags 1 << 63": (EINVAL, attr(flags=1 << 63)),
    "the kernel's own sched_flags 0x10000000": (EINVAL, attr(flags=0x10000000)),
    **{f"policy {n}": (EINVAL, attr(n)) for n in (LOTTERY - 1, LOTTERY + 1, -1)},
}


@cache
def dead_pid() -> int:
    """That no task has: of a child that has been reaped."""
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def set_wide(pid: int, size: int = VER2, nonzero: int = 0, flags: int = 0) -> None:
    """With two pages of zeros behind; E2BIG also tells the caller the size that is known."""
    wide = ctypes.create_string_buffer(bytes(attr(size=size, tickets=5)), 2 * PAGE)
    if nonzero:
        wide[nonzero] = b"\1"
    try:
        calls.call("sched_setattr", pid, ctypes.addressof(wide), flags)
    except OSError as error:
        if error.errno == E2BIG and sched.Attr.from_buffer(wide).size != VER2:
            raise AssertionError("another size is said to be known") from error
        raise


def get_wide(pid: int, size: int = VER2, flags: int = 0) -> None:
    """The same with room for two pages."""
    wide = ctypes.create_string_buffer(2 * PAGE)
    calls.call("sched_getattr", pid, ctypes.addressof(wide), size, flags)


BAD: dict[str, tuple[int, Call]] = {
    **{name: (code, partial(set_attr, wanted=bad)) for name, (code, bad) in BAD_ATTRS.items()},
    "size 1": (E2BIG, partial(set_wide, size=1)),
    "size 47": (E2BIG, partial(set_wide, size=VER0 - 1)),
    "size 72 with a nonzero tail": (E2BIG, partial(set_wide, size=VER2 + 8, nonzero=VER2)),
    "size 4096 with a nonzero tail": (E2BIG, partial(set_wide, size=PAGE, nonzero=PAGE - 1)),
    "size 4097": (E2BIG, partial(set_wide, size=PAGE + 1)),
    "no attr": (EINVAL, lambda pid: calls.call("sched_setattr", pid, 0, 0)),
    "attr at a bad address": (EFAULT, lambda pid: calls.call("sched_setattr", pid, 8, 0)),
    "flags of the call": (EINVAL, partial(set_wide, flags=1)),
    "negative pid": (EINVAL, lambda pid: set_wide(-pid)),
    "dead pid": (ESRCH, lambda pid: set_wide(dead_pid())),
    "sched_setscheduler with priority 1": (EINVAL, partial(set_policy, priority=1)),
    "sched_setscheduler with priority -1": (EINVAL, partial(set_policy, priority=-1)),
    "sched_setscheduler with a negative pid": (EINVAL, lambda pid: set_policy(-pid)),
    "sched_setscheduler with a dead pid": (ESRCH, lambda pid: set_policy(dead_pid())),
    "sched_setscheduler with policy 77": (EINVAL, partial(set_policy, policy=LOTTERY + 1)),
    "sched_setparam with priority 1": (
        EINVAL,
        lambda pid: os.sched_setparam(pid, os.sched_param(1)),
    ),
    "sched_getattr with size 47": (EINVAL, partial(get_wide, size=VER0 - 1)),
    "sched_getattr with size 4097": (EINVAL, partial(get_wide, size=PAGE + 1)),
    "sched_getattr with flags": (EINVAL, partial(get_wide, flags=1)),
    "sched_getattr without attr": (
        EINVAL,
        lambda pid: calls.call("sched_getattr", pid, 0, VER2, 0),
    ),
    "sched_getattr with a negative pid": (EINVAL, lambda pid: get_wide(-pid)),
    "sched_getattr with a dead pid": (ESRCH, lambda pid: get_wide(dead_pid())),
}


def all_told(pid: int) -> tuple[object, ...]:
    """What the system calls tell of a task."""
    return (
        sched.get_attr(pid).values(),
        os.sched_getscheduler(pid),
        os.sched_getparam(pid).sched_priority,
        os.getpriority(os.PRIO_PROCESS, pid),
        sched.rr_interval_ns(pid),
    )


def refuse(pid: int, call: Call, *wanted: int) -> None:
    """The call on that task ends with an errno of those and changes nothing."""
    before, code = all_told(pid), 0
    try:
        call(pid)
    except OSError as error:
        code = error.errno or 0
    said = os.strerror(code) if code else "it was taken"
    assert code in wanted, f"{said}, wanted {os.strerror(wanted[0])}"
    after = all_told(pid)
    assert after == before, f"it changed: {before} to {after}"


def refused(subject: Subject, pools: int, call: Call, wanted: int, case: Case) -> None:
    """One test, with a look at the pools as well."""
    refuse(subject.pid, call, wanted)
    case.equal(lottery.tickets(), pools, "tickets in the pools")


@contextmanager
def refusals(owned: int | None, awake: bool = False) -> Iterator[Tests]:
    """All of them, on a task in one of the states that it can be in."""
    with Subject(owned, 5 * MS if owned else 0, awake) as subject:
        test = partial(refused, subject, lottery.tickets())
        yield {name: partial(test, call, code) for name, (code, call) in BAD.items()}


DROPS: dict[str, Callable[[], None]] = {
    "root without CAP_SYS_NICE": partial(calls.drop_capability, calls.CAP_SYS_NICE),
    "a user without rights": calls.drop_user,
}


def unprivileged(drop: Callable[[], None], owned: int | None, work: Callable[[], None]) -> None:
    """Do that in a child that has joined, if it is given tickets, and has dropped privileges.

    With 0, derived tickets, RLIMIT_NICE would let it have any nice value.
    """

    def run() -> None:
        if owned is not None:
            join(0, owned)
        if owned == 0:
            resource.setrlimit(resource.RLIMIT_NICE, (40, 40))
        drop()
        work()

    released(run)


FORBIDDEN: dict[str, tuple[int | None, Call]] = {
    "join": (None, join),
    "join with tickets": (None, partial(join, tickets=5)),
    "join with 48 bytes": (None, partial(set_attr, wanted=attr(size=VER0))),
    "join by sched_setscheduler": (None, set_policy),
    "more tickets": (123, partial(join, tickets=124)),
    "more tickets, policy kept": (
        123,
        partial(set_attr, wanted=attr(tickets=124, flags=sched.KEEP_POLICY)),
    ),
    "derived tickets": (123, join),
    "derived tickets by sched_setscheduler": (123, set_policy),
    "another quantum": (123, partial(join, tickets=123, quantum_ns=5 * MS)),
    # RLIMIT_NICE is for the shares of SCHED_OTHER; here they are tickets.
    "more derived tickets by renice": (0, lambda pid: os.setpriority(os.PRIO_PROCESS, pid, -5)),
    "more derived tickets by a nice value": (0, partial(set_attr, wanted=attr(nice=-5))),
}


def forbidden(drop: Callable[[], None], owned: int | None, call: Call, _: Case) -> None:
    """What a caller without CAP_SYS_NICE must not do to itself."""
    # setpriority(2) has always said EACCES where others say EPERM
    unprivileged(drop, owned, lambda: refuse(0, call, EPERM, EACCES))


GROUPS: Tests = {
    "refusals for a SCHED_OTHER task": refusals(None),
    "refusals for a sleeping lottery task": refusals(123),
    "refusals for a runnable lottery task": refusals(123, awake=True),
    "refusals of unprivileged callers": {
        f"{caller}: {name}": partial(forbidden, drop, owned, call)
        for caller, drop in DROPS.items()
        for name, (owned, call) in FORBIDDEN.items()
    },
}

# SPDX-License-Identifier: GPL-2.0
"""The scheduler's system calls, with the tickets of SCHED_LOTTERY; all raise OSError."""

from __future__ import annotations

import ctypes
import errno
import os
import sys

from inside import calls, ktap

LOTTERY = 76
DEADLINE = 6
TICKETS_MAX = 1_000_000
QUANTUM_MIN, QUANTUM_MAX = 100_000, 1_000_000_000
VER0, VER1, VER2 = 48, 56, 64
"""Sizes of the attributes: with utilisation from 1, with tickets from 2."""
RESET_ON_FORK, KEEP_POLICY, KEEP_PARAMS = 0x01, 0x08, 0x10
LAUNCHER_PRIORITY = 50
POLICIES = {
    "SCHED_OTHER": (os.SCHED_OTHER, 0),
    "SCHED_BATCH": (os.SCHED_BATCH, 0),
    "SCHED_IDLE": (os.SCHED_IDLE, 0),
    "SCHED_FIFO": (os.SCHED_FIFO, 1),
    "SCHED_RR": (os.SCHED_RR, 2),
}
"""Others that a task can change to and back, each with a priority."""
MS = 1_000_000
LEND, REVOKE, CURRENCY, GET_LOANS, GET_CURRENCY = range(5)
_PR_LOTTERY = 0x4C4F5454
LOAN_KEEP = 1
"""Not only until the lender wakes up next."""
LOANS_MAX = CURRENCIES_MAX = 8


class Attr(ctypes.Structure):
    """struct sched_attr; runtime is the quantum [ns] of a lottery task."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
        ("util_min", ctypes.c_uint32),
        ("util_max", ctypes.c_uint32),
        ("tickets", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
    ]

    def values(self) -> dict[str, int]:
        """All of it, to compare and to show."""
        return {field[0]: getattr(self, field[0]) for field in self._fields_}


def attr(policy: int = LOTTERY, **fields: int) -> Attr:
    """Attributes of the whole size."""
    return Attr(**{"size": VER2, "policy": policy, **fields})


def set_attr(pid: int, wanted: Attr) -> None:
    """sched_setattr(2) without flags."""
    calls.call("sched_setattr", pid, ctypes.addressof(wanted), 0)


def get_attr(pid: int) -> Attr:
    """sched_getattr(2) of the whole size."""
    found = Attr()
    calls.call("sched_getattr", pid, ctypes.addressof(found), VER2, 0)
    return found


def set_policy(pid: int, policy: int = LOTTERY, priority: int = 0) -> None:
    """sched_setscheduler(2)."""
    os.sched_setscheduler(pid, policy, os.sched_param(priority))


def join(pid: int, tickets: int = 0, quantum_ns: int = 0) -> None:
    """Make it a lottery task, its nice value kept; 0 is the caller."""
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    set_attr(pid, attr(tickets=tickets, runtime=quantum_ns, nice=nice))


class Loan(ctypes.Structure):
    """struct prctl_lottery_loan."""

    _fields_ = [
        ("pid", ctypes.c_int32),
        ("tickets", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
        ("timeout_ns", ctypes.c_uint64),
    ]


class Currency(ctypes.Structure):
    """struct prctl_lottery_currency."""

    _fields_ = [
        ("pid", ctypes.c_int32),
        ("tickets", ctypes.c_uint32),
        ("inner", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
    ]


def prctl(operation: int, *args: int) -> int:
    """prctl(PR_LOTTERY) of the caller."""
    return calls.call("prctl", _PR_LOTTERY, operation, *args, *[0] * (3 - len(args)))


def lend(pid: int, tickets: int = 0, flags: int = LOAN_KEEP, timeout_ns: int = 0) -> None:
    """So many of the caller's tickets, or all, whenever it is blocked."""
    loan = Loan(pid, tickets, flags, 0, timeout_ns)
    prctl(LEND, ctypes.addressof(loan), ctypes.sizeof(loan))


def revoke(pid: int = 0) -> None:
    """End the caller's loan to that task, or all."""
    prctl(REVOKE, pid)


def loans() -> list[Loan]:
    """Those of the caller that are not over; the time is what is left."""
    found = (Loan * LOANS_MAX)()
    number = prctl(GET_LOANS, ctypes.addressof(found), ctypes.sizeof(Loan), LOANS_MAX)
    return found[:number]


def make_currency(tickets: int) -> None:
    """The caller's process, and what it forks from now on, share these, whatever they issue.

    With 0 it leaves the currency that it is in.
    """
    prctl(CURRENCY, tickets)


def currency() -> Currency:
    """That of the caller's process; without one it has no tickets."""
    found = Currency()
    prctl(GET_CURRENCY, ctypes.addressof(found), ctypes.sizeof(found))
    return found


def rr_interval_ns(pid: int) -> int:
    """What sched_rr_get_interval(2) says."""
    return round(os.sched_rr_get_interval(pid) * 1e9)


def become_launcher() -> None:
    """Lottery tasks cannot keep the caller from starting others, which begin as SCHED_OTHER."""
    set_policy(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, LAUNCHER_PRIORITY)


def begin(*cpus: int) -> None:
    """Everything runs on these CPUs.  Exits unless the caller may join the class."""
    try:
        join(0)
    except OSError as error:
        lacks = error.errno == errno.EINVAL
        sys.stderr.write("this kernel lacks SCHED_LOTTERY\n" if lacks else f"{error}: be root\n")
        sys.exit(ktap.UNSUPPORTED if lacks else ktap.FAILED)
    os.sched_setaffinity(0, cpus)
    become_launcher()

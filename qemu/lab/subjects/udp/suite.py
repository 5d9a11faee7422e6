# SPDX-License-Identifier: GPL-2.0
"""The paced sender."""

from dataclasses import replace

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.suite import not_debug, scenario

# What the scenarios call.
IMAGE = (
    *("bin/sh", "bin/cat", "bin/grep", "usr/bin/awk", "usr/bin/cut", "usr/bin/head"),
    *("bin/date", "bin/sleep", "usr/bin/wc", "sbin/insmod"),
    *("bin/ip", "bin/ss", "sbin/tc", "etc/hosts"),
)


def _strict(name: str, *args: str) -> Program:
    """A second to a receiver of its own: to 0.1 %, nothing lost, on time to the millisecond."""
    return Program(name, ("udprate", "-t", "1", "--loop", "--strict", *args), 60)


def _loopback() -> Boot:
    """In virtual time."""
    hogs = ("--hogs", "2")
    lottery = ("--policy", "lottery:18000", "--hog-tickets", "1000")
    too_much = ("-r", "20000", "-w", "4", "--best-effort")
    return Boot(
        "udprate",
        Machine(accel="icount", root=False),
        (
            *(_strict(f"rate-{rate}", "-r", rate) for rate in ("3", "100", "512")),
            _strict("workers-16", "-r", "100", "-w", "16"),
            *(_strict(f"by-{by}", "-r", "50", "--method", by) for by in ("mmsg", "send")),
            *(
                _strict(f"shape-{shape}", "-r", "20", "--shape", shape)
                for shape in ("poisson", "normal", "peaks", "ramp")
            ),
            _strict("hogs-fifo", "-r", "100", *hogs, "--policy", "fifo"),
            # a lottery is won now and then: the rate holds, not every deadline
            Program(
                "hogs-lottery", ("udprate", "-t", "1", "-r", "20", "--loop", *hogs, *lottery), 60
            ),
            Program("too-much", ("udprate", "-t", "1", "--loop", *too_much), 60),
        ),
    )


def _scenario(name: str, *args: str) -> Program:
    return replace(scenario(f"udp/{name}", *args), image=IMAGE)


def _txtime(qdisc: str, *options: str) -> Program:
    return replace(_scenario("txtime", qdisc, *options), name=f"txtime-{qdisc}")


def _tools() -> Boot:
    """What needs a second program, in virtual time."""
    return Boot(
        "udprate-tools",
        Machine(accel="icount", root=False, modules=("ipv6",)),
        (
            _scenario("rate", "100"),
            _txtime("fq"),
            # in software a packet leaves by delta before its time; after that it is dropped
            _txtime("etf", "clockid", "CLOCK_TAI", "delta", "500000"),
            _scenario("clock-set", "--strict"),
            _scenario("receive"),
            _scenario("families"),
            _scenario("bottleneck"),
            _scenario("duplicates"),
            _scenario("refuses-too-much"),
            _scenario("best-effort"),
        ),
    )


def boots() -> tuple[Boot, ...]:
    """All of them. Its ways through the kernel are not ours, and the one with checks is slow."""
    return (not_debug(_loopback()), not_debug(_tools()))

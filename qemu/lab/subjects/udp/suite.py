# SPDX-License-Identifier: GPL-2.0
"""The paced sender."""

from dataclasses import replace

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.suite import shell


def _not_debug(entry: Program) -> Program:
    """What asks for a time that the slow kernel with checks does not keep."""
    return replace(entry, debug=False)


def _timed(name: str, script: str, timeout_s: int) -> Program:
    return _not_debug(shell(name, script, timeout_s))


def _udprate_run(name: str, *args: str) -> Program:
    """A second to a receiver of its own: to 0.1 %, nothing lost, on time to the millisecond."""
    return _not_debug(Program(name, ("udprate", "-t", "1", "--loop", "--strict", *args), 60))


def _udprate() -> Boot:
    """The paced sender on the loopback, in virtual time."""
    hogs = ("--hogs", "2")
    lottery = ("--policy", "lottery:18000", "--hog-tickets", "1000")
    too_much = ("-r", "20000", "-w", "4", "--best-effort")
    return Boot(
        "udprate",
        Machine(accel="icount", root=False),
        (
            *(_udprate_run(f"rate-{rate}", "-r", rate) for rate in ("3", "100", "512")),
            _udprate_run("workers-16", "-r", "100", "-w", "16"),
            *(_udprate_run(f"by-{by}", "-r", "50", "--method", by) for by in ("mmsg", "send")),
            *(
                _udprate_run(f"shape-{shape}", "-r", "20", "--shape", shape)
                for shape in ("poisson", "normal", "peaks", "ramp")
            ),
            _udprate_run("hogs-fifo", "-r", "100", *hogs, "--policy", "fifo"),
            # a lottery is won now and then: the rate holds, not every deadline
            _not_debug(
                Program("hogs-lottery", ("udprate", "-t", "1", "-r", "20", *hogs, *lottery), 60)
            ),
            Program("too-much", ("udprate", "-t", "1", "--loop", *too_much), 60),
        ),
    )


BUSY = "--hogs 1 --policy fifo"
"""A hog keeps the guest from waiting in the host's time."""


def _txtime(qdisc: str, options: str = "") -> Program:
    """The kernel sends each packet at its time: 118 us apart, and 0 without the qdisc."""
    paced = f"udprate -r 100 -t 1 --loop --strict --txtime {qdisc} {BUSY}"
    return _timed(
        f"txtime-{qdisc}",
        f"tc qdisc replace dev lo root {qdisc} {options} && {paced} --json >/tmp/out; status=$?; "
        "cat /tmp/out; tc -s qdisc show dev lo; tc qdisc del dev lo root; "
        "[ $status -eq 0 ] && grep -E '\"received_gap_us_p50\":1[0-3][0-9]\\.' /tmp/out",
        60,
    )


def _udprate_tools() -> Boot:
    """What needs a second program."""
    return Boot(
        "udprate-tools",
        Machine(accel="icount"),
        (
            _txtime("fq"),
            # in software a packet leaves by delta before its time; after that it is dropped
            _txtime("etf", "clockid CLOCK_TAI delta 500000"),
            _timed(
                "receive",
                f"udprate -r 10 -t 1 -p 4000 {BUSY} >/dev/null & "
                "udprate --receive -t 1 -p 4000 --json >/tmp/out; status=$?; cat /tmp/out; "
                "[ $status -eq 0 ] && grep '\"lost\":0,' /tmp/out",
                60,
            ),
            shell(
                "refuses-too-much",
                "udprate -r 100000 -t 1 2>/tmp/err; status=$?; cat /tmp/err; "
                "[ $status -eq 1 ] && grep 'can do [0-9]* here; --best-effort' /tmp/err",
            ),
            shell("best-effort", "udprate -r 100000 -t 0.1 --best-effort | grep 'packets skipped'"),
        ),
    )


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (_udprate(), _udprate_tools())

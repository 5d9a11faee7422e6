# SPDX-License-Identifier: GPL-2.0
"""Latencies of messages."""

from dataclasses import replace

from lab.guest.boot import Boot, Program
from lab.suite import SHARE_SHIFT, not_debug, scenario, smp_machine


def _ipclat_run(name: str, mechanisms: str, *args: str, timeout_s: int = 120) -> Program:
    amount = ("-k", "200", "-n", "1", "-w", "20", "--seconds", "20")
    return Program(name, ("ipclat", "-m", mechanisms, *amount, *args), timeout_s)


def _ipclat() -> Boot:
    """Each mechanism under each policy, two CPUs in virtual time.

    All of them must be there: one that cannot run fails its program.
    """
    machine = replace(smp_machine(2, root=False), accel="icount", icount_shift=SHARE_SHIFT)
    policies = ("other", "rr:90", "fifo", "lottery:1000")
    spinning = "spin,spin-affinity,spin-shm,flag"
    waiting = "semaphore,futex,pipe,eventfd,unix,mq,zmq-inproc,zmq-ipc,zmq-tcp,zmq-perf"
    tickets = ("--policy", "lottery:9000", "--hog-tickets", "500")
    # What the kernel with checks is slow for, or has nothing of ours.
    quick = (
        *(_ipclat_run(f"spin-{p}", spinning, "--policy", p) for p in policies),
        *(_ipclat_run(f"wait-{p}", waiting, "--policy", p) for p in policies),
        _ipclat_run("hogs-fifo", waiting, "--hogs", "2", "--policy", "fifo"),
    )
    return Boot(
        "ipclat",
        machine,
        (
            *(replace(one, debug=False) for one in quick),
            _ipclat_run("hogs-lottery", waiting, "--hogs", "2", *tickets),
        ),
    )


def _containers(policy: str) -> Program:
    return replace(scenario("ipc/containers", policy), name=f"containers-{policy}")


def _ipclat_containers() -> Boot:
    """Two containers of crun, from the root image."""
    policies = ("other", "rr:90", "lottery:1000")
    programs = (*map(_containers, policies), scenario("ipc/containers-interrupted"))
    return Boot("ipclat-containers", smp_machine(2), programs)


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (_ipclat(), not_debug(_ipclat_containers()))

# SPDX-License-Identifier: GPL-2.0
"""The house itself: that the guest is whole, and the unit tests inside the kernel."""

from dataclasses import replace

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import IN_TREE, OURS, pairs
from lab.suite import scenario, shell, smp_machine, with_leaks

KUNIT_SUITES = (
    *("lottery_pool", "lottery_draw", "lottery_class", "lottery_currency", "lottery_lag"),
    "wrais_bounds",
    *("nll_frame", "nll_governor", "nll_rx"),
)
# What they test is not there in a kernel for one CPU.
KUNIT_SMP = ("lottery_lag",)
IMAGE_TOOLS = (
    ("trace-cmd", "list", "-o"),
    ("fio", "--version"),
    ("crun", "--version"),
    ("blktrace", "-V"),
    ("mkfs.ext4", "-V"),
    ("ip", "-V"),
    ("ethtool", "--version"),
    ("cyclictest", "--help"),
    ("stress-ng", "--version"),
)
MOUNTS = (
    *("/proc", "/sys", "/dev", "/tmp", "/run", "/dev/pts", "/dev/shm", "/dev/mqueue"),
    *("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/cgroup"),
)


def _boot() -> Boot:
    mounts = " ".join(MOUNTS)
    tools = tuple(Program(f"tool-{argv[0]}", argv, debug=False) for argv in IMAGE_TOOLS)
    return Boot(
        "boot",
        replace(smp_machine(2), modules=(IN_TREE,), nics=pairs(1)),
        (
            shell("mounts", f"for m in {mounts}; do mountpoint $m || exit 1; done"),
            shell("root-writable", "echo x >/root/x && [ $(cat /root/x) = x ]"),
            shell("loopback", "ip -o address show up dev lo | grep 127.0.0.1"),
            shell("result-port", "grep -x lab.result /sys/class/virtio-ports/*/name"),
            shell("proc-lottery", "grep -x 'version 1' /proc/sched_lottery"),
            Program("insmod", ("@insmod", IN_TREE)),
            shell("nics", "[ $(ip -o link | grep -c 02:00:00:00:00:1) -eq 2 ]"),
            Program("rmmod", ("@rmmod", IN_TREE)),
            scenario("wrais/claims"),
            scenario("wrais/switched-off"),
            *tools,
        ),
    )


def _kunit() -> Boot:
    """In virtual time."""
    machine = Machine(accel="icount", root=False, modules=(OURS, "nll_kunit"))
    results = tuple(
        Program(name, ("@cat", f"/sys/kernel/debug/kunit/{name}/results"), cpus=cpus)
        for name in KUNIT_SUITES
        for cpus in [2 if name in KUNIT_SMP else 1]
    )
    # A module's suites run when it is loaded.
    loads = tuple(Program(f"load-{name}", ("@insmod", name)) for name in machine.modules)
    known = replace(scenario("base/kunit-suites", *KUNIT_SUITES), image=("bin/sh",))
    return Boot("kunit", machine.with_append("kunit.enable=1"), (*loads, known, *results))


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (_boot(), with_leaks(_kunit()))

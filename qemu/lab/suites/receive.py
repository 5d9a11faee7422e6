# SPDX-License-Identifier: GPL-2.0
"""The receive path."""

from dataclasses import replace

from lab.experiments.livelock import variants as livelock
from lab.experiments.livelock.plan import FUNCTIONS
from lab.machine import Machine
from lab.nics import pairs
from lab.suites.suite import SHARE_SHIFT, Entry, Suite, refused, shell, smp_machine

# What must arrive of 60,000 frames a second, and kinds of frames that must not.
RECEIVE_LEAST_PPS = 15000
MALFORMED = ("truncated", "length", "checksum", "ip-checksum", "oversized")


def _receive_machine(ports: int = 1) -> Machine:
    """Cards on links of their own, the source of frames, and both drivers."""
    return Machine(
        accel="icount",
        icount_shift=SHARE_SHIFT,
        root=False,
        modules=(livelock.SOURCE, livelock.OURS, livelock.IN_TREE),
        nics=pairs(ports),
    )


def _receive_run(name: str, variant: livelock.Variant, *args: str, debug: bool = True) -> Entry:
    """Frames for a variant for a moment; every one of them has to be accounted for."""
    program = ("livelock-run", *variant.options(), "--duration", "500", "--warmup", "200")
    return Entry(name, (*program, *args), 120, debug=debug)


def _livelock() -> Suite:
    """The receive path: the source's controls, every variant, and frames that are not right.

    What a variant has to deliver is asked for in virtual time only.
    """
    rates = ("2000", "60000")
    flood = ("--least", str(RECEIVE_LEAST_PPS), *rates)
    variants = tuple(
        _receive_run(f"rates-{variant.name}", variant, *rates) for variant in livelock.ALL
    )
    keeps = tuple(
        _receive_run(f"no-livelock-{variant.name}", variant, *flood, debug=False)
        for variant in (livelock.HYBRID, livelock.POLL, livelock.THREADED)
    )
    functions = tuple(
        _receive_run(f"function-{name}", livelock.HYBRID, "--function", name, "20000")
        for name in FUNCTIONS
    )
    malformed = tuple(
        _receive_run(f"malformed-{kind}", livelock.HYBRID, "--malformed", kind, *rates)
        for kind in MALFORMED
    )
    return Suite(
        "livelock",
        _receive_machine(),
        (
            Entry("source", ("livelock-source-api", "--ktap"), 120),
            *(*variants, *keeps, *functions, *malformed),
        ),
    )


def _livelock_ports() -> Suite:
    """Three cards at once, where the hybrid has to be fair as well."""
    flood = ("--ports", "3", "--least", str(RECEIVE_LEAST_PPS), "2000", "60000")
    return Suite(
        "livelock-ports",
        _receive_machine(3),
        (
            _receive_run("hybrid", livelock.HYBRID, *flood, debug=False),
            _receive_run("interrupt", livelock.INTERRUPT, "--ports", "3", "2000", "60000"),
        ),
    )


def _livelock_tools() -> Suite:
    """What the programs of the receive path refuse."""
    return Suite(
        "livelock-tools",
        smp_machine(2),
        (
            refused("refuse-no-rate", "livelock-run"),
            refused("refuse-rate-0", "livelock-run 0"),
            refused("refuse-rate-word", "livelock-run 2k"),
            refused("refuse-ports", "livelock-run --ports 9 1000"),
            refused("refuse-function", "livelock-run --function cubic 1000"),
            refused("refuse-set", "livelock-run --set ../mtu=1 1000"),
            refused("refuse-warmup", "livelock-run --warmup 1000 1000"),
            refused("refuse-peaks", "livelock-run --function peaks 1"),
            refused("refuse-port", "livelock-apps --port 0"),
            shell("no-cards", "livelock-run 1000; [ $? -eq 3 ]"),
        ),
    )


def _livelock_torture(name: str, cpus: int, *args: str) -> Suite:
    """Everything about the ports changes in a flood of frames."""
    machine = Machine(cpus=cpus, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    program = ("livelock-torture", "--ktap", *args, "--seconds")
    # In real time, as the kernel with checks runs, the host may take a while.
    short = (*program, "3", "--within", "20000")
    return Suite(
        name,
        replace(machine, modules=("napi_livelock", "nll_source"), nics=pairs(2)),
        (Entry("livelock-torture", (*program, "4"), 60, short),),
    )


def _livelock_tortures() -> tuple[Suite, ...]:
    """A flooded CPU livelocks by interrupts and NAPI: it has them in a calm only."""
    return (
        _livelock_torture("livelock-torture", 1),
        _livelock_torture("livelock-torture-smp", 4),
        _livelock_torture("livelock-torture-calm", 4, "--all-modes", "--pps", "5000"),
    )


def suites() -> tuple[Suite, ...]:
    """All of them."""
    return (_livelock(), _livelock_ports(), _livelock_tools(), *_livelock_tortures())

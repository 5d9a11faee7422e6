# SPDX-License-Identifier: GPL-2.0
"""The receive path."""

from collections.abc import Iterator
from dataclasses import replace

from lab.arch import ARCH
from lab.guest import python
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.machine import Machine
from lab.guest.nics import (
    IN_TREE,
    IN_TREE_82574L,
    MODEL_VIRTIO,
    RECEIVER_SLOT,
    SOURCE,
    SOURCE_SLOT,
    Nic,
    pairs,
)
from lab.guest.nics import OURS as DRIVER
from lab.subjects.livelock import variants as livelock
from lab.subjects.livelock.experiment import FUNCTIONS
from lab.suite import (
    SHARE_SHIFT,
    inside,
    long_only,
    not_debug,
    refused,
    scenario,
    smp_machine,
    with_leaks,
    with_python,
)

# What scenarios in virtual time take of the root image: a disk completes in host time.
TOOLS = (
    *(f"bin/{name}" for name in ("cat", "grep", "mkdir", "ps", "rm", "rmdir", "sed", "sh")),
    *(f"usr/bin/{name}" for name in ("busybox", "cut", "head", "mkfifo", "taskset", "timeout")),
    *(f"usr/bin/{name}" for name in ("nstat", "seq", "ss", "tail", "trace-cmd", "uniq", "wc")),
    *(f"usr/sbin/{name}" for name in ("ethtool", "insmod", "ip")),
    ARCH.loader,
)

# A run takes the kernel with checks half a minute: what is ours, and a few of the rest.
OURS = ("interrupt", "poll", "napi", "napi-threaded", "hybrid")
MALFORMED = ("truncated", "length", "checksum", "ip-checksum", "oversized")

# Frames a second: all arrive in a calm, and of an overload at least these; of what livelocks
# there nothing but what its socket holds can be asked.
CALM = "2000"
FLOOD = "60000"
LEAST = "15000"
LIVELOCKS = ("interrupt", "napi", "e1000")
SOCKET_HOLDS = 100
LOSS_FREE = ("--require", "lost<=0")

# On several CPUs, in real time beside whatever the host does: a calm, ten times that, and
# what has to be received of either.
SMP_RATES = ("20000", "200000")
SMP_LEAST = 300

# In virtual time: with RPS the CPU of the application gets more frames than it can look at.
# Without the governor the application has 40 of them a second, with it about 14,000.
SECOND_CPU = "2"
BACKLOG_FLOOD = "80000"
BACKLOG_LEAST = 5000


# The long torture: of more ports, until the governor has switched 10,000 times.
LONG_PORTS = 4
LONG_S = 1200
LONG = (
    *("--seconds", "1", "--switches", "10000", "--seldom", "64", "--pulses"),
    *("--pps", "200000", "--tick", "1000", "--within", "20000"),
)


def _receive_machine(ports: int = 1) -> Machine:
    """Cards on links of their own, the source of frames, and both drivers."""
    return Machine(
        accel="icount",
        icount_shift=SHARE_SHIFT,
        root=False,
        modules=(SOURCE, DRIVER, IN_TREE),
        nics=pairs(ports),
    )


def _receive_run(
    name: str,
    variant: livelock.Variant,
    *args: str,
    checks: tuple[str, ...],
    debug: bool = True,
) -> Program:
    """Frames for a variant for a moment; every one of them has to be accounted for.

    What a variant has to deliver as well is asked for in virtual time only.
    """
    program = ("livelock-run", *variant.options(), "--duration", "500", "--warmup", "200")
    # In real time, on a kernel with checks, setting a run up takes seconds.
    short = (*program, "--soon", "5000", *args)
    argv = (*program, "--never-idle", *checks, *args)
    return Program(name, argv, 120, short=short, debug=debug)


def _rates(variant: livelock.Variant) -> Iterator[Program]:
    """A calm, a flood, and the calm after it."""
    name, debug = variant.name, variant.name in OURS
    # The calm ones are the same way, with fewer frames.
    calm = variant is livelock.HYBRID
    if name in LIVELOCKS:
        some = ("--require", f"received>={SOCKET_HOLDS}")
        yield _receive_run(f"flood-{name}", variant, FLOOD, checks=some, debug=debug)
    else:
        least = ("--least", LEAST)
        yield _receive_run(f"flood-{name}", variant, FLOOD, CALM, checks=least, debug=debug)
    yield _receive_run(f"calm-{name}", variant, CALM, checks=LOSS_FREE, debug=calm)


def _parameters() -> Iterator[Program]:
    """What the parameters of polling promise: so many frames in each turn, and no more turns."""
    for quota, poll_us in ((4, 1000), (4, 500)):
        sets = (*livelock.POLL.sets, f"nll/quota={quota}", f"nll/poll_us={poll_us}")
        most = quota * 1_000_000 // poll_us
        checks = (f"goodput_pps<={most}", f"goodput_pps>={most * 3 // 4}")
        required = tuple(word for check in checks for word in ("--require", check))
        variant = replace(livelock.POLL, sets=sets)
        yield _receive_run(
            f"turns-{quota}-{poll_us}us", variant, FLOOD, checks=required, debug=False
        )


def _livelock() -> Boot:
    """The receive path: the source's controls, every variant, and frames that are not right."""
    # Ramp and peaks go up to twice their mean.
    functions = tuple(
        _receive_run(
            f"function-{name}-{rate}k",
            livelock.HYBRID,
            *("--function", name, f"{rate}000"),
            checks=checks,
            debug=name == "poisson" and rate == 20,
        )
        for name in FUNCTIONS
        for rate, checks in ((10, LOSS_FREE), (20, ("--least", LEAST)))
    )
    malformed = tuple(
        _receive_run(
            f"malformed-{kind}",
            livelock.HYBRID,
            *("--malformed", kind, CALM, FLOOD),
            checks=("--least", LEAST),
            debug=kind in ("checksum", "oversized"),
        )
        for kind in MALFORMED
    )
    variants = tuple(program for variant in livelock.ALL for program in _rates(variant))
    return Boot(
        "livelock",
        _receive_machine(),
        (
            replace(inside("livelock-source-api"), name="source"),
            *(*variants, *functions, *malformed, *_parameters()),
        ),
    )


def _governed(name: str, sets: str, *args: str, checks: str, debug: bool = False) -> Program:
    """A run of the in-tree driver under the governor; its parameters outlive it, so all are set."""
    words = {"mode": "auto", "limit": "50", "high": "30", "low": "20", "quota": "64"}
    words |= {"round_us": "200", "hold_us": "20000"}
    words |= dict(word.split("=") for word in sets.split() if not word.startswith("threaded"))
    threaded = "threaded=1" if "threaded" in sets else "threaded=0"
    attributes = (threaded, *(f"governor/{key}={value}" for key, value in words.items()))
    required = tuple(word for check in checks.split() for word in ("--require", check))
    variant = replace(livelock.GOVERNOR, sets=attributes)
    return _receive_run(name, variant, "--stats", *args, checks=required, debug=debug)


def _livelock_governor() -> Boot:
    """The in-tree driver, which livelocks, with the governor; in virtual time."""
    rounds = "stat_governor_wanted>=1000 switches_per_s<=10"
    peaks = ("--function", "peaks", "--on", "4", "--off", "4", "15000")
    # Each frame by its interrupt, at what it costs without the governor, while few come.
    calm = "lost<=0 switches_per_s<=0 latency_p50_us<=85"
    between = f"{rounds} lost<=0 user_share_pct>=35 latency_p50_us<=260"
    busy = f"{rounds} lost_early<=0 user_share_pct>=19"
    flood = "goodput_pps>=20000 user_share_pct>=15 lost_socket<=10 stat_governor_hot>=50"
    asked = "lost<=0 stat_governor_asked>=500 latency_p50_us>=100"
    # Whoever is alone on the CPU is not limited.
    alone = ("--no-hog", "16000")
    # As many frames for a socket that nobody reads as for the one beside it.
    stray = ("--malformed", "stray", "--every", "2")
    return Boot(
        "livelock-governor",
        replace(_receive_machine(), modules=(SOURCE, IN_TREE)),
        (
            _governed("calm", "", CALM, checks=calm, debug=True),
            _governed("between", "", "10000", checks=between),
            _governed("busy", "", "18000", checks=busy),
            _governed("flood", "", FLOOD, "200000", checks=flood, debug=True),
            *(
                _governed(
                    f"limit-{limit}",
                    f"limit={limit}",
                    *(FLOOD, "200000"),
                    checks=f"receiving_pct<={limit + 3} goodput_pps>={430 * limit}",
                )
                for limit in (20, 40)
            ),
            _governed("work-conserving", "limit=20", *alone, checks="goodput_pps>=15900"),
            _governed("stray", "", *stray, "20000", checks="goodput_pps>=9900 lost_early>=4000"),
            _governed("poll", "mode=poll", CALM, checks=asked),
            _governed("threaded", "threaded", FLOOD, CALM, checks="goodput_pps>=1980"),
            _governed("quota", "quota=4", FLOOD, checks="goodput_pps>=15000"),
            _governed("hold", "", *peaks, checks="switches_per_s<=100 goodput_pps>=10000"),
            *(
                _governed(f"malformed-{kind}", "", "--malformed", kind, FLOOD, checks="bad<=0")
                for kind in MALFORMED
            ),
            *(
                _governed(
                    f"function-{name}", "", "--function", name, FLOOD, checks="goodput_pps>=15000"
                )
                for name in FUNCTIONS
            ),
        ),
    )


def _livelock_ports() -> Boot:
    """Three cards at once, where the hybrid has to be fair as well."""
    three = ("--ports", "3")
    least = ("--least", LEAST)
    fair = ("--require", "port_least_pps>=6500", "--require", "port_most_pps<=10500")
    split = "goodput_pps>=18000 user_share_pct>=10 port_least_pps>=6000 port_most_pps<=9000"
    return Boot(
        "livelock-ports",
        _receive_machine(3),
        (
            _receive_run("hybrid", livelock.HYBRID, *three, CALM, FLOOD, CALM, checks=least),
            _receive_run("fair", livelock.HYBRID, *three, FLOOD, checks=fair, debug=False),
            _receive_run("interrupt", livelock.INTERRUPT, *three, CALM, checks=LOSS_FREE),
            _governed("governor", "", *three, FLOOD, checks=split),
        ),
    )


def _livelock_tools() -> Boot:
    """What the programs of the receive path refuse."""
    return Boot(
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
            refused("refuse-frames", "livelock-run --frames 600001 1000"),
            refused("refuse-peaks", "livelock-run --function peaks 1"),
            refused("refuse-port", "livelock-apps --port 0"),
            refused("refuse-require", "livelock-run --require goodput_pps=1 1000"),
            scenario("livelock/no-cards"),
            scenario("livelock/governor-napi"),
        ),
    )


def _ping(mode: str) -> Program:
    return replace(scenario("livelock/ping", mode), name=f"ping-{mode}")


def _livelock_driver() -> Boot:
    """The driver as a person uses it: two cards on a hub, one of them in another namespace.

    Each scenario can do without those before it, but rmmod is the last one.
    """
    first = ("up", "vlan", "multicast", "second-address", "promiscuous", "info", "ring")
    then = ("features", "counters", "mtu", "address", "json", "all-or-none", "other-card")
    return Boot(
        "livelock-driver",
        replace(smp_machine(2), modules=(DRIVER,), nics=pairs(1)),
        (
            *(_ping(mode) for mode in ("interrupt", "poll", "napi")),
            *(scenario(f"livelock/{name}") for name in (*first, *then, "coalesce")),
            replace(scenario("livelock/tx-timeout"), provokes=(Kind.NETDEV,)),
            refused("refuse-quota", "rxmode eth0 quota 65"),
            refused("refuse-name", "rxmode eth0 speed 9"),
            refused("refuse-value", "rxmode eth0 mode"),
            refused("refuse-twice", "rxmode eth0 mode napi mode poll"),
            refused("refuse-device", "rxmode eth9"),
            refused("refuse-governor", "rxmode --governor eth0 poll_us 100"),
            refused("refuse-governed", "rxmode lo round_us 49"),
            scenario("livelock/rmmod"),
        ),
    )


def _virtual(name: str, *args: str) -> Program:
    """The scenario of that name for a guest in virtual time, with what it takes of the image."""
    return replace(scenario(f"livelock/{name}", *args), image=TOOLS)


def _livelock_hostile() -> Boot:
    """The same cards in virtual time: the governor beside unwanted frames, and amounts of work."""
    hostile = with_python(_virtual("hostile", *python.command("ports")))
    return Boot(
        "livelock-hostile",
        replace(_receive_machine(), cpus=2, modules=(DRIVER,)),
        (
            *(_virtual("governor"), _virtual("governor-just"), hostile),
            *(_virtual("gro"), _virtual("tx-queue"), _virtual("suspend")),
        ),
    )


def _governed_run(mode: str, sets: tuple[str, ...], ms: int, least: int) -> tuple[str, ...]:
    """A command for some ms at rates to come, after a fifth of it, with @least frames a second."""
    words = (f"governor/mode={mode}", "threaded=0", *sets)
    attributes = tuple(word for value in words for word in ("--set", value))
    times = ("--duration", str(ms), "--warmup", str(ms // 5), "--soon", "2000")
    required = ("--require", f"goodput_pps>={least}")
    return ("livelock-run", "--driver", IN_TREE, *attributes, *times, *required)


def _smp_run(name: str, mode: str, *sets: str, rates: tuple[str, ...] = SMP_RATES) -> Program:
    """A calm and a flood in real time, in which no more than that there is no livelock holds."""
    argv = (*_governed_run(mode, sets, 1000, SMP_LEAST), *rates)
    return Program(name, argv, 120, debug=False)


def _livelock_virtio() -> Boot:
    """The source looks into the ring of a card whose driver comes and goes."""
    nics = pairs(1, model=MODEL_VIRTIO)
    machine = replace(smp_machine(2), modules=(SOURCE, IN_TREE), nics=nics)
    return Boot("livelock-virtio", machine, (scenario("livelock/source-virtio"),))


def _livelock_smp() -> Boot:
    """Four CPUs: who receives and who wants the frames have one of their own.

    In real time, so it is timed. In virtual time a CPU runs up to the next timer while the
    others wait: with one seed or another 215 or 26,000 frames a second are received.
    """
    machine = replace(smp_machine(4, root=False), modules=(SOURCE, IN_TREE), nics=pairs(1))
    # With RPS the others take what the first one polls.
    steered = _smp_run("governor-rps", "auto", "queues/rx-0/rps_cpus=e", rates=SMP_RATES[:1])
    runs = (_smp_run("governor", "auto"), _smp_run("poll", "poll"), steered)
    return Boot("livelock-smp", machine, tuple(replace(run, timed=True) for run in runs))


def _livelock_backlog() -> Boot:
    """One CPU polls the card, and hands all on to that of the application.

    With the root image: the clock of a guest without it leaps ahead while it is idle, and the
    application has about 140 frames a second then, for a reason that is not known.
    """
    machine = replace(_receive_machine(), cpus=2, root=True, modules=(SOURCE, IN_TREE))
    steer = (f"queues/rx-0/rps_cpus={SECOND_CPU}",)
    command = _governed_run("auto", steer, 500, BACKLOG_LEAST)
    argv = ("taskset", SECOND_CPU, *command, BACKLOG_FLOOD)
    return Boot("livelock-backlog", machine, (Program("flood", argv, 120, debug=False),))


def _and_far_side() -> tuple[Nic, ...]:
    """On one hub: the receiver, the source, and a card for the far side."""
    return tuple(Nic(slot) for slot in (RECEIVER_SLOT, SOURCE_SLOT, SOURCE_SLOT + 1))


def _livelock_hotplug() -> Boot:
    """The same, and that CPU goes offline."""
    machine = replace(_receive_machine(), cpus=2, modules=(SOURCE, IN_TREE), nics=_and_far_side())
    return Boot("livelock-hotplug", machine, (_virtual("rps-hotplug"),))


def _livelock_options() -> Boot:
    """What livelock-run sets beside the driver's own attributes."""
    machine = replace(_receive_machine(), modules=(SOURCE, IN_TREE))
    return Boot("livelock-options", machine, (_virtual("run-options"),))


def _livelock_mitigation() -> Boot:
    """A card that holds its interrupts back; that of the far side is on another line."""
    nics = (Nic(RECEIVER_SLOT, mitigation=True), Nic(SOURCE_SLOT + 1))
    machine = replace(_receive_machine(), cpus=2, modules=(DRIVER,), nics=nics)
    return Boot("livelock-mitigation", machine, (_virtual("interrupt-rate"),))


def _livelock_beside() -> Boot:
    """A flood and others on one card: the receiver, the source, a card on the far side."""
    nics = _and_far_side()
    machine = replace(_receive_machine(), modules=(SOURCE, IN_TREE), nics=nics)
    return Boot("livelock-beside", machine, (_virtual("tcp-beside"),))


def _livelock_other_card() -> Boot:
    """A flood by one card and others by another: each has a card on the far side of its hub."""
    nics = (
        *(Nic(RECEIVER_SLOT + hub, hub=hub) for hub in range(2)),
        *(Nic(SOURCE_SLOT + hub, hub=hub) for hub in range(2)),
    )
    machine = replace(_receive_machine(), modules=(SOURCE, IN_TREE), nics=nics)
    return Boot("livelock-other-card", machine, (_virtual("tcp-other-card"),))


def _livelock_forward() -> Boot:
    """What comes in by one card goes out by another one, on a link without anybody else."""
    nics = (Nic(RECEIVER_SLOT), Nic(RECEIVER_SLOT + 1, hub=1), Nic(SOURCE_SLOT))
    machine = replace(_receive_machine(), modules=(SOURCE, IN_TREE), nics=nics)
    return Boot("livelock-forward", machine, (_virtual("forward"),))


def _livelock_cards() -> Boot:
    """The governor is for any card: others than ours, with a card on the far side for each."""
    models = (("e1000e", IN_TREE_82574L), ("virtio-net-pci", "virtio_net"))
    nics = tuple(
        nic
        for hub, (model, _) in enumerate(models)
        for nic in (
            Nic(RECEIVER_SLOT + hub, hub=hub, model=model),
            Nic(SOURCE_SLOT + hub, hub=hub),
        )
    )
    machine = replace(smp_machine(2), modules=(IN_TREE, IN_TREE_82574L), nics=nics)
    programs = tuple(
        replace(
            scenario("livelock/governor-card", driver, *(f"{nic.slot:x}" for nic in two)),
            name=f"governor-{driver}",
        )
        for (_, driver), *two in zip(models, nics[::2], nics[1::2], strict=True)
    )
    return Boot("livelock-cards", machine, programs)


def _livelock_torture(
    name: str, cpus: int, *args: str, driver: str = DRIVER, calm: bool = False
) -> Boot:
    """Everything about the ports changes in a flood of ten times what they take.

    A flooded CPU livelocks by interrupts, and by NAPI without the governor: it has them in
    a calm only.
    """
    machine = Machine(cpus=cpus, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    # In virtual time a CPU runs up to the next timer, then the next one does: with a timer
    # each 50 us that of the source has little more than that of a millisecond.
    tick = ("--tick", "1000") if cpus > 1 else ()
    program = ("livelock-torture", "--ktap", *args, *tick, "--seconds")
    # In real time the host may take a while; on the kernel with checks the source's timer is
    # dear as well, and KASAN keeps pages that were freed.
    rate = ("--pps", "500") if calm else ("--tick", "2000")
    short = (*program, "10", *rate, "--within", "20000", "--no-pages")
    return Boot(
        name,
        replace(machine, modules=(driver, SOURCE), nics=pairs(2)),
        (Program(name.removeprefix("livelock-"), (*program, "6"), 60, short=short),),
    )


def _livelock_tortures() -> tuple[Boot, ...]:
    # What QEMU has kept for a card while it was deaf comes at once, and is owed for.
    other = ("--driver", IN_TREE, "--within", "200")
    return (
        not_debug(_livelock_torture("livelock-torture", 1)),
        with_leaks(_livelock_torture("livelock-torture-smp", 4)),
        with_leaks(
            _livelock_torture("livelock-torture-calm", 4, "--all-modes", "--pps", "5000", calm=True)
        ),
        long_only(
            not_debug(_livelock_torture("livelock-torture-e1000", 1, *other, driver=IN_TREE))
        ),
        _livelock_torture("livelock-torture-e1000-smp", 4, *other, driver=IN_TREE),
    )


def _long_torture(driver: str) -> Boot:
    """The torture on CPUs that run at the same time, until there was enough of it."""
    machine = replace(smp_machine(4, root=False), parallel=True, kernel="torture")
    program = ("livelock-torture", "--ktap", "--driver", driver, *LONG)
    return Boot(
        f"long-torture-{driver}",
        replace(machine, modules=(driver, SOURCE), nics=pairs(LONG_PORTS)),
        (Program("livelock-torture", program, LONG_S),),
    )


def long_boots() -> tuple[Boot, ...]:
    """The long torture, for which there is a kernel."""
    return (_long_torture(DRIVER), _long_torture(IN_TREE))


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (
        *(
            _livelock(),
            _livelock_governor(),
            _livelock_ports(),
            _livelock_tools(),
            with_leaks(_livelock_driver()),
            _livelock_hostile(),
            _livelock_cards(),
            _livelock_virtio(),
            _livelock_smp(),
            _livelock_backlog(),
            _livelock_hotplug(),
            _livelock_options(),
            not_debug(_livelock_mitigation()),
            _livelock_beside(),
            _livelock_other_card(),
            _livelock_forward(),
        ),
        *_livelock_tortures(),
    )

# SPDX-License-Identifier: GPL-2.0
"""Privileged I/O."""

from collections.abc import Sequence
from dataclasses import replace

from lab.guest import places, slowdisk
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.guest.places import Place
from lab.subjects.wrais import experiment, variants
from lab.suite import inside, scenario, with_leaks

# The slow disk's pages, of which a small file system touches few, and the cache.
MEM_MB = 1536
DISK = Ext4(size_mb=256, block=4096, journal_mb=8)
SCHEDS = ("bfq", "mq-deadline", "kyber", "none")
PRIVILEGED = ("--sched", "bfq", "--wrais", "all")
# What a start is, and the counters that it makes grow.
PROBES = {
    "fsync": ((), ("copy_outs", "inherits")),
    "write70": ((), ("dirty_breaks", "dirty_naps")),
    "think": (("--pages", "6000"), ("think_turns",)),
    # It takes 1.6 s, or more than 2 if others are injected while it is about to go on.
    "app-direct": (("--pages", "6000", "--limit", "2"), ("fellow_turns", "-think_turns")),
}
# In a fresh guest its threads never pause (five seeds); behind other programs one did, once.
FIRST_PROBE = "app-direct"
# A kernel with checks spends its time on them: a quarter of the pages, and patience.
SHORTER = ("--pages", "500", "--limit", "150")
# A short window: who uses the disk for a second has used it for long.
WINDOW = ("--knob", "floor_window_ms=1000")
RANDOM = ("--probe", "random", "--pages", "4000", *WINDOW, "--knob", "floor_pct=5")
# A small reader leaves the others a third of the disk: owed more, they are paid surely.
ENDLESS = ("--endless", "3", *WINDOW, "--knob", "floor_pct=50")
# More queues than are looked at for one turn. In five of the floor's windows, the start of
# which is free, all of them together have their part, and each of them some.
CROWD_SIZES = ("--read-size", "1", "--block", "64", "--stagger", "200", "--endless", "50")
# Each of them needs a tag: who waits for one is no queue of BFQ's.
CROWD = (
    *(*CROWD_SIZES, "--tune", "nr_requests=256"),
    *("--knob", "floor_window_ms=10000", "--knob", "floor_pct=5"),
)
# Anybody may have this class; it starts slowly.
UNPRIVILEGED = ("--class", "be", "--level", "0", "--probe", "fsync", "--pages", "400")
# Others' writes beside the privileged are not kept waiting for them.
BESIDE = ("--sched", "bfq", "--wrais", "all", "--class", "be", "--level", "4", "--load-class", "rt")
# Who appends or commits: readers and writers, the counter, and the longest that it may take
# [ms]. Without what is tested it is several times as long.
WAITS: dict[str, tuple[int, int, str, int]] = {
    "append": (4, 4, "dirty_releases", 3000),
    "commit": (4, 4, "overdue_turns", 3000),
    "read-commit": (1, 0, "overdue_turns", 1500),
    "tags-commit": (4, 4, "tag_exemptions", 3000),
}
# The others have more of these together than writes may have.
WAITS_TAGS = {"tags-commit": ("--tune", "nr_requests=64")}
NOT_FOR_OTHERS = (
    *("-raised_requests", "-dirty_breaks", "-dirty_naps", "-inherits"),
    *("-think_turns", "-fellow_turns", "-floor_turns", "-random_turns"),
)
# A start without a part, and what is not counted then.
WITHOUT = {
    "raise": ((), ("-raised_requests",)),
    "dirty": ((), ("-dirty_breaks", "-dirty_naps", "-dirty_holds")),
    "copy_out": (("--probe", "fsync"), ("-copy_outs",)),
    "inherit": (("--probe", "fsync"), ("-inherits",)),
    "tags": ((), ("-tag_exemptions",)),
}
NO_FLOOR = ("-floor_turns", "-random_turns")
# Little memory, so that it could run out.
SAFETY_MEM_MB = 512
SAFETY_TOOLS = (
    *("sbin/mkfs.ext4", "sbin/e2fsck"),
    *(f"bin/{name}" for name in ("sh", "cat", "dd", "grep", "mkdir", "rm", "rmdir", "sed")),
    *(f"bin/{name}" for name in ("sleep", "touch")),
)
# A case ends by itself after 100 s, or brief after 800, with a better message.
SAFETY_S = 150
BRIEF = ("--brief", "--limit", "800")
SAFETY_CASES = (
    *(
        "headroom",
        "shared-headroom",
        "fsync",
        "strict-limit",
        "stalled-fuse",
        "slow-disk",
        "other-disk",
    ),
    *(
        "loop",
        "commit",
        "writer",
        "pair",
        "worker",
        "request",
        "metadata",
        "handle",
        "tag",
        "class-in-group",
        "group",
        "space",
        "space-journal",
    ),
    *("freeze", "unmount", "removal", "killed", "switches"),
)
# What the block layer, ext4 and its journal say to a disk that is taken away.
PROVOKED = {"removal": (Kind.IO, Kind.EXT4, Kind.JBD2)}
# What several CPUs may do to each other there. As brief as on a slow kernel.
SMP_CASES = (
    *("headroom", "shared-headroom", "fsync", "pair", "space"),
    *("freeze", "unmount", "removal", "killed", "switches"),
)
SMP_CPUS = 4
# LProbe takes 7.7 s alone there, and beside a reader and a writer 8.6 s and more where one of
# the parts for it is missing.
BELOW_S = 8
# Of a disk that takes 64 requests: this takes 1.7 s alone and no more than 1.9 beside others,
# but 2.1 to 4 where one of the parts for that is missing, or one read waits for long [ms].
DEEP_S = 2
DEEP_STARTS = 3
DEEP = ("--pages", "48000", "--longest", "100")
# What may take the whole guest along when it fails.
SAFETY_LAST = ("memory-cgroup", "memory")
# A kernel full of checks needs 3 GiB, which are never used up, and takes minutes to
# fill a group. What runs on four CPUs there need not on one.
SAFETY_NOT_DEBUG = ("memory-cgroup", "memory", *SMP_CASES)
# The same with all parts off: what fails here as well is not theirs.
SAFETY_OF_STOCK = ("space", "removal")


def _machine() -> Machine:
    """The slow disk in the guest's own memory, in virtual time."""
    machine = Machine(accel="icount", mem_mb=MEM_MB, root=False)
    return machine.with_append(*slowdisk.words(2))


def _api() -> Boot:
    """Who may be privileged, and who may not."""
    return Boot("wrais-api", _machine(), (inside("wrais-api"),))


def _run(
    name: str,
    *args: str,
    load: int = 1,
    writers: int = 1,
    expect: Sequence[str] = (),
) -> Program:
    """A short start beside readers and writers, on files that fit a small disk.

    These counters must grow meanwhile, and those with a "-" in front must not. A
    shortened run, which may be one in real time and with checks, does and asks for
    less: there it is not known what meets whom.
    """
    program = ("wrais-run", "--disk", slowdisk.DEVICE, "--mount", "--dir", "/run/wrais")
    sizes = ("--pages", "2000", "--read-size", "8", "--write-size", "16", "--pass", "64")
    amount = ("-r", str(load), "-w", str(writers), "--repeats", "1", "--limit", "60")
    limits = ("--dirty-bytes", "8000000", "--dirty-background-bytes", "4000000")
    argv = (*program, *sizes, *amount, *limits, *args)
    counters = ("--expect", ",".join(expect)) if expect else ()
    certain = all(counter.startswith("-") for counter in expect)
    short = (*argv, *SHORTER, *(counters if certain else ()))
    return Program(name, (*argv, *counters), 180, short=short)


def _probe(name: str) -> Program:
    """A start of that kind."""
    args, expect = PROBES[name]
    return _run(f"probe-{name}", *PRIVILEGED, "--probe", name, *args, expect=expect)


def _crowd() -> Program:
    """A share that only virtual time shows for sure."""
    run = _run("crowd", *PRIVILEGED, *CROWD, "--share", "4", load=100, writers=0)
    return replace(run, debug=False)


def _fair() -> Program:
    """Two privileged readers, of 128 and 512 KiB at a time, have half of the device each.

    The one pauses where it begins its file anew. Without what is tested it has a fifth.
    """
    share = ("--share", "44", "--share-max", "58", "--knob", "floor_pct=0")
    what = ("--load-class", "rt", "--endless", "6", "--pages", "8000", *share)
    run = _run("fair", *PRIVILEGED, *what, writers=0, expect=("fellow_turns",))
    return replace(run, debug=False)


def _wakeup() -> Program:
    """Threads that wait for a tag, which eight readers wait for and may not have.

    No read takes longer than 75 ms, or each time more than 100 where these are woken for it.
    """
    what = ("--probe", "app-direct", "--pages", "6000", "--longest", "90")
    run = _run("wakeup", *PRIVILEGED, *what, load=8, writers=0, expect=("tag_exemptions",))
    return replace(run, debug=False)


def _wait(name: str) -> Program:
    """Somebody else's write, for as long as virtual time shows it."""
    readers, writers, counter, most = WAITS[name]
    what = (
        *("--probe", name.rpartition("-")[2], "--endless", "10"),
        *("--longest", str(most), "--knob", "floor_pct=0"),
        *WAITS_TAGS.get(name, ()),
    )
    run = _run(f"wait-{name}", *BESIDE, *what, load=readers, writers=writers, expect=(counter,))
    return replace(run, debug=False)


def _io() -> Boot:
    """The suite of privileged I/O itself: every scheduler, probe and part once.

    Each part acts in one of the runs at least, none acts for who is not
    privileged, and what is switched off does not act.
    """
    return Boot(
        "wrais-io",
        _machine(),
        (
            # In virtual time only: a busy host takes longer than the model.
            Program("times", ("wrais-times", "--ktap"), debug=False),
            Program("disk", slowdisk.DISK),
            _probe(FIRST_PROBE),
            *(_run(f"sched-{name}", "--wrais", "none", "--sched", name) for name in SCHEDS),
            _run("privileged", *PRIVILEGED, expect=("raised_requests", "tag_exemptions")),
            _run("privileged-4r4w", *PRIVILEGED, load=4, writers=4),
            _run("unprivileged", *PRIVILEGED, *UNPRIVILEGED, expect=NOT_FOR_OTHERS),
            *(_probe(probe) for probe in PROBES if probe != FIRST_PROBE),
            *(
                _run(f"no-{part}", *PRIVILEGED, "--wrais", f"all,-{part}", *args, expect=expect)
                for part, (args, expect) in WITHOUT.items()
            ),
            _wakeup(),
            # Last: the numbers that they set stay as they are.
            *(_wait(name) for name in WAITS),
            _fair(),
            _run("random", *PRIVILEGED, *RANDOM, expect=("random_turns",)),
            _run("endless", *PRIVILEGED, *ENDLESS, expect=("floor_turns",)),
            _run("no-floor", *PRIVILEGED, "--wrais", "all,-floor", *ENDLESS, expect=NO_FLOOR),
            # And more tags.
            _crowd(),
        ),
        disk=DISK,
    )


def _deadline() -> Boot:
    """The parts that need no scheduler, with another one: also where there is no BFQ."""
    privileged = ("--sched", "mq-deadline", "--wrais", "all")
    probes = {
        "write70": ("dirty_breaks", "dirty_naps", "-raised_requests"),
        "fsync": ("copy_outs", "-raised_requests", "-inherits", "-tag_exemptions"),
    }
    return Boot(
        "wrais-deadline",
        _machine(),
        (
            Program("disk", slowdisk.DISK),
            *(
                # That one writes much, which the kernel with checks does in wrais-io.
                replace(
                    _run(probe, *privileged, "--probe", probe, expect=expect),
                    debug=probe != "write70",
                )
                for probe, expect in probes.items()
            ),
        ),
        disk=DISK,
    )


def _case(case: str, *options: str, name: str = "", debug: bool = True) -> Program:
    """A case of wrais-safety, brief where the kernel is slow."""
    program = ("wrais-safety", "--ktap")
    return Program(
        name or case,
        (*program, *options, case),
        SAFETY_S,
        short=(*program, *BRIEF, case),
        debug=debug,
        provokes=PROVOKED.get(case, ()),
    )


def _safety_machine(cpus: int) -> Machine:
    """Little memory, in virtual time: waiting for a slow disk costs the host nothing."""
    return Machine(cpus=cpus, mem_mb=SAFETY_MEM_MB, accel="icount", root=False)


def _safety_tools() -> Program:
    """What cases make file systems with and check them with, and a shell: here for all."""
    return Program("tools", ("mkfs.ext4", "-V"), image=SAFETY_TOOLS)


def _safety() -> Boot:
    """What must stay whole."""
    ours, last = (
        tuple(_case(case, debug=case not in SAFETY_NOT_DEBUG) for case in cases)
        for cases in (SAFETY_CASES, SAFETY_LAST)
    )
    stock = tuple(
        replace(_case(case, "--wrais", "none", name=f"stock-{case}", debug=False), short=None)
        for case in SAFETY_OF_STOCK
    )
    shell = (scenario("wrais/limit"), scenario("wrais/requests"))
    programs = (_safety_tools(), *shell, *ours, *stock, *last)
    return Boot("wrais-safety", _safety_machine(2), programs)


def _safety_smp() -> Boot:
    """The same on more CPUs, of which one runs at a time."""
    programs = tuple(_case(case, "--brief") for case in SMP_CASES)
    return Boot("wrais-safety-smp", _safety_machine(SMP_CPUS), (_safety_tools(), *programs))


def _soon(rows: experiment.Rows, limit_s: int, *more: str) -> Boot:
    """Starts that must end soon: in virtual time, and not on a kernel full of checks."""
    boot = experiment.boot(list(rows.cells()))
    quick = (replace(program, debug=False) for program in boot.programs)
    programs = tuple(
        replace(p, argv=(*p.argv, "--limit", str(limit_s), *more)) if p.what else p for p in quick
    )
    return replace(boot, name=f"wrais-{rows.place.name}", programs=programs)


def _below(place: Place) -> Boot:
    """Where something lies between the file system and the disk."""
    (rows,) = experiment.elsewhere((variants.WRAIS,), ("1r1w",), 1, place)
    return _soon(rows, BELOW_S)


def _deep() -> Boot:
    """Where the others' requests could be in the disk for long, and have all tags."""
    # The first start in a minute is the idle one.
    beside = ("idle", *experiment.HARD)
    (rows,) = experiment.elsewhere((variants.MEMBER,), beside, DEEP_STARTS, places.CLOUD)
    return _soon(rows, DEEP_S, *DEEP)


def boots() -> tuple[Boot, ...]:
    """All of them."""
    below = tuple(_below(place) for place in places.CARRIERS)
    return (
        with_leaks(_api()),
        _io(),
        with_leaks(_deadline()),
        _safety(),
        _safety_smp(),
        _deep(),
        *below,
    )

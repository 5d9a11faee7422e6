# SPDX-License-Identifier: GPL-2.0
"""The functional test suites: which programs run in which guest.

A suite is one boot. Without the root image there is no shell: entries are then
our own programs or builtins of PID 1.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from lab import LabError, ext4, slowdisk
from lab.accel import apply
from lab.experiments.livelock import variants as livelock
from lab.experiments.livelock.plan import FUNCTIONS
from lab.experiments.wrais.variants import PARTS
from lab.ext4 import Ext4
from lab.machine import Machine
from lab.nics import pairs
from lab.paths import Paths
from lab.plan import Plan, PlanEntry
from lab.progress import Progress
from lab.vm import RunResult, run_plan

# The kernels that are tested; others are only measured.
KERNELS = ("guest", "debug")

# A kernel full of checks runs several times slower and needs room for shadows.
DEBUG_SLOWNESS = 6
DEBUG_MEM_MB = 3072
# Host seconds for the boot and for a guest second, upper bounds.
BOOT_S = 60.0
REAL_FACTOR = 2.0
VIRTUAL_FACTOR = 20.0
WALL_MAX_S = 1800.0
KMEMLEAK_TIMEOUT_S = 300

KUNIT_SUITES = (
    *("lottery_pool", "lottery_draw", "lottery_class", "wrais_bounds"),
    *("nll_frame", "nll_pool", "nll_strategy", "nll_window"),
)

# Ticket ratios of the share tests.
RATIOS = ("1:1", "2:1", "3:1", "5:1", "10:1", "20:1", "100:1", "3:2:1")
DEBUG_RATIO = "10:1"
SHARE_CASES = ("fork", "exec", "sleepwake", "change", "order")
# 8 ns an instruction: a guest second costs the host an eighth, and a tick is
# still long against what the kernel does in it.
SHARE_SHIFT = 3
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
# The slow disk's pages, of which a small file system touches few, and the cache.
WRAIS_MEM_MB = 1536
WRAIS_DISK = Ext4(size_mb=256, block=4096, journal_mb=8)
WRAIS_SCHEDS = ("bfq", "mq-deadline", "kyber", "none")
WRAIS_PROBES = ("fsync", "write70", "think", "random")
# Little memory, so that it could run out.
SAFETY_MEM_MB = 512
# Each wait of theirs ends earlier, after four minutes, with a better message.
SAFETY_S = 300
SAFETY_CASES = (
    *("headroom", "shared-headroom", "fsync", "memory", "memory-cgroup", "space"),
    *("space-journal", "freeze", "unmount", "removal", "killed", "switches"),
)
# A kernel full of checks writes more slowly than any disk: it never comes to the limit.
SAFETY_NEEDS_SPEED = ("headroom", "shared-headroom")
# The same with all parts off: what fails here as well is not theirs.
SAFETY_OF_STOCK = ("space", "removal")
# What must arrive of 60,000 frames a second, and kinds of frames that must not.
RECEIVE_LEAST_PPS = 15000
MALFORMED = ("truncated", "length", "checksum", "ip-checksum", "oversized")
MOUNTS = (
    *("/proc", "/sys", "/dev", "/tmp", "/run", "/dev/pts", "/dev/shm", "/dev/mqueue"),
    *("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/cgroup"),
)


@dataclass(frozen=True)
class Entry:
    """A program in the guest. timeout_s counts guest seconds.

    short_argv, if any, is what the shortened run uses instead. debug says that
    the entry is worth its time on the kernel with checks: that it asks
    something of the kernel, not only of user space.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: int = 30
    short_argv: tuple[str, ...] | None = None
    debug: bool = True


@dataclass(frozen=True)
class Suite:
    """One boot and what runs in it, in this order; disk is found in /lab/disk."""

    name: str
    machine: Machine
    entries: tuple[Entry, ...]
    disk: Ext4 | None = None

    def plan(self, chosen: Collection[str] = ()) -> Plan:
        """The chosen entries, all if none is."""
        return Plan(
            tuple(
                PlanEntry(entry.name, entry.argv, entry.timeout_s)
                for entry in self.entries
                if not chosen or entry.name in chosen
            )
        )

    def wall_s(self, plan: Plan) -> float:
        """Host seconds after which the guest is taken for lost."""
        factor = REAL_FACTOR if self.machine.real_time else VIRTUAL_FACTOR
        slowness = DEBUG_SLOWNESS if self.machine.kernel == "debug" else 1
        guest_s = sum(entry.timeout_s for entry in plan.entries)
        return min(WALL_MAX_S, BOOT_S * slowness + factor * guest_s)


def shell(name: str, script: str, timeout_s: int = 30) -> Entry:
    """An entry that needs the shell of the root image."""
    return Entry(name, ("sh", "-c", script), timeout_s)


def _refused(name: str, command: str) -> Entry:
    """The command must end with status 2 and one line that says why."""
    entry = shell(
        name,
        f"{command} >/tmp/out 2>/tmp/err; status=$?; cat /tmp/err; "
        "[ $status -eq 2 ] && [ $(wc -l </tmp/err) -eq 1 ] && [ ! -s /tmp/out ]",
    )
    return replace(entry, debug=False)


def _smp_machine(cpus: int, root: bool = True) -> Machine:
    """Several CPUs in real time, taken in turn by one host thread.

    With a thread for each, QEMU 7.2 now and then lets a CPU run a breakpoint that
    another one has patched away: an int3 Oops where the kernel flips a static key.
    """
    return Machine(cpus=cpus, root=root, parallel=False)


def _boot() -> Suite:
    mounts = " ".join(MOUNTS)
    tools = tuple(Entry(f"tool-{argv[0]}", argv, debug=False) for argv in IMAGE_TOOLS)
    return Suite(
        "boot",
        replace(_smp_machine(2), modules=("e1000",), nics=pairs(1)),
        (
            shell("mounts", f"for m in {mounts}; do mountpoint $m || exit 1; done"),
            shell("root-writable", "echo x >/root/x && [ $(cat /root/x) = x ]"),
            shell("loopback", "ip -o address show up dev lo | grep 127.0.0.1"),
            shell("result-port", "grep -x lab.result /sys/class/virtio-ports/*/name"),
            shell("proc-lottery", "grep -x 'version 1' /proc/sched_lottery"),
            Entry("insmod", ("@insmod", "e1000")),
            shell("nics", "[ $(ip -o link | grep -c 02:00:00:00:00:1) -eq 2 ]"),
            Entry("rmmod", ("@rmmod", "e1000")),
            *tools,
        ),
    )


def _kunit() -> Suite:
    machine = Machine(root=False, modules=("napi_livelock", "nll_kunit"))
    results = tuple(
        Entry(name, ("@cat", f"/sys/kernel/debug/kunit/{name}/results")) for name in KUNIT_SUITES
    )
    # A module's suites run when it is loaded.
    loads = tuple(Entry(f"load-{name}", ("@insmod", name)) for name in machine.modules)
    return Suite("kunit", machine.with_append("kunit.enable=1"), (*loads, *results))


def _api() -> Suite:
    return Suite(
        "lottery-api",
        Machine(root=False).with_append("lottery_pool=list"),
        (
            Entry(
                "lottery-api",
                ("lottery-api", "--ktap"),
                120,
                ("lottery-api", "--ktap", "--reads", "5000"),
            ),
        ),
    )


def _share(name: str, seconds: int, *args: str) -> Entry:
    """Shares against tickets: seconds for each ratio, 3 if shortened."""
    program = ("lottery-share", "--ktap", "--seconds")
    return Entry(name, (*program, str(seconds), *args), 120, (*program, "3", *args))


def _pool(pool: str) -> Suite:
    """The validators in virtual time, where shares and orders repeat exactly."""
    machine = Machine(accel="icount", icount_shift=SHARE_SHIFT, root=False)
    shares = tuple(
        replace(_share(f"share-{ratio}", 4, ratio), debug=ratio == DEBUG_RATIO) for ratio in RATIOS
    )
    return Suite(
        f"lottery-{pool}",
        machine.with_append(f"lottery_pool={pool}"),
        (
            *shares,
            *(_share(f"share-{case}", 4, "--case", case, "3:1") for case in SHARE_CASES),
            Entry("fair", ("lottery-fair", "--ktap", "--tasks", "40"), 120),
            Entry("scale", ("lottery-scale", "100"), 120, ("lottery-scale", "20")),
            Entry(
                "floor",
                ("lottery-floor", "--ktap", "--seconds", "10"),
                60,
                ("lottery-floor", "--ktap", "--seconds", "5"),
            ),
        ),
    )


def _tools() -> Suite:
    """The tools as a person uses them, and their refusals."""
    return Suite(
        "lottery-tools",
        _smp_machine(2),
        (
            shell("run-with-tickets", "lottery -t 300 sh -c 'lottery -p $$' | grep -w 300"),
            shell("limits", "lottery -m"),
            shell(
                "tracepoints",
                "trace-cmd record -q -e sched_lottery -o /tmp/t lottery-fair --tasks 5 && "
                "trace-cmd report -i /tmp/t >/tmp/r && for e in draw enqueue dequeue; do "
                "grep -m1 lottery_$e /tmp/r || exit 1; done",
                120,
            ),
            _refused("refuse-tickets", "lottery -t 0x30 true"),
            _refused("refuse-huge-tickets", "lottery -t 1000001 true"),
            _refused("refuse-task-file", "sh -c 'echo 10 ten >/tmp/t; lottery-fair /tmp/t'"),
            _refused("refuse-empty-file", "lottery-fair /dev/null"),
            _refused("refuse-no-tasks", "lottery-fair --tasks 0"),
            _refused("refuse-scale-0", "lottery-scale 0"),
            _refused("refuse-scale-pid-max", "lottery-scale 99999999"),
            _refused("refuse-ratio", "lottery-share 10:"),
        ),
    )


def _smp() -> Suite:
    return Suite(
        "lottery-smp",
        Machine(cpus=4, accel="icount", icount_shift=SHARE_SHIFT, root=False),
        (
            Entry(
                "lottery-smp",
                ("lottery-smp", "--ktap"),
                180,
                ("lottery-smp", "--ktap", "--seconds", "2"),
            ),
        ),
    )


def _nohz() -> Suite:
    """A CPU without a tick: with two lottery tasks it must have one again."""
    machine = Machine(cpus=2, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    return Suite(
        "lottery-nohz",
        machine.with_append("nohz_full=1"),
        (_share("share-3:1", 4, "--cpu", "1", "3:1"),),
    )


def _torture() -> Suite:
    """Everything at once, on CPUs that come and go."""
    return Suite("lottery-torture", _smp_machine(4, root=False), _torture_entries())


def _torture_core() -> Suite:
    """Two cores of two threads, so that core scheduling has siblings to choose for.

    CPUs stay: pick_next_task() of 6.12 looks at the run queue of a sibling that
    comes online before the two share their lock, and lockdep says so.
    """
    machine = _smp_machine(4, root=False)
    return Suite(
        "lottery-torture-core",
        replace(machine, devices=(*machine.devices, "-smp", "4,sockets=1,cores=2,threads=2")),
        _torture_entries("--no-hotplug"),
    )


def _torture_entries(*args: str) -> tuple[Entry, ...]:
    program = ("lottery-torture", "--ktap", *args, "--seconds")
    return (Entry("lottery-torture", (*program, "60"), 300, (*program, "20")),)


def _wrais_machine() -> Machine:
    """The slow disk in the guest's own memory, in virtual time."""
    machine = Machine(accel="icount", mem_mb=WRAIS_MEM_MB, root=False)
    return machine.with_append(*slowdisk.words(2))


def _wrais_api() -> Suite:
    """Who may be privileged, and who may not."""
    return Suite("wrais-api", _wrais_machine(), (Entry("wrais-api", ("wrais-api", "--ktap"), 120),))


def _wrais_run(name: str, *args: str, load: int = 1) -> Entry:
    """A short start beside so many readers and writers, on files that fit a small disk."""
    program = ("wrais-run", "--disk", slowdisk.DEVICE, "--mount", "--dir", "/run/wrais")
    sizes = ("--pages", "2000", "--read-size", "8", "--write-size", "16", "--pass", "64")
    amount = ("-r", str(load), "-w", str(load), "--repeats", "1", "--limit", "60")
    limits = ("--dirty-bytes", "8000000", "--dirty-background-bytes", "4000000")
    return Entry(name, (*program, *sizes, *amount, *limits, *args), 180)


def _wrais_io() -> Suite:
    """The suite of privileged I/O itself: every scheduler, probe and part once."""
    privileged = ("--sched", "bfq", "--wrais", "all")
    plain = ("--wrais", "none", "--sched")
    probes = tuple(
        _wrais_run(f"probe-{probe}", *privileged, "--probe", probe) for probe in WRAIS_PROBES
    )
    return Suite(
        "wrais-io",
        _wrais_machine(),
        (
            Entry("disk", slowdisk.DISK),
            *(_wrais_run(f"sched-{name}", *plain, name) for name in WRAIS_SCHEDS),
            _wrais_run("privileged", *privileged),
            _wrais_run("privileged-4r4w", *privileged, load=4),
            *probes,
            _wrais_run("endless", *privileged, "--endless", "5"),
            _wrais_run("journal-data", *privileged, "--mount-options", "data=journal"),
            *(_wrais_run(f"no-{part}", *privileged[:-1], f"all,-{part}") for part in PARTS),
        ),
        WRAIS_DISK,
    )


def _wrais_safety() -> Suite:
    """What must stay whole, with mkfs and fsck of the root image, in little memory."""
    program = ("wrais-safety", "--ktap")
    ours = tuple(
        Entry(case, (*program, case), SAFETY_S, debug=case not in SAFETY_NEEDS_SPEED)
        for case in SAFETY_CASES
    )
    stock = tuple(
        Entry(f"stock-{case}", (*program, "--wrais", "none", case), SAFETY_S)
        for case in SAFETY_OF_STOCK
    )
    return Suite("wrais-safety", replace(_smp_machine(2), mem_mb=SAFETY_MEM_MB), (*ours, *stock))


def _udprate_run(name: str, *args: str) -> Entry:
    """A second to a receiver of its own: to 0.1 %, nothing lost, on time to the millisecond."""
    return Entry(name, ("udprate", "-t", "1", "--loop", "--strict", *args), 60)


def _udprate() -> Suite:
    """The paced sender on the loopback, in virtual time."""
    hogs = ("--hogs", "2")
    lottery = ("--policy", "lottery:18000", "--hog-tickets", "1000")
    return Suite(
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
            Entry("hogs-lottery", ("udprate", "-t", "1", "-r", "20", *hogs, *lottery), 60),
        ),
    )


def _udprate_tools() -> Suite:
    """What needs a second program. A hog keeps the guest from waiting in the host's time."""
    busy = "--hogs 1 --policy fifo"
    paced = f"udprate -r 100 -t 1 --loop --strict --txtime fq {busy}"
    return Suite(
        "udprate-tools",
        Machine(accel="icount"),
        (
            shell(
                "txtime-fq",
                f"tc qdisc replace dev lo root fq && {paced} --json >/tmp/out; status=$?; "
                "cat /tmp/out; "
                # 118 us apart by their own times; without fq in batches: 0
                "[ $status -eq 0 ] && grep -E '\"received_gap_us_p50\":1[0-3][0-9]\\.' /tmp/out",
                60,
            ),
            shell(
                "receive",
                f"udprate -r 10 -t 1 -p 4000 {busy} >/dev/null & "
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


def _ipclat_run(name: str, mechanisms: str, *args: str, timeout_s: int = 120) -> Entry:
    amount = ("-k", "200", "-n", "1", "-w", "20", "--seconds", "20")
    return Entry(name, ("ipclat", "-m", mechanisms, *amount, *args), timeout_s)


def _ipclat() -> Suite:
    """Each mechanism under each policy, two CPUs in virtual time."""
    machine = Machine(cpus=2, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    policies = ("other", "rr:90", "fifo", "lottery:1000")
    spinning = "spin,spin-affinity,spin-shm,flag"
    waiting = "semaphore,futex,pipe,eventfd,unix,mq,zmq-inproc,zmq-ipc,zmq-tcp,zmq-perf"
    tickets = ("--policy", "lottery:9000", "--hog-tickets", "500")
    return Suite(
        "ipclat",
        machine,
        (
            *(_ipclat_run(f"spin-{p}", spinning, "--policy", p) for p in policies),
            *(_ipclat_run(f"wait-{p}", waiting, "--policy", p) for p in policies),
            _ipclat_run("hogs-fifo", waiting, "--hogs", "2", "--policy", "fifo"),
            _ipclat_run("hogs-lottery", waiting, "--hogs", "2", *tickets),
        ),
    )


def _ipclat_containers() -> Suite:
    """Two containers of crun, from the root image."""
    both = "zmq-tcp-containers,shm-containers"
    runs = {
        policy: f"ipclat -m {both} -k 200 -n 1 --policy {policy}"
        for policy in ("other", "rr:90", "lottery:1000")
    }
    clean = '[ -z "$(ls /dev/shm)" ] && ! ip link | grep ipclat'
    return Suite(
        "ipclat-containers",
        _smp_machine(2),
        tuple(
            shell(
                f"containers-{policy}",
                f"{run} >/tmp/out; status=$?; cat /tmp/out; "
                f"[ $status -eq 0 ] && ! grep 'not supported' /tmp/out && {clean}",
                180,
            )
            for policy, run in runs.items()
        ),
    )


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
        _smp_machine(2),
        (
            _refused("refuse-no-rate", "livelock-run"),
            _refused("refuse-rate-0", "livelock-run 0"),
            _refused("refuse-rate-word", "livelock-run 2k"),
            _refused("refuse-ports", "livelock-run --ports 9 1000"),
            _refused("refuse-function", "livelock-run --function cubic 1000"),
            _refused("refuse-set", "livelock-run --set ../mtu=1 1000"),
            _refused("refuse-warmup", "livelock-run --warmup 1000 1000"),
            _refused("refuse-peaks", "livelock-run --function peaks 1"),
            _refused("refuse-port", "livelock-apps --port 0"),
            shell("no-cards", "livelock-run 1000; [ $? -eq 3 ]"),
        ),
    )


def _all() -> tuple[Suite, ...]:
    return (
        *(_boot(), _kunit(), _api(), _pool("list"), _pool("rbtree")),
        *(_tools(), _smp(), _nohz(), _torture(), _torture_core()),
        *(_wrais_api(), _wrais_io(), _wrais_safety(), _udprate(), _udprate_tools()),
        *(_ipclat(), _ipclat_containers()),
        *(_livelock(), _livelock_ports(), _livelock_tools()),
    )


def machine_for(kernel: str, machine: Machine | None = None) -> Machine:
    """The machine with that kernel and the room that it needs."""
    machine = replace(machine or Machine(), kernel=kernel)
    return replace(machine, mem_mb=DEBUG_MEM_MB) if kernel == "debug" else machine


def _debug(suite: Suite) -> Suite:
    """The suite for the kernel with checks: patient, roomy, leaks looked for at its end.

    In real time, always: virtual time costs it twice as much, and what it is to
    find are faults on the way, not shares to the per cent.
    """
    patient = tuple(
        replace(entry, timeout_s=entry.timeout_s * DEBUG_SLOWNESS)
        for entry in suite.entries
        if entry.debug
    )
    leaks = Entry("kmemleak", ("@kmemleak",), KMEMLEAK_TIMEOUT_S)
    machine = replace(machine_for("debug", suite.machine), accel="tcg")
    return replace(suite, machine=machine, entries=(*patient, leaks))


def _short(suite: Suite) -> Suite:
    entries = tuple(replace(entry, argv=entry.short_argv or entry.argv) for entry in suite.entries)
    return replace(suite, entries=entries)


def kernel_variant(environ: Mapping[str, str]) -> str:
    """Which kernel the suites boot: LAB_KERNEL, guest by default. Raises LabError."""
    variant = environ.get("LAB_KERNEL") or KERNELS[0]
    if variant not in KERNELS:
        raise LabError(f"LAB_KERNEL '{variant}': allowed are {', '.join(KERNELS)}")
    return variant


def suites(kernel: str = "guest", short: bool = False) -> tuple[Suite, ...]:
    """All suites for a kernel; short ones use the entries' short_argv."""
    found = _all()
    if short:
        found = tuple(map(_short, found))
    if kernel == "debug":
        found = tuple(map(_debug, found))
    return found


@dataclass
class SuiteRuns:
    """The boots of a test session: each suite once, when its first result is asked for.

    chosen names the entries of a suite that are to run (none: all), accel is
    what accel.asked_for() says, around wraps a boot, which shows its progress.
    """

    paths: Paths
    accel: str
    chosen: Mapping[str, Collection[str]]
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    results: dict[str, RunResult] = field(default_factory=dict)

    def machine(self, machine: Machine) -> Machine:
        """The machine as it is to be run here."""
        return apply(self.paths, machine, self.accel)

    def of(self, suite: Suite) -> RunResult:
        """The run of a suite."""
        if suite.name not in self.results:
            self.results[suite.name] = self._run(suite)
        return self.results[suite.name]

    def _run(self, suite: Suite) -> RunResult:
        machine = self.machine(suite.machine)
        plan = suite.plan(self.chosen.get(suite.name, ()))
        log_dir = self.paths.logs / machine.kernel / suite.name
        timeout_s = replace(suite, machine=machine).wall_s(plan)
        with self.around():
            progress = Progress(suite.name, len(plan.entries), "entries")
            extra = ext4.extra(suite.disk, log_dir)
            return run_plan(
                self.paths, machine, plan, timeout_s, log_dir, progress=progress, extra=extra
            )

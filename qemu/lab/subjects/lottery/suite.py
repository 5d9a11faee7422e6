# SPDX-License-Identifier: GPL-2.0
"""The lottery class."""

from dataclasses import replace

from lab.arch import ARCH
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.suite import SHARE_SHIFT, inside, not_debug, refused, scenario, smp_machine, with_leaks

BENCH = ("lottery-bench",)
FLOOR = (*BENCH, "floor", "--ktap", "--seconds")
# Ticket ratios of the share tests.
RATIOS = ("1:1", "2:1", "3:1", "5:1", "10:1", "20:1", "100:1", "3:2:1")
DEBUG_RATIO = "10:1"
# Lotteries are counted against quanta: one task with nearly all tickets, and more tasks.
TURNS = ("1:1", "1000000:1", "5:4:3:2:1")
# Two cores of two threads.
THREADS = ("-smp", "4,sockets=1,cores=2,threads=2")
LOW_VARIANCE = ("1:1", "5:4:3:2:1")
POOLS = ("list", "rbtree", "sums")
# Programs that can fail for what is wrong with one pool.
OF_A_POOL = ("share-10:1", "share-2:1", "share-change", "share-low", "turns", "scale", "floor")
# Of a torture that ends by its operations: 15 s on a quiet machine, 10 s with checks.
TORTURE, TORTURE_SHORT = 3000, 350
TORTURE_S = 400
# The long torture: for each pool, how long that may take [s], and what comes after it.
OPERATIONS = 350_000
OPERATIONS_S = 3600
SETTLE_S = 600
PAUSE_US = 100
# What the scenario of the kernel's mutex calls.
MUTEX_IMAGE = ("bin/sh", "bin/dmesg", "bin/grep", "sbin/insmod", "sbin/rmmod")
# What the scenario of a busy CPU calls.
TOP_IMAGE = (
    *(f"bin/{name}" for name in ("cat", "sh", "sleep")),
    *(f"usr/bin/{name}" for name in ("awk", "setpriv", "taskset")),
    ARCH.loader,
)
# Spinning locks, sleeping ones, and those that hand a priority on.
TORTURED_LOCKS = ("spin_lock", "mutex_lock", "rwsem_lock", "rtmutex_lock")
# And "yield", whose turns are too short where ticks come late.
SHARE_CASES = ("fork", "exec", "sleepwake", "change", "order")
# In the window of a share that is not judged all that can go wrong in a turn has some turns.
SHORT_MS = "50"


def _api() -> Boot:
    """What the interface takes, refuses and does, in virtual time."""
    machine = Machine(accel="icount", icount_shift=SHARE_SHIFT, root=False)
    return Boot(
        "lottery-api",
        machine.with_append("lottery_pool=list"),
        (inside("lottery-api", "--sysrq", short=("--reads", "5000")),),
    )


def _share(name: str, seconds: int, *args: str) -> Program:
    """Shares against tickets: seconds for each ratio, 3 if shortened."""
    program = (*BENCH, "share", "--ktap", "--seconds")
    return Program(name, (*program, str(seconds), *args), 120, short=(*program, "3", *args))


def _turns(name: str, seconds: int, *args: str) -> Program:
    """One lottery a quantum: in real time late ticks make that untrue."""
    program = (*BENCH, "share", "--ktap", "--case", "turns", "--seconds", str(seconds), *args)
    return Program(name, program, 120, debug=False)


def _as_other_pools(boot: Boot) -> Boot:
    """The boot, of which the gate has only what asks the pool itself: others have the class."""
    programs = (replace(one, gate=one.name.startswith(OF_A_POOL)) for one in boot.programs)
    return replace(boot, programs=tuple(programs))


def _pool(pool: str) -> Boot:
    """The validators in virtual time, where shares and orders repeat exactly."""
    machine = Machine(accel="icount", icount_shift=SHARE_SHIFT, root=False)
    shares = tuple(
        replace(_share(f"share-{ratio}", 4, ratio), debug=ratio == DEBUG_RATIO) for ratio in RATIOS
    )
    return Boot(
        f"lottery-{pool}",
        machine.with_append(f"lottery_pool={pool}"),
        (
            *shares,
            *(_share(f"share-{case}", 4, "--case", case, "3:1") for case in SHARE_CASES),
            replace(_share("share-yield", 4, "--case", "yield", "3:1"), debug=False),
            replace(_share("share-low-variance", 4, "--low-variance", *LOW_VARIANCE), debug=False),
            _turns("turns", 2, *TURNS),
            # Whole ticks at 250 Hz, too.
            _turns("turns-8ms", 3, "--quantum", "8000", "3:1"),
            Program("fair", (*BENCH, "fair", "--ktap", "--tasks", "40", "--work-ms", "120"), 120),
            Program("scale", (*BENCH, "scale", "100"), 120, short=(*BENCH, "scale", "20")),
            Program("floor", (*FLOOR, "10"), 60, short=(*FLOOR, "5")),
        ),
    )


def _tools() -> Boot:
    """The tools as a person uses them, and their refusals."""
    return Boot(
        "lottery-tools",
        smp_machine(2),
        (
            scenario("lottery/run-with-tickets"),
            scenario("lottery/limits"),
            scenario("lottery/top"),
            scenario("lottery/lend"),
            scenario("lottery/currency"),
            scenario("lottery/tracepoints"),
            scenario("lottery/wait-times"),
            scenario("lottery/torture-counts"),
            refused("refuse-tickets", "lottery -t 0x30 true"),
            refused("refuse-huge-tickets", "lottery -t 1000001 true"),
            refused("refuse-top-delay", "lottery top --delay 0"),
            refused("refuse-top-sort", "lottery top --sort pid"),
            refused("refuse-lend-to-nobody", "lottery lend true"),
            refused("refuse-lend-amount", "lottery lend --to 1 --amount 0 true"),
            refused("refuse-currency-of-nothing", "lottery currency true"),
            refused("refuse-currency-group-tickets", "lottery currency -g / -t 1"),
            scenario("lottery/refuse-task-file"),
            refused("refuse-empty-file", "lottery-bench fair /dev/null"),
            refused("refuse-no-tasks", "lottery-bench fair --tasks 0"),
            refused("refuse-scale-0", "lottery-bench scale 0"),
            refused("refuse-scale-pid-max", "lottery-bench scale 99999999"),
            refused("refuse-ratio", "lottery-bench share 10:"),
            refused("refuse-server-ratio", "lottery-bench server 8"),
            refused("refuse-insulate-seconds", "lottery-bench insulate --seconds 0"),
            refused("refuse-looks", "lottery-bench montecarlo --look-ms 700"),
            refused("refuse-late-start", "lottery-bench montecarlo --tasks 16 --seconds 75"),
            refused("refuse-viewers", "lottery-bench viewers 3:2:1 3:1"),
            refused("refuse-hogs", "lottery-bench hogs --hogs 65 true"),
            scenario("lottery/hogs-beside-a-command"),
        ),
    )


def _shares_of_workers(name: str) -> Boot:
    """Python in virtual time; shares are counted in windows."""
    machine = Machine(cpus=2, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    return Boot(name, machine, (inside(name, timeout_s=300, short=("--window", SHORT_MS)),))


def _lend() -> Boot:
    """What tasks that are blocked do with their tickets."""
    return _shares_of_workers("lottery-lend")


def _currency() -> Boot:
    """What cgroups and processes are worth, and what their members get of it."""
    return _shares_of_workers("lottery-currency")


def _smp(pool: str, seconds: int) -> Boot:
    machine = Machine(cpus=4, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    args = ("lottery-smp", "--seconds", str(seconds))
    entry = inside(*args, timeout_s=180, short=("--seconds", "2"))
    return Boot(f"lottery-smp-{pool}", machine.with_append(f"lottery_pool={pool}"), (entry,))


def _bounds() -> Boot:
    """Turns, shares and lottery top, in virtual time: they repeat exactly."""
    machine = Machine(cpus=4, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    programs = (
        _group("turns"),
        _group("shares"),
        replace(scenario("lottery/top-busy"), image=TOP_IMAGE),
    )
    return Boot("lottery-bounds", machine, programs)


def _kernel_mutex() -> Boot:
    """The kernel's own mutex that is won by lot, in virtual time."""
    machine = Machine(cpus=2, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    full, brief = scenario("lottery/mutex"), scenario("lottery/mutex", "ms=500")
    entry = replace(full, short=brief.argv, image=MUTEX_IMAGE)
    return Boot("lottery-mutex", replace(machine, modules=("lottery_mutex_test",)), (entry,))


def _displaced() -> Boot:
    """In real time: in virtual time a virtual CPU waits up to 40 ms for the host's thread."""
    timed = replace(_group("displacement"), timed=True)
    return Boot("lottery-displaced", smp_machine(4, root=False), (timed,))


def _core() -> Boot:
    """The same on the threads of a core, under core scheduling."""
    machine = Machine(cpus=4, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    entry = replace(inside("lottery-core", timeout_s=180), name="core", debug=False)
    return Boot("lottery-core", replace(machine, devices=THREADS), (entry,))


def _group(name: str) -> Program:
    """A group of lottery-smp whose bounds mean nothing where time is real and short."""
    program = ("lottery-smp", "--ktap", name, "--seconds")
    return Program(name, (*program, "5"), 180, short=(*program, "2"), debug=False)


def _nohz() -> Boot:
    """A CPU without a tick: two lottery tasks, and the server of fair ones, need one."""
    machine = Machine(cpus=2, accel="icount", icount_shift=SHARE_SHIFT, root=False)
    return Boot(
        "lottery-nohz",
        machine.with_append("nohz_full=1"),
        (
            _share("share-3:1", 4, "--cpu", "1", "3:1"),
            Program("floor", (*FLOOR, "5", "--meet", "--cpu", "1"), 60),
        ),
    )


def _torture(pool: str) -> Boot:
    """Everything at once, on CPUs that come and go."""
    machine = smp_machine(4, root=False).with_append(f"lottery_pool={pool}")
    return Boot(f"lottery-torture-{pool}", machine, _torture_programs())


def _torture_core() -> Boot:
    """Two cores of two threads, so that core scheduling has siblings to choose for.

    CPUs stay: pick_next_task() of 6.12 looks at the run queue of a sibling that
    comes online before the two share their lock, and lockdep says so.
    """
    machine = smp_machine(4, root=False)
    return Boot(
        "lottery-torture-core",
        replace(machine, devices=(*machine.devices, *THREADS)),
        _torture_programs("--no-hotplug"),
    )


def _torture_programs(*args: str) -> tuple[Program, ...]:
    program = ("lottery-torture", "--ktap", *args, "--seconds", str(TORTURE_S), "--operations")
    full, short = (*program, str(TORTURE)), (*program, str(TORTURE_SHORT))
    return (Program("lottery-torture", full, TORTURE_S + 80, short=short),)


def _long_torture(pool: str) -> Boot:
    """The same on CPUs that run at the same time, counted in operations."""
    machine = replace(smp_machine(4, root=False), parallel=True)
    program = ("lottery-torture", "--ktap", "--operations", str(OPERATIONS))
    limits = ("--pause", str(PAUSE_US), "--seconds", str(OPERATIONS_S))
    return Boot(
        f"long-torture-{pool}",
        replace(machine, kernel="torture").with_append(f"lottery_pool={pool}"),
        (Program("lottery-torture", (*program, *limits), OPERATIONS_S + SETTLE_S),),
    )


def _kernel_torture() -> Boot:
    """The kernel's own torture of RCU and of locks, beside lottery hogs on every CPU."""
    machine = replace(smp_machine(4), parallel=True, kernel="torture")
    return Boot(
        "kernel-torture",
        replace(machine, modules=("torture", "rcutorture", "locktorture")),
        (
            scenario("lottery/rcutorture"),
            *(
                replace(scenario("lottery/locktorture", lock), name=f"locktorture-{lock}")
                for lock in TORTURED_LOCKS
            ),
        ),
    )


def long_boots() -> tuple[Boot, ...]:
    """The long torture, for which there is a kernel."""
    return (*(_long_torture(pool) for pool in POOLS), _kernel_torture())


def boots() -> tuple[Boot, ...]:
    """All of them. The sums are what boots by default, and are tested for longer.

    On the kernel with checks the other pools have their torture.
    """
    return (
        *(
            with_leaks(_api()),
            not_debug(_as_other_pools(_pool("list"))),
            not_debug(_as_other_pools(_pool("rbtree"))),
            _pool("sums"),
            _tools(),
        ),
        *(_smp("sums", 5), not_debug(_smp("list", 2)), _bounds(), _displaced()),
        *(_lend(), _currency(), _kernel_mutex(), _core(), not_debug(_nohz())),
        *(with_leaks(_torture(pool)) for pool in POOLS),
        _torture_core(),
    )

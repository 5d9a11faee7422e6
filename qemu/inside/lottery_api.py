# SPDX-License-Identifier: GPL-2.0
"""The interface of SCHED_LOTTERY: what it refuses, what it takes, and what that does.

All that must be refused comes first, each time with a look that nothing has changed. Needs
root, and no other lottery tasks that start or stop meanwhile.

  --reads N    reads of /proc/sched_lottery in a row
  --sysrq      test SysRq-n as well, which sets every task of the machine to SCHED_OTHER
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from errno import EACCES, EINVAL, ENOSYS, EPERM
from functools import partial

from inside import calls, cgroup, ktap, lottery, lottery_refusals, sched
from inside.ktap import Case, Test, Tests
from inside.lottery import Subject, expect_attr
from inside.lottery_refusals import DROPS, refuse, set_wide, unprivileged
from inside.sched import LOTTERY, MS, VER0, VER1, VER2, attr, get_attr, join, set_attr, set_policy
from inside.task import Task, released, shared, stat, wait_until

SYSRQ = "/proc/sysrq-trigger"
POISON = 0xA5
LOWERINGS = 1500
"""Of a task's tickets, while it asks for more: some come in the midst of its call."""


def renice(pid: int, nice: int) -> None:
    """setpriority(2) of a task."""
    os.setpriority(os.PRIO_PROCESS, pid, nice)


def line() -> lottery.Cpu:
    """Of the CPU where everything runs."""
    return lottery.state().cpus[min(os.sched_getaffinity(0))]


Step = tuple[sched.Attr, Callable[[int], object]]
"""What a task is after something was done to it."""


def to(wanted: sched.Attr, given: sched.Attr | None = None) -> Step:
    """Set that, or what has the same effect."""
    return wanted, partial(set_attr, wanted=given or wanted)


def steps(*plan: Step, owned: int | None = None, quantum_ns: int = 0, awake: bool = False) -> Test:
    """The test that does that to a task; if that is awake, its part of the pools is looked at."""

    def test(case: Case) -> None:
        with Subject(owned, quantum_ns, awake) as s:
            for wanted, act in plan:
                act(s.pid)
                expect_attr(case, s.pid, wanted)
                if wanted.policy == LOTTERY:
                    used = lottery.in_ticks(wanted.runtime)
                    case.equal(sched.rr_interval_ns(s.pid), used, "sched_rr_get_interval")
                if awake:
                    derived = lottery.WEIGHTS[wanted.nice] if wanted.policy == LOTTERY else 0
                    s.expect_in_pool(case, wanted.tickets or derived)

    return test


def getattr_fills(case: Case) -> None:
    with Subject(66) as s:
        for size in (VER0, VER1, VER2, VER2 + 8):
            buffer = (ctypes.c_ubyte * 128)(*[POISON] * 128)
            calls.call("sched_getattr", s.pid, ctypes.addressof(buffer), size, 0)
            filled = min(size, VER2)
            found = sched.Attr.from_buffer(buffer)
            case.equal((found.size, found.policy), (filled, LOTTERY), f"{size}: size, policy")
            if filled == VER2:
                case.equal(found.tickets, 66, f"{size}: tickets")
            case.equal({*buffer[filled:]}, {POISON}, f"{size}: what is behind that")


def leave() -> None:
    """In an unprivileged child, on itself; the same are the next two."""
    set_attr(0, attr(os.SCHED_OTHER))
    found = get_attr(0)
    assert (found.policy, found.tickets) == (os.SCHED_OTHER, 0), "it is still in the class"
    refuse(0, partial(join, tickets=5), EPERM)


def lower_derived() -> None:
    renice(0, 10)
    found = get_attr(0)
    assert (found.nice, found.tickets) == (10, 0), "it may not lower them"
    refuse(0, partial(renice, nice=9), EPERM, EACCES)


def lower_given() -> None:
    join(0, 122)
    assert get_attr(0).tickets == 122, "it may not lower them"
    refuse(0, partial(join, tickets=123), EPERM)


def any_task(*ways: tuple[int, Callable[[], None]]) -> Test:
    """The test that unprivileged callers do each of these, with its number of tickets."""
    both = [partial(unprivileged, drop, *way) for drop in DROPS.values() for way in ways]
    return lambda _: [do() for do in both]


FIVE_MS = attr(tickets=11, runtime=5 * MS)
QUANTA = (sched.QUANTUM_MIN, MS, 3 * MS // 2, 5 * MS, sched.QUANTUM_MAX, 0)
KEPT = attr(tickets=700, flags=sched.KEEP_POLICY)
KEPT_ON = attr(os.SCHED_OTHER, tickets=700, flags=sched.KEEP_POLICY)
ACCEPTANCES: Tests = {
    "tickets are read as they were set": steps(
        *(to(attr(tickets=n)) for n in (1, 2, 1000, sched.TICKETS_MAX, 0, 7))
    ),
    "the quantum is read and used in whole ticks": steps(
        *(to(attr(tickets=50, runtime=ns)) for ns in QUANTA)
    ),
    **{
        f"a caller with {what}": steps(to(attr(), attr(size=size, tickets=99)), owned=77)
        for what, size in (
            ("48 bytes gets derived tickets", VER0),
            ("56 bytes gets derived tickets", VER1),
            ("size 0 is one with 48 bytes", 0),
        )
    },
    "a caller with 72 bytes and a zero tail is served": steps(
        (attr(tickets=5), partial(set_wide, size=VER2 + 8))
    ),
    "sched_getattr fills what fits": getattr_fills,
    "deadline and period are ignored": steps(
        to(attr(tickets=44), attr(tickets=44, deadline=12345, period=1))
    ),
    "sched_setscheduler derives the tickets": steps((attr(), set_policy), owned=33),
    "sched_setparam keeps tickets and quantum": steps(
        (FIVE_MS, lambda pid: os.sched_setparam(pid, os.sched_param(0))),
        owned=11,
        quantum_ns=5 * MS,
    ),
    "KEEP_POLICY changes the tickets alone": steps(
        (attr(os.SCHED_OTHER), lambda pid: refuse(pid, partial(set_attr, wanted=KEPT), EINVAL)),
        to(attr(tickets=11)),
        to(attr(tickets=700), KEPT_ON),
    ),
    "KEEP_PARAMS keeps tickets and quantum": steps(
        *(
            to(FIVE_MS, attr(tickets=700, flags=flags))
            for flags in (sched.KEEP_PARAMS, sched.KEEP_PARAMS | sched.KEEP_POLICY)
        ),
        owned=11,
        quantum_ns=5 * MS,
    ),
    "tickets do not outlive the class": steps(
        to(attr(os.SCHED_OTHER)), to(attr(), attr(size=VER0)), owned=11, quantum_ns=5 * MS
    ),
    "any task may leave the class, and not return": any_task((123, leave)),
    "any task may lower tickets for good": any_task((0, lower_derived), (123, lower_given)),
    "the limits of the priority are 0": lambda case: case.equal(
        [os.sched_get_priority_min(LOTTERY), os.sched_get_priority_max(LOTTERY)], [0, 0], "limits"
    ),
    "through every policy and back while runnable": steps(
        *(
            to(wanted)
            for owned, (policy, priority) in enumerate(sched.POLICIES.values(), 400)
            for wanted in (attr(tickets=owned), attr(policy, priority=priority))
        ),
        awake=True,
    ),
}


Seen = tuple[int, int, int, int]
"""Of itself a task sees its policy, whether a child begins anew, tickets and quantum."""
ANEW = (os.SCHED_OTHER, 0, 0, 0)


def look() -> Seen:
    """The caller."""
    found, policy = get_attr(0), os.sched_getscheduler(0)
    quantum_ns = sched.rr_interval_ns(0) if found.policy == LOTTERY else 0
    return policy, found.flags & sched.RESET_ON_FORK, found.tickets, quantum_ns


def by_fork() -> list[Seen]:
    """What a task sees that has had a child, and the child."""
    seen = released(look)
    return [look(), seen]


def by_thread() -> list[Seen]:
    """The same of a thread."""
    seen: list[Seen] = []
    thread = threading.Thread(target=lambda: seen.append(look()))
    thread.start()
    thread.join()
    return [look(), *seen]


def child(by: Callable[[], list[Seen]], given: sched.Attr, case: Case) -> None:
    """It has what its parent has, or begins anew if that was asked for.

    If tickets were not, sched_setscheduler asks for that.
    """
    anew = given.flags & sched.RESET_ON_FORK
    policy = LOTTERY | (os.SCHED_RESET_ON_FORK if anew else 0)
    parent = (policy, anew, given.tickets, lottery.in_ticks(given.runtime))
    with Task(by) as task:
        if anew and not given.tickets:
            set_policy(task.pid, policy)
        else:
            set_attr(task.pid, given)
        task.release()
        seen = task.result()
    case.equal(seen, [parent, ANEW if anew else parent], "policy, anew, tickets, quantum")


def become_waiter(hold: int) -> None:
    """A program that waits for the end of its standard input."""
    os.dup2(hold, 0)
    program = "import os, sys; sys.exit(len(os.read(0, 1)))"
    os.execv("/proc/self/exe", ["python3", "-BESc", program])


def exec_keeps(case: Case) -> None:
    before = lottery.tickets()
    hold, let_go = os.pipe()
    gone, closed_on_exec = os.pipe()
    with Task(partial(become_waiter, hold)) as task:
        os.close(closed_on_exec)
        join(task.pid, 81, 5 * MS)
        task.release()
        case.equal(os.read(gone, 1), b"", "read when exec has closed the pipe")
        expect_attr(case, task.pid, attr(tickets=81, runtime=5 * MS))
        os.close(let_go)
        task.result()
    os.close(hold)
    os.close(gone)
    # a task of the last test may have left its pool meanwhile
    wait_until(lambda: lottery.tickets() <= before)


INHERITANCE: Tests = {
    "fork inherits tickets and quantum": partial(child, by_fork, attr(tickets=77, runtime=5 * MS)),
    "a thread inherits tickets and quantum": partial(
        child, by_thread, attr(tickets=78, runtime=5 * MS)
    ),
    "fork inherits derived tickets": partial(child, by_fork, attr()),
    "reset on fork by sched_setattr": partial(
        child, by_fork, attr(tickets=79, flags=sched.RESET_ON_FORK)
    ),
    "reset on fork for a thread": partial(
        child, by_thread, attr(tickets=80, flags=sched.RESET_ON_FORK)
    ),
    "reset on fork by sched_setscheduler": partial(child, by_fork, attr(flags=sched.RESET_ON_FORK)),
    "exec keeps tickets and quantum": exec_keeps,
}


def only_runnable_counts(case: Case) -> None:
    with Subject(600, awake=True) as s:
        s.expect_in_pool(case, 600)
    s.expect_in_pool(case, 0)


def stop_and_continue(case: Case) -> None:
    with Subject(600, awake=True) as s:
        os.kill(s.pid, signal.SIGSTOP)
        case.expect(wait_until(lambda: stat(s.pid).state == "T"), "it does not stop")
        s.expect_in_pool(case, 0)
        join(s.pid, 500)
        s.expect_in_pool(case, 0)
        os.kill(s.pid, signal.SIGCONT)
        s.expect_in_pool(case, 500)


def lotteries_are_held(case: Case) -> None:
    before = line().lotteries
    with Subject(600, awake=True), Subject(600, awake=True):
        case.expect(wait_until(lambda: line().lotteries >= before + 20), "no 20 lotteries")


def keep_asking(tickets: int) -> None:
    """Ask for them again and again, as an unprivileged task."""
    calls.drop_user()
    calls.signal_at_death_of_parent(signal.SIGKILL)
    wanted = attr(tickets=tickets)
    while True:
        with suppress(PermissionError):
            set_attr(0, wanted)


def lower_tickets_last(case: Case) -> None:
    """A request that was allowed before they were lowered must not be stored afterwards."""
    restored = 0
    with Task(partial(keep_asking, 500)) as task:
        task.release()
        for turn in range(LOWERINGS):
            join(task.pid, 500)
            time.sleep((300 + turn % 100) * 1e-6)
            join(task.pid, 10)
            time.sleep(300e-6)
            restored += get_attr(task.pid).tickets != 10
    case.equal(restored, 0, f"of {LOWERINGS} times it got 500 tickets back")


class Shared(ctypes.Structure):
    """What the owner of a mutex, a waiter for it and the test tell each other."""

    _fields_ = [
        (name, ctypes.c_uint32) for name in ("mutex", "held", "asked", "let_go", "free", "stop")
    ]


def own(words: Shared) -> None:
    """Hold the mutex, runnable all the time, until it is to be let go."""
    calls.lock(ctypes.addressof(words))
    words.held = 1
    while not words.let_go:
        pass
    calls.unlock(ctypes.addressof(words))
    words.free = 1
    while not words.stop:
        pass


def want(words: Shared) -> None:
    """Ask for it."""
    words.asked = 1
    calls.lock(ctypes.addressof(words))
    calls.unlock(ctypes.addressof(words))


def boosted(change: int, case: Case) -> None:
    """A lottery task that holds a mutex runs at the priority of a real-time waiter."""
    owned, priority = 321, 20
    words = shared(Shared)
    try:
        calls.unlock(ctypes.addressof(words))
    except OSError as error:
        if error.errno == ENOSYS:
            case.skip("no priority inheritance mutex")
            return
    with Task(partial(own, words)) as owner, Task(partial(want, words)) as waiter:
        others = lottery.tickets()

        def expect(tickets: int, boost: bool, when: str) -> None:
            shown = min(stat(owner.pid).priority, 0)
            case.equal(shown, -1 - priority if boost else 0, f"{when}: real-time priority")
            case.equal(lottery.tickets() - others, 0 if boost else tickets, f"{when}: in the pools")
            expect_attr(case, owner.pid, attr(tickets=tickets))

        join(owner.pid, owned)
        set_policy(waiter.pid, os.SCHED_FIFO, priority)
        owner.release()
        case.expect(wait_until(lambda: words.held), "the owner did not get the mutex")
        expect(owned, False, "alone")
        waiter.release()
        case.expect(wait_until(lambda: words.asked), "the waiter did not start")
        wait_until(lambda: stat(owner.pid).priority < 0)
        expect(owned, True, "waited for")
        if change:
            join(owner.pid, change)
            expect(change, True, "changed")
        words.let_go = 1
        waiter.result()
        case.expect(wait_until(lambda: words.free), "the owner did not go on")
        expect(change or owned, False, "afterwards")
        words.stop = 1
        owner.result()
    lottery.await_tickets(others)


def cgroup_moves(case: Case) -> None:
    if not cgroup.usable():
        case.skip(cgroup.MISSING)
        return
    with ExitStack() as stack:
        names = (f"lottery-api-{os.getpid()}-{i}" for i in range(2))
        groups = [stack.enter_context(cgroup.made(name)) for name in names]
        s = stack.enter_context(Subject(600, 5 * MS, awake=True))
        for group in (*10 * groups, cgroup.ROOT):
            cgroup.move(group, s.pid)
            s.expect_in_pool(case, 600)
            expect_attr(case, s.pid, attr(tickets=600, runtime=5 * MS))


def sysrq_normalises(asked: int, case: Case) -> None:
    if not asked:
        case.skip("without --sysrq")
        return
    if not os.access(SYSRQ, os.W_OK):
        case.skip(f"no {SYSRQ}")
        return
    with Subject(600, awake=True) as s:
        calls.write(SYSRQ, "n")
        sched.become_launcher()  # it has taken that from us, too
        expect_attr(case, s.pid, attr(os.SCHED_OTHER))
        s.expect_in_pool(case, 0)
        join(s.pid, 601)
        s.expect_in_pool(case, 601)


def effects(sysrq: int) -> Tests:
    """What was set takes effect."""
    return {
        "tickets count while the task is runnable": only_runnable_counts,
        "a change of tickets alone takes effect": steps(
            *(to(attr(tickets=n)) for n in (600, 1, sched.TICKETS_MAX, 599)), awake=True
        ),
        "lower tickets last, whatever the task asks for": lower_tickets_last,
        "a change of the quantum alone takes effect": steps(
            *(to(attr(tickets=10, runtime=n * 10 * MS)) for n in (1, 2, 3)), awake=True
        ),
        "renice moves derived tickets": steps(
            *((attr(nice=nice), partial(renice, nice=nice)) for nice in (0, *range(-20, 20), 0)),
            owned=0,
            awake=True,
        ),
        "renice leaves explicit tickets alone": steps(
            (attr(tickets=600, nice=10), partial(renice, nice=10)), owned=600, awake=True
        ),
        "a stopped task holds no tickets": stop_and_continue,
        "lotteries are held": lotteries_are_held,
        "a boosted task keeps its tickets": partial(boosted, 0),
        "a change while boosted counts afterwards": partial(boosted, 654),
        "moves between cgroups change nothing": cgroup_moves,
        "SysRq-n ends the class of every task": partial(sysrq_normalises, sysrq),
    }


def has_its_form(case: Case) -> None:
    pools = {cpu.pool for cpu in lottery.state().cpus.values()}
    case.equal(pools, {line().pool} & {*lottery.POOLS}, "pools")


def pool_of_command_line(case: Case) -> None:
    words = calls.read("/proc/cmdline").split()
    asked = [word.removeprefix("lottery_pool=") for word in words if "lottery_pool=" in word]
    if asked:
        case.equal(line().pool, asked[0], "pool")
    else:
        case.skip("no lottery_pool= on the kernel command line")


def is_read_for_ever(reads: int, case: Case) -> None:
    for _ in range(reads):
        lottery.state()
    case.note(f"{reads} reads")


def is_read_in_pieces(case: Case) -> None:
    for size in (1, 2, 7, 64):
        with open(lottery.PROC, "rb", buffering=0) as file:
            lottery.parse(calls.pieces(file.fileno(), size))


def is_read_again(case: Case) -> None:
    with open(lottery.PROC, "rb", buffering=0) as file:
        for _ in range(100):
            file.seek(0)
            lottery.parse(calls.pieces(file.fileno(), 512))


def is_read_by_two(case: Case) -> None:
    with open(lottery.PROC, "rb", 0) as one, open(lottery.PROC, "rb", 0) as other:
        texts = {one: b"", other: b""}
        while got := {file: piece for file in texts if (piece := file.read(16))}:
            for file, piece in got.items():
                texts[file] += piece
        for text in texts.values():
            lottery.parse(text.decode())


def cannot_be_written(case: Case) -> None:
    with suppress(OSError):
        calls.write(lottery.PROC, "0\n")
        case.expect(False, "a write was taken")


def stats_on_off_clear(case: Case) -> None:
    with lottery.statistics(False, True):
        with Subject(600, awake=True), Subject(600, awake=True):
            enough = wait_until(lambda: line().ops["draw_count"] >= 20)
            case.expect(enough, "no 20 draws are counted")
            before = line().ops
            case.expect(before["enqueue_count"], "no enqueue is counted")
            case.expect(before["draw_ns"], "the draws took no time")
            lottery.switch("stats", False)
            lottery.switch("stats", True)
            draws = line().ops["draw_count"]
            good = draws < before["draw_count"]
            case.expect(good, f"{draws} draws after a clear, before {before['draw_count']}")
        case.expect(line().ops["dequeue_count"], "no dequeue is counted")


def stats_refuse(case: Case) -> None:
    for on in (False, True):
        with lottery.statistics(on):
            for bad in ("2", "-1", "x", "1x", "4294967296", "18446744073709551616"):
                try:
                    calls.write(f"{lottery.SYSCTLS}stats", bad)
                except OSError as error:
                    case.equal(error.errno, EINVAL, f"errno of '{bad}'")
                else:
                    case.expect(False, f"'{bad}' was taken")
                case.equal(lottery.state().stats, on, f"after '{bad}'")


def proc(reads: int) -> Tests:
    """The file and the sysctl."""
    return {
        "the file has its form": has_its_form,
        "the pool is what the command line asks for": pool_of_command_line,
        "it is read many times in a row": partial(is_read_for_ever, reads),
        "it is read in small pieces": is_read_in_pieces,
        "it is read again from its start": is_read_again,
        "it is read by two at a time": is_read_by_two,
        "it cannot be written": cannot_be_written,
        "statistics on, off, clear": stats_on_off_clear,
        "the sysctl refuses bad values": stats_refuse,
    }


def main() -> None:
    """All groups."""
    options = ktap.options(reads=20_000, sysrq=False)
    sched.begin(min(os.sched_getaffinity(0)))
    ktap.run(
        {
            **lottery_refusals.GROUPS,
            "acceptances": ACCEPTANCES,
            "inheritance": INHERITANCE,
            "effects": effects(options["sysrq"]),
            "proc": proc(options["reads"]),
        }
    )


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""The threads of a core under core scheduling are shared as tickets say.

Tasks with different cookies never run at the same time on the two threads of a core. Needs root,
a core with two threads, and a CPU of another one for the caller.
"""

from __future__ import annotations

import os
import re
import time
from functools import partial

from inside import calls, ktap, lottery, sched
from inside.ktap import Case
from inside.task import released
from inside.workers import Workers

_PR_SCHED_CORE = 62
CREATE, SHARE_TO, SHARE_FROM = 1, 2, 3
CPUS = sorted(os.sched_getaffinity(0))[:4]
SIBLINGS = f"/sys/devices/system/cpu/cpu{CPUS[0]}/topology/thread_siblings_list"


def cookie(what: int, pid: int) -> None:
    """prctl(PR_SCHED_CORE) of one thread."""
    calls.call("prctl", _PR_SCHED_CORE, what, pid, 0, 0)


def same_cookie(source: int, to: int) -> None:
    """Only the caller's own cookie can be handed out: a child takes and passes it on."""

    def pass_on() -> None:
        cookie(SHARE_FROM, source)
        cookie(SHARE_TO, to)

    released(pass_on)


def bind(w: Workers, *cpus: int) -> None:
    """Each to its CPU."""
    for worker, cpu in zip(w, cpus, strict=True):
        os.sched_setaffinity(worker.pid, {cpu})


def threads_share(one: int, other: int, case: Case) -> None:
    """Two tasks that exclude each other: 4,000 draws if they are independent, 3.7 %."""
    seconds = 8.0
    with Workers(case, 300, 100) as w:
        bind(w, one, other)
        for worker in w:
            cookie(CREATE, worker.pid)
        w.spin()
        ran = w.run(seconds)
        ratio = ran[0] / ran[1]
        text = f"{ratio:.3f}: {ran[0]:.3f} s and {ran[1]:.3f} s of {seconds} s"
        case.expect_bound(abs(ratio - 3) <= 0.3, f"3:1 on the threads of a core is {text}")
        idle = seconds - sum(ran)
        case.expect_bound(idle < 0.1 * seconds, f"the core was idle for {idle:.2f} s")


def time_alone_is_not_owed(one: int, other: int, case: Case) -> None:
    """The first one has had the core for itself, then it sleeps.

    The second one comes when the first one's pool is empty. What the first one had was no task's
    loss. A task that is not counted in with what it had waits for ten turns, again and again.
    One that is waits for one; a tick that comes late in virtual time makes that one up to six.
    """
    bound_s = 9 * lottery.state().tick_ns / 1e9
    with Workers(case, 100, 100) as w:
        first, second = w
        bind(w, one, other)
        for worker in w:
            cookie(CREATE, worker.pid)
        first.spin()
        time.sleep(3)
        first.sleep()
        second.spin()
        time.sleep(0.1)
        first.tell()
        ran = w.run(1)
        gap_s = first.gap_s()
        found = f"it waited for {gap_s * 1e3:.1f} ms and has {ran[0]:.1%} of the core"
        good = gap_s <= bound_s and ran[0] > 0.4
        case.expect_bound(good, f"{found}, wanted {bound_s * 1e3:.1f} ms and 40 %")


def mates_share(one: int, other: int, case: Case) -> None:
    """Tasks with a common cookie have rather many draws: the smallest of them wins one in seven.

    The first thread has three tasks with the cookie of the second one's only task, and a fourth
    one that has most tickets, so that the draw is of no use whenever the second thread chooses
    the cookie: then one of the three has to be found for it. A third of the core's tickets are
    the stranger's, but ticks that come late in virtual time make turns of the other thread
    longer than what it may make up for.
    """
    seconds, stranger_min = 10.0, 0.1
    mates = (1000, 2000, 4000)
    with Workers(case, *mates, 100_000, 200_000) as w:
        *_, stranger, leader = w
        bind(w, *[one] * 4, other)
        cookie(CREATE, stranger.pid)
        cookie(CREATE, leader.pid)
        for mate in w[: len(mates)]:
            same_cookie(leader.pid, mate.pid)
        w.spin()
        ran = w.run(seconds)
    for tickets, got in zip(mates, ran, strict=False):
        share, due = got / sum(ran[: len(mates)]), tickets / sum(mates)
        found = f"the mate with {tickets} of {sum(mates)} tickets has {share:.1%}, due {due:.1%}"
        case.expect_bound(abs(share / due - 1) <= 0.15, found)
    part = ran[3] / seconds
    case.note(f"the stranger has {part:.1%}, the leader {ran[4]:.3f} s of {seconds} s")
    case.expect_bound(part >= stranger_min, f"the stranger has {part:.1%}, wanted 10 %")


def main() -> None:
    """The caller is on another core."""
    ktap.options()
    threads = [int(word) for word in re.split("[-,]", calls.read(SIBLINGS))]
    outside = [cpu for cpu in CPUS if cpu not in threads]
    if len(threads) != 2 or not outside:
        ktap.stop(ktap.SKIPPED, "needs a core with two threads and another one")
    sched.begin(outside[0])
    error = calls.fails(released, partial(cookie, CREATE, 0))
    if error:
        ktap.stop(ktap.UNSUPPORTED, "no core scheduling")
    one, other = threads
    tests = {
        "the threads of a core share it as tickets say": threads_share,
        "time that a thread had alone is not owed": time_alone_is_not_owed,
        "tasks with the cookie of the core share as tickets say": mates_share,
    }
    ktap.run({"core": {name: partial(test, one, other) for name, test in tests.items()}})


if __name__ == "__main__":
    main()

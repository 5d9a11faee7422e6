# SPDX-License-Identifier: GPL-2.0
"""What the kernel shows of the tasks and timers of a guest that hangs."""

from lab.guest.stacks import Stack, late, telling

LOG = """\
[   13.400] sysrq: Show Blocked State
[   13.416173] task:lottery-torture state:D stack:0     pid:126   tgid:126   ppid:108    flags:0x2
[   13.416174] Call Trace:
[   13.416175]  <TASK>
[   13.416176]  __schedule+0x39b/0x1450
[   13.416177]  ? dl_server_start+0x49/0x1a0
[   13.416178]  __wait_rcu_gp.part.0+0x27/0xc0
[   13.416179]  </TASK>
[   13.416180]  after_it+0x1/0x2
[   13.5] sysrq: Show State
[   13.6] task:kworker/R-kvfre state:I stack:0     pid:4     tgid:4     ppid:2      flags:0x4000
[   13.6] task:rcu_preempt     state:R  running task     stack:0     pid:18    tgid:18    ppid:2 x
[   13.6]  <TASK>
[   13.6]  schedule+0x1/0x2
[   13.6]  </TASK>
[   13.7] task:a b             state:R  running task     stack:0     pid:108   tgid:108   ppid:1 x
[   13.8][  T61] task:lottery-torture state:S stack:0     pid:126   tgid:126   ppid:108    flags:0
[   13.8][  T61]  do_wait+0x1/0x2
"""


def test_what_is_shown_last_counts() -> None:
    """Of all that are not kernel threads, and of those if they do not just sleep."""
    assert telling(LOG) == [
        Stack("rcu_preempt", "R", 18, 2, ("schedule",)),
        Stack("a b", "R", 108, 1, ()),
        Stack("lottery-torture", "S", 126, 108, ("do_wait",)),
    ]


def test_the_innermost_call_comes_first() -> None:
    """What an earlier call has left on the stack is not one."""
    shown = [str(stack) for stack in telling(LOG[: LOG.index("[   13.5]")])]
    assert shown == ["lottery-torture:126 D: __schedule < __wait_rcu_gp.part.0"]


def test_nothing_was_shown() -> None:
    assert telling("[    1.0] lab: done\n") == []


def test_a_clock_that_has_stopped() -> None:
    """Its timers are late; what other clocks say is not compared with their own time."""
    timer = " #0: <00000000b4aa4185>, hrtimer_wakeup\n, S:01\n\n"
    timer += " # expires at 1-1 nsecs [in {0} to {0} nsecs]\n"
    log = "cpu: 2\n  .get_time:   ktime_get\n" + timer.format(81386631) + timer.format(-7500000000)
    log += "  .get_time:   ktime_get_real\n" + timer.format(-7500000000)
    assert late(log) == ["CPU 2: a timer is 7.5 s late: hrtimer_wakeup"]

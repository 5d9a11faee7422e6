# SPDX-License-Identifier: GPL-2.0
"""The interfaces of privileged I/O: refusals first, then the rest.

These are the real-time I/O class, the switches and numbers, and the cgroup attribute io.wrais.
Another user, root without capabilities and the root of a user namespace may not be privileged:
each must get its error and change nothing. Parts that the kernel was built without are skipped.
nullb0 is read with bfq to see whose requests are raised. What was changed is put back at the end.
"""

from __future__ import annotations

import mmap
import os
import resource
from collections.abc import Callable, Iterable
from errno import EACCES, EINVAL, EPERM
from functools import partial

from inside import calls, cgroup, wrais
from inside.ktap import Case, Test, Tests, options, run
from inside.task import released
from inside.wrais import BE, CHILD, GROUP, IDLE, KNOBS, MASTER, NAMES, NONE, PARTS, RT, STAT, SWITCH

CLONE_NEWUSER = 0x10000000


def drop_capabilities() -> None:
    calls.drop_capability(calls.CAP_SYS_ADMIN)
    calls.drop_capability(calls.CAP_SYS_NICE)


def drop_namespace() -> None:
    calls.drop_user()
    calls.call("unshare", CLONE_NEWUSER)


Drop = Callable[[], None]
DROPS = {
    "root without capabilities": drop_capabilities,
    "another user": calls.drop_user,
    "root of a user namespace": drop_namespace,
}
WORDS = ("x", "\n", "1x", "-1", "99999999999999999999", "0x", "on")
GROUP_WORDS = ("2", "-1", "x", "\n", "1x", "1 1", "0x1", "4294967297", "default 1")
OF_PARTS = {
    "raise": "raised_requests think_turns fellow_turns",
    "dirty": "dirty_breaks dirty_naps dirty_releases",
    "copy_out": "copy_outs",
    "inherit": "inherits",
    "tags": "tag_exemptions",
    "floor": "floor_turns overdue_turns late_turns",
}
COUNTERS = {name: part for part, names in OF_PARTS.items() for name in names.split()}
"""Which part counts what."""
WITHOUT = "this kernel was built without it"
READS = 16
BLOCK = mmap.PAGESIZE
MEMBERS = ("0 0", "1 0", "0 1", "1 1", "0 1", "1 1", "1 0")
"""The attribute in a cgroup and in the one below it, in turn."""
DISK = "nullb0"
PRIO_CLASS = "io.prio.class"


def unprivileged(drop: Drop, call: Callable[[], int]) -> int | None:
    """What the call returns in a child that has dropped privileges; None if it cannot."""
    result: int | None = released(lambda: None if calls.fails(drop) else call())
    return result


def expect_refusal(case: Case, drop: Drop, call: Callable[[], int], *errors: int) -> None:
    """The call gets one of the errors from a task that has dropped its privileges."""
    result = unprivileged(drop, call)
    if result is None and drop is drop_namespace:
        case.skip("this kernel has no user namespaces for all users")
    else:
        case.expect(result in errors, f"{drop.__name__}: {result}, not {errors}")


def take_realtime(task: int) -> int:
    """The class at each level, for a task or the caller."""
    for level in wrais.LEVELS:
        error = wrais.take_class(RT, level, task)
        if error != EPERM:
            return error
        if not calls.fails(wrais.class_of, task) and wrais.class_of(task)[0] == RT:
            return 0
    return error


def class_refused(drop: Drop, task: int, case: Case) -> None:
    expect_refusal(case, drop, partial(take_realtime, task), EPERM)


def best_effort_permitted(case: Case) -> None:
    """A class that any task may have is no privilege."""
    result = unprivileged(calls.drop_user, partial(wrais.take_class, BE))
    case.expect(not result, f"result {result}")


def class_inherited(case: Case) -> None:
    before = wrais.class_of()
    case.expect(not wrais.take_class(RT), "root cannot have it")
    result = unprivileged(calls.drop_user, lambda: wrais.class_of()[0])
    case.expect(result == RT, "the child of a task in the class is not in it")
    wrais.take_class(*before)


PRIORITY: Tests = {
    "refused": {name: partial(class_refused, drop, 0) for name, drop in DROPS.items()},
    "the rest": {
        "another task's": partial(class_refused, calls.drop_user, os.getpid()),
        "best effort 0 is for all": best_effort_permitted,
        "children have it": class_inherited,
    },
}


def each(check: Callable[[str, Case], None], names: Iterable[str]) -> Tests:
    """That check of each name, or of those that the kernel was built with."""

    def of_one(name: str, case: Case) -> None:
        if os.path.exists(wrais.path(COUNTERS.get(name, name))):
            check(name, case)
        else:
            case.skip(WITHOUT)

    return {name: partial(of_one, name) for name in names}


def bad_values(name: str, case: Case) -> None:
    least, most, _ = KNOBS.get(name, (0, 1, 0))
    numbers = (most + 1, 1 << 32, *([least - 1] if least else []))
    before = wrais.get(name)
    for text in (*WORDS, *map(str, numbers)):
        case.equal(wrais.write(wrais.path(name), text), EINVAL, f"'{text}'")
        case.expect(wrais.get(name) == before, f"'{text}' changed it")


def flip(name: str) -> int:
    return calls.fails(lambda: calls.write(wrais.path(name), "0" if wrais.get(name) else "1"))


def users_refused(name: str, case: Case) -> None:
    """A file is root's; the root of a namespace has no rights on it."""
    before = wrais.get(name)
    for drop in (calls.drop_user, drop_namespace):
        expect_refusal(case, drop, partial(flip, name), EACCES, EPERM)
    case.expect(wrais.get(name) == before, "it was changed")


def expect_switch(case: Case, group: str, wanted: str) -> None:
    """What the attribute of a cgroup says."""
    case.equal(calls.read(f"{group}/{SWITCH}").strip(), wanted, f"{group}: {SWITCH}")


def switch(case: Case, group: str, text: str) -> None:
    """Write to the attribute of a cgroup, and read it."""
    case.equal(wrais.switch(group, text), 0, f"{group}: {text}")
    expect_switch(case, group, text)


def starts_off(case: Case) -> None:
    expect_switch(case, GROUP, "0")
    expect_switch(case, CHILD, "0")


def not_on_root(case: Case) -> None:
    case.expect(not os.path.exists(f"{cgroup.ROOT}/{SWITCH}"), "the root has it")


def taken_by_root(case: Case) -> None:
    switch(case, GROUP, "1")
    expect_switch(case, CHILD, "0")
    switch(case, GROUP, "0")


def bad_attributes(case: Case) -> None:
    for value in "01":
        switch(case, GROUP, value)
        for word in GROUP_WORDS:
            case.equal(wrais.switch(GROUP, word), EINVAL, f"'{word}'")
            expect_switch(case, GROUP, value)


def switch_on() -> int:
    return wrais.switch(GROUP, "1")


def strangers_refused(case: Case) -> None:
    """Tasks that do not own the file, and its owner without the privilege."""
    expect_refusal(case, calls.drop_user, switch_on, EACCES, EPERM)
    expect_refusal(case, drop_capabilities, switch_on, EPERM)
    expect_switch(case, GROUP, "0")


def owner_refused(case: Case) -> None:
    """The delegate of a subtree may open the file, and no more."""
    for file in (SWITCH, "cgroup.procs"):
        os.chown(f"{GROUP}/{file}", calls.NOBODY, calls.NOBODY)
    expect_refusal(case, calls.drop_user, switch_on, EPERM)
    expect_refusal(case, drop_namespace, switch_on, EPERM)
    expect_switch(case, GROUP, "0")


def promotion_refused(case: Case) -> None:
    """The delegate may lower a class, and may not raise it."""
    file = f"{GROUP}/{PRIO_CLASS}"
    if not os.path.exists(file):
        case.skip("this kernel has no CONFIG_BLK_CGROUP_IOPRIO")
        return
    os.chown(file, calls.NOBODY, calls.NOBODY)
    for policy in ("promote-to-rt", "none-to-rt"):
        for drop in DROPS.values():
            expect_refusal(case, drop, partial(wrais.write, file, policy), EPERM)
    case.equal(calls.read(file).strip(), "no-change", file)
    lowered = unprivileged(calls.drop_user, partial(wrais.write, file, "restrict-to-be"))
    case.equal(lowered, 0, "restrict-to-be")
    case.equal(wrais.write(file, "promote-to-rt"), 0, "promote-to-rt by root")


def members_refused(case: Case) -> None:
    switch(case, GROUP, "1")
    switch(case, CHILD, "1")
    for drop in (calls.drop_user, drop_namespace):
        expect_refusal(case, drop, partial(calls.fails, cgroup.move, CHILD, 0), EACCES)


def grouped(check: Callable[[Case], None]) -> Test:
    """The check with new cgroups."""

    def with_groups(case: Case) -> None:
        with wrais.groups() as made:
            check(case) if made else case.skip("no cgroup v2 with I/O controller")

    return with_groups


CGROUP: Tests = {
    "starts off": grouped(starts_off),
    "not on the root": grouped(not_on_root),
    "taken by root": grouped(taken_by_root),
    "bad values": grouped(bad_attributes),
    "strangers": grouped(strangers_refused),
    "owners of the file": grouped(owner_refused),
    "promoting its class": grouped(promotion_refused),
    "joining a privileged one": grouped(members_refused),
}


def expect_mode(case: Case, path: str, mode: int) -> None:
    """A file is root's, with these permissions."""
    status = os.stat(path)
    case.equal((oct(status.st_mode & 0o777), status.st_uid), (oct(mode), 0), path)


def good_values(name: str, case: Case) -> None:
    expect_mode(case, wrais.path(name), 0o644)
    for value in (*KNOBS.get(name, (1, 1, 0, 0, 1, 0)), wrais.get(name)):
        case.equal(wrais.put(name, value), 0, f"{value}")
        case.expect(wrais.get(name) == value, f"{value} was not kept")


def raise_exists(case: Case) -> None:
    case.expect(os.path.exists(wrais.path("raise")), "it is not optional")


def counter_there(name: str, case: Case) -> None:
    case.expect(name in wrais.counters(), f"{STAT} has no {name}")


def form(case: Case) -> None:
    expect_mode(case, STAT, 0o444)
    wrais.counters()


def byte_by_byte(case: Case) -> None:
    with open(STAT, "rb", buffering=0) as file:
        text = b"".join(iter(partial(file.read, 1), b""))
    case.expect(wrais.parse(text.decode()), "it is empty")


def read_only(case: Case) -> None:
    case.expect(wrais.write(STAT, "1"), "it can be written")


def read_disk() -> None:
    """So many requests, with nothing between the reader and the I/O scheduler."""
    file = os.open(f"/dev/{DISK}", os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, BLOCK) as buffer:
        for i in range(READS):
            if os.preadv(file, [buffer], i * 2 * BLOCK) != BLOCK:
                raise OSError(EINVAL, "a short read")
    os.close(file)


def read_in(group: str, classes: Iterable[tuple[int, int]]) -> int:
    """Join a group, if one is named, and read once in each class: an errno, or 0."""
    error = calls.fails(cgroup.move, group, 0) if group else 0
    for io_class in classes:
        error = error or wrais.take_class(*io_class) or calls.fails(read_disk)
    return error


def grown(case: Case, reader: Callable[[], int]) -> dict[str, int]:
    """By how much the counters grow while a child reads; it returns an errno, or 0."""
    before = wrais.counters()
    case.equal(released(reader), 0, "the reader")
    return {name: value - before[name] for name, value in wrais.counters().items()}


def reads(case: Case, *classes: tuple[int, int], group: str = "") -> dict[str, int]:
    """The same while it reads once in each class."""
    return grown(case, partial(read_in, group, classes))


def expect_effect(
    case: Case, io_class: tuple[int, int], raised: bool, exempt: bool, group: str = ""
) -> None:
    """All or none of the requests are raised, and exempt from BFQ's limits of tags."""
    counted = reads(case, io_class, group=group)
    exempt = exempt and os.path.exists(wrais.path("tags"))
    for name, wanted in (("raised_requests", raised), ("tag_exemptions", exempt)):
        good = counted[name] >= READS if wanted else not counted[name]
        case.expect(good, f"class {io_class}, {group}: {name} grows by {counted[name]}")


def nothing_when_off(case: Case) -> None:
    wrais.switch_all(False)
    counted = reads(case, (RT, 0))
    case.expect(not any(counted.values()), f"{counted}")


def no_raise(case: Case) -> None:
    wrais.switch_all(True)
    wrais.put("raise", 0)
    expect_effect(case, (RT, 0), raised=False, exempt=True)


def no_tags(case: Case) -> None:
    wrais.switch_all(True)
    if wrais.put("tags", 0):
        case.skip(WITHOUT)
    else:
        expect_effect(case, (RT, 0), raised=True, exempt=False)


def classes_differ(case: Case) -> None:
    wrais.switch_all(True)
    for io_class, level in ((NONE, 0), (BE, 0), (IDLE, 0), (RT, 0), (RT, 7)):
        expect_effect(case, (io_class, level), raised=io_class == RT, exempt=io_class == RT)


def read_by_policy(policy: int, io_class: int) -> int:
    """In that class, with a CPU policy for which the limit is enough."""
    resource.setrlimit(resource.RLIMIT_RTPRIO, (1, 1))
    error = wrais.take_class(io_class)
    drop_capabilities()
    os.sched_setscheduler(0, policy, os.sched_param(1))
    return error or calls.fails(read_disk)


def policies_differ(case: Case) -> None:
    """The CPU policy is no privilege, and takes none away."""
    wrais.switch_all(True)
    for policy in (os.SCHED_FIFO, os.SCHED_RR):
        for io_class, wanted in ((NONE, 0), (RT, READS)):
            raised = grown(case, partial(read_by_policy, policy, io_class))["raised_requests"]
            case.equal(raised, wanted, f"raised with policy {policy} and class {io_class}")


def given_up(case: Case) -> None:
    """From the next request on."""
    wrais.switch_all(True)
    raised = reads(case, (RT, 0), (BE, wrais.USUAL_LEVEL))["raised_requests"]
    case.equal(raised, READS, f"raised of {READS} and then {READS} requests")


def cgroups(case: Case) -> None:
    """A member needs the attribute in its cgroup and in all above."""
    wrais.switch_all(True)
    for parent, child in map(str.split, MEMBERS):
        switch(case, GROUP, parent)
        switch(case, CHILD, child)
        both = parent == child == "1"
        expect_effect(case, (NONE, 0), raised=both, exempt=both, group=CHILD)


def expect_told(case: Case, group: str, count: int) -> None:
    """A cgroup's io.stat tells of so many reads, all privileged, or of nothing."""
    words = calls.read(f"{group}/io.stat").split()
    found = [word for word in words if word.startswith("wrais.")]
    wanted = [f"wrais.bytes={count * BLOCK}", f"wrais.ios={count}"] if count else []
    case.equal(found, wanted, group)


def told_in_io_stat(case: Case) -> None:
    """In the cgroup and in all above but the root, for either reason, while it counts."""
    wrais.switch_all(True)
    reads(case, (NONE, 0), group=CHILD)
    expect_told(case, CHILD, 0)
    reads(case, (RT, 0), group=CHILD)
    expect_told(case, CHILD, READS)
    switch(case, GROUP, "1")
    switch(case, CHILD, "1")
    reads(case, (NONE, 0), group=CHILD)
    expect_told(case, CHILD, 2 * READS)
    expect_told(case, GROUP, 2 * READS)
    expect_told(case, cgroup.ROOT, 0)
    wrais.put(MASTER, 0)
    reads(case, (RT, 0), group=CHILD)
    expect_told(case, CHILD, 0)
    wrais.put(MASTER, 1)
    expect_told(case, CHILD, 2 * READS)


EFFECTS: Tests = {
    "nothing counts when off": nothing_when_off,
    "raised not without raise": no_raise,
    "exempt not without tags": no_tags,
    "classes": classes_differ,
    "CPU policies": policies_differ,
    "given up": given_up,
    "cgroups": grouped(cgroups),
    "io.stat": grouped(told_in_io_stat),
}
TESTS: Tests = {
    "the real-time I/O class": PRIORITY,
    "bad values": {
        "of switches": each(bad_values, (MASTER, *PARTS)),
        "of numbers": each(bad_values, KNOBS),
    },
    "other users cannot switch": each(users_refused, NAMES),
    "the cgroup attribute": CGROUP,
    "switches": {
        "of all": {MASTER: partial(good_values, MASTER), "raise is always there": raise_exists},
        "of the parts": each(good_values, PARTS),
    },
    "numbers": each(good_values, KNOBS),
    "counters": each(counter_there, COUNTERS),
    STAT: {"form": form, "byte by byte": byte_by_byte, "read only": read_only},
}


def main() -> None:
    """Test all, and put back switches and numbers."""
    options()
    wrais.require()
    with wrais.kept(), wrais.scheduler(DISK, "bfq") as chosen:
        effects = EFFECTS if chosen else lambda case: case.skip("no disk with bfq")
        run({**TESTS, "whose requests are privileged": effects})


if __name__ == "__main__":
    main()

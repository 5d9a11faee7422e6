# SPDX-License-Identifier: GPL-2.0
"""The suites as data, and their runs on a fake QEMU."""

from dataclasses import replace
from io import StringIO
from threading import Barrier

import pytest

from lab import LabError, slowdisk
from lab.ktap import Status
from lab.machine import Machine
from lab.paths import Paths
from lab.suites import Entry, Suite, SuiteRuns, kernel_variant, suites, wrais
from lab.suites.runs import LANES
from lab.vm import Outcome, RunResult

BUILTINS = ("@cat", "@insmod", "@kmemleak", "@rmmod")
WAIT_S = 10.0
OUR_PROGRAMS = ("ipclat", "livelock", "lottery", "rxmode", "udprate", "wrais")


def names(entries: list[Entry]) -> list[str]:
    """Their names."""
    return [entry.name for entry in entries]


@pytest.mark.parametrize("kernel", ["guest", "debug"])
@pytest.mark.parametrize("short", [False, True])
def test_all(kernel: str, short: bool) -> None:
    """Names are unique, plans are valid, and no shell is asked for where there is none."""
    found = suites(kernel, short)
    names = [f"{suite.name}-{entry.name}" for suite in found for entry in suite.entries]
    assert len(set(names)) == len(names)
    for suite in found:
        assert suite.plan().render() and suite.wall_s(suite.plan()) > 0
        assert suite.machine.kernel == kernel
        for entry in suite.entries:
            assert entry.timeout_s > 0
            assert suite.machine.root or entry.argv[0].startswith((*BUILTINS, *OUR_PROGRAMS))


def test_names_of_the_issue() -> None:
    """What `make test TESTS=name` can name."""
    names = {suite.name for suite in suites()}
    assert names == {
        *("boot", "kunit", "lottery-api", "lottery-list", "lottery-rbtree"),
        *("lottery-tools", "lottery-smp", "lottery-nohz", "lottery-torture"),
        *("lottery-torture-core", "wrais-api", "wrais-io", "wrais-safety"),
        *("udprate", "udprate-tools", "ipclat", "ipclat-containers"),
        *("livelock", "livelock-ports", "livelock-tools"),
        *("livelock-driver", "livelock-torture", "livelock-torture-smp", "livelock-torture-calm"),
    }


def test_both_pools() -> None:
    """The same entries with either pool, repeatable."""
    by_name = {suite.name: suite for suite in suites()}
    one, other = by_name["lottery-list"], by_name["lottery-rbtree"]
    assert one.entries == other.entries
    assert "lottery_pool=list" in one.machine.append
    assert "lottery_pool=rbtree" in other.machine.append
    assert one.machine.accel == "icount" and not one.machine.root


def test_the_slow_disk() -> None:
    """Suites of the I/O: a disk in the guest's memory, its file system laid onto it first."""
    for suite in (wrais._api(), wrais._io()):
        assert suite.plan().render() and not suite.machine.root
        assert "null_blk.service_nsec=300000" in suite.machine.append
        assert all(entry.argv[0].startswith(OUR_PROGRAMS) for entry in suite.entries)
    assert suite.disk is not None and suite.disk.size_mb <= slowdisk.SIZE_MB
    assert suite.entries[0].argv == slowdisk.DISK
    assert all("--mount" in entry.argv for entry in suite.entries[1:])


def test_safety_has_the_tools_of_the_image_and_little_memory() -> None:
    """Every case by itself, some of them on the stock kernel's paths as well."""
    suite = wrais._safety()
    assert suite.machine.root and suite.machine.real_time and suite.machine.mem_mb <= 512
    stock = [entry for entry in suite.entries if "none" in entry.argv]
    assert {entry.name for entry in stock} == {"stock-space", "stock-removal"}
    ours = [entry for entry in suite.entries if entry not in stock]
    assert [entry.argv[-1] for entry in ours] == [entry.name for entry in ours]
    assert {"headroom", "space", "freeze", "unmount", "removal", "killed"} <= set(names(ours))
    on_debug = {entry.name for entry in ours if entry.debug}
    assert on_debug == {"fsync", "space", "freeze", "unmount", "removal", "killed"}


def test_debug() -> None:
    """More room, more time, and leaks are looked for after everything else.

    Every suite has something for the kernel with checks.
    """
    for plain, debug in zip(suites("guest"), suites("debug"), strict=True):
        assert debug.machine.mem_mb > plain.machine.mem_mb
        assert debug.machine.real_time
        assert debug.entries[-1].argv == ("@kmemleak",)
        wanted = [entry for entry in plain.entries if entry.debug]
        assert wanted
        for before, after in zip(wanted, debug.entries[:-1], strict=True):
            assert after.timeout_s > before.timeout_s and after.argv == before.argv


def test_short() -> None:
    """An entry without a shorter form stays as it is."""
    entries = (Entry("a", ("a",), 1, ("b",)), Entry("c", ("c",), 1))
    assert entries[0].short_argv == ("b",)
    long = {(s.name, e.name): e for s in suites() for e in s.entries}
    for suite in suites(short=True):
        for entry in suite.entries:
            whole = long[suite.name, entry.name]
            assert entry.argv == (whole.short_argv or whole.argv)


def test_variant() -> None:
    """LAB_KERNEL is checked before anything boots."""
    assert kernel_variant({}) == "guest" and kernel_variant({"LAB_KERNEL": "debug"}) == "debug"
    with pytest.raises(LabError, match="LAB_KERNEL 'plain': allowed are guest, debug"):
        kernel_variant({"LAB_KERNEL": "plain"})


def suite_on(machine: Machine, name: str = "recorded") -> Suite:
    """A suite like the recorded guest's."""
    names = ("alpha", "beta", "gamma")
    return Suite(name, machine, tuple(Entry(name, (name,)) for name in names))


def test_one_boot(built: Paths, fake_machine: Machine) -> None:
    """Every entry's test shares one boot, which runs what was chosen."""
    suite = suite_on(fake_machine)
    stream = StringIO()
    runs = SuiteRuns(built, "tcg", (suite,), {"recorded": {"alpha", "beta", "gamma"}}, stream)
    assert runs.of(suite).ok and runs.of(suite) is runs.of(suite)
    assert stream.getvalue() == "recorded: 3/3 entries (100 %)\n"
    assert (built.logs / "guest" / "recorded" / "console.log").is_file()


def test_only_the_chosen(built: Paths, fake_machine: Machine) -> None:
    """An entry that nobody asked for is not in the plan; none chosen means all."""
    suite = suite_on(fake_machine)
    result = SuiteRuns(built, "tcg", (suite,), {"recorded": {"beta"}}).of(suite)
    assert [entry.name for entry in result.entries] == ["beta"]
    assert result.entries[0].status is Status.CRASH  # the recorded guest ran all three
    assert [entry.name for entry in suite.plan().entries] == ["alpha", "beta", "gamma"]


def test_two_guests_at_a_time(
    built: Paths, fake_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real-time guest's neighbour runs in virtual time as long as there are both kinds."""
    virtual = replace(fake_machine, accel="icount")
    kinds = {"one": fake_machine, "two": fake_machine, "three": virtual, "four": virtual}
    every = [suite_on(machine, name) for name, machine in kinds.items()]
    together = Barrier(LANES)
    met: list[tuple[int, str]] = []

    def boot(paths: Paths, machine: Machine, *args: object, **options: object) -> RunResult:
        turn = len(met) // LANES
        together.wait(WAIT_S)
        met.append((turn, machine.accel))
        together.wait(WAIT_S)
        return RunResult([], paths.logs, [], Outcome.DONE, [])

    monkeypatch.setattr("lab.suites.runs.run_plan", boot)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    runs = SuiteRuns(built, "auto", every, {})
    monkeypatch.setattr(runs, "machine", lambda machine: machine)
    assert all(runs.of(suite).outcome is Outcome.DONE for suite in every)
    assert sorted(met) == [(0, "icount"), (0, "tcg"), (1, "icount"), (1, "tcg")]


def test_what_goes_wrong_on_the_way_is_raised(built: Paths, fake_machine: Machine) -> None:
    """For whoever asks for that suite; the others are run all the same."""
    good, bad = suite_on(fake_machine), suite_on(replace(fake_machine, kernel="debug"), "unbuilt")
    runs = SuiteRuns(built, "tcg", (bad, good), {}, StringIO())
    assert runs.of(good).ok
    with pytest.raises(LabError, match="debug"):
        runs.of(bad)

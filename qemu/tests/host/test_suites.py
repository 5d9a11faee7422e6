# SPDX-License-Identifier: GPL-2.0
"""The suites as data: what each of them must be."""

import re
from pathlib import Path

import pytest

from lab import LabError, checked, plan
from lab.guest.boot import Boot, Program
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.paths import CHECKED, MATRIX, VARIANTS, Paths
from lab.plan import BUDGETS, budgeted
from lab.registry import MATRIX_SUITES, NAMES, OTHER_MATRIX_SUITES, left_out, suites
from lab.suite import header, kernel_variant, scenario, together, unmet
from lab.tree import kconfig
from tests.session import PROGRAMS, chosen

BUILTINS = ("@cat", "@insmod", "@kmemleak", "@ls", "@rmmod")
OUR_PROGRAMS = ("ipclat", "livelock", "lottery", "rxmode", "udprate", "wrais")


@pytest.mark.parametrize("kernel", ["guest", "debug"])
@pytest.mark.parametrize("short", [False, True])
def test_all(kernel: str, short: bool) -> None:
    """Names are unique, plans are valid, and a boot without a root image runs our programs."""
    found = suites(kernel, short)
    names = [f"{suite.name}-{program.name}" for suite in found for program in suite.programs]
    assert len(set(names)) == len(names)
    # Each has a budget, and nothing else has.
    assert sorted(name for suite in found for name in suite.name.split("+")) == sorted(
        BUDGETS[kernel]
    )
    for suite in found:
        assert suite.render() and suite.lost_s() > 0
        assert suite.machine.kernel == kernel
        assert not unmet(suite) and suite.budget_s
        tools = tuple(tool.rpartition("/")[2] for tool in suite.image)
        ours = (*BUILTINS, *OUR_PROGRAMS, *tools)
        for program in suite.programs:
            assert program.timeout_s > 0
            assert suite.machine.root or program.argv[0].startswith(ours)


def test_debug() -> None:
    """More room, more time, and leaks are looked for after everything else, in some."""
    before = {suite.name: suite for suite in suites("guest")}
    for debug in suites("debug"):
        plain = [before.pop(name) for name in debug.name.split("+")]
        assert debug.machine.real_time
        programs = [*debug.programs]
        assert debug.leaks == any(suite.leaks for suite in plain)
        assert debug.leaks == ("kmemleak=on" in debug.machine.append)
        if debug.leaks:
            assert programs.pop().argv == ("@kmemleak",)
        wanted = [program for suite in plain for program in suite.programs if program.debug]
        assert wanted and all(debug.machine.mem_mb > suite.machine.mem_mb for suite in plain)
        for one, other in zip(wanted, programs, strict=True):
            assert other.timeout_s > one.timeout_s and other.argv == one.argv
            assert other.argv[0] != "@kmemleak"
    assert not any(program.debug for suite in before.values() for program in suite.programs)


def test_short() -> None:
    """A program without a shorter form stays as it is."""
    long = {(s.name, p.name): p for s in suites() for p in s.programs}
    assert any(program.short for program in long.values())
    for suite in suites(short=True):
        for program in suite.programs:
            whole = long[suite.name, program.name]
            assert program.argv == (whole.short or whole.argv)


@pytest.mark.parametrize("kernel", MATRIX)
def test_matrix(kernel: str) -> None:
    """Nothing of what is tested with it is missing, but what is said to be left out."""
    guest = {suite.name: suite for suite in suites("guest", short=True)}
    wanted = {
        (name, program.name)
        for name in OTHER_MATRIX_SUITES.get(kernel, MATRIX_SUITES)
        for program in guest[name].programs
        if program.debug or kernel not in CHECKED
    }
    found = suites(kernel, short=True)
    here = {(suite.name, program.name) for suite in found for program in suite.programs}
    out = {(suite.name, program.name) for suite, program, _ in left_out(kernel)}
    assert here and not here & out and here | out == wanted
    for suite in found:
        assert suite.machine.kernel == kernel and not unmet(suite) and suite.budget_s
        assert suite.machine.real_time or kernel not in CHECKED


def test_one_cpu_is_no_place_for_what_needs_more() -> None:
    """And nothing else is left out, anywhere."""
    whys = [why for _, _, why in left_out("up")]
    assert whys and all(re.fullmatch(r"needs \d CPUs, kernel-up has 1", why) for why in whys)
    assert {suite.machine.cpus for suite in suites("up")} == {1}
    assert not any(left_out(kernel) for kernel in VARIANTS if kernel != "up")


def test_cpus_run_at_the_same_time_only_where_no_code_is_patched() -> None:
    """QEMU 7.2 does not bear it: see the machine."""
    configs = Paths.from_env({}).configs
    parallel = {s.machine.kernel for k in BUDGETS for s in suites(k) if s.machine.parallel}
    parallel |= {suite.machine.kernel for suite in suites("torture") if not suite.machine.root}
    assert parallel == {"torture", "kcsan"}
    for kernel in parallel:
        asked = kconfig.merge(configs, kconfig.FRAGMENTS[kernel])
        assert asked["JUMP_LABEL"].value is None


def test_a_group_has_what_it_names_and_what_prepares_that() -> None:
    for boot in suites("debug", True, "gate"):
        for suite, names in checked.GROUPS[boot.name].programs.items():
            there = [p for p in boot.programs if p.name.startswith(f"{suite}/") and not p.prepares]
            found = {program.name.partition("/")[2] for program in there}
            assert found <= {*names.split()} or not names, f"{boot.name}: {suite}: {found}"


def test_scenarios() -> None:
    folders = ("lab", *(f"subjects/{name}" for name in NAMES))
    scripts = (Paths.from_env({}).qemu.glob(f"{folder}/guest/*.sh") for folder in folders)
    files = {path for found in scripts for path in found if path.name != "common.sh"}
    used = {
        path
        for suite in (*suites(), *suites("torture"))
        for program in suite.programs
        for name, path in program.files.items()
        if f"/{name}" in program.argv
    }
    by_other_tests = {path for path in files if path.parents[1].name == "wrais"}
    assert used <= files and files - used <= by_other_tests
    assert all(header(path).what for path in files)
    # A boot without the root image is no place for a shell.
    program = scenario("refused", "true")
    assert unmet(Boot("bare", Machine(root=False), (program,))) == ["bare-refused: needs root"]
    assert not unmet(Boot("full", Machine(), (program,)))


def test_what_is_not_known_is_refused() -> None:
    for asked, found in ((None, "guest"), ("debug", "debug"), ("up", "up")):
        assert kernel_variant({"LAB_KERNEL": asked} if asked else {}) == found
    with pytest.raises(LabError, match="new: no budget on the guest kernel"):
        budgeted(Boot("new"), "guest")
    with pytest.raises(LabError, match="no such scenario"):
        scenario("livelock/none")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("leak = true", "one: unknown: leak"),
        ("programs = [{ run = 'true', timout_s = 3 }]", "one: .*: unknown: timout_s"),
        ("programs = [{ run = 'true {more}' }]", "'true {more}': no word 'more'"),
    ],
)
def test_a_plan_that_is_not_right_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    (tmp_path / "toy").mkdir()
    rows = "" if "programs" in text else "programs = []\n"
    (tmp_path / "toy/plan.toml").write_text(f"[[boot]]\nname = 'one'\n{rows}{text}\n")
    monkeypatch.setattr(plan, "HERE", tmp_path)
    plan._read.cache_clear()
    plan._plan.cache_clear()
    with pytest.raises(LabError, match=told):
        plan.boots("toy")


def test_only_the_chosen() -> None:
    """A program that no test asks for is not run; none chosen means all."""
    boot = Boot("recorded", programs=PROGRAMS)
    assert chosen(boot, ()) == boot
    assert [program.name for program in chosen(boot, {"beta"}).programs] == ["beta"]


def test_a_disk_or_device_is_made_whatever_is_chosen() -> None:
    names = [p.name for suite in suites("guest") for p in chosen(suite, {"no-floor"}).programs]
    assert names == ["disk", "no-floor"]
    (loop,) = (suite for suite in suites("guest") if suite.name == "wrais-loop")
    assert chosen(loop, {loop.programs[-1].name}).programs == loop.programs


def test_suites_of_one_machine_share_a_guest() -> None:
    """Nothing is lost: neither a program, nor its order, nor what it needs, nor its time."""
    one, other = Program("one", ("one",)), Program("other", ("other",))
    alone = Boot("alone", Machine(cpus=4), (one,), budget_s=1)
    first = Boot("first", Machine(root=False), (one,), budget_s=10)
    second = Boot("second", Machine(root=True), (other,), budget_s=20)
    disk = Boot("disk", Machine(), (one,), disk=Ext4(64), budget_s=2)
    shared = Boot("first+second", Machine(root=True), (one, other), budget_s=30)
    assert together([first, alone, second, disk]) == (shared, alone, disk)

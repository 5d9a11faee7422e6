# SPDX-License-Identifier: GPL-2.0
"""The QEMU command of a machine, its plan file and its disk, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARCH
from lab.guest import slowdisk
from lab.guest.boot import Boot, Program
from lab.guest.machine import Files, Machine, host_clock_words
from lab.guest.nics import RECEIVER_SLOT, Nic, pairs
from lab.paths import Paths

PATHS = Paths(Path("/top"), Path("/out"))
FILES = Files.under(Path("/logs"))


def argv(machine: Machine, files: Files = FILES) -> list[str]:
    return machine.argv(PATHS, files)


def option(machine: Machine, name: str, files: Files = FILES) -> list[str]:
    words = argv(machine, files)
    return [words[i + 1] for i, word in enumerate(words) if word == name]


def cmdline(machine: Machine) -> list[str]:
    return option(machine, "-append")[0].split()


def test_default() -> None:
    machine = Machine()
    assert {"-nodefaults", "-no-reboot"} <= set(argv(machine))
    assert option(machine, "-accel") == ["tcg,thread=single"]
    assert option(machine, "-kernel") == ["/out/kernel-guest/arch/x86/boot/bzImage"]
    files = ("file,id=console,path=/logs/console.log", "file,id=result,path=/logs/result.ktap")
    assert option(machine, "-chardev") == [*files]
    assert {"panic=-1", "console=ttyS0", "kunit.enable=0"} <= set(cmdline(machine))


def test_root_image() -> None:
    assert "lab.root=vda" in cmdline(Machine())
    assert "readonly=on,file=/out/rootfs.sqfs" in option(Machine(), "-drive")[0]
    bare = Machine(root=False)
    assert "lab.root=vda" not in cmdline(bare) and option(bare, "-drive") == []


def test_icount() -> None:
    machine = Machine(accel="icount", root=False, seed=7, icount_shift=3)
    assert option(machine, "-accel") == ["tcg,thread=single"]
    assert option(machine, "-icount") == ["shift=3,sleep=off"]
    assert option(machine, "-seed") == ["7"]
    assert option(machine, "-machine") == ["q35,hpet=off"]
    assert option(machine, "-rtc") == ["base=2020-01-01,clock=vm"]
    assert {"nokaslr", "norandmaps"} <= set(cmdline(machine))


def test_icount_that_waits_for_the_host() -> None:
    """Time must not leap while a disk or a person is waited for."""
    assert option(Machine(accel="icount"), "-icount") == ["shift=0,sleep=on"]
    files = Files.under(Path("/logs"), interactive=True)
    assert option(Machine(accel="icount", root=False), "-icount", files) == ["shift=0,sleep=on"]


def test_patience_is_for_real_time() -> None:
    """Watchdogs keep their limits wherever a stall cannot come from the host."""
    word = "rcupdate.rcu_cpu_stall_timeout=300"
    assert word in cmdline(Machine(cpus=4))
    assert word in cmdline(Machine(kernel="debug"))
    assert word not in cmdline(Machine(cpus=1))
    assert word not in cmdline(Machine(cpus=4, accel="icount", kernel="debug"))


def test_interactive() -> None:
    files = Files.under(Path("/logs"), interactive=True)
    console = option(Machine(), "-chardev", files)[0]
    assert console.startswith("stdio,") and console.endswith("logfile=/logs/console.log")
    assert option(Machine(), "-mon", files) == ["chardev=console,mode=readline"]


def test_cpus_that_run_at_the_same_time() -> None:
    assert option(Machine(cpus=4), "-accel") == ["tcg,thread=single"]
    assert option(Machine(cpus=4, parallel=True), "-accel") == ["tcg,thread=multi"]
    assert option(Machine(accel="icount", parallel=True), "-accel") == ["tcg,thread=single"]
    kvm = Machine(accel="kvm", parallel=True)
    assert option(kvm, "-accel") == ["kvm"] and "tsc=reliable" not in cmdline(kvm)


def test_append_and_devices_come_last() -> None:
    machine = Machine(append=("loglevel=8",), devices=("-device", "e1000"))
    assert cmdline(machine)[-1] == "loglevel=8"
    assert argv(machine)[-2:] == ["-device", "e1000"]
    assert cmdline(machine.with_append("quiet"))[-2:] == ["loglevel=8", "quiet"]


def test_commas_in_paths() -> None:
    files = Files.under(Path("/a,b"))
    assert "file,id=result,path=/a,,b/result.ktap" in option(Machine(), "-chardev", files)


@pytest.mark.parametrize(
    ("kernel", "target"),
    [("debug", "kernel-debug"), ("torture", "kernel-torture"), ("rt", "test-matrix MATRIX=rt")],
)
def test_require_of_another_kernel(
    built: Paths, fake_machine: Machine, kernel: str, target: str
) -> None:
    with pytest.raises(LabError, match=rf"bzImage is missing: make {target}$"):
        replace(fake_machine, kernel=kernel).require(built)


@pytest.mark.parametrize(
    ("missing", "target"), [("bzImage", "kernel"), ("init", "userland"), ("rootfs.sqfs", "rootfs")]
)
def test_require(built: Paths, fake_machine: Machine, missing: str, target: str) -> None:
    fake_machine.require(built)
    next(built.out.rglob(missing)).unlink()
    with pytest.raises(LabError, match=rf"{missing} is missing: make {target}"):
        fake_machine.require(built)


def test_nics() -> None:
    machine = Machine(nics=pairs(2))
    netdevs = [word for word in option(machine, "-netdev") if word.startswith("hubport")]
    slots = (("10", 0), ("11", 1), ("18", 0), ("19", 1))
    assert netdevs == [f"hubport,id=nic{slot},hubid={hub}" for slot, hub in slots]
    cards = [word for word in option(machine, "-device") if word.startswith("e1000")]
    assert cards[0] == (
        "e1000,netdev=nic10,mac=02:00:00:00:00:10,addr=0x10,romfile=,mitigation=off"
    )
    assert len({nic.mac for nic in machine.nics}) == 4
    assert pairs(1)[1].address == "0000:00:18.0"
    assert "mitigation=on" in " ".join(pairs(1, mitigation=True)[0].args())
    other = Nic(RECEIVER_SLOT, mitigation=True, model="virtio-net-pci").args()
    assert other[-1] == (
        "virtio-net-pci,netdev=nic10,mac=02:00:00:00:00:10,addr=0x10,romfile=,ioeventfd=off"
    )


def test_an_emulated_clock_counts_as_the_host_s(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert host_clock_words(cpuinfo) == ()
    text = "cpu MHz\t\t: 2099.998\nflags\t\t: fpu constant_tsc {}\n\n"
    cpuinfo.write_text(text.format("hypervisor") * 2)
    known = ("tsc_early_khz=2099998",) if ARCH.name == "x86_64" and not ARCH.foreign else ()
    assert host_clock_words(cpuinfo) == known
    cpuinfo.write_text(text.format("aperfmperf"))
    assert host_clock_words(cpuinfo) == ()
    assert "tsc_early_khz=1000000" in Machine(accel="icount").command_line()


def test_render() -> None:
    """One item a line, fields separated by tabs."""
    programs = (Program("a", ("prog", "-x", ""), 5), Program("b", ("@cat", "/x"), 0))
    text = "mode\tplan\nprogram\ta\t5\tprog\t-x\t\nprogram\tb\t0\t@cat\t/x\n"
    assert Boot("two", programs=programs).render() == text
    assert Boot("empty", defer=True).render() == "mode\tplan\ndefer\t1\n"


def test_arguments_are_escaped() -> None:
    program = Program("c", ("sh", "-c", "printf 'a\tb\\n'\nexit 3"), 1)
    boot = Boot("one", programs=(program,), mode="command")
    assert boot.render().splitlines()[1] == "program\tc\t1\tsh\t-c\tprintf 'a\\tb\\\\n'\\nexit 3"


def test_lost() -> None:
    """A guest is lost after some times its budget; without one its programs' times count."""
    programs = (Program("a", ("a",), 100, busy_s=2), Program("b", ("b",), 300, busy_s=1))
    real = Boot("real", programs=programs)
    assert real.lost_s() > 800 and real.program_lost_s(programs[0]) < 300
    virtual = Boot("virtual", Machine(accel="icount"), programs)
    assert virtual.lost_s() == 480 and virtual.program_lost_s(programs[0]) == 480
    assert Boot("short", programs=programs, budget_s=10).lost_s() == 240
    assert Boot("long", programs=programs, budget_s=100).lost_s() == 400


def test_words() -> None:
    """Nothing is left to null_blk's defaults, which have a time of their own."""
    words = slowdisk.words(32, slowdisk.CLOUD, 2048)
    wanted = ("service_mbps=125", "service_iops=3000", "service_seek_nsec=0")
    usual = ("memory_backed=1", "gb=2", "hw_queue_depth=32", "completion_nsec=1000000")
    assert {f"null_blk.{word}" for word in (*wanted, *usual, "max_sectors=1024")} <= set(words)
    assert all(word.startswith("null_blk.") for word in words)

# SPDX-License-Identifier: GPL-2.0
"""The virtual machine as data, and the QEMU command that starts it."""

import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from lab import LabError, one_of, within
from lab.arch import ARCH
from lab.guest.nics import Nic
from lab.guest.protocol import RESULT_PORT, ROOT_WORD
from lab.paths import CHECKED, MATRIX, VARIANTS, Paths
from lab.tree import modules
from lab.tree.kconfig import maximum_cpus

ACCELS = ("tcg", "kvm", "icount")
MEM_MIN_MB = 128
MEM_MAX_MB = 65536
SHIFT_MAX = 10

# A panic resets at once and -no-reboot turns the reset into an exit; an Oops is
# a panic. PID 1 writes to the kernel log and must not be rate-limited there.
BASE_WORDS = (
    "panic=-1",
    "oops=panic",
    "printk.devkmsg=on",
)

# Nothing random in the address layout.
ICOUNT_WORDS = ("nokaslr", "norandmaps")

# Four virtual CPUs on two real ones, or a kernel full of checks, stall for
# seconds through no fault of their own. Seconds; the largest that the kernel takes.
PATIENT_WORDS = (
    "watchdog_thresh=60",
    "rcupdate.rcu_cpu_stall_timeout=300",
    "workqueue.watchdog_thresh=300",
)


def host_clock_words(cpuinfo: Path) -> tuple[str, ...]:
    """How fast the time stamp counter of an emulated x86-64 counts: as the host's.

    A guest that measures it by a timer that QEMU serves late has a clock that runs many times
    as fast. Only a virtual host says it for certain: elsewhere "cpu MHz" is what a CPU does now.
    """
    if ARCH.name != "x86_64" or ARCH.foreign or not cpuinfo.is_file():
        return ()
    text = cpuinfo.read_text()
    mhz = re.search(r"^cpu MHz\s*: (\d+)\.(\d{3})$", text, re.M)
    flags = re.search(r"^flags\s*: (.*)$", text, re.M)
    if not mhz or not flags or not {"hypervisor", "constant_tsc"} <= {*flags[1].split()}:
        return ()
    return (f"tsc_early_khz={int(mhz[1]) * 1000 + int(mhz[2])}",)


def quoted(path: Path) -> str:
    """A path inside a QEMU option, where a comma ends the value."""
    return str(path).replace(",", ",,")


@dataclass(frozen=True)
class Files:
    """What a run reads and writes on the host.

    interactive puts the console on the terminal as well as into its log.
    """

    initrd: Path
    result: Path
    console: Path
    interactive: bool = False

    @classmethod
    def under(cls, log_dir: Path, interactive: bool = False) -> "Files":
        """The usual names in log_dir."""
        return cls(
            log_dir / "initrd.cpio", log_dir / "result.ktap", log_dir / "console.log", interactive
        )


@dataclass(frozen=True)
class Machine:
    """A guest: what it boots, how big it is, how its time runs.

    accel is tcg (real time, one host thread), kvm, or icount (virtual time,
    2^icount_shift ns an instruction, one host thread). parallel gives tcg a host thread
    for each CPU, for a kernel that patches no code. icount repeats exactly as
    long as root is False: a disk completes in host time. seed feeds the random
    numbers that QEMU hands to an icount guest. devices are QEMU arguments,
    append are kernel command line words; both go last. loglevel is the
    kernel's: less important messages stay off the console. cpu is QEMU's model,
    the one of the architecture if it is empty.
    modules names the kernel modules that the guest finds in /lab/modules; it
    loads them itself. nics are its network cards.
    """

    kernel: str = "guest"
    cpus: int = 1
    mem_mb: int = 1024
    accel: str = "tcg"
    append: tuple[str, ...] = ()
    root: bool = True
    devices: tuple[str, ...] = ()
    seed: int = 1
    icount_shift: int = 0
    loglevel: int = 6
    cpu: str = ""
    qemu: str = ARCH.qemu
    modules: tuple[str, ...] = ()
    nics: tuple[Nic, ...] = ()
    parallel: bool = False

    def __post_init__(self) -> None:
        """Refuse what QEMU or the kernel would refuse later. Raises LabError."""
        one_of("kernel", self.kernel, VARIANTS)
        one_of("accel", self.accel, ACCELS)
        within("cpus", self.cpus, 1, maximum_cpus(self.kernel))
        within("mem", self.mem_mb, MEM_MIN_MB, MEM_MAX_MB)
        within("seed", self.seed, 0, 2**63 - 1)
        within("icount_shift", self.icount_shift, 0, SHIFT_MAX)
        within("loglevel", self.loglevel, 0, 8)

    @property
    def real_time(self) -> bool:
        """The guest's clock follows the host's."""
        return self.accel != "icount"

    @property
    def exact(self) -> bool:
        """It does the same each time: in virtual time, and without a disk, which is the host's."""
        return not (self.real_time or self.root)

    @property
    def model(self) -> str:
        """QEMU's CPU."""
        return self.cpu or ARCH.cpus[not self.real_time]

    def with_append(self, *words: str) -> "Machine":
        """The same machine with more kernel command line words."""
        return replace(self, append=self.append + words)

    def require(self, paths: Paths) -> None:
        """Raises LabError naming the first thing that is not there yet."""
        if not shutil.which(self.qemu):
            raise LabError(f"{self.qemu} is not installed: make deps", exit_code=1)
        target = "kernel" if self.kernel == VARIANTS[0] else f"kernel-{self.kernel}"
        if self.kernel in MATRIX:
            target = f"test-matrix MATRIX={self.kernel}"
        needed = [(paths.boot_image(self.kernel), target), (paths.init, "userland")]
        if self.root:
            needed.append((paths.rootfs, "rootfs"))
        for path, target in needed:
            if not path.is_file():
                raise LabError(f"{path} is missing: make {target}", exit_code=1)
        modules.find(paths, self.kernel, self.modules)
        if self.accel == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
            raise LabError("accel 'kvm': /dev/kvm cannot be opened; use tcg or icount")

    def command_line(self) -> str:
        """The kernel command line; later words override earlier ones."""
        words = [*ARCH.words, *BASE_WORDS, f"loglevel={self.loglevel}", "kunit.enable=0"]
        if self.accel != "kvm":
            words += ARCH.tcg_words
        if self.accel == "icount":
            words += [*ARCH.icount_words, *ICOUNT_WORDS]
        elif self.accel == "tcg":
            words += host_clock_words(Path("/proc/cpuinfo"))
        if self.real_time and (self.cpus > 1 or self.kernel in CHECKED):
            words += PATIENT_WORDS
        if self.root:
            words.append(ROOT_WORD)
        return " ".join([*words, *self.append])

    def argv(self, paths: Paths, files: Files) -> list[str]:
        """The QEMU command. Nothing needs to exist yet."""
        return [
            self.qemu,
            *("-no-user-config", "-nodefaults", "-no-reboot", "-display", "none"),
            *("-machine", ARCH.boards[not self.real_time], *self._accel_args(files)),
            *("-cpu", self.model, "-smp", str(self.cpus), "-m", str(self.mem_mb)),
            *("-kernel", str(paths.boot_image(self.kernel)), "-initrd", str(files.initrd)),
            *("-append", self.command_line()),
            *self._console_args(files),
            *ARCH.serial,
            *("-chardev", f"file,id=result,path={quoted(files.result)}"),
            # Without ioeventfd the guest's write is served at the instruction
            # that makes it, not by another host thread at some later one.
            *("-device", "virtio-serial-pci,ioeventfd=off"),
            *("-device", f"virtserialport,chardev=result,name={RESULT_PORT}"),
            *self._root_args(paths),
            *(word for nic in self.nics for word in nic.args()),
            *self.devices,
        ]

    def _accel_args(self, files: Files) -> list[str]:
        if self.accel == "kvm":
            return ["-accel", "kvm"]
        if self.accel == "tcg":
            # With a host thread for each CPU QEMU 7.2 now and then lets one run
            # a breakpoint that another one has patched away: an int3 Oops where
            # the kernel flips a static key.
            return ["-accel", f"tcg,thread={'multi' if self.parallel else 'single'}"]
        # An idle guest's clock leaps to the next timer. It must not while the
        # host makes the guest wait, for a disk or for a person: timeouts of
        # minutes would pass in no time.
        leap = "on" if self.root or files.interactive else "off"
        return [
            *("-accel", "tcg,thread=single"),
            *("-icount", f"shift={self.icount_shift},sleep={leap}", "-seed", str(self.seed)),
            *("-rtc", "base=2020-01-01,clock=vm"),
        ]

    @staticmethod
    def _console_args(files: Files) -> list[str]:
        log = quoted(files.console)
        if not files.interactive:
            return ["-chardev", f"file,id=console,path={log}"]
        # Ctrl-C belongs to the guest; Ctrl-A X ends the machine.
        terminal = f"stdio,id=console,mux=on,signal=off,logfile={log}"
        return ["-chardev", terminal, "-mon", "chardev=console,mode=readline"]

    def _root_args(self, paths: Paths) -> list[str]:
        if not self.root:
            return []
        image = quoted(paths.rootfs)
        return [
            *("-drive", f"if=none,id=root,format=raw,readonly=on,file={image}"),
            *("-device", "virtio-blk-pci,drive=root"),
        ]

# SPDX-License-Identifier: GPL-2.0
"""The architecture of the guest: what differs between x86-64 and arm64, all of it here.

ARCH= of make, LAB_ARCH here, names it as the kernel's own build does; without it, it is the
host's. Another one than the host's is built with Debian's cross compiler, and emulated.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from lab import LabError

VARIABLE = "LAB_ARCH"


@dataclass(frozen=True)
class Arch:
    """An architecture: its names, its compiler, its machine in QEMU.

    name is ARCH= of the kernel's build, machine what uname(2) calls it, debian its name there,
    gnu the prefix of its compiler and the directory of its libraries. image is the boot image
    below a kernel's build directory. boards and cpus are for a clock that follows the host's
    and for one that counts instructions. words are those of the kernel's command line, the
    console first, tcg_words where its CPU is emulated, icount_words where time is virtual.
    """

    name: str
    machine: str
    debian: str
    gnu: str
    loader: str
    image: str
    qemu: str
    qemu_package: str
    boards: tuple[str, str]
    cpus: tuple[str, str]
    serial: tuple[str, ...]
    words: tuple[str, ...]
    tcg_words: tuple[str, ...] = ()
    icount_words: tuple[str, ...] = ()

    @property
    def image_target(self) -> str:
        """What kbuild calls the boot image."""
        return self.image.rpartition("/")[2]

    @property
    def libraries(self) -> str:
        """Where an image of Debian has the shared libraries."""
        return f"lib/{self.gnu}"

    @property
    def foreign(self) -> bool:
        """This host is not of it: it takes a cross compiler."""
        return os.uname().machine != self.machine

    @property
    def cross(self) -> str:
        """What the names of the compiler's programs begin with."""
        return f"{self.gnu}-" if self.foreign else ""

    @property
    def tty(self) -> str:
        """The console, a file of /dev."""
        return self.words[0].removeprefix("console=")

    def library(self, name: str) -> str:
        """The place of a shared library in an image of Debian."""
        return self.loader if name == self.loader.rpartition("/")[2] else f"{self.libraries}/{name}"


X86_64 = Arch(
    name="x86_64",
    machine="x86_64",
    debian="amd64",
    gnu="x86_64-linux-gnu",
    loader="lib64/ld-linux-x86-64.so.2",
    image="arch/x86/boot/bzImage",
    qemu="qemu-system-x86_64",
    qemu_package="qemu-system-x86",
    # In exact virtual time QEMU's HPET ticks twice a period, so that the
    # kernel finds the local APIC timer wrong and does without it.
    boards=("q35", "q35,hpet=off"),
    cpus=("max", "max"),
    serial=("-device", "isa-serial,chardev=console"),
    words=("console=ttyS0", "earlyprintk=serial,ttyS0,115200", "no_timer_check"),
    # The time stamp counter costs one instruction to read and QEMU keeps it the
    # same on all CPUs: HPET and PM timer cost a trip through the device model.
    # Under TCG a busy host makes the clocksource watchdog cry wolf, hence reliable.
    tcg_words=("tsc=reliable",),
    # One instruction is one nanosecond, so the counter runs at exactly 1 GHz: no
    # calibration against another clock.
    icount_words=("tsc_early_khz=1000000",),
)

ARM64 = Arch(
    name="arm64",
    machine="aarch64",
    debian="arm64",
    gnu="aarch64-linux-gnu",
    loader="lib/ld-linux-aarch64.so.1",
    image="arch/arm64/boot/Image",
    qemu="qemu-system-aarch64",
    qemu_package="qemu-system-arm",
    boards=("virt,gic-version=3", "virt,gic-version=3"),
    # Signing pointers as the architecture says takes QEMU hundreds of instructions each. One
    # instruction is one nanosecond, so the counter runs at exactly 1 GHz, as on x86-64.
    cpus=("max,pauth-impdef=on", "max,pauth-impdef=on,cntfrq=1000000000"),
    serial=("-serial", "chardev:console"),
    words=("console=ttyAMA0", "earlycon=pl011,0x9000000"),
    # QEMU gives each of several busy CPUs the time until the next timer of any: with the ticks
    # of all at nearly the same time one of them has next to none, and its own comes 130 ms late.
    icount_words=("skew_tick=1",),
)

ARCHES = {arch.name: arch for arch in (X86_64, ARM64)}
MACHINES = {arch.machine: arch for arch in ARCHES.values()}


def chosen(environ: Mapping[str, str], machine: str) -> Arch:
    """The architecture asked for, or else the host's; that of most hosts for any other name."""
    wanted = environ.get(VARIABLE, "")
    return ARCHES.get(wanted) or MACHINES.get(machine) or X86_64


def require(environ: Mapping[str, str], uname: os.uname_result) -> None:
    """Raises LabError if the architecture of the host, or the one asked for, is not known."""
    wanted = environ.get(VARIABLE, "")
    if wanted and wanted not in ARCHES:
        raise LabError(f"ARCH={wanted}: allowed are {', '.join(ARCHES)}")
    if uname.sysname != "Linux" or uname.machine not in MACHINES:
        here = f"this is {uname.sysname} on {uname.machine}"
        raise LabError(f"{here}: Linux on {' or '.join(MACHINES)} is needed")


ARCH = chosen(os.environ, os.uname().machine)
"""That of this run: a directory of output is of one."""

# SPDX-License-Identifier: GPL-2.0
"""A Debian machine on a disk image: our packages installed, booted by its firmware."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host import rootfs
from lab.host.program import run
from lab.paths import Paths

HERE = Path(__file__).parent
FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS.fd")

# What a machine has, and what dkms builds a module with.
INCLUDED = (
    *("systemd-sysv", "systemd-boot", "udev", "kmod", "dkms", "gcc", "make", "libc6-dev"),
    *("libelf1", "e2fsprogs", "dosfstools", "iproute2", "procps", "man-db", "bash-completion"),
)

MIB = 1 << 20
EFI_AT, EFI_MIB = 1, 128
ROOT_AT, ROOT_MIB = EFI_AT + EFI_MIB, 1536
DISK_MIB = ROOT_AT + ROOT_MIB + 1
ROOT_UUID = "c0ffee00-0612-4117-8a5e-0123456789ab"

# Installs and starts take minutes in an emulator with other work.
INSTALL_TIMEOUT_S = 1800
BOOT_TIMEOUT_S = 1800


def _must(argv: Sequence[str], stdin: str = "") -> None:
    done = run(*argv, stdin=stdin)
    if done.status:
        raise LabError(f"{' '.join(argv)}: {done.said}", 1)


@dataclass(frozen=True)
class Disk:
    """Everything of one machine, below a directory of its own."""

    where: Path

    @property
    def image(self) -> Path:
        return self.where / "disk.img"

    @property
    def console(self) -> Path:
        return self.where / "console.txt"

    @property
    def results(self) -> Path:
        return self.where / "results.txt"

    def install(self, debs: Sequence[Path]) -> Path:
        """A Debian root with the packages installed by dpkg, in a directory."""
        if os.geteuid():
            raise LabError("a Debian root on a disk image is made by root alone", 1)
        root, packages = self.where / "root", self.where / "packages"
        packages.mkdir()
        for deb in debs:
            shutil.copy(deb, packages)
        own = rootfs.release()
        suite = own or rootfs.ELSEWHERE
        argv = [
            *("mmdebstrap", "--mode=root", "--variant=essential", "--format=directory"),
            f"--include={','.join(INCLUDED)}",
            '--aptopt=APT::Install-Recommends "false"',
            *rootfs.acquire_options(),
            f"--customize-hook=copy-in {packages} {HERE}/install.sh {HERE}/steps.sh /root",
            f'--customize-hook=chroot "$1" sh /root/install.sh {ROOT_UUID}',
            *(suite, str(root)),
            *(map(str, rootfs.sources(suite)) if own else ()),
        ]
        log = self.where / "install.log"
        with log.open("w") as out:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, "LC_ALL": "C", "TMPDIR": str(self.where)},
                timeout=INSTALL_TIMEOUT_S,
                check=False,
            )
        if done.returncode:
            raise LabError(f"the packages could not be installed: {log}", 1)
        return root

    def fill(self, root: Path) -> None:
        """Partitions and file systems, without a device or a mount."""
        with self.image.open("wb") as disk:
            disk.truncate(DISK_MIB * MIB)
        table = (
            "label: gpt\n"
            f"start={EFI_AT}MiB, size={EFI_MIB}MiB, type=uefi\n"
            f"start={ROOT_AT}MiB, size={ROOT_MIB}MiB, type=linux, uuid={ROOT_UUID}\n"
        )
        _must(["sfdisk", "--quiet", str(self.image)], table)
        efi = root / "root/efi"
        fat = f"{self.image}@@{EFI_AT}M"
        sectors = str(EFI_MIB * MIB // 512)
        _must(["mformat", "-i", fat, "-F", "-v", "EFI", "-T", sectors, "-h", "255", "-s", "63"])
        _must(["mcopy", "-i", fat, "-s", *map(str, sorted(efi.iterdir())), "::/"])
        shutil.rmtree(efi)
        offset = f"offset={ROOT_AT * MIB}"
        ext4 = ["mke2fs", "-q", "-F", "-t", "ext4", "-d", str(root), "-E", offset]
        _must([*ext4, str(self.image), f"{ROOT_MIB}M"])

    def boot(self, accel: str) -> None:
        """Start the firmware, which finds all the rest on the disk; the machine ends by itself."""
        variables = self.where / "variables.fd"
        shutil.copy(VARIABLES, variables)
        argv = [
            *("qemu-system-x86_64", "-machine", f"q35,accel={accel}", "-cpu", "max"),
            *("-smp", "2", "-m", "1024", "-nodefaults", "-display", "none", "-no-reboot"),
            *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={FIRMWARE}"),
            *("-drive", f"if=pflash,format=raw,unit=1,file={variables}"),
            *("-drive", f"if=none,id=disk,format=raw,file={self.image}"),
            *("-device", "ide-hd,drive=disk,bootindex=1"),
            *("-serial", f"file:{self.console}", "-serial", f"file:{self.results}"),
            *("-netdev", "user,id=n1,restrict=on", "-netdev", "user,id=n2,restrict=on"),
            *("-device", "e1000,netdev=n1,mac=52:54:00:00:00:01"),
            *("-device", "e1000,netdev=n2,mac=52:54:00:00:00:02"),
        ]
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, timeout=BOOT_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise LabError(f"the machine did not end in time: {self.console}", 1) from None
        if done.returncode:
            raise LabError(f"QEMU ended with {done.returncode}", 1)


def machine(paths: Paths, where: Path, debs: Sequence[Path], accel: str) -> Disk:
    """Install, boot, use, remove; what came of it is in the results of the disk."""
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    disk = Disk(where)
    root = disk.install(debs)
    disk.fill(root)
    shutil.rmtree(root)
    disk.boot(accel)
    return disk

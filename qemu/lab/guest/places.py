# SPDX-License-Identifier: GPL-2.0
"""Where the files of a start are: a disk, its file system, and what lies between the two."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.guest import slowdisk
from lab.guest.boot import Program
from lab.guest.ext4 import FS_UUID, Ext4
from lab.guest.extents import FileSystem
from lab.guest.mkfs import Mkfs

FOLDER = "/run/wrais"
"""Where the file system of the start is mounted."""
LOWER = "/run/lower"
"""Where the file of a loop device is."""
DEPTHS = (2, 8)
"""Commands that a disk takes at a time, where its place does not say."""
SIZE_MB = slowdisk.SIZE_MB
FS = Ext4(size_mb=SIZE_MB, block=4096, journal_mb=32)

XFS_FS = Mkfs(
    "xfs",
    SIZE_MB,
    ("-q", "-s", "size=4096", "-l", "size=64m", "-m", f"uuid={FS_UUID}"),
    ("libcrc32c", "xfs"),
)
BTRFS_FS = Mkfs(
    "btrfs",
    SIZE_MB,
    ("-q", "-d", "single", "-m", "dup", "-U", FS_UUID),
    (
        *("xxhash", "zstd_common", "zstd_compress", "zstd_decompress", "zlib_deflate"),
        *("lzo_compress", "lzo_decompress", "xor", "raid6_pq", "libcrc32c", "btrfs"),
    ),
)
F2FS_FS = Mkfs("f2fs", SIZE_MB, ("-q", "-w", "4096", "-U", FS_UUID), ("crc32_generic", "f2fs"))

TOOLS = ("bin/busybox", "sbin/mke2fs")
"""What the guest takes of the root image, which would not be virtual time."""

CIPHER = "aes-xts-plain64"
"""What cryptsetup takes by default; the kernel has it in the CPU's AES instructions."""
KEY = "".join(f"{byte:02x}" for byte in range(64))
SECTOR = 4096


def _tool(name: str, *argv: str, seconds: int = 30, busy_s: float = 0.1) -> Program:
    """A program of the root image that makes something ready."""
    return Program(name, argv, seconds, image=TOOLS, busy_s=busy_s)


def _folder(path: str) -> Program:
    return _tool(f"folder-{path.rpartition('/')[2]}", "busybox", "mkdir", "-p", path)


def _mount(device: str, path: str, kind: str = "ext4") -> Program:
    argv = ("busybox", "mount", "-t", kind, "-o", "noatime", device, path)
    return _tool(f"mount-{path.rpartition('/')[2]}", *argv)


def _make_ext4(device: str) -> Program:
    """The file system of every start, made in the guest: zeros are written there as well."""
    argv = ("busybox", "env", "MKE2FS_CONFIG=/dev/null", *FS.argv("/sbin/mke2fs", Path(device)))
    return _tool("ext4", *argv, seconds=120, busy_s=2)


@dataclass(frozen=True)
class Place:
    """`name` is the parameter of the records. Its disk has that `depth`, if it has one only.

    With a `device` the start's file system is made there, and not on the disk itself.
    `other` is the file system of the start if that is not ext4; `first` is what makes more
    files there, for all starts of a boot.
    """

    name: str
    label: str
    timing: slowdisk.Timing = slowdisk.FLASH
    depth: int | None = None
    device: str = ""
    other: Mkfs | None = None
    first: tuple[Program, ...] = ()
    disk_mb: int = SIZE_MB
    mem_mb: int = 3072

    @property
    def lower(self) -> bool:
        """There is a file system below that of the start."""
        return self.disk_mb > SIZE_MB

    @property
    def disk(self) -> FileSystem | None:
        """The file system that the host lays onto the disk."""
        if self.other:
            return self.other
        if self.device and not self.lower:
            return None
        return Ext4(size_mb=self.disk_mb, block=4096, journal_mb=32)

    @property
    def type(self) -> str:
        """That of the start's file system, as mount(8) names it."""
        return self.other.type if self.other else "ext4"

    @property
    def modules(self) -> tuple[str, ...]:
        """Kernel modules that the guest has to load."""
        return self.other.modules if self.other else ()

    def words(self, depth: int) -> tuple[str, ...]:
        """Kernel arguments."""
        words = slowdisk.words(depth, self.timing, self.disk_mb)
        if not self.device or self.lower:
            return words
        sectors = SIZE_MB * 2048
        target = f"crypt {CIPHER} {KEY} 0 {slowdisk.DEVICE} 0 1 sector_size:{SECTOR}"
        return (*words, f'dm-mod.create="crypt,,,rw,0 {sectors} {target}"')

    def mount(self) -> tuple[str, ...]:
        """What wrais-run is to mount."""
        return () if self.device or self.other or self.first else ("--mount",)

    def programs(self) -> Iterator[Program]:
        """What makes it ready, first in every boot."""
        if self.disk:
            yield Program("disk", slowdisk.DISK, 40, busy_s=1)
        for module in self.modules:
            yield Program(f"load-{module}", ("@insmod", module))
        if self.other or self.first:
            yield _folder(FOLDER)
            yield _mount(slowdisk.DEVICE, FOLDER, self.type)
        if self.lower:
            yield _folder(LOWER)
            yield _mount(slowdisk.DEVICE, LOWER)
            image = f"{LOWER}/image"
            zeros = ("if=/dev/zero", f"of={image}", "bs=1M", f"count={SIZE_MB}", "conv=fsync")
            yield _tool("image", "busybox", "dd", *zeros, seconds=240, busy_s=3)
            yield _tool("loop", "busybox", "losetup", self.device, image)
        if self.device:
            yield _folder(FOLDER)
            yield _make_ext4(self.device)
            yield _mount(self.device, FOLDER)
        yield from self.first


FLASH = Place("flash", "a phone's flash")
SEEK = Place("seek", "seeks of 8 ms", slowdisk.SEEK, 32)
CLOUD = Place("cloud", "3,000 requests/s", slowdisk.CLOUD, 64)
CRYPT = Place("crypt", "dm-crypt", depth=2, device="/dev/dm-0")
LOOP = Place("loop", "loop over ext4", depth=2, device="/dev/loop0", disk_mb=2048, mem_mb=5120)
DISKS = (SEEK, CLOUD)
CARRIERS = (CRYPT, LOOP)
XFS = Place("xfs", "XFS", depth=2, other=XFS_FS)
BTRFS = Place("btrfs", "btrfs", depth=2, other=BTRFS_FS)
F2FS = Place("f2fs", "f2fs", depth=2, other=F2FS_FS)
REPORTED = (BTRFS, F2FS)
"""No goal for them: what they do is said."""
FILE_SYSTEMS = (XFS, *REPORTED)
OTHERS = (*DISKS, *CARRIERS, *FILE_SYSTEMS)

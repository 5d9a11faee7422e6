# SPDX-License-Identifier: GPL-2.0
"""A memory-backed null_blk with ext4, which may be filled, frozen and taken away.

What may not come back is done by a child: so is told what hangs from what fails.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EINVAL

from inside import calls
from inside.ktap import UNSUPPORTED, stop
from inside.task import released

MIB = 1 << 20
NULLB = "/sys/kernel/config/nullb"
FOLDER = "/run/wrais-safety"
"""Where a disk is mounted; more behind that for each."""
ORDERED, JOURNAL = "data=ordered", "data=journal"
VM = "/proc/sys/vm"
VMSTAT = "/proc/vmstat"
_LIMITS = ("dirty_ratio", "dirty_background_ratio", "dirty_bytes", "dirty_background_bytes")
"""In the order in which they are put back: 0 leaves the other's."""
_MS_RDONLY, _MS_REMOUNT, _MS_NOATIME, _MS_REC, _MS_PRIVATE = 1, 32, 1024, 1 << 14, 1 << 18
_MNT_DETACH = 2
_CLONE_NEWNS = 0x20000
_FIFREEZE, _FITHAW = 0xC0045877, 0xC0045878
_SHUTDOWN, _WITHOUT_LOG = 0x8004587D, 2
_LOOP_CONFIGURE, _LOOP_CTL_GET_FREE = 0x4C0A, 0x4C82
_LO_READ_ONLY, _LO_AUTOCLEAR, _LO_DIRECT = 1, 4, 16
_LOOP_CONFIG_BYTES = 304
_FORM = {
    "memory_backed": 1,
    "queue_mode": 2,
    "irqmode": 2,
    "submit_queues": 1,
    "blocksize": 4096,
    "max_sectors": 1024,
}
_MKFS = (
    *("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-N", "1024", "-J", "size=4"),
    *("-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
)


def require() -> None:
    """Exits unless this kernel has such disks; what the caller mounts is its own."""
    features = f"{NULLB}/features"
    if not os.path.exists(features) or "service_mbps" not in calls.read(features):
        stop(UNSUPPORTED, "this kernel has no null_blk with a service time in configfs")
    calls.call("unshare", _CLONE_NEWNS)
    calls.mount("", "/", "", _MS_REC | _MS_PRIVATE)


def set_vm(**numbers: int) -> None:
    """Numbers of vm.*"""
    for name, value in numbers.items():
        calls.write(f"{VM}/{name}", str(value))


def limit_dirty(size: int) -> None:
    """So much may be dirty, and half of that before it is written."""
    set_vm(dirty_bytes=size, dirty_background_bytes=size // 2)


@contextmanager
def vm_kept() -> Iterator[None]:
    """The limits of what is dirty are put back."""
    before = {name: calls.number(f"{VM}/{name}") for name in _LIMITS}
    try:
        yield
    finally:
        set_vm(**{name: value for name, value in before.items() if value})


def run(*argv: str) -> None:
    """Run a program.  Raises OSError with what it said unless its status is 0."""
    said = os.memfd_create("said")

    def become() -> None:
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.execvp(argv[0], argv)

    try:
        released(become)
    except ChildProcessError as error:
        raise OSError(EINVAL, f"{error}: {os.pread(said, 512, 0).decode()}", argv[0]) from None
    finally:
        os.close(said)


def fill_file(path: str, size: int) -> None:
    """A file of so many bytes that are on its disk."""
    with open(path, "wb", buffering=0) as file:
        file.write(b"\x5a" * size)
        os.fsync(file.fileno())


class Disk:
    """One that moves so many MB/s, below bfq, mounted; away with the block."""

    def __init__(
        self,
        mib: int,
        mbps: int,
        options: str = ORDERED,
        more: str = "",
        feature: str = "",
        depth: int = 2,
    ) -> None:
        self.name = f"wrais-safety{more}"
        self.device = f"/dev/{self.name}"
        self.folder = f"{FOLDER}{more}"
        self._item = f"{NULLB}/{self.name}"
        os.mkdir(self._item)
        try:
            self._configure(size=mib, hw_queue_depth=depth, **_FORM)
            self._plug()
            run(*_MKFS, *(["-O", feature] if feature else []), self.device)
            self.pace(mbps)
            self.mount(options)
        except BaseException:
            self._remove()
            raise

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *_: object) -> None:
        # removed files need not be written
        for name in os.listdir(self.folder):
            calls.fails(os.unlink, f"{self.folder}/{name}")
        self._remove()

    def _remove(self) -> None:
        calls.fails(self.unmount, _MNT_DETACH)
        self.power(False)
        os.rmdir(self._item)

    def _configure(self, **numbers: int) -> None:
        for name, value in numbers.items():
            calls.write(f"{self._item}/{name}", str(value))

    def _plug(self) -> None:
        self.power(True)
        self.set("queue/scheduler", "bfq")

    def pace(self, mbps: int) -> None:
        """Plug it anew, with the same bytes, as one that moves so many MB/s; 0: all at once."""
        self.power(False)
        self._configure(service_mbps=mbps, service_nsec=300_000 if mbps else 0)
        self._plug()

    def set(self, name: str, text: str) -> None:
        """What the block layer keeps of it."""
        calls.write(f"/sys/block/{self.name}/{name}", text)

    def power(self, on: bool) -> None:
        """Take it away, or have it back with the same bytes."""
        _in_child(calls.write, f"{self._item}/power", str(int(on)))

    def mount(self, options: str = ORDERED) -> None:
        """On its folder."""
        os.makedirs(self.folder, exist_ok=True)
        _in_child(calls.mount, self.device, self.folder, "ext4", _MS_NOATIME, options)

    def remount(self, read_only: bool) -> None:
        """As it is, or read-only."""
        flags = _MS_REMOUNT | _MS_NOATIME | (_MS_RDONLY if read_only else 0)
        _in_child(calls.mount, "", self.folder, "", flags)

    def unmount(self, flags: int = 0) -> None:
        """From its folder."""
        _in_child(calls.unmount, self.folder, flags)

    def freeze(self, frozen: bool) -> None:
        """The file system, or thaw it."""
        _in_child(self._freeze, _FIFREEZE if frozen else _FITHAW)

    def _freeze(self, request: int) -> None:
        fcntl.ioctl(os.open(self.folder, os.O_RDONLY), request, 0)

    def crash(self) -> None:
        """Unmount it, and write nothing of what is not on the disk yet."""
        _in_child(self._shut_down)
        self.unmount()

    def _shut_down(self) -> None:
        flags = struct.pack("I", _WITHOUT_LOG)
        fcntl.ioctl(os.open(self.folder, os.O_RDONLY), _SHUTDOWN, flags)

    def end_clean(self) -> None:
        """Unmount it, and check that the file system is consistent."""
        self.unmount()
        run("e2fsck", "-fn", self.device)

    def expect_usable(self) -> None:
        """There is room for a file."""
        path = f"{self.folder}/again"
        fill_file(path, 4 * MIB)
        os.unlink(path)

    def count(self, field: int) -> int:
        """Since it was plugged: requests that read are field 0, sectors written 6."""
        return int(calls.read(f"/sys/block/{self.name}/stat").split()[field])

    @contextmanager
    def loop(self, direct: bool) -> Iterator[str]:
        """A loop device over an image on it, which reads it directly or through the page cache."""
        fill_file(self.image, MIB)
        control = os.open("/dev/loop-control", os.O_RDWR)
        path = f"/dev/loop{fcntl.ioctl(control, _LOOP_CTL_GET_FREE)}"
        os.close(control)
        file, device = os.open(self.image, os.O_RDONLY), os.open(path, os.O_RDONLY)
        try:
            flags = _LO_READ_ONLY | _LO_AUTOCLEAR | (_LO_DIRECT if direct else 0)
            config = struct.pack("II52xI", file, 0, flags).ljust(_LOOP_CONFIG_BYTES, b"\0")
            fcntl.ioctl(device, _LOOP_CONFIGURE, config)
            os.close(file)
            yield path
        finally:
            os.close(device)

    @property
    def image(self) -> str:
        """The file of its loop device."""
        return f"{self.folder}/image"


def _in_child(work: Callable[..., object], *args: object) -> None:
    """Do it there.  Raises OSError with its error, TimeoutError if it does not come back."""
    error = released(lambda: calls.fails(work, *args))
    if error:
        raise OSError(error, os.strerror(error), f"{args}")

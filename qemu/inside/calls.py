# SPDX-License-Identifier: GPL-2.0
"""System calls that Python's library lacks, and files of /proc and /sys; all raise OSError."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable

_LIBC = ctypes.CDLL(None, use_errno=True)
_MACHINE = ("x86_64", "aarch64").index(os.uname().machine)
_NUMBERS = {
    "capget": (125, 90),
    "capset": (126, 91),
    "fallocate": (285, 47),
    "finit_module": (313, 273),
    "futex": (202, 98),
    "io_getevents": (208, 4),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "ioprio_get": (252, 31),
    "ioprio_set": (251, 30),
    "mount": (165, 40),
    "prctl": (157, 167),
    "sched_getattr": (315, 275),
    "sched_setattr": (314, 274),
    "sync_file_range": (277, 84),
    "umount2": (166, 39),
    "unshare": (272, 97),
}
_CAPABILITIES_3 = 0x20080522
CAP_SYS_ADMIN, CAP_SYS_NICE = 21, 23
NOBODY = 65534
_PR_SET_PDEATHSIG = 1
PIECE = 4096
_FUTEX_LOCK_PI, _FUTEX_UNLOCK_PI = 6, 7


def call(name: str, *args: int | bytes) -> int:
    """A system call with numbers, addresses and texts."""
    given = (_NUMBERS[name][_MACHINE], *args)
    words = (word if isinstance(word, bytes) else ctypes.c_long(word) for word in given)
    value: int = _LIBC.syscall(*words)
    if value < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return value


def here() -> int:
    """The CPU that the caller is on."""
    cpu: int = _LIBC.sched_getcpu()
    return cpu


def fails(work: Callable[..., object], *args: object) -> int:
    """The errno of what that raises, 0 if it does not fail."""
    try:
        work(*args)
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def signal_at_death_of_parent(number: int) -> None:
    """What the caller gets then."""
    call("prctl", _PR_SET_PDEATHSIG, number)


def drop_capability(number: int) -> None:
    """The caller has it no more, and cannot have it again."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    data = (ctypes.c_uint32 * 6)()
    call("capget", ctypes.addressof(header), ctypes.addressof(data))
    half, bit = divmod(number, 32)
    for word in range(3 * half, 3 * half + 3):
        data[word] &= ~(1 << bit)
    call("capset", ctypes.addressof(header), ctypes.addressof(data))


def drop_user() -> None:
    """The caller becomes the user without rights."""
    os.setresgid(*[NOBODY] * 3)
    os.setresuid(*[NOBODY] * 3)


def load_module(path: str) -> None:
    """Of the kernel, without parameters."""
    none = ctypes.create_string_buffer(1)
    with open(path, "rb") as file:
        call("finit_module", file.fileno(), ctypes.addressof(none), 0)


def mount(device: str, folder: str, kind: str, flags: int, options: str = "") -> None:
    """mount(2)."""
    call("mount", device.encode(), folder.encode(), kind.encode(), flags, options.encode())


def unmount(folder: str, flags: int = 0) -> None:
    """umount2(2)."""
    call("umount2", folder.encode(), flags)


def lock(address: int) -> None:
    """Take the priority inheritance mutex there, which is 0 when it is free."""
    call("futex", address, _FUTEX_LOCK_PI, 0, 0)


def unlock(address: int) -> None:
    """Let it go."""
    call("futex", address, _FUTEX_UNLOCK_PI)


def read(path: str) -> str:
    """The whole file, with no more calls than that needs."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return pieces(fd, PIECE)
    finally:
        os.close(fd)


def pieces(fd: int, size: int) -> str:
    """The rest of a file, read in pieces of that size at most."""
    found = b""
    while piece := os.read(fd, size):
        found += piece
    return found.decode()


def write(path: str, text: str) -> None:
    """All of it with one write(2), to a file that there is."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def values(path: str) -> dict[str, int]:
    """A file of lines "NAME VALUE" or "NAME: VALUE UNIT"."""
    lines = (line.split() for line in read(path).splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if words[1:]}


def number(path: str) -> int:
    """A file that holds one decimal number."""
    text = read(path).removesuffix("\n")
    if not text.isdigit():
        raise OSError(errno.EINVAL, "no number", path)
    return int(text)

# SPDX-License-Identifier: GPL-2.0
"""What ext4's fast commits promise, in a crash.

What a test promises must be there after the journal has been replayed, and the file system be
consistent. Each promise is kept by a fast commit, not by a full one.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from inside import calls
from inside.ktap import Case
from inside.task import Task, stat, wait_until
from inside.wrais_disk import MIB, ORDERED, Disk, fill_file

DISK_MIB, MBPS = 24, 5
FEATURE = "fast_commit"
SYNC_OPTIONS = f"{ORDERED},commit=300,nodelalloc"
"""No commit because of time; blocks belong to the transaction in which they are written."""
HELD_BYTES = 4 * MIB
"""A commit that writes these takes most of a second."""
SIZE = 4096
RECORD = b"\xa5" * SIZE
_MOVE_EXTENTS, _SET_FLAGS, _EXTENTS = 0xC028660F, 0x40086602, 0x80000
_COLLAPSE, _INSERT = 0x08, 0x20
LAST = 2 * 30 * 340
"""Extents of a block each, with holes between them, fill 30 blocks up to this one. To shift the
extents of 22 takes all that a transaction has for it.
"""


def fast_commits(disk: Disk) -> int:
    """Since it was mounted."""
    lines = calls.read(f"/proc/fs/ext4/{disk.name}/fc_info").splitlines()
    return next(int(line.split()[0]) for line in lines if line.endswith(" commits"))


@contextmanager
def promised(case: Case, disk: Disk, count: int) -> Iterator[None]:
    """N fast commits keep what the body promises; then the disk crashes."""
    before = fast_commits(disk)
    yield
    case.equal(fast_commits(disk) - before, count, "fast commits")
    disk.crash()
    disk.pace(0)
    disk.mount()


def commits(disk: Disk, folder: int, changes: Callable[[], None]) -> bool:
    """Change something while a transaction commits that has a symbolic link, which a fast commit
    does not support; returns whether it has been so.
    """
    os.symlink("nowhere", f"{disk.folder}/symlink")
    with open(f"{disk.folder}/held", "wb", buffering=0) as file:
        file.write(bytes(HELD_BYTES))
    inflight = f"/sys/block/{disk.name}/inflight"
    with Task(partial(os.fsync, folder)) as commit:
        commit.release()
        began = wait_until(lambda: calls.read(inflight).split() != ["0", "0"])
        changes()
        goes_on = stat(commit.pid).state == "D"
        commit.result()
    return began and goes_on


def tracked(case: Case) -> None:
    """A fast commit has what was changed while the transaction before it was committed in full."""
    with Disk(DISK_MIB, MBPS, SYNC_OPTIONS, feature=FEATURE) as disk:
        at = f"{disk.folder}/".__add__
        for name in ("appended", "linked", "removed", "renamed"):
            fill_file(at(name), SIZE)
        folder = os.open(disk.folder, os.O_RDONLY)
        os.fsync(folder)
        files = [os.open(at(name), os.O_WRONLY | os.O_APPEND) for name in ("appended", "linked")]

        def changes() -> None:
            os.write(files[0], RECORD)
            os.link(at("linked"), at("link"))
            os.unlink(at("removed"))
            os.rename(at("renamed"), at("name"))
            files.append(os.open(at("created"), os.O_WRONLY | os.O_CREAT))
            os.write(files[-1], RECORD)

        case.expect(commits(disk, folder, changes), "nothing was changed during a full commit")
        with promised(case, disk, len(files)):
            for file in files:
                os.fsync(file)
                os.close(file)
            os.close(folder)
        wanted = dict.fromkeys(("created", "link", "linked", "name"), SIZE)
        wanted["appended"] = 2 * SIZE
        names = set(os.listdir(disk.folder)) - {"held", "lost+found", "symlink"}
        case.equal({name: os.stat(at(name)).st_size for name in names}, wanted, "files")
        disk.end_clean()


def unnamed(case: Case) -> None:
    """A file that gets its first name has it, whether its inode was committed before or not."""
    names = ("committed", "new")
    with Disk(DISK_MIB, MBPS, feature=FEATURE) as disk:
        # No commit is a fast one before the first full one.
        fill_file(f"{disk.folder}/first", SIZE)
        folder = os.open(disk.folder, os.O_RDONLY)
        with promised(case, disk, len(names)):
            for name in names:
                file = os.open(disk.folder, os.O_TMPFILE | os.O_RDWR)
                os.write(file, RECORD)
                if name == "committed":
                    os.fsync(folder)
                os.link(f"/proc/self/fd/{file}", f"{disk.folder}/{name}", src_dir_fd=folder)
                os.fsync(file)
                os.close(file)
            os.close(folder)
        there = set(os.listdir(disk.folder))
        case.expect(there >= {*names}, f"there are only {there}")
        for name in there.intersection(names):
            with open(f"{disk.folder}/{name}", "rb") as found:
                case.expect(found.read() == RECORD, f"{name}: other bytes")
        disk.end_clean()


def folders(case: Case) -> None:
    """A directory that is made or removed is committed in full, with the links of that above it."""
    with Disk(DISK_MIB, MBPS, feature=FEATURE) as disk:
        at = f"{disk.folder}/".__add__
        os.mkdir(at("old"))
        # No commit is a fast one before the first full one.
        fill_file(at("first"), SIZE)
        with promised(case, disk, 0):
            os.rmdir(at("old"))
            fill_file(at("second"), SIZE)
            os.mkdir(at("new"))
            fill_file(at("new/file"), SIZE)
        there = {*os.listdir(disk.folder)} - {"lost+found"}
        case.equal(there, {"first", "new", "second"}, "what is there")
        case.equal(os.listdir(at("new")), ["file"], "what is in the new directory")
        disk.end_clean()


def _move(file: int, donor: int) -> None:
    """Give it the donor's first block, and its own to the donor."""
    fcntl.ioctl(file, _MOVE_EXTENTS, struct.pack("IIQQQQ", 0, donor, 0, 0, 1, 0))


def _migrate(file: int, extents: bool) -> None:
    """Find its blocks by extents, or by a map."""
    flags = struct.pack("Q", _EXTENTS if extents else 0)
    fcntl.ioctl(file, _SET_FLAGS, flags)


def remapped(case: Case) -> None:
    """What is written to blocks that are found in another way is committed in full."""
    with Disk(DISK_MIB, MBPS, feature=FEATURE) as disk:
        names = ("moved", "map", "extents", "donor")
        for name in names:
            fill_file(f"{disk.folder}/{name}", SIZE)
        files = [os.open(f"{disk.folder}/{name}", os.O_RDWR) for name in names]
        _migrate(files[2], False)
        folder = os.open(disk.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

        def sync(file: int) -> None:
            os.pwrite(file, RECORD, 0)
            os.fsync(file)

        with promised(case, disk, 0):
            _move(files[0], files[3])
            sync(files[0])
            _migrate(files[1], False)
            sync(files[1])
            _migrate(files[2], True)
            sync(files[2])
            for file in files:
                os.close(file)
        for name in names[:3]:
            with open(f"{disk.folder}/{name}", "rb") as found:
                case.expect(found.read() == RECORD, f"{name}: other bytes")
        disk.end_clean()


def _shift(mode: int, file: int) -> None:
    """Remove the second block, or make room for one there."""
    calls.call("fallocate", file, mode, SIZE, SIZE)


def _cut(file: int) -> None:
    """Leave the first block, and write one far behind it."""
    os.ftruncate(file, SIZE)
    os.pwrite(file, RECORD, LAST * SIZE)


def _transactions(disk: Disk) -> int:
    """Committed in full since it was mounted."""
    return int(calls.read(f"/proc/fs/jbd2/{disk.name}-8/info").split()[0])


def _spans(case: Case, disk: Disk, path: str, change: Callable[[int], None], fast: int) -> None:
    """Begin it in a transaction that is then committed, and end it in one that fsync(2) commits."""
    disk.unmount()
    disk.pace(MBPS)
    disk.mount(SYNC_OPTIONS)
    # The first commit since then would wait for the journal's superblock.
    fill_file(f"{disk.folder}/first", SIZE)
    file = os.open(path, os.O_RDWR)
    transactions, reads = _transactions(disk), disk.count(0) + 5
    with promised(case, disk, fast):
        with Task(partial(change, file)) as task:
            task.release()
            case.expect(wait_until(lambda: disk.count(0) >= reads), "it looks for no blocks")
            os.sync()
            task.result()
        os.fsync(file)
        os.close(file)
        case.equal(_transactions(disk) - transactions, 2 - fast, "full commits")


def spans(case: Case) -> None:
    """Where the blocks of a file are is promised, too, if that takes two transactions to change."""
    with Disk(3 * DISK_MIB, 0, feature=FEATURE) as disk:
        path = f"{disk.folder}/file"
        with open(path, "wb", buffering=0) as file:
            for block in range(0, LAST + 1, 2):
                os.posix_fallocate(file.fileno(), block * SIZE, SIZE)
            for block in (2, LAST):
                os.pwrite(file.fileno(), RECORD, block * SIZE)
        for change, fast, wanted in (
            (partial(_shift, _COLLAPSE), 0, {1: RECORD, LAST - 1: RECORD}),
            (partial(_shift, _INSERT), 0, {2: RECORD, LAST: RECORD}),
            (_cut, 1, {2: bytes(SIZE), LAST: RECORD}),
        ):
            _spans(case, disk, path, change, fast)
            with open(path, "rb") as found:
                for block, expected in wanted.items():
                    there = os.pread(found.fileno(), SIZE, block * SIZE)
                    case.expect(there == expected, f"{change}, block {block}: other bytes")
        disk.end_clean()

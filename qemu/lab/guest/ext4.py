# SPDX-License-Identifier: GPL-2.0
"""An empty ext4 file system, the same bytes each time, and what of it is not zero.

A guest that is to repeat exactly has no disk of the host's.  Its disk is in its
own memory and starts as zeros: mke2fs runs here, and the guest gets the extents
that differ from zero, which wrais-disk writes to the device.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.guest import protocol

MAGIC = b"LABDISK1"
UNIT = 4096
"""Granule of an extent in bytes; a granule that holds only zeros is left out."""
READ_BYTES = 1 << 20

FS_UUID = "6c616264-6973-6b00-8000-000000000001"
HASH_SEED = "6c616264-6973-6b00-8000-000000000002"
MADE_AT = 1577836800
"""2020-01-01, when the guest's clock starts."""
FEATURES = (
    *("has_journal", "ext_attr", "resize_inode", "dir_index", "filetype", "extent", "64bit"),
    *("flex_bg", "sparse_super", "large_file", "huge_file", "dir_nlink", "extra_isize"),
    "metadata_csum",
)
"""Named one by one: the host's own defaults must not decide what is measured."""

BLOCKS = (1024, 2048, 4096)
MIN_MB, MAX_MB = 8, 65536
MIN_JOURNAL_BLOCKS = 1024
"""What mke2fs and jbd2 ask for."""


@dataclass(frozen=True)
class Ext4:
    """A file system: size and journal in MiB, bytes a block, features beside FEATURES.

    Raises LabError for what mke2fs would refuse.
    """

    size_mb: int = 1024
    block: int = 4096
    journal_mb: int = 32
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.block not in BLOCKS:
            allowed = ", ".join(map(str, BLOCKS))
            raise LabError(f"ext4 block {self.block}: allowed are {allowed}")
        if not MIN_MB <= self.size_mb <= MAX_MB:
            raise LabError(f"ext4 size {self.size_mb} MiB: allowed are {MIN_MB} to {MAX_MB}")
        least, most = -(-MIN_JOURNAL_BLOCKS * self.block >> 20), self.size_mb // 2
        if not least <= self.journal_mb <= most:
            raise LabError(
                f"ext4 journal {self.journal_mb} MiB: allowed are {least} to {most} "
                f"with blocks of {self.block} bytes on {self.size_mb} MiB"
            )

    def argv(self, mke2fs: str, image: Path) -> list[str]:
        """The command.  Everything is initialised now, not by a thread of the guest later."""
        options = f"hash_seed={HASH_SEED},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        return [
            *(mke2fs, "-q", "-F", "-t", "ext4", "-b", str(self.block), "-I", "256", "-m", "0"),
            *("-O", ",".join(("none", *FEATURES, *self.features))),
            *("-J", f"size={self.journal_mb}", "-U", FS_UUID, "-E", options),
            *(str(image), f"{self.size_mb}M"),
        ]


def find_mke2fs() -> str:
    """The program, which is outside of a user's PATH on Debian.  Raises LabError without it."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    program = shutil.which("mke2fs", path=path)
    if program is None:
        raise LabError("mke2fs is not installed (package e2fsprogs): make deps", exit_code=1)
    return program


def make(fs: Ext4, image: Path) -> None:
    """Write the file system to a sparse file.  Raises LabError (exit code 1) if mke2fs fails."""
    image.parent.mkdir(parents=True, exist_ok=True)
    image.unlink(missing_ok=True)
    nothing = {"MKE2FS_CONFIG": os.devnull, "E2FSPROGS_FAKE_TIME": str(MADE_AT), "LC_ALL": "C"}
    done = subprocess.run(
        fs.argv(find_mke2fs(), image),
        env={**os.environ, **nothing},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise LabError(
            f"mke2fs: exit {done.returncode}: {said[-1] if said else 'no message'}", exit_code=1
        )


def _data(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes, as (start, end); all of it if that is not known."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:
            return
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


def _units(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Granules that are not all zero, with their offsets, in rising order."""
    for start, end in _data(descriptor, size):
        at = start - start % UNIT
        while at < end:
            chunk = os.pread(descriptor, READ_BYTES, at)
            if not chunk:
                break
            for begin in range(0, len(chunk), UNIT):
                unit = chunk[begin : begin + UNIT]
                if unit.strip(b"\0"):
                    yield at + begin, unit
            at += len(chunk)


def extents(image: Path) -> list[tuple[int, bytes]]:
    """What is not zero in a file, as (offset, bytes): rising, apart from one another."""
    found: list[tuple[int, bytearray]] = []
    descriptor = os.open(image, os.O_RDONLY)
    try:
        for offset, unit in _units(descriptor, os.fstat(descriptor).st_size):
            if found and found[-1][0] + len(found[-1][1]) > offset:
                continue  # the granule in which one part ends and the next begins
            if found and found[-1][0] + len(found[-1][1]) == offset:
                found[-1][1].extend(unit)
            else:
                found.append((offset, bytearray(unit)))
    finally:
        os.close(descriptor)
    return [(offset, bytes(data)) for offset, data in found]


def pack(size: int, parts: list[tuple[int, bytes]]) -> bytes:
    """The file that wrais-disk reads: see there.  size is the whole disk's, in bytes."""
    pieces = [struct.pack("<8sQQ", MAGIC, size, len(parts))]
    for offset, data in parts:
        pieces += (struct.pack("<QQ", offset, len(data)), data)
    return b"".join(pieces)


def packed(fs: Ext4, path: Path) -> Path:
    """Make the file system and write its extents to path, whole or not at all; returns it."""
    image = path.with_name(f".{path.name}.{os.getpid()}.img")
    try:
        make(fs, image)
        data = pack(fs.size_mb << 20, extents(image))
    finally:
        image.unlink(missing_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(path)
    return path


def extra(fs: Ext4 | None, log_dir: Path) -> dict[str, Path]:
    """More files for the initramfs of a guest with that file system; made in log_dir."""
    if fs is None:
        return {}
    log_dir.mkdir(parents=True, exist_ok=True)
    return {protocol.in_archive(protocol.DISK_FILE): packed(fs, log_dir / "disk")}

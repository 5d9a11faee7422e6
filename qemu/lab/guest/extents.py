# SPDX-License-Identifier: GPL-2.0
"""What of an empty file system is not zero, for a disk that is in a guest's own memory.

A guest that is to repeat exactly has no disk of the host's.  Its disk starts as zeros:
mkfs runs here, and the guest gets the extents that differ from zero, which wrais-disk
writes to the device.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from lab.guest import protocol

MAGIC = b"LABDISK1"
UNIT = 4096
"""Granule of an extent in bytes; a granule that holds only zeros is left out."""
READ_BYTES = 1 << 20


class FileSystem(Protocol):
    """One that the host makes."""

    @property
    def size_mb(self) -> int:
        """Of the whole disk."""

    def make(self, image: Path) -> None:
        """Write the empty file system to a sparse file."""


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


def packed(fs: FileSystem, path: Path) -> Path:
    """Make the file system and write its extents to path, whole or not at all; returns it."""
    image = path.with_name(f".{path.name}.{os.getpid()}.img")
    try:
        fs.make(image)
        data = pack(fs.size_mb << 20, extents(image))
    finally:
        image.unlink(missing_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(path)
    return path


def extra(fs: FileSystem | None, log_dir: Path) -> dict[str, Path]:
    """More files for the initramfs of a guest with that file system; made in log_dir."""
    if fs is None:
        return {}
    log_dir.mkdir(parents=True, exist_ok=True)
    return {protocol.in_archive(protocol.DISK_FILE): packed(fs, log_dir / "disk")}

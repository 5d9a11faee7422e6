# SPDX-License-Identifier: GPL-2.0
"""File systems for guests without a disk: the same bytes, nothing lost but zeros."""

import os
import struct
from pathlib import Path

import pytest

from lab import LabError
from lab.guest import ext4, extents
from lab.guest.ext4 import Ext4
from lab.guest.extents import UNIT
from tests.host.checkouts import script

SMALL = Ext4(size_mb=64, block=4096, journal_mb=4)


def test_nothing_is_left_to_a_thread_of_the_guest() -> None:
    argv = Ext4(features=("fast_commit",)).argv("mke2fs", Path("disk"))
    extended = argv[argv.index("-E") + 1]
    assert "lazy_itable_init=0,lazy_journal_init=0" in extended
    assert "hash_seed=" in extended
    features = argv[argv.index("-O") + 1].split(",")
    assert features[0] == "none"
    assert {"has_journal", "metadata_csum", "fast_commit"} <= set(features)


def unpacked(data: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    magic, size, count = struct.unpack_from("<8sQQ", data)
    assert magic == b"LABDISK1"
    at, parts = 24, []
    for _ in range(count):
        offset, length = struct.unpack_from("<QQ", data, at)
        parts.append((offset, data[at + 16 : at + 16 + length]))
        at += 16 + length
    assert at == len(data)
    return size, parts


def test_twice_the_same_bytes(tmp_path: Path) -> None:
    one = extents.packed(SMALL, tmp_path / "one").read_bytes()
    two = extents.packed(SMALL, tmp_path / "two").read_bytes()
    assert one == two
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_extents_and_zeros_are_the_image(tmp_path: Path) -> None:
    image = tmp_path / "image"
    SMALL.make(image)
    parts = extents.extents(image)
    size, found = unpacked(extents.pack(64 << 20, parts))
    assert (size, found) == (64 << 20, parts)
    whole = bytearray(size)
    for offset, data in parts:
        whole[offset : offset + len(data)] = data
    assert whole == image.read_bytes()
    assert sum(len(data) for _, data in parts) < 1 << 20


def test_extents_rise_and_stand_apart(tmp_path: Path) -> None:
    """Neighbours are one extent; holes and written zeros are none; the last may be short."""
    image = tmp_path / "image"
    with image.open("wb") as stream:
        stream.truncate(64 * UNIT + 4)
        for unit, byte in ((1, b"a"), (2, b"b"), (5, b"\0"), (9, b"c"), (63, b"d")):
            stream.seek(unit * UNIT + 100)
            stream.write(byte)
    found = [(offset / UNIT, len(data) / UNIT) for offset, data in extents.extents(image)]
    assert found == [(1, 2), (9, 1), (63, 1)]
    image.write_bytes(bytes(UNIT) + b"tail")
    assert extents.extents(image) == [(UNIT, b"tail")]


def test_a_missing_mke2fs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: None)
    with pytest.raises(LabError, match="mke2fs is not installed") as caught:
        ext4.find_mke2fs()
    assert caught.value.exit_code == 1


def test_a_failing_mke2fs_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "mke2fs", "#!/bin/sh\necho 'no such luck' >&2\nexit 3\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(LabError, match="mke2fs: exit 3: no such luck"):
        extents.packed(SMALL, tmp_path / "disk")
    assert not list(tmp_path.glob(".disk*"))


def test_files_of_a_guest(tmp_path: Path) -> None:
    assert extents.extra(None, tmp_path / "log") == {}
    assert not (tmp_path / "log").exists()
    assert extents.extra(SMALL, tmp_path / "log") == {"lab/disk": tmp_path / "log" / "disk"}
    assert (tmp_path / "log" / "disk").is_file()

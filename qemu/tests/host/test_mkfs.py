# SPDX-License-Identifier: GPL-2.0
"""File systems that the host's own mkfs makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import LabError
from lab.guest import extents, places
from lab.guest.mkfs import Mkfs

MAGIC = {"xfs": (0, b"XFSB"), "btrfs": (0x10040, b"_BHRfS_M"), "f2fs": (0x400, b"\x10\x20\xf5\xf2")}
"""Where each has its mark."""


@pytest.mark.parametrize("fs", [place.other for place in places.FILE_SYSTEMS], ids=MAGIC)
def test_it_is_made_on_all_of_the_disk(fs: Mkfs, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"what was there")
    fs.make(image)
    assert image.stat().st_size == fs.size_mb << 20
    at, magic = MAGIC[fs.type]
    with image.open("rb") as disk:
        disk.seek(at)
        assert disk.read(len(magic)) == magic
    assert sum(len(data) for _, data in extents.extents(image)) < 16 << 20


def test_what_mkfs_says_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"mkfs\.xfs: exit 1: .*") as caught:
        Mkfs("xfs", 1).make(tmp_path / "image")
    assert caught.value.exit_code == 1

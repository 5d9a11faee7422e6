# SPDX-License-Identifier: GPL-2.0
"""A run says by its bytes what it has tested."""

from __future__ import annotations

import hashlib

from lab.paths import Paths
from tests.identity import header


def test_every_part_has_its_sum(built: Paths) -> None:
    before = header(built, "guest")
    assert [line.split(": ")[0] for line in before] == [
        "sha256 of kernel-guest",
        "sha256 of init",
        "sha256 of programs",
        "sha256 of root image",
    ]
    assert before[1].endswith(hashlib.sha256(built.init.read_bytes()).hexdigest())
    for number, file in enumerate(
        (built.boot_image("guest"), built.init, built.bin / "lottery", built.rootfs)
    ):
        file.write_bytes(b"another")
        after = header(built, "guest")
        assert [i for i in range(4) if before[i] != after[i]] == [number]
        before = after


def test_a_program_counts_by_its_name_as_well(built: Paths) -> None:
    (built.bin / "more").write_bytes(b"more")
    before = header(built, "guest")
    (built.bin / "more").rename(built.bin / "moved")
    assert header(built, "guest")[2] != before[2]


def test_what_is_not_built_is_said(built: Paths) -> None:
    built.rootfs.unlink()
    (built.bin / "lottery").unlink()
    assert [line.endswith(": not built") for line in header(built, "debug")] == [
        True,
        False,
        True,
        True,
    ]

# SPDX-License-Identifier: GPL-2.0
"""What figures and tests depend on is found, and changes when it does."""

import hashlib
import json
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lab.paths import Paths
from lab.report import provenance
from lab.report.provenance import UNKNOWN
from tests.host.checkouts import script
from tests.host.fake_kernel import patch, set_series
from tests.host.programs import git
from tests.identity import header


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "top", tmp_path / "top/build")
    paths.patches.mkdir(parents=True)
    set_series(paths, {"1.patch": patch()})
    for file, text in (
        (paths.modules / "sched_lottery/pool.c", "int pool;\n"),
        (paths.kernel() / "include/config/kernel.release", "6.12.117\n"),
        (paths.kernel() / ".config", 'CONFIG_CC_VERSION_TEXT="gcc (Debian 1) 12.2.0"\n'),
        (paths.top / ".gitignore", "/build/\n*.o\n"),
    ):
        script(file, text)
    git(paths.top, "init", "--quiet")
    commit(paths)
    return paths


def commit(paths: Paths) -> None:
    git(paths.top, "add", ".")
    git(paths.top, "commit", "--quiet", "--message", "x")


def found(paths: Paths) -> provenance.Provenance:
    return provenance.collect(paths, ["guest"], "true", "max")


def test_everything_is_in_the_file(paths: Paths, tmp_path: Path) -> None:
    qemu = script(tmp_path / "qemu", "#!/bin/sh\necho QEMU 7.2.22\necho Copyright\n")
    told = json.loads(provenance.collect(paths, ["guest"], str(qemu), "max").json())
    assert len(told["commit"]) == 40 and told["dirty"] is False
    assert told["qemu"] == "QEMU 7.2.22" and told["cpu"] == "max"
    kernel = told["kernels"]["guest"]
    assert (kernel["release"], kernel["compiler"]) == ("6.12.117", "gcc (Debian 1) 12.2.0")
    assert date.fromisoformat(told["day"]) <= datetime.now(UTC).date()
    assert told["host"]["cpus"] >= 1 and told["host"]["memory"] > 100
    assert told["host"]["cpu"] != "" and told["host"]["kernel"] != ""


@pytest.mark.parametrize(
    ("file", "series", "dirty"),
    [
        ("modules/sched_lottery/pool.c", True, True),
        ("modules/sched_lottery/Kconfig", True, True),
        ("patches/1.patch", True, True),
        ("README.md", False, True),
        ("modules/sched_lottery/pool.o", False, False),
    ],
)
def test_a_change_shows(paths: Paths, file: str, series: bool, dirty: bool) -> None:
    before = found(paths)
    target = paths.top / file
    target.write_text((target.read_text() if target.exists() else "") + "\n")
    after = found(paths)
    assert (after.series != before.series, after.dirty) == (series, dirty)
    assert after.commit == before.commit
    if dirty:
        commit(paths)
        assert found(paths).commit != before.commit and not found(paths).dirty


def test_another_configuration_or_image_shows(paths: Paths) -> None:
    """Programs of the image are measured: another version of them, other figures."""
    before = found(paths)
    assert before.json() == found(paths).json() and before.image == UNKNOWN
    (paths.kernel() / ".config").write_text("CONFIG_MORE=y\n")
    after, kernel = found(paths).kernels["guest"], before.kernels["guest"]
    assert after.config != kernel.config and after.release == kernel.release
    assert after.compiler == UNKNOWN
    paths.rootfs.write_bytes(b"one")
    one = found(paths).image
    paths.rootfs.write_bytes(b"two")
    assert UNKNOWN != one != found(paths).image != UNKNOWN


def test_without_git_qemu_or_kernel_it_is_unknown(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    told = provenance.collect(paths, ["plain"], "no-such-qemu", "max")
    assert (told.commit, told.dirty, told.qemu) == (UNKNOWN, True, UNKNOWN)
    assert told.kernels["plain"] == provenance.Kernel(UNKNOWN, UNKNOWN, UNKNOWN)


def test_a_copy_inside_another_repository_has_no_commit(paths: Paths) -> None:
    inner = Paths(paths.top / "copy", paths.out)
    inner.patches.mkdir(parents=True)
    assert provenance.commit(inner.top) == (UNKNOWN, True)


def test_each_part_of_what_is_tested_has_its_sum(built: Paths) -> None:
    before = header(built, "guest")
    assert before[1].endswith(hashlib.sha256(built.init.read_bytes()).hexdigest())
    files = (built.boot_image("guest"), built.init, built.bin / "lottery", built.rootfs)
    for number, file in enumerate(files):
        file.write_bytes(b"another")
        after = header(built, "guest")
        assert [i for i in range(4) if before[i] != after[i]] == [number]
        before = after
    script(built.bin / "more", "more").rename(built.bin / "moved")
    assert header(built, "guest")[2] != before[2]
    shutil.rmtree(built.bin)
    built.rootfs.unlink()
    missing = [line.endswith(": not built") for line in header(built, "debug")]
    assert missing == [True, False, True, True]

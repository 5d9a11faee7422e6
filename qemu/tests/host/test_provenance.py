# SPDX-License-Identifier: GPL-2.0
"""What figures depend on is found, and changes when it does."""

import json
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lab.paths import Paths
from lab.report import provenance
from lab.report.provenance import UNKNOWN
from tests.host.fake_kernel import patch, set_series


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout that is a commit, with a kernel that was built."""
    paths = Paths(tmp_path / "top", tmp_path / "top/build")
    paths.patches.mkdir(parents=True)
    set_series(paths, {"1.patch": patch()})
    (paths.modules / "sched_lottery").mkdir(parents=True)
    (paths.modules / "sched_lottery/pool.c").write_text("int pool;\n")
    (paths.kernel() / "include/config").mkdir(parents=True)
    (paths.kernel() / "include/config/kernel.release").write_text("6.12.117\n")
    (paths.kernel() / ".config").write_text('CONFIG_CC_VERSION_TEXT="gcc (Debian 1) 12.2.0"\n')
    (paths.top / ".gitignore").write_text("/build/\n*.o\n")
    git(paths, "init", "--quiet")
    commit(paths)
    return paths


def git(paths: Paths, *words: str) -> None:
    """Run git in the checkout, as no person in particular."""
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    subprocess.run(["git", "-C", str(paths.top), *who, *words], check=True)


def commit(paths: Paths) -> None:
    """Commit everything."""
    git(paths, "add", ".")
    git(paths, "commit", "--quiet", "--message", "x")


def found(paths: Paths) -> provenance.Provenance:
    """Of figures of the guest's kernel."""
    return provenance.collect(paths, ["guest"], "true", "max")


def test_everything_is_in_the_file(paths: Paths, tmp_path: Path) -> None:
    qemu = tmp_path / "qemu"
    qemu.write_text("#!/bin/sh\necho QEMU emulator version 7.2.22\necho Copyright\n")
    qemu.chmod(0o755)
    told = json.loads(provenance.collect(paths, ["guest"], str(qemu), "max").json())
    assert len(told["commit"]) == 40 and told["dirty"] is False
    assert told["qemu"] == "QEMU emulator version 7.2.22" and told["cpu"] == "max"
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


def test_another_configuration_shows(paths: Paths) -> None:
    before = found(paths).kernels["guest"]
    (paths.kernel() / ".config").write_text("CONFIG_MORE=y\n")
    after = found(paths).kernels["guest"]
    assert after.config != before.config and after.release == before.release
    assert after.compiler == UNKNOWN


def test_another_root_image_shows(paths: Paths) -> None:
    """Its programs are measured: another version of them, other figures."""
    assert found(paths).image == UNKNOWN
    paths.rootfs.write_bytes(b"one")
    before = found(paths).image
    paths.rootfs.write_bytes(b"two")
    assert UNKNOWN != before != found(paths).image != UNKNOWN


def test_the_same_gives_the_same(paths: Paths) -> None:
    assert found(paths).json() == found(paths).json()


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

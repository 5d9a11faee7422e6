# SPDX-License-Identifier: GPL-2.0
"""Which packages are needed, and what is done about those that are missing."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab import LabError
from lab.host import deps


def dpkg(*installed: str) -> deps.Run:
    """A dpkg-query that knows these packages as installed, and "gone" as removed."""

    def run(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        lines = [f"{name} installed" for name in argv if name in installed]
        lines += ["gone config-files"] * ("gone" in argv)
        return subprocess.CompletedProcess(argv, 1, "".join(f"{line}\n" for line in lines), "")

    return run


def test_purposes_add_up_and_are_sorted() -> None:
    packages = deps.needed(["emulator", "image"], own_source=False)
    emulator = ["e2fsprogs", "qemu-system-x86"]
    assert packages == sorted(["mmdebstrap", *emulator, "squashfs-tools-ng", "uidmap"])


def test_own_source_needs_no_debian_source() -> None:
    assert deps.SOURCE_PACKAGE in deps.needed(["kernel"], own_source=False)
    assert deps.SOURCE_PACKAGE not in deps.needed(["kernel"], own_source=True)


def test_unknown_purpose_is_named_with_what_is_allowed() -> None:
    with pytest.raises(LabError, match="'kernle': allowed are kernel, ") as caught:
        deps.needed(["kernle"], own_source=False)
    assert caught.value.exit_code == 2


def test_missing_are_those_not_installed_now() -> None:
    assert deps.missing(["bc", "flex", "gone"], dpkg("bc")) == ["flex", "gone"]
    assert deps.missing([], dpkg()) == []


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A machine without anything; returns what apt-get is told to install."""
    told: list[list[str]] = []
    monkeypatch.setattr(deps, "missing", lambda packages: list(packages))
    monkeypatch.setattr(deps, "install", lambda packages, log: told.append(packages))
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    return told


def test_without_root_one_line_and_exit_2(lacking: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        deps.ensure(["emulator", "image"], False, tmp_path / "log", root=False)
    text = str(caught.value)
    assert "sudo apt-get install --no-install-recommends e2fsprogs mmdebstrap " in text
    assert "\n" not in text
    assert caught.value.exit_code == 2
    assert lacking == []


def test_as_root_says_which_first_then_installs(
    lacking: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deps.ensure(["emulator"], False, tmp_path / "log", root=True)
    said = capsys.readouterr().err
    assert "installing missing packages: e2fsprogs qemu-system-x86\n" in said
    assert lacking == [["e2fsprogs", "qemu-system-x86"]]


def test_nothing_missing_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(deps, "missing", lambda packages: [])
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    deps.ensure(list(deps.PURPOSES), False, tmp_path / "log", root=False)
    assert capsys.readouterr().err == ""


def test_ccache_is_welcome_but_no_reason_to_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        deps, "missing", lambda packages: [name for name in packages if name == "ccache"]
    )
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    deps.ensure(["kernel"], False, tmp_path / "log", root=False)


def test_not_debian_names_what_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(LabError, match="not Debian; needed are e2fsprogs qemu-system-x86"):
        deps.ensure(["emulator"], False, tmp_path / "log")


def test_failing_apt_is_exit_1_and_names_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[Sequence[str]] = []

    def run(argv: Sequence[str], **_: object) -> "subprocess.CompletedProcess[str]":
        calls.append(argv)
        return subprocess.CompletedProcess(argv, 100)

    monkeypatch.setattr("subprocess.run", run)
    with pytest.raises(LabError, match=r"apt\.log") as caught:
        deps.install(["bc"], tmp_path / "logs" / "apt.log")
    assert caught.value.exit_code == 1
    assert [argv[1] for argv in calls] == ["update", "install"]

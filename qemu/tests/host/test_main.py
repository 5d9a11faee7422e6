# SPDX-License-Identifier: GPL-2.0
"""What goes wrong on a machine is one line, and the next run recovers."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import LabError, arch
from lab.__main__ import MEASURES, SET_UP, main
from lab.host import outdir
from lab.paths import Paths
from lab.tree import patches
from tests.host.checkouts import copied, environment
from tests.host.fake_kernel import (
    checkout,
    fake_make,
    patch,
    prepared,
    set_series,
    snapshot,
    tarball,
)
from tests.host.test_outdir import barred, unprivileged

__all__ = ["barred"]


def machine(sysname: str, name: str) -> os.uname_result:
    """What such a machine says of itself."""
    return os.uname_result((sysname, "here", "6.12.0", "#1", name))


@pytest.mark.parametrize("where", [("Linux", "riscv64"), ("Darwin", "arm64"), ("Linux", "i686")])
def test_another_machine_is_refused_before_anything_else(
    where: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("os.uname", lambda: machine(*where))
    monkeypatch.setenv("LAB_OUT", str(tmp_path / "out"))
    for verb in (*SET_UP, *MEASURES, "run"):
        assert main([verb]) == 2, verb
        line = f"lab: this is {where[0]} on {where[1]}: Linux on x86_64 or aarch64 is needed\n"
        assert capsys.readouterr().err == line, verb
    assert not (tmp_path / "out").exists()
    assert main(["clean"]) == 0


def test_these_machines_are_fine_and_another_architecture_is_refused() -> None:
    for host in ("x86_64", "aarch64"):
        arch.require({"LAB_ARCH": "arm64"}, machine("Linux", host))
        arch.require({"LAB_ARCH": ""}, machine("Linux", host))
        with pytest.raises(LabError, match="ARCH=mips: allowed are x86_64, arm64"):
            arch.require({"LAB_ARCH": "mips"}, machine("Linux", host))


def test_the_architecture_is_the_hosts_or_the_one_asked_for() -> None:
    assert arch.chosen({}, "aarch64") is arch.ARM64
    assert arch.chosen({"LAB_ARCH": ""}, "x86_64") is arch.X86_64
    assert arch.chosen({"LAB_ARCH": "arm64"}, "x86_64") is arch.ARM64


def test_errors_are_one_line_and_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_OUT", str(tmp_path))
    assert main(["prepare", "--source", "/no/such/kernel"]) == 2
    shown = capsys.readouterr().err
    assert shown == "lab: KERNEL=/no/such/kernel: no such directory or tarball\n"


def test_a_directory_of_another_user_is_told_with_its_owner(
    barred: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that is there, one that is to be made, and one that root has left inside ours."""
    whose = outdir.owner(barred)
    monkeypatch.setenv("LAB_OUT", str(barred / "out"))
    with unprivileged():
        assert main(["prepare"]) == 1
    assert capsys.readouterr().err == (
        f"lab: O={barred / 'out'}: belongs to {whose}, and you may not write there\n"
    )
    monkeypatch.setenv("LAB_OUT", str(barred / "new"))
    with unprivileged():
        assert main(["prepare"]) == 1
    shown = capsys.readouterr().err
    assert shown == f"lab: {barred / 'new'}: Permission denied; {barred} belongs to {whose}\n"


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """/dev/full is a disk that is full."""
    paths = prepared(tmp_path)
    monkeypatch.setenv("LAB_OUT", str(paths.out))
    paths.kernel().mkdir()
    (paths.kernel() / "lab.generation").write_text(patches.generation(paths))
    (paths.kernel() / ".config").touch()
    make = fake_make(monkeypatch, tmp_path)
    make.tell(says="  CC      a.o")
    paths.logs.mkdir()
    log = paths.logs / "kernel-guest.log"
    log.symlink_to("/dev/full")
    assert main(["kernel"]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[-1].startswith(f"lab: {paths.out}: No space left on device; make clean frees some")
    assert "Traceback" not in "".join(shown)
    log.unlink()
    assert main(["kernel"]) == 0
    assert "a.o" in log.read_text()


def breaks(function: Callable[..., object], at: int, how: BaseException) -> Callable[..., object]:
    """The function, but its call of that number fails in this way."""
    calls = 0

    def broken(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            raise how
        return function(*args, **options)

    return broken


@pytest.mark.parametrize("how", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("where", "at"),
    [
        ("shutil.copyfile", 1),
        ("shutil.copyfile", 2),
        ("shutil.copymode", 2),
        ("pathlib.Path.write_text", 1),
        ("pathlib.Path.write_text", 2),
        ("pathlib.Path.write_text", 3),
        ("pathlib.Path.rename", 1),
        ("pathlib.Path.rename", 2),
        ("pathlib.Path.replace", 1),
        ("pathlib.Path.symlink_to", 1),
        ("shutil.rmtree", 2),
        ("shutil.rmtree", 3),
    ],
)
def test_prepare_recovers_wherever_it_was_broken_off(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    at: int,
    how: BaseException,
) -> None:
    """Written, renamed, removed, linked: at any such step, and the tree is whole afterwards."""
    paths = checkout(tmp_path, {"1.patch": patch()})
    (paths.modules / "sched_lottery").mkdir(parents=True)
    packed = str(tarball(tmp_path))
    holder, _, name = where.rpartition(".")
    target = {"shutil": shutil, "pathlib.Path": Path}[holder]
    with monkeypatch.context() as broken:
        broken.setattr(where, breaks(getattr(target, name), at, how))
        with pytest.raises(type(how)):
            patches.prepare(paths, packed)
    patches.prepare(paths, packed)
    assert "line five\n" in (paths.linux / "kernel/sched/core.c").read_text()
    assert "line 5\n" in (paths.pristine / "kernel/sched/core.c").read_text()
    assert (paths.linux / "kernel/sched/lottery").is_symlink()
    fresh = checkout(tmp_path / "fresh", {"1.patch": patch()})
    patches.prepare(fresh, packed)
    text = {name: content for name, (content, _) in snapshot(paths.linux).items()}
    assert text == {name: content for name, (content, _) in snapshot(fresh.linux).items()}
    left = {path.name for path in paths.out.iterdir()}
    assert left == {"pristine", "pristine.json", "linux", "linux.json"}


@pytest.mark.parametrize("tool", ["tar", "cp", "patch"])
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_during_prepare(tmp_path: Path, tool: str) -> None:
    """The real thing: the signal arrives while a program works, which dies of it, too."""
    top = copied(tmp_path / "top")
    paths = Paths(top, tmp_path / "out")
    paths.patches.mkdir()
    set_series(paths, {"1.patch": patch()})
    argv = [sys.executable, "-m", "lab", "prepare", "--source", str(tarball(tmp_path))]
    env = {**environment(), "PYTHONPATH": str(top / "qemu"), "LAB_OUT": str(paths.out)}
    stub = tmp_path / "bin" / tool
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nkill -INT $PPID\nkill -INT $$\n")
    stub.chmod(0o755)
    broken = {**env, "PATH": f"{stub.parent}:{env['PATH']}"}
    done = subprocess.run(argv, env=broken, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.splitlines()[-1] == "lab: interrupted" and "Traceback" not in done.stderr
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "line five\n" in (paths.linux / "kernel/sched/core.c").read_text()


def test_a_tool_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["prepare", "--source", str(_small(tmp_path))]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "lab: tar: No such file or directory"


def _small(tmp_path: Path) -> Path:
    """A file that only tar could open."""
    file = tmp_path / "linux.tar"
    file.write_bytes(b"\0" * 1024)
    return file


def test_a_reader_that_has_gone_is_no_traceback(tmp_path: Path) -> None:
    top = Paths.from_env({}).top
    env = {**environment(), "PYTHONPATH": str(top / "qemu"), "LAB_OUT": str(tmp_path)}
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "lab", "run", "--dry-run"],
            env=env,
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("verb", ["bench", "demo"])
def test_a_configuration_by_hand_is_not_measured(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Paths(tmp_path, tmp_path / "out")
    paths.kernel().mkdir(parents=True)
    (paths.kernel() / ".config").write_text("CONFIG_MINE=y\n")
    monkeypatch.setenv("LAB_OUT", str(paths.out))
    assert main([verb]) == 2
    assert ".config is not what configs/ gave" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0
"""What goes wrong on a machine is one line, and the next run recovers."""

import errno
import itertools
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from lab import LabError, arch
from lab.__main__ import MEASURES, SET_UP, main
from lab.host import outdir
from lab.paths import Paths
from lab.tree import patches
from tests.host.checkouts import TOP, copied, environment, ran, script
from tests.host.fake_kernel import (
    FakeMake,
    checkout,
    patch,
    prepared,
    set_series,
    snapshot,
    tarball,
)

UNPRIVILEGED = 65534


def machine(sysname: str, name: str) -> os.uname_result:
    return os.uname_result((sysname, "here", "6.12.0", "#1", name))


def test_another_machine_is_refused_before_anything_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_OUT", str(tmp_path / "out"))
    for where in (("Linux", "riscv64"), ("Darwin", "arm64")):
        monkeypatch.setattr("os.uname", lambda where=where: machine(*where))
        for verb in (*SET_UP, *MEASURES, "run"):
            assert main([verb]) == 2, verb
            assert f"this is {where[0]} on {where[1]}" in capsys.readouterr().err, verb
        assert main(["clean"]) == 0
    assert not (tmp_path / "out").exists()


def test_the_architecture_is_the_hosts_or_the_one_asked_for() -> None:
    for host, own in (("x86_64", arch.X86_64), ("aarch64", arch.ARM64)):
        for asked, found in (("arm64", arch.ARM64), ("", own)):
            arch.require({"LAB_ARCH": asked}, machine("Linux", host))
            assert arch.chosen({"LAB_ARCH": asked}, host) is found
        with pytest.raises(LabError, match="ARCH=mips: allowed are x86_64, arm64"):
            arch.require({"LAB_ARCH": "mips"}, machine("Linux", host))


@pytest.mark.parametrize(
    ("out", "why"),
    [("out", "O={0}/out: belongs to {1}"), ("new", "{0}/new: Permission denied; {0} belongs to")],
)
def test_a_directory_of_another_user_is_told_with_its_owner(
    out: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        where, root = Path(name), os.geteuid() == 0
        (where / "out").mkdir(mode=0o555)
        where.chmod(0o755 if root else 0o555)
        monkeypatch.setenv("LAB_OUT", f"{where}/{out}")
        if root:
            os.seteuid(UNPRIVILEGED)
        try:
            assert main(["prepare"]) == 1
        finally:
            if root:
                os.seteuid(0)
            where.chmod(0o755)
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("lab: " + why.format(where, outdir.owner(where)))


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path,
    make: FakeMake,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """/dev/full is a disk that is full."""
    paths = prepared(tmp_path)
    monkeypatch.setenv("LAB_OUT", str(paths.out))
    paths.kernel().mkdir()
    (paths.kernel() / "lab.generation").write_text(patches.generation(paths))
    (paths.kernel() / ".config").touch()
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


# The steps of make prepare: each copies, writes, renames, removes or links.
COPIED = "shutil.copyfile-1 shutil.copyfile-2 shutil.copymode-2 shutil.rmtree-2 shutil.rmtree-3"
WRITTEN = "write_text-1 write_text-2 write_text-3 rename-1 rename-2 replace-1 symlink_to-1"
STEPS = (*COPIED.split(), *(f"pathlib.Path.{step}" for step in WRITTEN.split()))


@pytest.mark.parametrize("how", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", STEPS)
def test_prepare_recovers_wherever_it_was_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, how: BaseException
) -> None:
    paths = checkout(tmp_path, {"1.patch": patch()})
    (paths.modules / "sched_lottery").mkdir(parents=True)
    packed = str(tarball(tmp_path))
    where, _, at = step.partition("-")
    holder, _, name = where.rpartition(".")
    function = getattr({"shutil": shutil, "pathlib.Path": Path}[holder], name)
    calls = itertools.count(1)

    def broken(*args: object, **options: object) -> object:
        if next(calls) == int(at):
            raise how
        return function(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(where, broken)
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
    stub = script(tmp_path / "bin" / tool, "#!/bin/sh\nkill -INT $PPID\nkill -INT $$\n")
    broken = {**env, "PATH": f"{stub.parent}:{env['PATH']}"}
    done = ran(*argv, env=broken)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.splitlines()[-1] == "lab: interrupted" and "Traceback" not in done.stderr
    done = ran(*argv, env=env)
    assert done.returncode == 0, done.stderr
    assert "line five\n" in (paths.linux / "kernel/sched/core.c").read_text()


def test_where_sigint_is_ignored() -> None:
    """As below nohup: tests of Ctrl-C start what they interrupt as a terminal would."""
    argv = [sys.executable, "-m", "pytest", "-c", f"{TOP}/qemu/pyproject.toml", "-q"]
    argv += ["-p", "no:cacheprovider", "-k", "(ctrl_c or an_interrupt) and not containers"]
    done = ran("env", "--ignore-signal=INT", *argv, TOP / "qemu/tests/host", TOP / "qemu/subjects")
    assert done.returncode == 0, done.stdout


def test_a_tool_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tarball(tmp_path)
    monkeypatch.setenv("LAB_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["prepare", "--source", str(packed)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "lab: tar: No such file or directory"


def test_a_reader_that_has_gone_is_no_traceback(tmp_path: Path) -> None:
    lab = f"{sys.executable} -m lab run --dry-run"
    env = {**environment(), "PYTHONPATH": str(TOP / "qemu"), "LAB_OUT": str(tmp_path)}
    done = ran("bash", "-c", f"set -o pipefail; {{ sleep 0.2; {lab}; }} | true", env=env)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert done.returncode != 0


def test_a_configuration_by_hand_is_not_measured(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(paths.kernel() / ".config", "CONFIG_MINE=y\n")
    monkeypatch.setenv("LAB_OUT", str(paths.out))
    for verb in MEASURES:
        assert main([verb]) == 2
        assert ".config is not what configs/ gave" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0
"""The verb run: one command with its exit code and clean output, and the dry run."""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab import run as run_module
from lab.__main__ import main, parse
from lab.extras import Extras
from lab.host.outdir import claim, launcher
from lab.paths import Paths
from lab.run import Request
from tests.host.checkouts import ran


@dataclass
class Lab:
    """Runs the command line in an output directory where everything seems to be built."""

    paths: Paths
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *args: str, **env: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error, with env in the environment."""
        for name, text in env.items():
            self.monkeypatch.setenv(name, text)
        code = main(["run", *args])
        return code, *self.capture.readouterr()


@pytest.fixture
def lab(
    built: Paths,
    fake_qemu: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Lab:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/qemu-system-x86_64").symlink_to(fake_qemu)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("LAB_OUT", str(built.out))
    for name in ("CPUS", "MEM", "PORTS", "LAB_KERNEL", "SHARE", "DISK", "NET", "GDB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ACCEL", "tcg")
    return Lab(built, capfd, monkeypatch)


def test_command(lab: Lab) -> None:
    assert lab("--cmd", "echo hi; exit 7", "--append", "fake.replay=command") == (7, "hi\n", "")
    plan = (lab.paths.logs / "run" / "initrd.cpio").read_bytes()
    assert b"program\tcommand\t0\tsh\t-c\techo hi; exit 7\n" in plan


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("-- lottery -t 300 nproc", "lottery -t 300 nproc"),
        ("nproc --all", "nproc --all"),
        ("-- sh -c 'echo $HOME; exit 7'", "sh -c 'echo $HOME; exit 7'"),
        ("-- -- odd", "-- odd"),
    ],
)
def test_words_stay_words(lab: Lab, words: str, line: str) -> None:
    """The launcher's way: what the shell here has cut, the shell there does not cut again."""
    assert lab("--append", "fake.replay=command", *shlex.split(words))[0] == 7
    there = (lab.paths.logs / "run" / "initrd.cpio").read_bytes()
    assert f"\tsh\t-c\t{line}\n".encode() in there


def test_launcher_returns_the_status_of_the_command(lab: Lab) -> None:
    """Through a real process, as make cannot."""
    paths = replace(lab.paths, top=Paths.from_env({}).top)
    paths.pristine.mkdir()
    for name in ("pristine.json", "linux.json"):
        (paths.out / name).touch()
    claim(paths)
    done = ran(launcher(paths), "run", "--append", "fake.replay=command", "--", "exit", "7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "hi\n", "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("fake.replay=bad-plan", "no exit status: QEMU ended early: exit 0; plan: line 3: bad"),
        ("fake.replay=panic", "no exit status: the kernel panicked"),
        ("fake.replay=silent fake.end=status", "could not open disk image"),
    ],
)
def test_guest_that_fails(lab: Lab, words: str, why: str) -> None:
    code, _, said = lab("--cmd", "true", "--append", words)
    last = said.splitlines()[-1]
    assert code == 1 and last.startswith("lab: ") and why in last
    assert last.endswith("console.log")


def test_splats_are_told(lab: Lab) -> None:
    code, out, said = lab("--cmd", "true", "--append", "fake.replay=warn-command")
    assert (code, out) == (0, "fine\n") and said.startswith("lab: WARNING in command: ")


def option(command: str, name: str) -> str:
    words = shlex.split(command)
    return words[words.index(name) + 1]


def test_dry_run(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "apply", None)
    empty = str(tmp_path / "empty")
    code, out, said = lab("--dry-run", "--cmd", "true", ACCEL="", LAB_OUT=empty)
    assert (code, said) == (0, "") and str(tmp_path / "empty/rootfs.sqfs") in out
    assert option(out, "-accel") == "tcg,thread=single" and "e1000" not in out
    assert "console=ttyS0" in option(out, "-append")
    assert not (tmp_path / "empty").exists()


def test_what_a_person_adds(lab: Lab, tmp_path: Path) -> None:
    shared = ("--share", str(tmp_path), "--disk", "seek,xfs", "--net", "user", "--gdb", "1")
    code, out, _ = lab("--dry-run", *shared, "--accel", "icount:8ns")
    assert code == 0
    assert f"path={tmp_path},security_model=none" in option(out, "-fsdev")
    assert "null_blk.service_seek_nsec=8000000" in option(out, "-append")
    assert {"-S", "tcp:127.0.0.1:1234", "user,id=nic0f"} <= {*shlex.split(out)}
    assert option(out, "-m") == "3072" and "shift=3," in option(out, "-icount")


def test_a_command_needs_what_was_asked_for(tmp_path: Path) -> None:
    """Where the network cannot be made ready, the command is not run."""
    name, *argv = Extras(network=True).wrapped(f": >{tmp_path}/ran")
    shell = shutil.which(name)
    assert shell
    done = subprocess.run([shell, *argv], env={"PATH": "/nowhere"}, check=False)
    assert done.returncode == 127 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("env", "args", "shown"),
    [
        ({"CPUS": "3"}, "", "-smp 3"),
        ({"CPUS": "3"}, "--cpus 1", "-smp 1"),
        ({"MEM": "512"}, "", "-m 512"),
        ({"ACCEL": "icount"}, "", "-icount shift=0,sleep=on"),
        ({"LAB_KERNEL": "debug"}, "", "-m 3072"),
        # An empty variable counts as not set.
        ({"GDB": "5678", "NET": "", "DISK": "", "SHARE": ""}, "", "tcp:127.0.0.1:5678"),
        ({"PORTS": "3"}, "--ports 2", "hubid=1"),
    ],
)
def test_the_environment_counts_unless_an_option_says_otherwise(
    lab: Lab, env: dict[str, str], args: str, shown: str
) -> None:
    out = lab("--dry-run", *args.split(), **env)[1]
    assert shown in out and "9p" not in out and "user," not in out
    # Each port is two cards on a link.
    assert out.count("e1000,netdev=") == (4 if "PORTS" in env else 0)


@pytest.mark.parametrize(
    ("env", "args", "why"),
    [
        ({"CPUS": "two"}, "", "CPUS 'two': a whole number is allowed"),
        ({"CPUS": "0"}, "", "cpus 0: allowed are 1 to 8"),
        ({"CPUS": "16"}, "", "cpus 16: allowed are 1 to 8"),
        ({}, "ls -l", "--cmd and the words ls -l: one command is allowed"),
        ({"MEM": "-1"}, "", "MEM '-1'"),
        ({"ACCEL": "xen"}, "", "ACCEL 'xen': allowed are tcg, kvm, icount, auto"),
        ({"PORTS": "9"}, "", "PORTS '9': allowed are 0 to 8"),
        ({}, "--ports 99", "PORTS '99': allowed are 0 to 8"),
        ({}, "--ports one", "PORTS 'one': a whole number is allowed"),
        ({}, "--kernel old", "kernel 'old': allowed are guest, debug, plain"),
        ({}, "--append 'x", "append ''x': No closing quotation"),
        ({}, "--share /no/where", "SHARE '/no/where': a directory of this machine is allowed"),
        ({}, "--disk tape", "DISK 'tape': allowed are flash, seek, cloud, and behind a comma"),
        ({}, "--disk seek,ntfs", "DISK 'seek,ntfs': allowed are flash, seek, cloud"),
        ({}, "--net bridge", "NET 'bridge': allowed is user"),
        ({}, "--gdb 80", "GDB '80': allowed are 1, and a port from 1024 to 65535"),
        ({}, "--gdb yes", "GDB 'yes': allowed are 1"),
    ],
)
def test_refused(lab: Lab, env: dict[str, str], args: str, why: str) -> None:
    code, out, said = lab("--cmd", "true", *args.split(), **env)
    assert (code, out) == (2, "")
    assert len(said.splitlines()) == 1 and why in said


def test_shell_needs_a_terminal(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    code, _, said = lab()
    assert code == 2 and "a shell needs a terminal" in said


def test_plan_of_a_shell(built: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("TERM", "xterm"), ("LINES", "50"), ("COLUMNS", "132")):
        monkeypatch.setenv(name, text)
    (built.kernel() / "modules.order").write_text("net/core/x.o\nnet/ipv6/ipv6.o\n")
    request = Request.of(parse(["run"]), os.environ)
    boot = request.boot(built, request.machine, tmp_path)
    first = boot.files["lab/shellrc"].read_text()
    assert "stty rows 50 columns 132; export TERM=xterm MANPATH=" in first
    # IPv6 works at the prompt, if that is a module of the kernel; one command stays as it was.
    assert boot.machine.modules == ("ipv6",)
    other = replace(request.machine, kernel="debug")
    assert not request.boot(built, other, tmp_path).machine.modules
    command = Request.of(parse(["run", "--cmd", "true"]), os.environ)
    assert not command.boot(built, command.machine, tmp_path).machine.modules

# SPDX-License-Identifier: GPL-2.0
"""What tests change of their process does not reach the guests that run meanwhile."""

import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from lab import LabError
from lab.guest.boot import Boot
from lab.guest.machine import Machine
from lab.paths import Paths
from tests import session
from tests.apart import INTERRUPTED, QEMU, Apart
from tests.host.programs import wait_until
from tests.session import PROGRAMS


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[TextIO]:
    with (tmp_path / "progress").open("w") as file:
        yield file


def test_a_boot_has_what_was_there_at_first(
    built: Paths, fake_qemu: str, stream: TextIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests have put another QEMU in the path, stopped the clock and replaced a function."""
    for directory, program in (("bin", fake_qemu), ("other", "/bin/false")):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "qemu-here").symlink_to(program)
    with monkeypatch.context() as before:
        before.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        apart = Apart(built, stream)
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: pytest.fail("run"))
    monkeypatch.chdir("/")
    result = apart(Boot("recorded", Machine(qemu="qemu-here"), PROGRAMS))
    assert result.ok and result.boot.name == "recorded"
    assert result.console == built.logs / "guest" / "recorded" / "console.log"
    stream.flush()
    assert "recorded: 3/3 programs" in (tmp_path / "progress").read_text()


def test_what_a_boot_raises(
    built: Paths, fake_machine: Machine, stream: TextIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for a person comes through, with its exit code; a process that dies is no riddle."""
    built.init.unlink()
    with pytest.raises(LabError, match="init is missing") as raised:
        Apart(built, stream)(Boot("unbuilt", fake_machine, PROGRAMS))
    assert raised.value.exit_code == 1
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(LabError, match="recorded: its process ended with 1"):
        Apart(built, stream)(Boot("recorded", fake_machine, PROGRAMS))


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_guest_without_a_traceback(built: Paths, fake_machine: Machine) -> None:
    """The terminal's signal reaches the process of the boot as well, but not QEMU."""
    machine = fake_machine.with_append("fake.replay=hang", "fake.end=hang")
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=QEMU,
    )
    assert child.stdin
    child.stdin.write(pickle.dumps((built, Boot("recorded", machine, PROGRAMS))))
    child.stdin.close()
    child.stdin = None
    result = built.logs / "guest" / "recorded" / "result.ktap"
    wait_until(lambda: result.exists() and "ok 1" in result.read_text())
    child.send_signal(signal.SIGINT)
    said, complaints = child.communicate()
    assert child.returncode == INTERRUPTED
    # The first result may not have been read yet.
    assert not said and re.fullmatch(rb"recorded: [01]/3 programs \(\d+ %\)\n", complaints)


def test_what_outlives_a_test_is_named_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "END_S", 0.5)
    watch = session.nothing_is_left("test_some")
    next(watch)
    left = subprocess.Popen(["sleep", "60"])
    wait_until(lambda: Path(f"/proc/{left.pid}/cmdline").read_bytes() != b"")
    with pytest.raises(pytest.fail.Exception, match="test_some has left behind: sleep 60"):
        next(watch)
    assert left.wait() == -signal.SIGKILL

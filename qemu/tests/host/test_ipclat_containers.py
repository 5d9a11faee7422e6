# SPDX-License-Identifier: GPL-2.0
"""ipclat's two containers: what is made for them, and that it is removed again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.paths import Paths

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

# An OCI runtime whose containers do nothing for ever.
SLEEPER = """#!/bin/sh
echo "$@" >>{state}/log
for id; do :; done
case "$*" in
*" run "*) echo $$ >{state}/$id.pid; exec sleep 600;;
*" delete "*) kill "$(cat {state}/$id.pid)";;
esac
"""


@dataclass
class Sleeper:
    """The runtime, and what it was told."""

    path: Path
    state: Path

    def told(self) -> list[list[str]]:
        """Its command lines."""
        log = self.state / "log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def running(self) -> int:
        """How many containers."""
        return len(list(self.state.glob("*.pid")))


@pytest.fixture
def sleeper(tmp_path: Path) -> Sleeper:
    path = tmp_path / "runc"
    path.write_text(SLEEPER.format(state=tmp_path))
    path.chmod(0o755)
    return Sleeper(path, tmp_path)


def devices(pid: str) -> str:
    """The network devices of a process."""
    path = Path("/proc") / pid / "net/dev"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(
    lab_paths: Paths, sleeper: Sleeper, number: signal.Signals
) -> None:
    """No container, no network, no directory; and it ends by the signal."""
    argv = [str(lab_paths.bin / "ipclat"), "-m", "zmq-tcp-containers"]
    with subprocess.Popen([*argv, "--runtime", str(sleeper.path)]) as ipclat:
        deadline = time.monotonic() + 30
        while sleeper.running() < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        children = Path(f"/proc/{ipclat.pid}/task/{ipclat.pid}/children").read_text().split()
        bundles = [Path(words[words.index("--bundle") + 1]) for words in sleeper.told()]
        made = bundles[0].parent
        assert made.is_dir() and sum("ipclat" in devices(pid) for pid in children) == 2
        ipclat.send_signal(number)
        assert ipclat.wait(timeout=60) == -number
    assert not made.exists()
    assert not any(Path("/proc", pid).exists() for pid in children)
    removed = {words[-1] for words in sleeper.told() if "delete" in words}
    assert removed == {words[-1] for words in sleeper.told() if "run" in words} != set()


def test_an_interrupt_that_is_ignored_stays_ignored(lab_paths: Paths) -> None:
    """nohup ipclat &"""
    words = ["-m", "pipe", "-k", "100000000", "-n", "1", "--seconds", "1"]
    argv = ["nohup", str(lab_paths.bin / "ipclat"), *words]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ipclat:
        time.sleep(0.6)
        ipclat.send_signal(signal.SIGHUP)
        assert ipclat.wait(timeout=60) == 0


def test_a_runtime_that_fails_leaves_nothing(lab_paths: Paths, tmp_path: Path) -> None:
    path = tmp_path / "runc"
    path.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/log\nexit 1\n')
    path.chmod(0o755)
    argv = [str(lab_paths.bin / "ipclat"), "-m", "zmq-tcp-containers", "--runtime", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "ipclat: zmq-tcp-containers: a container failed\n"
    words = (tmp_path / "log").read_text().split()
    assert not Path(words[words.index("--bundle") + 1]).parent.exists()

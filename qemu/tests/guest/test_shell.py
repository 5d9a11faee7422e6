# SPDX-License-Identifier: GPL-2.0
"""The interactive shell, typed at, and what a person does to its machine meanwhile."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.arch import ARCH
from lab.paths import Paths
from lab.suite import tier
from tests.guest.typist import ANSWER_S, BOOT_S, Typist, at_the_shell, lab_environment


@pytest.fixture
def typist(lab_paths: Paths) -> Iterator[Typist]:
    """A shell that is about to boot."""
    with at_the_shell(lab_paths, {}) as typist:
        yield typist


def test_shell(typist: Typist) -> None:
    """It has our window, job control and Ctrl-C; leaving it powers off with exit 0."""
    typist.wait_for(b"# ", BOOT_S)
    terminal = b"33 101\nxterm\n/dev/%s\n" % ARCH.tty.encode()
    typist.enter(b"echo mark $((6 * 7)); stty size; echo $TERM; tty", b"mark 42\n", terminal)
    # The shell is done with the line when it leaves its editor's mode; what then
    # comes back twice, once from the terminal, shows that cat is in front.
    typist.enter(b"cat", b"\x1b[?2004l")
    typist.enter(b"same", b"same\nsame\n")
    typist.type(b"\x03")
    typist.wait_for(b"# ")
    typist.enter(b"echo after $?", b"after 130\n")
    assert typist.leave() == 0


TOOLS = b"lottery wrais rxmode livelock-run ipclat udprate man less nano mount strace perf poweroff"


def test_a_place_to_work_in(typist: Typist) -> None:
    """Our programs and those of everyday are found at the prompt, and have their pages."""
    before = typist.wait_for(b"# ", BOOT_S)
    assert before.rstrip().splitlines()[-2].startswith(b"'exit' powers the guest off"), before
    typist.enter(b"type " + TOOLS + b" >/tmp/types; echo found-$?", b"found-0\n")
    counted = b"lottery -m; echo lottery-$?; strace -c true 2>&1 | grep -c execve"
    typist.enter(counted, b"lottery-0\n1\n")
    typist.enter(b"perf stat true 2>&1 | grep -c elapsed | sed s/^/perf-/", b"perf-1\n")
    typist.enter(b"man wrais | head -1; man strace | head -1", b"WRAIS(1)", b"STRACE(1)")
    typist.enter(b"udprate -r 1 -t 1 ::1", b"no receiver at ::1, port 32000: Connection refused")
    assert typist.leave(b"poweroff") == 0


DISKS = (("flash", b"ext4"), ("seek", b"ext4"), ("cloud,xfs", b"xfs"))


@pytest.mark.parametrize(("disk", "kind"), DISKS if tier(os.environ) == "long" else DISKS[:1])
def test_a_directory_a_disk_and_a_network(
    lab_paths: Paths, tmp_path: Path, disk: str, kind: bytes
) -> None:
    """A program from this machine runs and writes there; the disk and the network work."""
    own = tmp_path / "with, comma"
    own.mkdir()
    (own / "hello").write_text("#!/bin/sh\necho from-here >/share/answer\n")
    (own / "hello").chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(BOOT_S)
        extras = {"SHARE": str(own), "DISK": disk, "NET": "user"}
        with at_the_shell(lab_paths, extras) as typist:
            model = disk.partition(",")[0].encode()
            typist.wait_for(b"/mnt is a disk with the times of '%b'" % model, BOOT_S)
            typist.wait_for(b"# ")
            words = b"/share/hello; cat /share/answer; findmnt -no FSTYPE,SOURCE /mnt"
            typist.enter(words, b"from-here\n%-6b /dev/nullb0\n" % kind)
            typist.enter(b"cat /sys/block/nullb0/queue/scheduler", b"[bfq]")
            typist.enter(b"echo to-the-host | busybox nc 10.0.2.2 %d" % server.getsockname()[1])
            with server.accept()[0] as connection:
                connection.settimeout(ANSWER_S)
                assert connection.makefile("rb").readline() == b"to-the-host\n"
            assert typist.leave() == 0
    assert (own / "answer").read_text() == "from-here\n"


def test_a_command_has_them_too(lab_paths: Paths, tmp_path: Path) -> None:
    """And its exit status is its own."""
    env = {**lab_environment(lab_paths), "SHARE": str(tmp_path)}
    line = "echo $((6 * 7)) >/share/answer; exit 5"
    argv = [sys.executable, "-m", "lab", "run", "--", "sh", "-c", line]
    done = subprocess.run(argv, env=env, capture_output=True, check=False)
    assert done.returncode == 5, done.stderr
    assert (tmp_path / "answer").read_text() == "42\n"


def test_a_debugger_lets_it_boot(lab_paths: Paths) -> None:
    """It stands still until the debugger says that it may go on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with at_the_shell(lab_paths, {"GDB": str(port)}) as typist:
        typist.wait_for(b"the guest waits for: gdb ", BOOT_S)
        connection = reached(port)
        with connection:
            # Packets of GDB's remote protocol, each with its checksum.
            connection.sendall(b"$?#3f")
            said = connection.makefile("rb")
            assert said.read(7).startswith(b"+$T05")
            connection.sendall(b"+$c#63")
            typist.wait_for(b"# ", BOOT_S)
            assert typist.leave() == 0


def reached(port: int) -> socket.socket:
    """A connection to QEMU, which may not listen yet."""
    end = time.monotonic() + BOOT_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), ANSWER_S)
        except ConnectionRefusedError:
            assert time.monotonic() < end, "QEMU does not listen"
            time.sleep(0.1)


def test_way_out(typist: Typist) -> None:
    """Ctrl-A X ends a guest in any state."""
    typist.wait_for(b"# ", BOOT_S)
    typist.type(b"\x01x")
    assert typist.wait_for_end() == 0


def test_link(lab_paths: Paths) -> None:
    """Our driver notices a cable that is pulled, and goes on when it is back."""
    ping = b"busybox ping -c 1 -W 1 10.9.0.2 >/tmp/ping"
    with at_the_shell(lab_paths, {"PORTS": "1"}) as typist:

        def ask(condition: bytes, answer: bytes) -> None:
            """Wait until it is true in the guest; the words typed do not look like the answer."""
            line = b"until " + condition + b"; do :; done; echo " + answer + b"-$((6*7))"
            typist.enter(line, answer + b"-42\n")

        typist.wait_for(b"# ", BOOT_S)
        typist.enter(
            b"for card in 10 18; do cd /sys/bus/pci/devices/0000:00:$card.0; "
            b"echo napi_livelock >driver_override; done; "
            b"insmod /lab/modules/napi_livelock.ko; ip netns add far; ip link set eth1 netns far; "
            b"ip address add 10.9.0.1/24 dev eth0; ip link set eth0 up; "
            b"ip -n far address add 10.9.0.2/24 dev eth1; ip -n far link set eth1 up"
        )
        ask(ping, b"linked")
        typist.tell_qemu(b"set_link nic10 off")
        ask(b"ethtool eth0 | grep -q 'Link detected: no'", b"pulled")
        ask(b"! " + ping, b"silent")
        typist.tell_qemu(b"set_link nic10 on")
        ask(b"ethtool eth0 | grep -q 'Link detected: yes'", b"back")
        ask(ping, b"answers")
        assert typist.leave(b"rmmod napi_livelock; exit") == 0

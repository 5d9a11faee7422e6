# SPDX-License-Identifier: GPL-2.0
"""The interactive shell, typed at, and what a person does to its machine meanwhile."""

from collections.abc import Iterator

import pytest

from lab.arch import ARCH
from lab.paths import Paths
from tests.guest.typist import ANSWER_S, BOOT_S, Typist, at_the_shell


@pytest.fixture
def typist(lab_paths: Paths) -> Iterator[Typist]:
    """A shell that is about to boot."""
    with at_the_shell(lab_paths, {}) as typist:
        yield typist


def test_shell(typist: Typist) -> None:
    """It has our window, job control and Ctrl-C; leaving it powers off with exit 0."""
    typist.wait_for(b"# ", BOOT_S)
    typist.type(b"echo mark $((6 * 7)); stty size; echo $TERM; tty\r")
    typist.wait_for(b"mark 42\n", ANSWER_S)
    typist.wait_for(b"33 101\nxterm\n/dev/%s\n" % ARCH.tty.encode(), ANSWER_S)
    # The shell is done with the line when it leaves its editor's mode; what then
    # comes back twice, once from the terminal, shows that cat is in front.
    typist.type(b"cat\r")
    typist.wait_for(b"\x1b[?2004l", ANSWER_S)
    typist.type(b"same\r")
    typist.wait_for(b"same\nsame\n", ANSWER_S)
    typist.type(b"\x03")
    typist.wait_for(b"# ", ANSWER_S)
    typist.type(b"echo after $?\r")
    typist.wait_for(b"after 130\n", ANSWER_S)
    typist.type(b"exit\r")
    assert typist.wait_for_end(ANSWER_S) == 0


def test_way_out(typist: Typist) -> None:
    """Ctrl-A X ends a guest in any state."""
    typist.wait_for(b"# ", BOOT_S)
    typist.type(b"\x01x")
    assert typist.wait_for_end(ANSWER_S) == 0


def test_link(lab_paths: Paths) -> None:
    """Our driver notices a cable that is pulled, and goes on when it is back."""
    ping = b"busybox ping -c 1 -W 1 10.9.0.2 >/tmp/ping"
    with at_the_shell(lab_paths, {"PORTS": "1"}) as typist:

        def ask(condition: bytes, answer: bytes) -> None:
            """Wait until it is true in the guest; the words typed do not look like the answer."""
            typist.type(b"until " + condition + b"; do :; done; echo " + answer + b"-$((6*7))\r")
            typist.wait_for(answer + b"-42\n", ANSWER_S)

        typist.wait_for(b"# ", BOOT_S)
        typist.type(
            b"for card in 10 18; do cd /sys/bus/pci/devices/0000:00:$card.0; "
            b"echo napi_livelock >driver_override; done; "
            b"insmod /lab/modules/napi_livelock.ko; ip netns add far; ip link set eth1 netns far; "
            b"ip address add 10.9.0.1/24 dev eth0; ip link set eth0 up; "
            b"ip -n far address add 10.9.0.2/24 dev eth1; ip -n far link set eth1 up\r"
        )
        ask(ping, b"linked")
        typist.tell_qemu(b"set_link nic10 off")
        ask(b"ethtool eth0 | grep -q 'Link detected: no'", b"pulled")
        ask(b"! " + ping, b"silent")
        typist.tell_qemu(b"set_link nic10 on")
        ask(b"ethtool eth0 | grep -q 'Link detected: yes'", b"back")
        ask(ping, b"answers")
        typist.type(b"rmmod napi_livelock; exit\r")
        assert typist.wait_for_end(ANSWER_S) == 0

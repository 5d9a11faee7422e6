# SPDX-License-Identifier: GPL-2.0
"""udprate against a second program: what really comes out of it, and what it says came in."""

import json
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.paths import Paths
from subjects.udp.relay import HEADER
from tests.host.programs import wait_until

MAGIC = 0x75647072
STAMP = struct.Struct("qq")
SO_TIMESTAMPNS = 35
SECONDS = 2
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Packet:
    time_ns: int
    number: int
    size: int


@pytest.fixture
def receiver() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        made.bind(("127.0.0.1", 0))
        made.settimeout(30)
        yield made


def take(receiver: socket.socket) -> Packet:
    data, control, _, _ = receiver.recvmsg(2048, 64)
    ((_, _, stamp),) = control
    seconds, rest = STAMP.unpack(stamp)
    magic, _, _, number = HEADER.unpack(data[: HEADER.size])
    assert magic == MAGIC
    return Packet(seconds * SECOND + rest, number, len(data))


def collected(
    paths: Paths, receiver: socket.socket, mbps: str, *words: str
) -> tuple[list[Packet], str]:
    port = str(receiver.getsockname()[1])
    argv = [str(paths.bin / "udprate"), "-r", mbps, "-p", port, *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as sender:
        packets = [take(receiver)]
        receiver.settimeout(0.2)
        while True:
            try:
                packets.append(take(receiver))
            except TimeoutError:
                if sender.poll() is not None:
                    break
        assert sender.stdout
        text = sender.stdout.read()
    assert sender.returncode == 0
    assert [packet.number for packet in packets] == list(range(len(packets)))
    return packets, text


def test_every_byte_that_is_counted_comes_out(lab_paths: Paths, receiver: socket.socket) -> None:
    """However busy the host is: all 76 packets find room in the receiver's buffer."""
    words = ("-t", "0.3", "--blind", "--best-effort", "--json")
    packets, text = collected(lab_paths, receiver, "3", *words)
    row = json.loads(text)
    counted = len(packets), sum(packet.size for packet in packets)
    assert (row["packets"], row["bytes"]) == counted


@pytest.mark.timed
@pytest.mark.parametrize("mbps", ["3", "4.321"])
def test_what_comes_out_is_what_was_asked_for(
    lab_paths: Paths, receiver: socket.socket, mbps: str
) -> None:
    """To 0.1 %, by the kernel's clock and our own count.

    A busy host sends some packets late, and none early. So the rate is that between
    the most punctual packet at the beginning and the one at the end.
    """
    packets, _ = collected(lab_paths, receiver, mbps, "-t", str(SECONDS), "--blind")
    sent = 0
    # (how late against the rate that was asked for, when, bytes before it)
    seen = []
    for packet in packets:
        late = packet.time_ns - packets[0].time_ns - sent * 8000 / float(mbps)
        seen.append((late, packet.time_ns, sent))
        sent += packet.size
    part = len(seen) // 4
    _, begin, before = min(seen[:part])
    _, end, after = min(seen[-part:])
    assert (after - before) * 8000 / (end - begin) == pytest.approx(float(mbps), rel=0.001)


def bound(port: int) -> bool:
    tables = (Path("/proc/net/udp"), Path("/proc/net/udp6"))
    return any(f":{port:04X} " in table.read_text() for table in tables if table.exists())


def test_the_receiver_says_what_became_of_each_packet(
    lab_paths: Paths, receiver: socket.socket
) -> None:
    """Of 0 to 8 four never came, two came late, one twice; and two were not of this run."""
    port = receiver.getsockname()[1]
    receiver.close()
    argv = [str(lab_paths.bin / "udprate"), "--receive", "-t", "0.1", "-p", str(port), "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as program:
        wait_until(lambda: bound(port))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect(("127.0.0.1", port))
            came_from = sender.getsockname()[1]
            for number in (0, 3, 1, 2, 2, 8):
                sender.send(HEADER.pack(MAGIC, 0, 77, number) + bytes(76))
            sender.send(HEADER.pack(MAGIC, 0, 78, 9))
            sender.send(b"hello")
        text, _ = program.communicate(timeout=60)
    assert program.returncode == 0
    row = json.loads(text)
    fates = ("received", "received_bytes", "lost", "reordered", "duplicates", "strangers")
    assert [row[name] for name in fates] == [5, 500, 4, 2, 1, 2]
    assert row["peer"] == {"address": "127.0.0.1", "port": came_from}

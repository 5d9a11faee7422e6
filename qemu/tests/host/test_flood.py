# SPDX-License-Identifier: GPL-2.0
"""The sender on the host: its frames, its pace, and the guest that takes them."""

import socket
import time
from pathlib import Path

import pytest

from lab import LabError, flood
from lab.flood import Flood, Sender
from lab.paths import Paths
from tests.host.programs import wait_until

DEADLINE_S = 20.0


def test_a_frame_is_right() -> None:
    frame = flood.headers() + flood.stamp(7, 12)
    assert len(frame) == 66
    assert frame[:6].hex(":") == flood.MAC and frame[12:14] == b"\x08\x00"
    header = frame[14:34]
    assert flood.checksum(header) == 0
    assert int.from_bytes(header[2:4], "big") == len(frame) - 14
    assert header[16:] == flood.ADDRESS.packed and header[9] == flood.UDP
    assert int.from_bytes(frame[36:38], "big") == flood.PORT
    assert int.from_bytes(frame[38:40], "big") == len(frame) - 34
    assert frame[42:46] == b"nll1" and frame[50:58] == (7).to_bytes(8, "big")


def test_frames_come_in_order_and_not_faster_than_asked_for() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as guest:
        guest.bind((flood.LOOPBACK, 0))
        guest.settimeout(DEADLINE_S)
        sender = Sender(2000, guest.getsockname()[1])
        begin = time.monotonic()
        sender.start()
        frames = [guest.recvfrom(2048) for _ in range(200)]
        took = time.monotonic() - begin
        sender.stop()
    assert [int.from_bytes(data[50:58], "big") for data, _ in frames] == list(range(200))
    assert {address for _, address in frames} == {(flood.LOOPBACK, frames[0][1][1])}
    assert took > 0.09 and sender.sent >= 200


def test_no_receiver_is_no_error() -> None:
    sender = Sender(5000, flood.free_port())
    sender.start()
    wait_until(lambda: sender.sent >= 100)
    sender.stop()


def test_the_guest_takes_frames_from_the_sender_alone() -> None:
    machine = Flood("e1000", 1000, 5).machine(5001, 5002)
    words = " ".join(machine.devices)
    assert "local.host=127.0.0.1,local.port=5001" in words
    assert "remote.host=127.0.0.1,remote.port=5002" in words
    assert machine.modules == ("e1000",) and machine.real_time


@pytest.mark.parametrize("driver", flood.DRIVERS)
@pytest.mark.parametrize(("governor", "mode"), [(False, "off"), (True, "auto")])
def test_the_plan(driver: str, governor: bool, mode: str) -> None:
    text = Flood(driver, 1000, 5, governor).boot(1, 2).render()
    assert f"@insmod\t{driver}" in text and "--seconds 5" in text
    assert f"echo {driver} >/sys/bus/pci/devices/0000:00:10.0/driver_override" in text
    assert f"rxmode --governor eth0 mode {mode}" in text


def test_a_missing_kernel_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is missing: make kernel"):
        flood.run(Paths(tmp_path, tmp_path / "build"), Flood("e1000", 1000, 1))

# SPDX-License-Identifier: GPL-2.0
"""The `flood` verb: frames from the host to a guest's card, over a socket on loopback.

A cross-check of the receive path's figures: nothing in the guest sends here, and its
clock is the host's.  Figures do not repeat, they only have to be of the same kind.
"""

import argparse
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address

from lab import LabError, one_of, within
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import IN_TREE, MODEL, OURS, RECEIVER_SLOT, Nic
from lab.guest.result import BootResult
from lab.guest.vm import run_boot
from lab.paths import Paths

LOOPBACK = "127.0.0.1"
MAC = "02:00:00:00:00:10"
ADDRESS = IPv4Address("10.1.0.2")
NEIGHBOUR = IPv4Address("10.1.0.1")
PORT = 9001
MAGIC = 0x6E6C6C31
"""Of a stamp; the rest is in modules/napi_livelock/stamp.h."""

ETHERTYPE_IP = 0x0800
UDP = 17
TTL = 64
ETHERNET = struct.Struct("!6s6sH")
IP = struct.Struct("!BBHHHBBH4s4s")
UDP_HEADER = struct.Struct("!HHHH")
STAMP = struct.Struct("!IIQQ")

DRIVERS = (IN_TREE, OURS)
RATE_MAX = 1_000_000
SECONDS_MAX = 600
PAUSE_S = 0.001
"""The host sleeps so long, then sends all that is due."""
BOOT_S = 300.0


def checksum(data: bytes) -> int:
    """Of an IP header: the ones' complement sum of its words."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def headers() -> bytes:
    """What is the same in all frames."""
    length = UDP_HEADER.size + STAMP.size
    fields = (0x45, 0, IP.size + length, 0, 0, TTL, UDP)
    ends = (NEIGHBOUR.packed, ADDRESS.packed)
    check = checksum(IP.pack(*fields, 0, *ends))
    ethernet = ETHERNET.pack(bytes.fromhex(MAC.replace(":", "")), b"\x02" + bytes(5), ETHERTYPE_IP)
    return ethernet + IP.pack(*fields, check, *ends) + UDP_HEADER.pack(9, PORT, length, 0)


def stamp(seq: int, now_ns: int) -> bytes:
    """The payload of frame number `seq`; the host's time means nothing to the guest."""
    return STAMP.pack(MAGIC, 0, seq, now_ns)


class Sender(threading.Thread):
    """Sends `rate` frames a second to a socket on loopback until it is stopped."""

    def __init__(self, rate: int, port: int) -> None:
        super().__init__(daemon=True)
        self.sent = 0
        self._rate = rate
        self._to = (LOOPBACK, port)
        self._ended = threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((LOOPBACK, 0))

    @property
    def port(self) -> int:
        """Where the frames come from: QEMU's card takes them from there only."""
        return int(self._socket.getsockname()[1])

    def run(self) -> None:
        """Frames that are due leave together; QEMU may not be there yet to take them."""
        head = headers()
        begin = time.monotonic()
        while not self._ended.wait(PAUSE_S):
            due = int((time.monotonic() - begin) * self._rate)
            for seq in range(self.sent, due):
                with suppress(ConnectionRefusedError):
                    self._socket.sendto(head + stamp(seq, time.monotonic_ns()), self._to)
            self.sent = max(self.sent, due)
        self._socket.close()

    def stop(self) -> None:
        """Returns when no more frames are sent."""
        self._ended.set()
        self.join()


def free_port() -> int:
    """A UDP port of loopback that is free at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Flood:
    """A rate of frames a second, for some seconds, to a card with that driver."""

    driver: str
    rate: int
    seconds: int
    governor: bool = False

    def __post_init__(self) -> None:
        """Raises LabError for what cannot be."""
        one_of("driver", self.driver, DRIVERS)
        within("rate", self.rate, 1, RATE_MAX)
        within("seconds", self.seconds, 1, SECONDS_MAX)

    def machine(self, port: int, sender: int) -> Machine:
        """A guest in real time, whose card has its frames from UDP port `sender`."""
        ends = (
            f"local.type=inet,local.host={LOOPBACK},local.port={port}",
            f"remote.type=inet,remote.host={LOOPBACK},remote.port={sender}",
        )
        card = f"{MODEL},netdev=flood,mac={MAC},addr={RECEIVER_SLOT:#x},romfile="
        return Machine(
            modules=(self.driver,),
            devices=("-netdev", f"dgram,id=flood,{','.join(ends)}", "-device", card),
        )

    def boot(self, port: int, sender: int) -> Boot:
        """The driver, the interface, the application."""
        mode = "auto" if self.governor else "off"
        script = (
            f"rxmode --governor eth0 mode {mode} && "
            f"ip addr add {ADDRESS}/24 dev eth0 && ip link set eth0 up && "
            f"livelock-apps --hog --port {PORT} --seconds {self.seconds} --label {self.driver}"
        )
        card = Nic(RECEIVER_SLOT).address
        override = f"echo {self.driver} >/sys/bus/pci/devices/{card}/driver_override"
        programs = (
            Program("card", ("sh", "-c", override)),
            Program("driver", ("@insmod", self.driver)),
            Program("flood", ("sh", "-c", script), self.seconds + 60),
        )
        return Boot("flood", self.machine(port, sender), programs)


def run(paths: Paths, flood: Flood) -> BootResult:
    """Boot, send, and say what came of it."""
    port = free_port()
    sender = Sender(flood.rate, port)
    boot = flood.boot(port, sender.port)
    boot.machine.require(paths)
    sender.start()
    try:
        return run_boot(paths, boot, paths.logs / "flood", lost_s=BOOT_S + flood.seconds)
    finally:
        sender.stop()


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    result = run(paths, Flood(args.driver, args.rate, args.seconds, args.governor))
    for line in result.program("flood").output:
        print(line)
    if not result.ok:
        raise LabError("; ".join(result.problems()), exit_code=1)
    return 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "send frames from the host to a guest's card, over loopback; a cross-check"
    parser.add_argument("--driver", default=IN_TREE, help=", ".join(DRIVERS))
    parser.add_argument("--governor", action="store_true", help="the receive governor decides")
    parser.add_argument("--rate", type=int, default=20000, help="frames a second (20000)")
    parser.add_argument("--seconds", type=int, default=10, help="how long (10)")

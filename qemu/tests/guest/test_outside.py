# SPDX-License-Identifier: GPL-2.0
"""Real frames from outside: iperf3 on the host, over loopback, with a server behind each driver."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.guest.boot import DEBUG_SLOWNESS, Boot, Program
from lab.guest.machine import Files, Machine
from lab.guest.nics import IN_TREE, IN_TREE_82574L, MODEL, OURS, RECEIVER_SLOT, Nic
from lab.guest.vm import run_boot
from lab.paths import CHECKED, Paths
from lab.suite import kernel_variant, machine_for

LOOPBACK = "127.0.0.1"
SERVER_PORT = 5201
WAYS = ("in", "out")
"""To the guest, and from it."""
LEAST = 1 << 20
"""Bytes that arrive in each direction, of the application and of the interface, however slowly."""
SENT, WINDOW = "4M", "64K"
"""What is sent for it, as the sender ends while some of it waits in buffers; and a buffer."""
GUEST_S = 120
CLIENT_S = 60.0
"""By then all is over, on a kernel without checks."""
READY_S = 300.0

KINDS = (
    (OURS, MODEL),
    (IN_TREE, MODEL),
    (IN_TREE_82574L, "e1000e"),
    ("virtio_net", "virtio-net-pci"),
)
"""Drivers and the cards that they are for."""

# A server for each direction. It says when it listens, and at the end what the interface has
# counted and how the governor went about it.
SCRIPT = """
set -e
dev=$(grep -l '^{mac}$' /sys/class/net/*/address | cut -d / -f 5)
ethtool -i $dev | grep '^driver:'
rxmode --governor $dev mode auto
ip address add {address}/24 dev $dev
ip link set $dev up
until [ "$(cat /sys/class/net/$dev/carrier)" = 1 ]; do true; done
for way in {ways}; do
	iperf3 --server --one-off --bind {address} --port {port} >/dev/null &
	until [ -n "$(ss -Hltn 'sport = {port}')" ]; do true; done
	echo "listens: {driver} $way"
	wait $!
done
echo "in: $(cat /sys/class/net/$dev/statistics/rx_bytes)"
echo "out: $(cat /sys/class/net/$dev/statistics/tx_bytes)"
cat /sys/class/net/$dev/governor/stats
ip link set $dev down
"""


@dataclass(frozen=True)
class Card:
    """A card on a network of its own, whose other end is a port of the host's loopback."""

    number: int
    driver: str
    model: str
    port: int

    @property
    def nic(self) -> Nic:
        """Its place and its MAC."""
        return Nic(RECEIVER_SLOT + self.number, model=self.model)

    @property
    def address(self) -> str:
        """Of the guest."""
        return f"10.7.{self.number}.15"

    def args(self) -> tuple[str, ...]:
        """QEMU's arguments. The guest reaches no host; a client of the port reaches the guest."""
        name = f"outside{self.number}"
        forward = f"tcp:{LOOPBACK}:{self.port}-{self.address}:{SERVER_PORT}"
        network = f"net=10.7.{self.number}.0/24,restrict=on,ipv6=off,hostfwd={forward}"
        *_, device = self.nic.args()
        netdev = device.split(",")[1]
        return (
            *("-netdev", f"user,id={name},{network}"),
            *("-device", device.replace(netdev, f"netdev={name}")),
        )

    def program(self) -> Program:
        """Servers behind it."""
        names = {"mac": self.nic.mac, "address": self.address, "driver": self.driver}
        script = SCRIPT.format(**names, port=SERVER_PORT, ways=" ".join(WAYS))
        return Program(self.driver, ("sh", "-c", script), GUEST_S * slowness())


def slowness() -> int:
    """So many times as long as the normal kernel may that of the tests take."""
    return DEBUG_SLOWNESS if kernel_variant(os.environ) in CHECKED else 1


def cards() -> list[Card]:
    """One for each driver, at a TCP port of loopback that is free at the moment."""
    with ExitStack() as probes:
        free = [probes.enter_context(socket.create_server((LOOPBACK, 0))) for _ in KINDS]
        ports = [int(probe.getsockname()[1]) for probe in free]
    return [Card(i, *kind, ports[i]) for i, kind in enumerate(KINDS)]


def boot_of(all_cards: list[Card]) -> Boot:
    """One guest in real time for all cards; the first one is for our driver."""
    machine = Machine(
        modules=(OURS, IN_TREE, IN_TREE_82574L),
        devices=tuple(word for card in all_cards for word in card.args()),
    )
    override = f"echo {OURS} >/sys/bus/pci/devices/{all_cards[0].nic.address}/driver_override"
    programs = (
        Program("card", ("sh", "-c", override)),
        *(Program(f"load-{name}", ("@insmod", name)) for name in machine.modules),
        *(card.program() for card in all_cards),
    )
    return Boot("outside", machine_for(kernel_variant(os.environ), machine), programs)


class Client(threading.Thread):
    """Runs iperf3 on the host whenever a server in the guest says that it listens."""

    def __init__(self, all_cards: list[Card], said: Path) -> None:
        super().__init__(daemon=True)
        self.reports: dict[tuple[str, str], Any] = {}
        self._turns = [(card, way) for card in all_cards for way in WAYS]
        self._said = said

    def _wait(self, line: str) -> bool:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            if self._said.is_file() and line in self._said.read_text(errors="replace"):
                return True
            time.sleep(0.05)
        return False

    def run(self) -> None:
        """One turn after the other, up to the first that does not come."""
        for card, way in self._turns:
            if not self._wait(f"listens: {card.driver} {way}\n"):
                return
            where = ("--client", LOOPBACK, "--port", str(card.port), "--json")
            what = ("--bytes", SENT, "--window", WINDOW)
            argv = ("iperf3", *where, *what, *(("--reverse",) if way == "out" else ()))
            limit = CLIENT_S * slowness()
            done = subprocess.run(argv, capture_output=True, text=True, timeout=limit, check=False)
            self.reports[card.driver, way] = json.loads(done.stdout or "{}")


def test_iperf3_through_each_driver(lab_paths: Paths) -> None:
    """Bytes in both directions, by the driver that is meant, under the governor."""
    if not shutil.which("iperf3"):
        pytest.fail("iperf3 is not installed: make deps")
    all_cards = cards()
    boot = boot_of(all_cards)
    logs = lab_paths.logs / kernel_variant(os.environ) / "outside"
    Files.under(logs).result.unlink(missing_ok=True)
    client = Client(all_cards, Files.under(logs).result)
    client.start()
    run = run_boot(lab_paths, boot, logs, lost_s=READY_S)
    client.join(CLIENT_S * slowness())
    assert run.ok, f"{run.console}: {run.problems()}"
    for card in all_cards:
        pairs = (line.partition(": ") for line in run.program(card.driver).output)
        guest = {name.strip(): text.strip() for name, colon, text in pairs if colon}
        assert guest["driver"] == card.driver
        for way in WAYS:
            report = client.reports[card.driver, way]
            assert "error" not in report, f"{card.driver} {way}: {report['error']}"
            received = report["end"]["sum_received"]
            print(f"{card.driver} {way}: {received['bits_per_second'] / 1e6:.1f} Mbit/s")
            assert min(received["bytes"], int(guest[way])) >= LEAST

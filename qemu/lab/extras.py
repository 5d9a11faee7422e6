# SPDX-License-Identifier: GPL-2.0
"""What a person adds to a guest to work in: a directory, a disk, a network, a debugger."""

import argparse
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lab import LabError
from lab.guest import slowdisk
from lab.guest.machine import Machine, quoted
from lab.guest.nics import USER
from lab.guest.places import BTRFS_FS, CLOUD, F2FS_FS, FLASH, SEEK, XFS_FS, Place
from lab.guest.protocol import MODULE_DIR
from lab.paths import Paths

OPTIONS = {
    "share": ("DIR", "a directory of this machine, read and written as /share"),
    "disk": ("MODEL[,FS]", "a disk with a model's times at /mnt: flash, seek or cloud"),
    "net": ("user", "a network: 10.0.2.2 is the loopback of this machine"),
    "gdb": ("1|PORT", "wait for a debugger at that port, 1234 if it is 1"),
}
"""Each can be a variable of the environment too, in capitals."""

SHARE = "/share"
MOUNTED = "/mnt"
SHARE_MODULES = ("netfs", "9pnet", "9pnet_virtio", "9p")
MODELS = {place.name: place for place in (FLASH, SEEK, CLOUD)}
DEPTH = 2
"""Requests at a time of a disk whose model does not say."""
TYPES = {"ext4": None, **{fs.type: fs for fs in (XFS_FS, BTRFS_FS, F2FS_FS)}}
GDB_PORT = 1234
PORTS = range(1024, 65536)

NINE_P = "trans=virtio,version=9p2000.L,msize=262144"

IPV6 = "ipv6"
"""A module that an interactive shell loads where the kernel has it."""
MAN = "lab/man"
GREETING = (
    "lottery, wrais, wrais-run, rxmode, livelock-run, ipclat, udprate: see man NAME.",
    "'exit' powers the guest off, Ctrl-A X ends it at once.",
)


def _share(text: str) -> Path:
    path = Path(text).absolute()
    if not path.is_dir():
        raise LabError(f"SHARE '{text}': a directory of this machine is allowed")
    return path


def _disk(text: str) -> Place:
    model, _, kind = text.partition(",")
    if model not in MODELS or (kind and kind not in TYPES):
        raise LabError(
            f"DISK '{text}': allowed are {', '.join(MODELS)}, and behind a comma {', '.join(TYPES)}"
        )
    return replace(MODELS[model], other=TYPES[kind or "ext4"])


def _network(text: str) -> bool:
    if text != "user":
        raise LabError(f"NET '{text}': allowed is user")
    return True


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else 0
    if port != 1 and port not in PORTS:
        raise LabError(f"GDB '{text}': allowed are 1, and a port from {PORTS[0]} to {PORTS[-1]}")
    return GDB_PORT if port == 1 else port


@dataclass(frozen=True)
class Extras:
    """What was asked for; gdb is a TCP port of the loopback, 0 for none."""

    share: Path | None = None
    disk: Place | None = None
    network: bool = False
    gdb: int = 0

    @classmethod
    def of(cls, args: argparse.Namespace, environ: Mapping[str, str]) -> "Extras":
        """From options, else the environment. Raises LabError for a value that is not allowed."""
        text = {name: getattr(args, name) or environ.get(name.upper(), "") for name in OPTIONS}
        return cls(
            _share(text["share"]) if text["share"] else None,
            _disk(text["disk"]) if text["disk"] else None,
            bool(text["net"]) and _network(text["net"]),
            _port(text["gdb"]) if text["gdb"] else 0,
        )

    @property
    def modules(self) -> tuple[str, ...]:
        """Kernel modules that the guest has to load for them, in this order."""
        return (SHARE_MODULES if self.share else ()) + (self.disk.modules if self.disk else ())

    def on(self, machine: Machine) -> Machine:
        """The machine with them."""
        devices, words = list(machine.devices), list(machine.append)
        if self.share:
            path = quoted(self.share)
            devices += ["-fsdev", f"local,id=share,path={path},security_model=none"]
            devices += ["-device", "virtio-9p-pci,fsdev=share,mount_tag=share"]
        if self.disk:
            words += self.disk.words(self.disk.depth or DEPTH)
        if self.gdb:
            devices += ["-gdb", f"tcp:127.0.0.1:{self.gdb}", "-S"]
            # Symbols are where the linker put them.
            words += ["nokaslr"]
        return replace(
            machine,
            devices=tuple(devices),
            append=tuple(words),
            modules=tuple(dict.fromkeys(machine.modules + self.modules)),
            nics=machine.nics + ((USER,) if self.network else ()),
        )

    @property
    def mem_mb(self) -> int:
        """What a guest with them needs, 0 if no more than another one."""
        return self.disk.mem_mb if self.disk else 0

    def script(self) -> str:
        """What makes them ready, for the guest's shell; it ends at the first error. Or nothing."""
        lines = [f"insmod {MODULE_DIR}/{name}.ko" for name in self.modules]
        if self.share:
            lines += [f"mkdir -p {SHARE}", f"mount -t 9p -o {NINE_P} share {SHARE}"]
        if self.disk:
            device = slowdisk.DEVICE
            lines += [
                f"{shlex.join(slowdisk.DISK)} >/dev/null",
                f"mount -t {self.disk.type} -o noatime {device} {MOUNTED}",
                f"echo bfq >/sys/block/{Path(device).name}/queue/scheduler",
            ]
        if self.network:
            lines += [
                f"card=$(grep -l {USER.mac} /sys/class/net/*/address)",
                "card=${card%/address} && card=${card##*/}",
                'ip link set "$card" up',
                'ip address add 10.0.2.15/24 dev "$card"',
                "ip route add default via 10.0.2.2",
            ]
        return " &&\n".join(lines)

    def notes(self) -> list[str]:
        """What a person at the shell reads of them, a line each."""
        lines = [f"{SHARE} is {self.share}."] if self.share else []
        if self.disk:
            lines.append(f"{MOUNTED} is a disk with the times of '{self.disk.name}', by BFQ.")
        if self.network:
            lines.append("10.0.2.2 is the loopback of the host.")
        return lines

    def debugger(self, kernel: Path) -> str:
        """How to reach a guest that waits."""
        target = f"target remote 127.0.0.1:{self.gdb}"
        return f"lab: the guest waits for: gdb {kernel / 'vmlinux'} -ex '{target}'"

    def wrapped(self, command: str) -> tuple[str, ...]:
        """The command of a guest, when they are ready."""
        script = self.script()
        return ("sh", "-c", f"{script} || exit\n{command}" if script else command)


def start(extras: Extras) -> str:
    """What an interactive shell reads before its first prompt."""
    script = extras.script()
    tell = (*extras.notes(), *GREETING)
    term = shlex.quote(os.environ.get("TERM", "linux"))
    columns, rows = shutil.get_terminal_size()
    return "\n".join(
        (
            'test -z "$BASH" || . /etc/bash.bashrc',
            f"stty rows {rows} columns {columns}; export TERM={term} MANPATH=/{MAN}: PAGER=less",
            "alias poweroff=exit",
            f"test ! -e {MODULE_DIR}/{IPV6}.ko || insmod {MODULE_DIR}/{IPV6}.ko",
            f"{{\n{script}\n}} || echo 'not all that was asked for is there' >&2"
            if script
            else ":",
            *(f"echo {shlex.quote(line)}" for line in tell),
            "",
        )
    )


def pages(paths: Paths) -> dict[str, Path]:
    """The man pages of our programs, by their names in the initramfs."""
    found = (paths.top / "Documentation" / "man").glob("*.[1-8]")
    return {f"{MAN}/man{page.suffix[1:]}/{page.name}": page for page in sorted(found)}


def register(parser: argparse.ArgumentParser) -> None:
    """Options for them."""
    for name, (value, text) in OPTIONS.items():
        parser.add_argument(f"--{name}", metavar=value, help=f"{text} ({name.upper()})")

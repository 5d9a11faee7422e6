# SPDX-License-Identifier: GPL-2.0
"""What figures depend on, apart from their subject: recorded along with them.

It is a file of its own: the others are compared byte for byte between runs,
and between machines.
"""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.paths import Paths
from lab.tree.kconfig import final_values
from lab.tree.kernel import environment
from lab.tree.patches import carried

UNKNOWN = "unknown"

# What the kernel is made of in modules/, and not what a build may have left there.
SOURCES = ("*.c", "*.h", "Kconfig*", "Kbuild*", "Makefile*")
DIGITS = 16


@dataclass(frozen=True)
class Kernel:
    """A kernel that guests boot: its release, its compiler, the digest of its .config."""

    release: str
    compiler: str
    config: str


@dataclass(frozen=True)
class Host:
    """The machine that the guests run on; memory in MiB."""

    cpu: str
    cpus: int
    memory: int
    system: str
    kernel: str


@dataclass(frozen=True)
class Provenance:
    """series is the digest of the patches and the modules, cpu the model that QEMU emulates.

    image is the digest of the root image, whose programs are measured, too.
    dirty: the checkout differs from its commit. day is that of the measurement, in
    UTC. command is a QEMU line, empty without one.
    """

    commit: str
    dirty: bool
    series: str
    kernels: Mapping[str, Kernel]
    image: str
    qemu: str
    cpu: str
    python: str
    host: Host
    day: str
    command: str = ""

    def json(self) -> str:
        """The text of a file."""
        return json.dumps(asdict(self), indent=1) + "\n"


def _said(argv: Sequence[str]) -> str | None:
    """What a program says; None if it cannot be run or fails."""
    try:
        done = subprocess.run(argv, env=environment(), capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def commit(top: Path) -> tuple[str, bool]:
    """The commit of a checkout, and whether anything in it is not of that commit."""
    git = ["git", "-C", str(top)]
    found = _said([*git, "rev-parse", "HEAD"])
    # A checkout below some other repository has no commit.
    own = _said([*git, "rev-parse", "--show-toplevel"]) == str(top)
    if not found or not own:
        return UNKNOWN, True
    return found, _said([*git, "status", "--porcelain"]) != ""


def series(paths: Paths) -> str:
    """Changes with every line of the patches and of the modules."""
    digest = hashlib.sha256()
    parts = [(patch.name, patch.text.encode()) for patch in carried(paths)]
    found = {file for pattern in SOURCES for file in paths.modules.rglob(pattern)}
    files = sorted(file for file in found if file.is_file() and not file.name.endswith(".mod.c"))
    parts += [(str(file.relative_to(paths.modules)), file.read_bytes()) for file in files]
    for name, data in parts:
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:DIGITS]


def kernel(paths: Paths, variant: str) -> Kernel:
    """What was built for a variant."""
    directory = paths.kernel(variant)
    config = _text(directory / ".config")
    return Kernel(
        release=_text(directory / "include/config/kernel.release").strip() or UNKNOWN,
        compiler=final_values(config).get("CC_VERSION_TEXT", UNKNOWN).strip('"'),
        config=hashlib.sha256(config.encode()).hexdigest()[:DIGITS] if config else UNKNOWN,
    )


def image(paths: Paths) -> str:
    """Changes with every byte of the root image."""
    try:
        with paths.rootfs.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    except OSError:
        return UNKNOWN


def _field(text: str, name: str) -> str:
    """The first value of a name in a /proc file."""
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return UNKNOWN


def host() -> Host:
    """This machine, without its name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", UNKNOWN)
    except OSError:
        system = UNKNOWN
    cpu = _field(_text(Path("/proc/cpuinfo")), "model name")
    return Host(cpu, os.cpu_count() or 1, memory, system, platform.release())


def collect(paths: Paths, variants: Iterable[str], qemu: str, cpu: str) -> Provenance:
    """Of figures that guests of these kernels give; qemu is the program, cpu its model."""
    found, dirty = commit(paths.top)
    said = _said([qemu, "--version"])
    return Provenance(
        commit=found,
        dirty=dirty,
        series=series(paths),
        kernels={name: kernel(paths, name) for name in sorted(variants)},
        image=image(paths),
        qemu=said.partition("\n")[0] if said else UNKNOWN,
        cpu=cpu,
        python=platform.python_version(),
        host=host(),
        day=datetime.now(UTC).date().isoformat(),
    )

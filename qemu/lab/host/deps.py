# SPDX-License-Identifier: GPL-2.0
"""The Debian packages that each purpose needs: named, and installed when we are root."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lab import LabError

SOURCE_PACKAGE = "linux-source-6.12"

TOOLCHAIN = ("gcc", "libc6-dev", "make")
KERNEL = (
    *TOOLCHAIN,
    "bc",
    "bison",
    "cpio",
    "flex",
    "kmod",
    "libelf-dev",
    "lz4",
    "patch",
    "perl",
    "xz-utils",
    SOURCE_PACKAGE,
)
PURPOSES: dict[str, tuple[str, ...]] = {
    "kernel": KERNEL,
    "llvm": ("clang", "lld", "llvm"),
    "userland": (*TOOLCHAIN, "g++", "libsqlite3-dev", "libzmq3-dev"),
    # uidmap is how mmdebstrap works without root.
    "image": ("mmdebstrap", "squashfs-tools-ng", "uidmap"),
    # e2fsprogs makes the file systems of guests that have no disk.
    "emulator": ("e2fsprogs", "qemu-system-x86"),
    "python": ("python3-venv",),
    # What is compared with, and what makes containers, in runs on the host itself.
    "peers": ("crun", "iperf3", "iproute2"),
    "check": (*KERNEL, "git", "python3-venv", "sparse"),
    "menuconfig": (*KERNEL, "libncurses-dev", "pkg-config"),
    "tags": (*KERNEL, "universal-ctags"),
}

# Installed along with missing packages, but never a reason to stop.
WELCOME = {"kernel": ("ccache",)}

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def needed(purposes: Iterable[str], own_source: bool) -> list[str]:
    """Packages for the purposes, sorted. own_source: KERNEL= gives the kernel's source."""
    packages: set[str] = set()
    for purpose in purposes:
        if purpose not in PURPOSES:
            raise LabError(f"purpose '{purpose}': allowed are {', '.join(PURPOSES)}")
        packages.update(PURPOSES[purpose])
    if own_source:
        packages.discard(SOURCE_PACKAGE)
    return sorted(packages)


def _capture(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def missing(packages: Sequence[str], run: Run = _capture) -> list[str]:
    """Those of the packages that dpkg does not report as installed."""
    if not packages:
        return []
    # Unknown names make dpkg-query exit 1 but the known ones are still listed.
    answer = run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages])
    installed = {
        line.split()[0] for line in answer.stdout.splitlines() if line.endswith(" installed")
    }
    return [package for package in packages if package not in installed]


def install(packages: Sequence[str], log: Path) -> None:
    """apt-get the packages as root; its output goes to the log. Exit code 1 if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        for argv in (
            ["apt-get", "update"],
            ["apt-get", "install", "-y", "--no-install-recommends", *packages],
        ):
            done = subprocess.run(
                argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
            )
            # Stale package lists may still be good enough to install from.
            if done.returncode and argv[1] == "install":
                raise LabError(f"apt-get install failed: see {log}", exit_code=1)


def ensure(purposes: Sequence[str], own_source: bool, log: Path, root: bool | None = None) -> None:
    """Make the packages of the purposes be there, or say how (LabError, exit code 2)."""
    packages = needed(purposes, own_source)
    if not shutil.which("dpkg-query"):
        raise LabError(f"no dpkg-query: this is not Debian; needed are {' '.join(packages)}")
    lacking = missing(packages)
    if not lacking:
        return
    welcome = [name for purpose in purposes for name in WELCOME.get(purpose, ())]
    lacking += missing(sorted(set(welcome)))
    if os.geteuid() != 0 if root is None else not root:
        raise LabError(
            "packages are missing, install them with: "
            f"sudo apt-get install --no-install-recommends {' '.join(lacking)}"
        )
    print(f"lab: installing missing packages: {' '.join(lacking)}", file=sys.stderr, flush=True)
    install(lacking, log)


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The verb deps."""
    parser = subparsers.add_parser("deps", help="install, or name, the Debian packages needed")
    which = f"of {', '.join(PURPOSES)}; default: all but llvm"
    parser.add_argument("purposes", nargs="*", metavar="PURPOSE", help=which)
    parser.add_argument("--source", default="", help="kernel source that is not Debian's")
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    from lab.paths import Paths

    purposes: list[str] = args.purposes or [name for name in PURPOSES if name != "llvm"]
    ensure(purposes, bool(args.source), Paths.from_env().logs / "apt.log")
    return 0

# SPDX-License-Identifier: GPL-2.0
"""Debian packages in $(O)/packages: the patched kernel, its headers, our tools, the driver."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from lab import LabError
from lab.host.outdir import remove
from lab.host.program import logged
from lab.paths import PACKAGE, Paths
from lab.tree import kconfig, kernel

# What the source package of the tools and of the driver has, as it lies in the checkout.
SOURCES = ("userland", "modules/napi_livelock", "Documentation/man", "paths.mk")
DEBIAN = "userland/debian"

# The headers package follows the links of our modules: their targets are not in it.
KERNEL_TARGETS = ("TAR_OPTIONS=--dereference", "bindeb-pkg")
KERNEL_DEBS = ("linux-image-*.deb", "linux-headers-*.deb")
# Made along with them, and of no use beside Debian's own.
KERNEL_REST = ("linux-libc-dev_*.deb", "linux-upstream_*")

TOOLS_DEBS = ("who-waits-for-whom_*.deb", "napi-livelock-dkms_*.deb")


def found(paths: Paths, patterns: Sequence[str]) -> list[Path]:
    """The one package of each pattern. Raises LabError for one that is missing."""
    files: list[Path] = []
    for pattern in patterns:
        match = sorted(paths.packages.glob(pattern))
        if len(match) != 1:
            raise LabError(f"{paths.packages}/{pattern}: {len(match)} packages instead of 1", 1)
        files += match
    return files


def source_package(paths: Paths, where: Path) -> None:
    """Copy what the tools and the driver are made of, with debian/ where dpkg looks for it."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.o", "*.ko", "*.cmd", "*.mod", "*.mod.c")
    for name in SOURCES:
        there = where / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if (paths.top / name).is_dir():
            shutil.copytree(paths.top / name, there, ignore=unwanted)
        else:
            shutil.copy(paths.top / name, there)
    (where / DEBIAN).rename(where / "debian")


def tools(paths: Paths) -> list[Path]:
    """The tools with their man pages, and the driver for dkms."""
    remove(paths.packages, ("who-waits-for-whom_*", "napi-livelock-dkms_*"))
    source = paths.packages / "source"
    shutil.rmtree(source, ignore_errors=True)
    source_package(paths, source)
    print("lab: packages of the tools and of the driver", file=sys.stderr, flush=True)
    log = paths.logs / "deb-tools.log"
    argv = ["dpkg-buildpackage", "--build=binary", "--unsigned-changes", "--unsigned-source"]
    if logged(argv, log, cwd=source, env=kernel.environment()):
        raise LabError(f"dpkg-buildpackage failed; everything it said: {log}", 1)
    shutil.rmtree(source)
    return found(paths, TOOLS_DEBS)


def kernel_packages(paths: Paths, own: Path | None, verbose: bool) -> list[Path]:
    """The kernel and its headers; own: the configuration that ours goes on top of."""
    kconfig.write(paths, PACKAGE, own=own)
    kernel.build(paths, PACKAGE, KERNEL_TARGETS, verbose=verbose)
    remove(paths.packages, KERNEL_DEBS)
    for pattern in KERNEL_DEBS:
        for file in paths.out.glob(pattern):
            file.rename(paths.packages / file.name)
    remove(paths.out, KERNEL_REST)
    return found(paths, KERNEL_DEBS)


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--own", type=Path, metavar="FILE", help="put our options on top of FILE")
    parser.add_argument("--verbose", action="store_true", help="show the commands")


def verb(args: argparse.Namespace) -> None:
    paths = Paths.from_env()
    paths.packages.mkdir(parents=True, exist_ok=True)
    for file in (*tools(paths), *kernel_packages(paths, args.own, args.verbose)):
        print(file)

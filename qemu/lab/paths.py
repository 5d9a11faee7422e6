# SPDX-License-Identifier: GPL-2.0
"""Where everything lives: the checkout (read) and the output directory (written)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import one_of
from lab.arch import ARCH

MATRIX = ("no-core", "rt", "voluntary", "up", "ext", "kcsan", "hz250", "no-bfq")
"""Kernels of the matrix: each has its fragment in configs/matrix."""

VARIANTS = ("guest", "debug", "plain", "torture", "vng", *MATRIX)
"""Kernels: the normal one, one full of checks, one without privileged I/O to compare with,
one for the long torture, one that virtme-ng boots, and those of the matrix."""

PACKAGE = "package"
"""The kernel that is installed on machines; no guest of the tests runs it."""

CHECKED = ("debug", "kcsan")
"""Those that check themselves: several times slower, and larger."""


def outside(environ: Mapping[str, str]) -> Path:
    """Where is kept what stays when a checkout is gone."""
    return Path(environ.get("HOME") or "/", ".cache/who-waits")


@dataclass(frozen=True)
class _Below:
    """A path below one of the two directories of Paths."""

    top: str
    name: str

    def __get__(self, paths: "Paths", _: type | None = None) -> Path:
        top: Path = getattr(paths, self.top)
        return top / self.name


@dataclass(frozen=True)
class Paths:
    """top is the checkout, out is $(O); both are absolute."""

    top: Path
    out: Path

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> "Paths":
        """The checkout that holds this file, and LAB_OUT or else its build/."""
        env = os.environ if environ is None else environ
        top = Path(__file__).resolve().parents[2]
        out = env.get("LAB_OUT", "")
        return cls(top, Path(out).absolute() if out else top / "build")

    # In the checkout.
    configs = _Below("top", "configs")
    patches = _Below("top", "patches")
    modules = _Below("top", "modules")
    qemu = _Below("top", "qemu")

    # Under $(O); libexec has test programs, traces a directory for each run that was recorded.
    pristine = _Below("out", "pristine")
    linux = _Below("out", "linux")
    userland = _Below("out", "userland")
    bin = _Below("out", "userland/bin")
    libexec = _Below("out", "userland/libexec")
    init = _Below("out", "userland/init")
    rootfs = _Below("out", "rootfs.sqfs")
    venv = _Below("out", "venv")
    packages = _Below("out", "packages")
    results = _Below("out", "results")
    plots = _Below("out", "plots")
    traces = _Below("out", "traces")
    logs = _Below("out", "logs")

    def kernel(self, variant: str = "guest") -> Path:
        """The kernel build directory of a variant, $(O)/kernel-VARIANT."""
        one_of("kernel", variant, (*VARIANTS, PACKAGE))
        return self.out / f"kernel-{variant}"

    def boot_image(self, variant: str = "guest") -> Path:
        """The bootable image of a variant."""
        return self.kernel(variant) / ARCH.image

# SPDX-License-Identifier: GPL-2.0
"""Where everything lives: the checkout (read) and the output directory (written)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
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
    @property
    def configs(self) -> Path:
        return self.top / "configs"

    @property
    def patches(self) -> Path:
        return self.top / "patches"

    @property
    def modules(self) -> Path:
        return self.top / "modules"

    @property
    def qemu(self) -> Path:
        return self.top / "qemu"

    # Under $(O).
    @property
    def pristine(self) -> Path:
        return self.out / "pristine"

    @property
    def linux(self) -> Path:
        return self.out / "linux"

    @property
    def userland(self) -> Path:
        return self.out / "userland"

    @property
    def bin(self) -> Path:
        """Tools for people."""
        return self.userland / "bin"

    @property
    def libexec(self) -> Path:
        """Test programs, which are no tools for people."""
        return self.userland / "libexec"

    @property
    def init(self) -> Path:
        return self.userland / "init"

    @property
    def rootfs(self) -> Path:
        return self.out / "rootfs.sqfs"

    @property
    def venv(self) -> Path:
        return self.out / "venv"

    @property
    def packages(self) -> Path:
        """Debian packages, for machines."""
        return self.out / "packages"

    @property
    def results(self) -> Path:
        return self.out / "results"

    @property
    def plots(self) -> Path:
        return self.out / "plots"

    @property
    def traces(self) -> Path:
        """What the kernel traced of runs, a directory a run."""
        return self.out / "traces"

    @property
    def logs(self) -> Path:
        return self.out / "logs"

    def kernel(self, variant: str = "guest") -> Path:
        """The kernel build directory of a variant, $(O)/kernel-VARIANT."""
        if variant not in (*VARIANTS, PACKAGE):
            raise LabError(f"kernel '{variant}': allowed are {', '.join((*VARIANTS, PACKAGE))}")
        return self.out / f"kernel-{variant}"

    def boot_image(self, variant: str = "guest") -> Path:
        """The bootable image of a variant."""
        return self.kernel(variant) / ARCH.image

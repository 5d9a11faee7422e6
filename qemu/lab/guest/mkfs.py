# SPDX-License-Identifier: GPL-2.0
"""Empty file systems that mkfs.TYPE of the host makes."""

from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host.program import run


@dataclass(frozen=True)
class Mkfs:
    """A file system: its size in MiB, what mkfs is told, and the modules that it needs.

    The modules are in the order in which a guest has to load them.
    """

    type: str
    size_mb: int
    options: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def make(self, image: Path) -> None:
        """Write it to a sparse file. Raises LabError (exit code 1)."""
        image.unlink(missing_ok=True)
        with image.open("wb") as file:
            file.truncate(self.size_mb << 20)
        mkfs = f"mkfs.{self.type}"
        done = run(mkfs, *self.options, str(image))
        if done.status:
            said = done.said.strip().splitlines()
            why = said[-1] if said else "no message"
            raise LabError(f"{mkfs}: exit {done.status}: {why}", exit_code=1)

# SPDX-License-Identifier: GPL-2.0
"""Results of boots that outlive the run: a bench that was cut short goes on where it was."""

import hashlib
import os
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.paths import Paths
from lab.report.provenance import Provenance
from lab.schedule import Runner


def programs(paths: Paths) -> str:
    """Changes with every byte of the programs that guests without a root image get."""
    digest = hashlib.sha256()
    found = [path for top in (paths.bin, paths.libexec) for path in top.rglob("*")]
    for path in sorted((*found, paths.init)):
        if path.is_file():
            digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def conditions(paths: Paths, made_by: Provenance) -> str:
    """What a measurement depends on beside its boot: not on how it is evaluated."""
    return repr(replace(made_by, commit="", dirty=False, python="")) + programs(paths)


@dataclass(frozen=True)
class Kept:
    """A runner that runs only what is not in its directory, under the same conditions."""

    runner: Runner
    directory: Path
    conditions: str

    def _file(self, boot: Boot) -> Path:
        key = hashlib.sha256((repr(boot) + self.conditions).encode()).hexdigest()
        return self.directory / f"{boot.name}-{key[:16]}.pickle"

    def read(self, boot: Boot) -> BootResult | None:
        """The result that is there.  A file that cannot be read is as none."""
        try:
            found = pickle.loads(self._file(boot).read_bytes())
        except (OSError, EOFError, AttributeError, ImportError, pickle.UnpicklingError):
            return None
        return replace(found, boot=boot) if isinstance(found, BootResult) else None

    def missing(self, boots: Iterable[Boot]) -> list[Boot]:
        """Those that have to run."""
        return [boot for boot in boots if self.read(boot) is None]

    def __call__(self, boot: Boot) -> BootResult:
        """The result that is there, or a new one, which then is."""
        found = self.read(boot)
        if found is None:
            found = self.runner(boot)
            self.directory.mkdir(parents=True, exist_ok=True)
            file = self._file(boot)
            part = file.with_suffix(".part")
            part.write_bytes(pickle.dumps(found))
            os.replace(part, file)
        return found

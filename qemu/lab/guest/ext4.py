# SPDX-License-Identifier: GPL-2.0
"""An empty ext4 file system, the same bytes each time."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host.program import run, search_path

FS_UUID = "6c616264-6973-6b00-8000-000000000001"
HASH_SEED = "6c616264-6973-6b00-8000-000000000002"
MADE_AT = 1577836800
"""2020-01-01, when the guest's clock starts."""
FEATURES = (
    *("has_journal", "ext_attr", "resize_inode", "dir_index", "filetype", "extent", "64bit"),
    *("flex_bg", "sparse_super", "large_file", "huge_file", "dir_nlink", "extra_isize"),
    "metadata_csum",
)
"""Named one by one: the host's own defaults must not decide what is measured."""

BLOCKS = (1024, 2048, 4096)
MIN_MB, MAX_MB = 8, 65536
MIN_JOURNAL_BLOCKS = 1024
"""What mke2fs and jbd2 ask for."""


@dataclass(frozen=True)
class Ext4:
    """A file system: size and journal in MiB, bytes a block, features besides FEATURES."""

    size_mb: int = 1024
    block: int = 4096
    journal_mb: int = 32
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.block not in BLOCKS:
            allowed = ", ".join(map(str, BLOCKS))
            raise LabError(f"ext4 block {self.block}: allowed are {allowed}")
        if not MIN_MB <= self.size_mb <= MAX_MB:
            raise LabError(f"ext4 size {self.size_mb} MiB: allowed are {MIN_MB} to {MAX_MB}")
        least, most = -(-MIN_JOURNAL_BLOCKS * self.block >> 20), self.size_mb // 2
        if not least <= self.journal_mb <= most:
            raise LabError(
                f"ext4 journal {self.journal_mb} MiB: allowed are {least} to {most} "
                f"with blocks of {self.block} bytes on {self.size_mb} MiB"
            )

    def argv(self, mke2fs: str, image: Path) -> list[str]:
        """The command.  Everything is initialised now, not by a thread of the guest later."""
        options = f"hash_seed={HASH_SEED},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        return [
            *(mke2fs, "-q", "-F", "-t", "ext4", "-b", str(self.block), "-I", "256", "-m", "0"),
            *("-O", ",".join(("none", *FEATURES, *self.features))),
            *("-J", f"size={self.journal_mb}", "-U", FS_UUID, "-E", options),
            *(str(image), f"{self.size_mb}M"),
        ]

    def make(self, image: Path) -> None:
        """Write it to a sparse file.  Raises LabError (exit code 1) if mke2fs fails."""
        image.parent.mkdir(parents=True, exist_ok=True)
        image.unlink(missing_ok=True)
        nothing = {"MKE2FS_CONFIG": os.devnull, "E2FSPROGS_FAKE_TIME": str(MADE_AT)}
        done = run(*self.argv(find_mke2fs(), image), env={**os.environ, **nothing})
        if done.status:
            said = [line for line in done.said.splitlines() if line.strip()]
            why = said[-1] if said else "no message"
            raise LabError(f"mke2fs: exit {done.status}: {why}", exit_code=1)


def find_mke2fs() -> str:
    """The program, which is outside of a user's PATH on Debian.  Raises LabError without it."""
    program = shutil.which("mke2fs", path=search_path())
    if program is None:
        raise LabError("mke2fs is not installed (package e2fsprogs): make deps", exit_code=1)
    return program

# SPDX-License-Identifier: GPL-2.0
"""Files of the root image for a guest that runs without it.

A disk completes in host time; in memory the same programs are measured in a
time that is virtual throughout.
"""

import posixpath
import re
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.host.program import run
from lab.paths import Paths

READER = "rdsquashfs"
LINK = re.compile(r"slink (\S+) \d+ \d+ \d+ (\S+)")
LINKS_MAX = 40
ELF = b"\x7fELF"
NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(\S+)\]")


def read(image: Path, *args: str) -> bytes:
    """What the reader prints of an image.  Raises LabError (exit code 1)."""
    try:
        done = subprocess.run([READER, *args, str(image)], capture_output=True, check=False)
    except FileNotFoundError:
        raise LabError(f"no {READER}: run make deps first", exit_code=1) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        words = f"{READER} {' '.join(args)}: {said[-1] if said else 'no message'}"
        raise LabError(f"{image}: {words}", exit_code=1)
    return done.stdout


def describe(paths: Paths) -> str:
    """A line for each file of the root image.  Raises LabError (exit code 1) without an image."""
    if not paths.rootfs.is_file():
        raise LabError(f"{paths.rootfs} is missing: make rootfs", exit_code=1)
    return read(paths.rootfs, "--describe").decode()


def links(description: str) -> dict[str, str]:
    """The symbolic links of an image, by name: where each points, as it is written."""
    matches = map(LINK.match, description.splitlines())
    return {match[1]: match[2] for match in matches if match}


def resolve(name: str, targets: Mapping[str, str]) -> str:
    """The file behind a name of the image, both relative to /.  Raises LabError for a circle."""
    parts, done, left = name.split("/"), "", LINKS_MAX
    while parts:
        done = posixpath.normpath(posixpath.join(done, parts.pop(0)))
        if done not in targets:
            continue
        left -= 1
        if not left:
            raise LabError(f"root image: {name}: too many symbolic links", exit_code=1)
        # an absolute one starts again at the root, a relative one beside itself
        target = posixpath.join("/", posixpath.dirname(done), targets[done])
        parts = [*posixpath.normpath(target).strip("/").split("/"), *parts]
        done = ""
    return done


def libraries(file: Path) -> list[str]:
    """Names in an image of the shared libraries that a file of it asks for."""
    with file.open("rb") as start:
        if start.read(len(ELF)) != ELF:
            return []
    said = run("readelf", "--dynamic", "--wide", str(file)).said
    return [ARCH.library(name) for name in NEEDED.findall(said)]


def extra(paths: Paths, names: Collection[str], log_dir: Path) -> dict[str, Path]:
    """More files for the initramfs: these of the root image, with links followed; made in log_dir.

    What a program of them is linked with comes with it.  Raises LabError (exit code 1) if there
    is no image, or no such file in it.
    """
    if not names:
        return {}
    targets = links(describe(paths))
    found: dict[str, Path] = {}
    left = [*names]
    while left:
        name = left.pop()
        if name in found:
            continue
        file = log_dir / "image" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(read(paths.rootfs, "--cat", resolve(name, targets)))
        file.chmod(0o755)
        found[name] = file
        left += libraries(file)
    return found

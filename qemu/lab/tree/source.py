# SPDX-License-Identifier: GPL-2.0
"""The kernel source: Debian's tarball or one's own, unpacked once into $(O)/pristine."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from lab import LabError
from lab.host.deps import DEBIAN_DIR, DEBIAN_GLOB
from lab.host.progress import Progress

# What there is a series for; the first one is what the stack is made on.
CARRIED = ("6.12", "7.2")
CHUNK = 1 << 20

# tar's own option for what the file name ends in.
DECOMPRESS = {".xz": "--xz", ".gz": "--gzip", ".tgz": "--gzip", ".zst": "--zstd", ".bz2": "--bzip2"}

_FIELD = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)[ \t]*=[ \t]*(.*?)[ \t]*$", re.M)


@dataclass(frozen=True)
class Source:
    """What $(O)/pristine holds.

    origin is the tarball or directory; key its sha256 (of a directory: of the
    names, sizes and times in it); size and mtime_ns tell cheaply that a
    tarball is still the same; newest_ns is the newest file time in the
    unpacked tree: a later one there means that the file was changed.
    """

    origin: str
    version: str
    key: str
    size: int
    mtime_ns: int
    newest_ns: int


def find(wanted: str, debian_dir: Path = DEBIAN_DIR) -> Path:
    """The directory or tarball asked for, or else Debian's newest tarball."""
    if wanted:
        path = Path(wanted).absolute()
        if not path.exists():
            raise LabError(f"KERNEL={wanted}: no such directory or tarball")
        return path
    candidates = sorted(debian_dir.glob(DEBIAN_GLOB), key=lambda path: path.stat().st_mtime)
    if not candidates:
        raise LabError(
            f"no kernel source {debian_dir}/{DEBIAN_GLOB}: "
            "install linux-source-6.12 or give KERNEL=<directory or tarball>"
        )
    return candidates[-1]


def version(makefile: str) -> str | None:
    """ "6.12.117" out of the text of a kernel's top Makefile; None if it is not one."""
    fields = dict(_FIELD.findall(makefile))
    try:
        numbers = [int(fields[name]) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    except (KeyError, ValueError):
        return None
    extra = fields.get("EXTRAVERSION")
    if extra is None:
        return None
    candidate = extra if extra.startswith("-rc") else ""
    return ".".join(map(str, numbers)) + candidate


def check_version(found: str | None, origin: Path) -> str:
    """The version if there is a series for it; a LabError otherwise."""
    allowed = " and ".join(f"{base}.y" for base in CARRIED)
    if found is None:
        raise LabError(f"{origin}: not a kernel source; carried are {allowed}")
    if base_of(found) not in CARRIED or not re.fullmatch(r"[\d.]+", found):
        raise LabError(f"{origin}: kernel {found}; carried are {allowed}")
    return found


def base_of(version: str) -> str:
    """ "6.12" of "6.12.117"."""
    return ".".join(version.split(".")[:2])


def checksum(tarball: Path) -> str:
    """sha256 of a file, as hex."""
    digest = hashlib.sha256()
    progress = Progress(f"checking {tarball.name}", tarball.stat().st_size, "bytes")
    done = 0
    with tarball.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            progress.update(done)
    progress.close()
    return digest.hexdigest()


def tree_files(top: Path) -> list[tuple[str, os.stat_result]]:
    """Relative name and lstat of everything below top but .git, sorted; no directories."""
    found: list[tuple[str, os.stat_result]] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(top / prefix) as entries:
            for entry in entries:
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name != ".git":
                        pending.append(name + "/")
                else:
                    found.append((name, entry.stat(follow_symlinks=False)))
    found.sort(key=lambda item: item[0])
    return found


def stamp_path(pristine: Path) -> Path:
    """Beside the tree, so that the tree itself stays untouched."""
    return pristine.with_name(pristine.name + ".json")


def load(pristine: Path) -> Source | None:
    """What the tree holds, or None if it is missing or not complete."""
    if not pristine.is_dir():
        return None
    try:
        return Source(**json.loads(stamp_path(pristine).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def written_into(pristine: Path, source: Source) -> str | None:
    """Name of a file of the tree that was changed since it was unpacked, or None.

    $(O)/linux shares its inodes, so an editor that writes in place gets here.
    """
    for name, stat in tree_files(pristine):
        if stat.st_mtime_ns > source.newest_ns:
            return name
    return None


def ensure(pristine: Path, wanted: str, debian_dir: Path = DEBIAN_DIR) -> Source:
    """Have the source asked for in pristine, unpacking only what is not there yet."""
    origin = find(wanted, debian_dir)
    have = load(pristine)
    if origin.is_dir():
        key, size, mtime_ns = _identify_dir(origin)
    else:
        stat = origin.stat()
        size, mtime_ns = stat.st_size, stat.st_mtime_ns
        same = have and (have.origin, have.size, have.mtime_ns) == (str(origin), size, mtime_ns)
        key = have.key if have and same else checksum(origin)
    if have and have.key == key:
        return have
    part = pristine.with_name(pristine.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        found = _copy(origin, part) if origin.is_dir() else _unpack(origin, part)
        newest = max(stat.st_mtime_ns for _, stat in tree_files(part))
        # From here on the old tree is gone: no stamp until the new one is whole.
        stamp_path(pristine).unlink(missing_ok=True)
        shutil.rmtree(pristine, ignore_errors=True)
        part.rename(pristine)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    source = Source(str(origin), found, key, size, mtime_ns, newest)
    stamp_path(pristine).write_text(json.dumps(asdict(source), indent=1) + "\n")
    return source


def _identify_dir(origin: Path) -> tuple[str, int, int]:
    """Key, size in bytes and newest time in ns of a source directory."""
    check_version(_version_of(origin), origin)
    for sign in (".config", "include/config"):
        if (origin / sign).exists():
            raise LabError(
                f"{origin}: has been built in ({sign} exists); run make mrproper there first"
            )
    digest = hashlib.sha256()
    size = newest = 0
    for name, stat in tree_files(origin):
        digest.update(os.fsencode(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n"))
        size += stat.st_size
        newest = max(newest, stat.st_mtime_ns)
    return digest.hexdigest(), size, newest


def _version_of(top: Path) -> str | None:
    try:
        return version((top / "Makefile").read_text(errors="replace"))
    except OSError:
        return None


def _copy(origin: Path, part: Path) -> str:
    """Copy a source directory, without .git; its version."""
    files = tree_files(origin)
    progress = Progress(f"copying {origin}", sum(stat.st_size for _, stat in files), "bytes")
    done = 0
    for name, stat in files:
        target = part / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(origin / name, target, follow_symlinks=False)
        done += stat.st_size
        progress.update(done)
    progress.close()
    return check_version(_version_of(part), origin)


def _unpack(origin: Path, part: Path) -> str:
    """Unpack a tarball; its version. A wrong one is refused as soon as its Makefile is out."""
    part.mkdir(parents=True)
    argv = ["tar", "--extract", "--strip-components=1", f"--directory={part}", "--no-same-owner"]
    decompress = DECOMPRESS.get(origin.suffix)
    if decompress:
        argv.append(decompress)
    progress = Progress(f"unpacking {origin.name}", origin.stat().st_size, "bytes")
    with tempfile.TemporaryFile("w+", errors="replace") as complaints:
        tar = subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=complaints)
        assert tar.stdin
        try:
            _feed(origin, part, tar.stdin, progress)
        finally:
            # A tar that gave up has closed its end; why is in its complaints.
            with contextlib.suppress(BrokenPipeError):
                tar.stdin.close()
            status = tar.wait()
            progress.close()
        if status:
            complaints.seek(0)
            first = complaints.readline().strip() or f"tar exit {status}"
            raise LabError(f"{origin}: cannot be unpacked: {first}")
    return check_version(_version_of(part), origin)


def _feed(origin: Path, part: Path, sink: IO[bytes], progress: Progress) -> None:
    """Give the tarball to tar, and up as soon as a Makefile of another version is out."""
    done = 0
    checked = False
    with origin.open("rb") as stream, contextlib.suppress(BrokenPipeError):
        while chunk := stream.read(CHUNK):
            sink.write(chunk)
            done += len(chunk)
            progress.update(done)
            found = None if checked else _version_of(part)
            if found:
                check_version(found, origin)
                checked = True


def note_pin(source: Source, base: Path) -> None:
    """Say when the source is not the one that its patches are pinned on (base)."""
    number, sha256 = pin(base)
    said = ""
    if number and number != source.version:
        said = f"kernel {source.version}; the patches are pinned on {number}"
    elif sha256 and sha256 != source.key:
        said = f"{source.origin}: not the pinned tarball of {number}"
    if said:
        print(f"lab: {said}", file=sys.stderr)


def pin(base: Path) -> tuple[str, str]:
    """The version and the tarball's sha256 that a series was made on; empty if not said there."""
    lines = base.read_text().splitlines() if base.exists() else []
    text = "\n".join(line for line in lines if not line.startswith("#"))
    number = re.search(r"\b\d+\.\d+\.\d+\b", text)
    digest = re.search(r"\b[0-9a-f]{64}\b", text)
    return number[0] if number else "", digest[0] if digest else ""

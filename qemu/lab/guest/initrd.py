# SPDX-License-Identifier: GPL-2.0
"""The initramfs: a newc cpio archive whose bytes depend on its content alone."""

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lab import LabError
from lab.guest.protocol import MODULE_DIR, PLAN_FILE, PROGRAM_DIR, in_archive
from lab.paths import Paths

MAGIC = b"070701"
TRAILER = "TRAILER!!!"
ALIGN = 4
FIRST_INODE = 1

OURS = tuple(map(in_archive, (PROGRAM_DIR, MODULE_DIR)))
DIRECTORIES = ("dev", "lab", *OURS, "proc", "root", "run", "sys", "tmp")


@dataclass(frozen=True)
class Node:
    """One member. mode holds the type as well; rdev is (major, minor) of a device."""

    name: str
    mode: int
    data: bytes = b""
    rdev: tuple[int, int] = (0, 0)


def directory(name: str) -> Node:
    """A directory, 0755."""
    return Node(name, stat.S_IFDIR | 0o755)


def file(name: str, data: bytes, mode: int = 0o644) -> Node:
    """A regular file."""
    return Node(name, stat.S_IFREG | mode, data)


def character_device(name: str, major: int, minor: int) -> Node:
    """A character device, 0600."""
    return Node(name, stat.S_IFCHR | 0o600, rdev=(major, minor))


def _padding(length: int) -> bytes:
    return b"\0" * (-length % ALIGN)


def _member(node: Node, inode: int) -> bytes:
    name = node.name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(node.mode) else 1
    # inode mode uid gid nlink mtime size dev(2) rdev(2) namesize check
    fields = (inode, node.mode, 0, 0, links, 0, len(node.data), 0, 0, *node.rdev, len(name), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields)
    head = header + name
    return head + _padding(len(head)) + node.data + _padding(len(node.data))


def pack(nodes: Iterable[Node]) -> bytes:
    """The archive: members by name, so that a directory precedes what it holds.

    Raises LabError if a name is there twice.
    """
    members = sorted(nodes, key=lambda node: node.name.split("/"))
    names = [node.name for node in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LabError(f"initramfs: {twice[0]} is there twice", exit_code=1)
    parts = [_member(node, inode) for inode, node in enumerate(members, FIRST_INODE)]
    parts.append(_member(Node(TRAILER, 0), 0))
    return b"".join(parts)


def _folders(names: Iterable[str]) -> set[str]:
    """The directories that hold them."""
    return {str(folder) for name in names for folder in PurePosixPath(name).parents} - {"."}


def build(paths: Paths, plan: str, extra: Mapping[str, Path] | None = None) -> bytes:
    """The guest's initramfs: PID 1, our own programs, all in /lab/bin, the plan.

    extra maps more names (relative to /) to host files, which stay executable
    if they are. Raises LabError (exit code 1) if something is not built.
    """
    if not paths.init.is_file():
        raise LabError(f"{paths.init} is missing: make userland", exit_code=1)
    nodes = [directory(name) for name in DIRECTORIES]
    # The kernel opens it for PID 1 before anything is mounted.
    nodes.append(character_device("dev/console", 5, 1))
    nodes.append(file("init", paths.init.read_bytes(), 0o755))
    nodes.append(file(in_archive(PLAN_FILE), plan.encode()))
    programs = (program for folder in (paths.bin, paths.libexec) for program in folder.glob("*"))
    for program in filter(Path.is_file, programs):
        name = in_archive(f"{PROGRAM_DIR}/{program.name}")
        nodes.append(file(name, program.read_bytes(), 0o755))
    nodes += [directory(name) for name in _folders(extra or ()) if name not in DIRECTORIES]
    for name, source in (extra or {}).items():
        executable = source.stat().st_mode & stat.S_IXUSR
        nodes.append(file(name, source.read_bytes(), 0o755 if executable else 0o644))
    return pack(nodes)

# SPDX-License-Identifier: GPL-2.0
"""The part of podman's and docker's command lines that ipclat uses, by unshare(1).

Called as fake_engine.py STATE COMMAND WORD ...; STATE is a directory: `log` has a line
for each call, `images` and `containers` a file for each that there is.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path

FLAGS = ("--rm", "--read-only", "--no-hosts", "--rootfs", "--force")


def split(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options, each with its values, and what follows them."""
    options: dict[str, list[str]] = {}
    rest = list(words)
    while rest and rest[0].startswith("--"):
        name, _, value = rest.pop(0).partition("=")
        if name not in FLAGS and not value:
            value = rest.pop(0)
        options.setdefault(name, []).append(value)
    return options, rest


def command(options: dict[str, list[str]], root: Path, words: list[str]) -> list[str]:
    """What runs it: namespaces, mounts, then the program."""
    script = []
    for volume in options["--volume"]:
        source, target = volume.split(":")[:2]
        at = root / target.lstrip("/")
        if Path(source).is_dir():
            at.mkdir(exist_ok=True)
        else:
            at.touch()
        script.append(shlex.join(["mount", "--bind", source, str(at)]))
    script.append(shlex.join(["exec", "chroot", str(root), *words]))
    spaces = ["unshare", "--mount", "--ipc", "--uts", "--pid", "--fork", "--kill-child"]
    (network,) = options["--network"]
    if network == "none":
        spaces.append("--net")
    else:
        spaces = ["nsenter", f"--net={network.removeprefix('ns:')}", *spaces]
    return [*spaces, "sh", "-ec", "\n".join(script)]


def run(state: Path, words: list[str]) -> None:
    """To its end, with --rm."""
    options, (what, *rest) = split(words)
    (name,) = options["--name"]
    root = Path(what)
    if "--rootfs" not in options:
        assert (state / "images" / what).exists()
        root = state / "roots" / name
        root.mkdir(parents=True, exist_ok=True)
    file = state / "containers" / name
    with subprocess.Popen(command(options, root, rest)) as process:
        file.write_text(str(process.pid))
    file.unlink()
    sys.exit(process.returncode != 0)


def init_of(state: Path, name: str) -> int:
    """The first process of a container, a child of unshare."""
    pid = (state / "containers" / name).read_text()
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def main(state: Path, verb: str, words: list[str]) -> None:
    with (state / "log").open("a") as log:
        print(verb, *words, file=log)
    for name in ("images", "containers"):
        (state / name).mkdir(exist_ok=True)
    _, rest = split(words)
    if verb == "info":
        print("runc")
    elif verb == "import":
        with tarfile.open(rest[0]) as archive:
            assert not archive.getnames()
        (state / "images" / rest[1]).touch()
    elif verb == "run":
        run(state, words)
    elif verb == "inspect":
        print(init_of(state, rest[0]))
    elif verb == "rm":
        with suppress(FileNotFoundError, ProcessLookupError, IndexError):
            os.kill(init_of(state, rest[0]), signal.SIGKILL)
    elif verb == "rmi":
        (state / "images" / rest[0]).unlink()
    else:
        assert verb == "version"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])

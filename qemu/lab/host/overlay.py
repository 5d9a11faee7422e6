# SPDX-License-Identifier: GPL-2.0
"""Directories as they are, but private: what a command changes there, only later ones see.

A mount namespace of its own, in which an overlay covers each directory at its own path:
builds stay incremental, and nothing of it is left once the scratch directory is gone.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host.program import run


def _roots(directories: Sequence[Path]) -> list[Path]:
    """The directories to cover: without those that an overlay of another one covers."""
    found = sorted({directory.resolve() for directory in directories})
    return [
        path
        for path in found
        if not any(
            path != other
            and path.is_relative_to(other)
            and path.stat().st_dev == other.stat().st_dev
            for other in found
        )
    ]


@contextlib.contextmanager
def _put_off() -> Iterator[None]:
    """SIGINT and SIGTERM interrupt behind the block, in which a process is started.

    In the midst of that it is not known yet which process is to be ended.
    """
    late: list[int] = []
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = [signal.signal(n, lambda number, frame: late.append(number)) for n in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if late:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class Overlay:
    """Private copies of directories. What changes lies in scratch, below no directory."""

    roots: tuple[Path, ...]
    scratch: Path

    def argv(self, command: Sequence[str], cwd: Path) -> list[str]:
        user = os.geteuid() != 0
        layers = range(len(self.roots))
        # Relative names: a comma or colon in the path of scratch would end an option.
        script = [f"cd {shlex.quote(str(self.scratch))}"]
        script += [f"mount --bind {shlex.quote(str(self.roots[n]))} {n}/lower" for n in layers]
        script += [
            f"mount -t overlay lab -o lowerdir={n}/lower,upperdir={n}/upper,workdir={n}/work,"
            f"index=off{',userxattr' if user else ''} {shlex.quote(str(self.roots[n]))}"
            for n in layers
        ]
        script += [f"cd {shlex.quote(str(cwd))}", 'exec "$@"']
        unshare = ["unshare", "--mount", *(["--map-root-user"] if user else [])]
        return [*unshare, "sh", "-ec", "\n".join(script), "sh", *command]

    def run(
        self,
        command: Sequence[str],
        cwd: Path,
        log: Path,
        environ: Mapping[str, str],
        timeout_s: float,
    ) -> int | None:
        """Exit status of the command, None if it had to be ended. Its output is added to log."""
        child = None
        try:
            with log.open("a") as out, _put_off():
                out.write(f"$ {shlex.join(command)}\n")
                out.flush()
                child = subprocess.Popen(
                    self.argv(command, cwd),
                    env=dict(environ),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            return child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Also what it has left behind: the next command mounts the same scratch.
            if child:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _forced(path: Path) -> None:
    """Remove a directory with what an overlay has left in it, such as modes of 000."""
    for directory, names, _ in os.walk(path):
        for name in names:
            below = Path(directory, name)
            if not below.is_symlink():
                below.chmod(0o700)
    shutil.rmtree(path)


def _ended(number: int, frame: object) -> None:
    """As if Ctrl-C had been pressed: a scratch directory may be large."""
    raise KeyboardInterrupt


@contextlib.contextmanager
def overlay(directories: Sequence[Path]) -> Iterator[Overlay]:
    """An overlay of the directories, as they are now, for the time of the block.

    Of the main thread only: the block takes care of SIGTERM.
    """
    roots = tuple(_roots(directories))
    scratch = Path(tempfile.mkdtemp(prefix="lab-overlay-")).resolve()
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        for root in roots:
            if scratch.is_relative_to(root):
                raise LabError(f"TMPDIR must not be below {root}", exit_code=1)
        for number in range(len(roots)):
            for part in ("lower", "upper", "work"):
                (scratch / str(number) / part).mkdir(parents=True)
        yield Overlay(roots, scratch)
    finally:
        _forced(scratch)
        signal.signal(signal.SIGTERM, before)


def refusal() -> str:
    """Why there can be no overlay on this machine, or nothing."""
    with tempfile.TemporaryDirectory() as place, overlay([Path(place)]) as view:
        try:
            done = run(*view.argv(["true"], Path("/")))
        except OSError as error:
            return f"no private mounts: unshare: {error.strerror}"
    return f"no private mounts: {' '.join(done.said.split())}" if done.status else ""

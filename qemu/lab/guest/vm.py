# SPDX-License-Identifier: GPL-2.0
"""The life of a guest: one process, one watchdog, two files that are read as they grow."""

import fcntl
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab import LabError
from lab.guest import extents, image, protocol, python
from lab.guest.boot import Boot, Program
from lab.guest.console import Console, Splat
from lab.guest.initrd import build
from lab.guest.ktap import Case, Document, Status, Stream
from lab.guest.machine import Files
from lab.guest.result import BootResult, Outcome, ProgramResult
from lab.host.progress import Progress
from lab.paths import Paths
from lab.tree import modules

POLL_S = 0.05
STAT = Path("/proc/stat")
# How long QEMU may live on after the guest's last word or its panic. Nothing is waited for but
# the end, so a busy host may take its time.
GRACE_S = 120.0
# A guest that has said nothing for so long has stopped dead.
SILENCE_S = 600.0
# Programs on this kernel work for an hour and tell at the end.
SELDOM_TELLS = "torture"

COMMAND_END = b"\n" + protocol.COMMAND_EXIT.encode()
COMMAND_END_TAIL = re.compile(rb"\d{0,3}\n?")
COMMAND_EXIT = re.compile(re.escape(COMMAND_END) + rb"(\d{1,3})\n\Z")
GAVE_UP = re.compile(rb"^" + re.escape(protocol.GAVE_UP.encode()) + rb"(.*)$", re.MULTILINE)


class Tail:
    """A file that another process appends to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self) -> bytes:
        """What has been added since the last call."""
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._offset)
                data = stream.read()
        except FileNotFoundError:
            return b""
        self._offset += len(data)
        return data


def guarded(argv: list[str]) -> list[str]:
    """The command such that it does not outlive us, however we end."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *argv] if setpriv else argv


class Process:
    """QEMU in a process group of its own; leaving the block ends it."""

    def __init__(self, argv: list[str], log: Path) -> None:
        self._log = log
        with log.open("wb") as stream:
            try:
                self._child = subprocess.Popen(
                    guarded(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                )
            except OSError as error:
                raise LabError(f"cannot start {argv[0]}: {error.strerror}", exit_code=1) from error

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ended(self, timeout_s: float) -> bool:
        """Wait up to timeout_s for the end."""
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End the process group, if it has not ended, and wait for it."""
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def last_words(self) -> str:
        """How it ended: exit status or signal, and the last line it wrote itself."""
        code = self._child.returncode
        how = f"signal {-code}" if code < 0 else f"exit {code}"
        lines = self._log.read_text(errors="replace").split("\n")
        said = [line for line in lines if line.strip()]
        return f"{how}: {said[-1].strip()}" if said else how

    @property
    def failed(self) -> bool:
        """It has ended, and not with exit 0."""
        return bool(self._child.returncode)


def stolen_s() -> float:
    """Seconds for which others kept CPUs of this host, if it is a virtual one; see proc_stat(5)."""
    return int(STAT.read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")


class Watch:
    """The one watchdog: for the whole boot, and for the program that runs."""

    def __init__(self, boot: Boot, lost_s: float, silence_s: float = math.inf) -> None:
        self._boot = boot
        self._silence_s = silence_s
        self._start = self._heard = self._looked = self._begun = time.monotonic()
        self.gap_s = 0.0
        self._stolen_s = stolen_s()
        self._deadline = self._start + lost_s
        self._program_deadline = self._deadline
        self._done = -1
        self.took_s: list[float] = []

    def follow(self, done: int) -> None:
        """`done` programs have ended: the next one has its own time."""
        if done == self._done:
            return
        now = time.monotonic()
        if self._done >= 0:
            # Of several that were seen at once, the first gets all of it.
            self.took_s += [now - self._begun, *(0.0 for _ in range(done - self._done - 1))]
        self._done, self._begun = done, now
        if done >= len(self._boot.programs):
            return
        limit = self._boot.program_lost_s(self._boot.programs[done])
        self._program_deadline = time.monotonic() + limit

    def shorten(self, timeout_s: float) -> None:
        """From now on there are at most timeout_s left."""
        self._deadline = min(self._deadline, time.monotonic() + timeout_s)

    def look(self) -> None:
        """It looks at the guest now: gap_s is the longest time for which it did not."""
        now = time.monotonic()
        self.gap_s = max(self.gap_s, now - self._looked)
        self._looked = now

    def heard(self) -> None:
        """The guest has said something."""
        self._heard = time.monotonic()

    @property
    def stolen_s(self) -> float:
        """What others have had of the host's CPUs meanwhile."""
        return stolen_s() - self._stolen_s

    @property
    def expired(self) -> bool:
        """The time is over."""
        return time.monotonic() > min(self._deadline, self._program_deadline) or self._silent

    @property
    def _silent(self) -> bool:
        return time.monotonic() > self._heard + self._silence_s

    @property
    def why(self) -> str:
        """What it says of a guest that it ends."""
        if self._silent:
            return f"the watchdog ended the guest: silent for {self._silence_s:g} s"
        return f"the watchdog ended the guest after {self.seconds:.0f} s"

    @property
    def seconds(self) -> float:
        """How long it has watched."""
        return time.monotonic() - self._start


@dataclass
class Guest:
    """A guest that is about to run: where it writes and what was seen of it.

    finished says, after on_result has taken what there was, whether the guest
    has said all it had to say.
    """

    argv: list[str]
    files: Files
    watch: Watch
    on_result: Callable[[bytes], None]
    finished: Callable[[], bool]
    grace_s: float = GRACE_S
    console: Console = field(default_factory=Console)
    errors: list[str] = field(default_factory=list)

    def run(self) -> Outcome:
        """Start QEMU, read along, and return when it has ended or been ended."""
        console, result = Tail(self.files.console), Tail(self.files.result)
        watch, why = self.watch, ""
        with Process(self.argv, self.files.console.with_name("qemu.log")) as process:
            while not why and not (ended := process.ended(POLL_S)):
                watch.look()
                self._read(console, result)
                if self.console.panicked or self.finished():
                    watch.shorten(self.grace_s)
                why = watch.why if watch.expired else ""
            process.kill()
            self._read(console, result)
            self.console.close()
            return self._outcome(process, ended, why)

    def _read(self, console: Tail, result: Tail) -> None:
        said, data = console.read(), result.read()
        if said or data:
            self.watch.heard()
        self.console.feed(said)
        if data:
            self.on_result(data)

    def _outcome(self, process: Process, ended: bool, why: str) -> Outcome:
        if self.console.panicked:
            self.errors.append("the kernel panicked")
            return Outcome.PANIC
        if ended and self.finished() and not process.failed:
            return Outcome.DONE
        if ended:
            self.errors.append(f"QEMU ended early: {process.last_words()}")
            return Outcome.DIED
        if self.finished():
            self.errors.append(f"no power off within {self.grace_s:g} s")
            return Outcome.STUCK
        self.errors.append(why)
        return Outcome.TIMEOUT


@contextmanager
def _prepared(paths: Paths, boot: Boot, files: Files) -> Iterator[list[str]]:
    """The command of a guest. In the block no other run may write into its directory."""
    log_dir = files.console.parent
    log_dir.mkdir(parents=True, exist_ok=True)
    with (log_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(f"{log_dir} is in use by another run", exit_code=1) from None
        yield _prepare(paths, boot, files)


def _prepare(paths: Paths, boot: Boot, files: Files) -> list[str]:
    """Write the initramfs and the command, clear old logs. Returns the command."""
    machine = boot.machine
    machine.require(paths)
    log_dir = files.console.parent
    found = modules.find(paths, machine.kernel, machine.modules)
    extra = {
        **boot.files,
        **image.extra(paths, boot.image, log_dir),
        **(python.extra(paths, log_dir) if python.INTERPRETER in boot.image else {}),
        **extents.extra(boot.disk, log_dir),
        **{protocol.module(name): file for name, file in found.items()},
    }
    files.initrd.write_bytes(build(paths, boot.render(), extra))
    files.console.write_bytes(b"")
    files.result.write_bytes(b"")
    argv = machine.argv(paths, files)
    files.console.with_name("command").write_text(shlex.join(argv) + "\n")
    return argv


def _program_result(program: Program, case: Case) -> ProgramResult:
    status, reason = case.status, case.reason
    if case.name != program.name:
        status, reason = Status.CRASH, f"its result is named '{case.name}'"
    elif status is Status.OK and program.ktap and not case.subtests:
        status, reason = Status.FAIL, "it printed no KTAP"
    return ProgramResult(program.name, status, case.subtests, case.output, reason)


def _program_results(boot: Boot, stream: Stream, outcome: Outcome) -> list[ProgramResult]:
    """A result for each program, whatever the stream holds.

    Results count up to the first fault of the numbering; the program that was due
    then gets the blame, the ones behind it did not run.
    """
    cases = {case.number: case for case in reversed(stream.cases)}
    results: list[ProgramResult] = []
    blamed = ""
    for number, program in enumerate(boot.programs, 1):
        case = cases.get(number)
        if case is not None:
            results.append(_program_result(program, case))
        elif blamed:
            reason = f"not run: the guest ended in {blamed}"
            results.append(ProgramResult(program.name, Status.CRASH, reason=reason))
        else:
            blamed = program.name
            status = Status.TIMEOUT if outcome is Outcome.TIMEOUT else Status.CRASH
            reason = f"no result: {outcome}"
            results.append(ProgramResult(program.name, status, (), stream.pending(), reason))
    return results


def _with_seconds(results: list[ProgramResult], took_s: list[float]) -> list[ProgramResult]:
    timed = zip(results, took_s, strict=False)
    return [replace(one, seconds=took) for one, took in timed] + results[len(took_s) :]


def _count_error(boot: Boot, document: Document) -> list[str]:
    if document.plan is None or document.plan == len(boot.programs):
        return []
    return [f"the guest planned {document.plan} programs, not {len(boot.programs)}"]


def _unprovoked(boot: Boot, splats: list[Splat]) -> list[Splat]:
    """The complaints that no program names as its own."""
    provoked = {(program.name, kind) for program in boot.programs for kind in program.provokes}
    return [splat for splat in splats if (splat.entry, splat.kind) not in provoked]


def _silence_s(boot: Boot) -> float:
    """How long nothing need be heard of it."""
    seldom = boot.defer or boot.machine.kernel == SELDOM_TELLS
    return math.inf if seldom else SILENCE_S


def run_boot(
    paths: Paths,
    boot: Boot,
    log_dir: Path,
    *,
    progress: Progress | None = None,
    lost_s: float | None = None,
    silence_s: float | None = None,
    grace_s: float = GRACE_S,
) -> BootResult:
    """Boot the machine, run its programs, and say what came of every one.

    lost_s are the host seconds after which the guest is taken for lost, by
    default the boot's own; silence_s those without a byte from it, by default 600
    where its programs tell what they do. log_dir gets console.log, result.ktap, qemu.log and
    the command. Raises LabError if something is not built or log_dir is in use;
    a guest that fails in any way is a result, not an exception.
    """
    files = Files.under(log_dir)
    stream = Stream()
    watch = Watch(
        boot,
        boot.lost_s() if lost_s is None else lost_s,
        _silence_s(boot) if silence_s is None else silence_s,
    )

    def take(data: bytes) -> None:
        stream.feed(data)
        watch.follow(len(stream.cases))
        if progress:
            progress.update(len(stream.cases))

    with _prepared(paths, boot, files) as argv:
        guest = Guest(argv, files, watch, take, lambda: stream.done, grace_s)
        try:
            outcome = guest.run()
        finally:
            if progress:
                progress.close()
    document = stream.close()
    return BootResult(
        boot,
        _with_seconds(_program_results(boot, stream, outcome), watch.took_s),
        files.console,
        _unprovoked(boot, guest.console.splats),
        outcome,
        guest.errors + document.errors + _count_error(boot, document),
        watch.seconds,
        watch.gap_s,
        watch.stolen_s,
    )


class CommandStream:
    """The output of one command, with the exit status behind it."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._held = b""

    @property
    def status(self) -> int | None:
        """The exit status, once it is there."""
        match = COMMAND_EXIT.search(self._held)
        return int(match[1]) if match else None

    def feed(self, data: bytes) -> None:
        """Pass on what cannot be part of the last line."""
        data = self._held + data
        keep = self._possible_end(data)
        if keep:
            self._write(data[:keep])
        self._held = data[keep:]

    def close(self) -> int | None:
        """The exit status, or None if the command's end was never told."""
        status = self.status
        if status is None and self._held:
            self._write(self._held)
        return status

    @staticmethod
    def _possible_end(data: bytes) -> int:
        """Where the last line begins, as far as can be told by now."""
        start = data.rfind(COMMAND_END)
        if start >= 0 and COMMAND_END_TAIL.fullmatch(data[start + len(COMMAND_END) :]):
            return start
        for length in range(min(len(COMMAND_END), len(data)), 0, -1):
            if COMMAND_END.startswith(data[-length:]):
                return len(data) - length
        return len(data)


@dataclass(frozen=True)
class CommandResult:
    """status is the command's exit status, None if the guest did not tell."""

    status: int | None
    outcome: Outcome
    splats: list[Splat]
    errors: list[str]


def run_command(
    paths: Paths, boot: Boot, lost_s: float, log_dir: Path, write: Callable[[bytes], None]
) -> CommandResult:
    """Run the one command of a boot; write gets its output at once."""
    files = Files.under(log_dir)
    stream = CommandStream(write)
    with _prepared(paths, boot, files) as argv:
        watch = Watch(boot, lost_s)
        guest = Guest(argv, files, watch, stream.feed, lambda: stream.status is not None)
        outcome = guest.run()
        refusal = GAVE_UP.search(files.result.read_bytes())
    status = stream.close()
    if status is None and refusal:
        guest.errors.append(refusal[1].decode(errors="replace"))
    return CommandResult(status, outcome, guest.console.splats, guest.errors)


def run_shell(paths: Paths, boot: Boot, log_dir: Path) -> int:
    """Give the terminal to the guest until it powers off. Returns QEMU's exit status."""
    files = Files.under(log_dir, interactive=True)
    with _prepared(paths, boot, files) as argv, subprocess.Popen(guarded(argv)) as child:
        try:
            return child.wait()
        finally:
            if child.poll() is None:
                child.kill()

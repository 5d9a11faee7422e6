# SPDX-License-Identifier: GPL-2.0
"""The verb run: a guest to type in, or one command in a guest."""

import argparse
import os
import shlex
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lab import LabError, extras
from lab.extras import IPV6, Extras, pages, start
from lab.guest.accel import AUTO, DEFAULT, apply, asked_for, exactly
from lab.guest.boot import Boot, Program
from lab.guest.machine import ACCELS, Files, Machine
from lab.guest.nics import IN_TREE, OURS, PORTS_MAX, SOURCE, pairs
from lab.guest.protocol import SHELL_START, in_archive
from lab.guest.vm import CommandResult, run_command, run_shell
from lab.paths import CHECKED, VARIANTS, Paths
from lab.tree import modules

CPUS = 2
MEM_MB = 1024
MEM_DEBUG_MB = 3072
# A shell shows errors only: the rest is in the log.
SHELL_LOGLEVEL = 4
# A command may take as long as it likes; the watchdog is for a lost guest.
COMMAND_TIMEOUT_S = 7 * 86400.0


def _number(value: str | None, name: str, environ: Mapping[str, str], default: int) -> int:
    """An option, or else its environment variable, or else the default."""
    text = value or environ.get(name, "") or str(default)
    if not (text.isascii() and text.isdigit()):
        raise LabError(f"{name} '{text}': a whole number is allowed")
    return int(text)


def _words(text: str) -> tuple[str, ...]:
    """The kernel command line words in --append."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise LabError(f"append '{text}': {error}") from None


def _command(args: argparse.Namespace) -> str | None:
    """What is to be run by a shell: --cmd as it is, or the words so that they stay words."""
    words: list[str] = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        cmd: str | None = args.cmd
        return cmd
    if args.cmd is not None:
        raise LabError(f"--cmd and the words {shlex.join(words)}: one command is allowed")
    return shlex.join(words)


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line and in the environment."""

    machine: Machine
    accel: str
    command: str | None
    dry_run: bool
    extras: Extras

    @classmethod
    def of(cls, args: argparse.Namespace, environ: Mapping[str, str]) -> "Request":
        """Raises LabError for a value that is not allowed."""
        variant = args.kernel or environ.get("LAB_KERNEL") or VARIANTS[0]
        wanted = Extras.of(args, environ)
        mem_mb = max(MEM_DEBUG_MB if variant in CHECKED else MEM_MB, wanted.mem_mb)
        machine = Machine(
            kernel=variant,
            cpus=_number(args.cpus, "CPUS", environ, CPUS),
            mem_mb=_number(args.mem, "MEM", environ, mem_mb),
            append=_words(args.append or ""),
        )
        ports = _number(args.ports, "PORTS", environ, 0)
        if ports > PORTS_MAX:
            raise LabError(f"PORTS '{ports}': allowed are 0 to {PORTS_MAX}")
        if ports:
            machine = replace(machine, nics=pairs(ports), modules=(OURS, IN_TREE, SOURCE))
        command = _command(args)
        if command is None:
            machine = replace(machine, loglevel=SHELL_LOGLEVEL)
        accel = asked_for(args.accel, environ)
        return cls(wanted.on(machine), accel, command, args.dry_run, wanted)

    def boot(self, paths: Paths, machine: Machine, log_dir: Path) -> Boot:
        """A shell on this terminal, or the one command under a shell. Writes to log_dir."""
        disk = self.extras.disk.disk if self.extras.disk else None
        if self.command is None:
            log_dir.mkdir(parents=True, exist_ok=True)
            first = log_dir / "shellrc"
            first.write_text(start(self.extras))
            more = {in_archive(SHELL_START): first, **pages(paths)}
            known = modules.listed(paths, machine.kernel)
            machine = replace(machine, modules=(*machine.modules, *known.keys() & {IPV6}))
            return Boot("shell", machine, mode="shell", disk=disk, more=more)
        program = Program("command", self.extras.wrapped(self.command), 0)
        return Boot("command", machine, (program,), mode="command", disk=disk)


def _dry_run(paths: Paths, request: Request, log_dir: Path) -> int:
    """Print the command. Nothing is run, so that auto cannot be found out either."""
    accel = DEFAULT if request.accel == AUTO else request.accel
    machine = exactly(request.machine, accel)
    files = Files.under(log_dir, interactive=request.command is None)
    print(shlex.join(machine.argv(paths, files)))
    return 0


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """QEMU makes the terminal raw and, when killed, leaves it so."""
    saved = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, saved)


def _shell(paths: Paths, boot: Boot, log_dir: Path) -> int:
    if not sys.stdin.isatty():
        raise LabError("a shell needs a terminal; for one command: build/lab run -- COMMAND")
    with _terminal_restored():
        return run_shell(paths, boot, log_dir)


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _tell(result: CommandResult, log_dir: Path) -> int:
    """The command's exit status; what the kernel complained about goes to stderr."""
    for splat in result.splats:
        print(f"lab: {splat}", file=sys.stderr)
    if result.status is None:
        why = "; ".join(result.errors) or str(result.outcome)
        raise LabError(f"no exit status: {why}; see {log_dir / 'console.log'}", exit_code=1)
    for error in result.errors:
        print(f"lab: {error}", file=sys.stderr)
    return result.status


def verb(args: argparse.Namespace) -> int:
    """The exit code: the command's own, 0 after a shell."""
    paths = Paths.from_env()
    request = Request.of(args, os.environ)
    log_dir = paths.logs / "run"
    if request.dry_run:
        return _dry_run(paths, request, log_dir)
    request.machine.require(paths)
    machine = apply(paths, request.machine, request.accel)
    boot = request.boot(paths, machine, log_dir)
    if request.extras.gdb:
        print(request.extras.debugger(paths.kernel(machine.kernel)), file=sys.stderr, flush=True)
    if request.command is None:
        return _shell(paths, boot, log_dir)
    result = run_command(paths, boot, COMMAND_TIMEOUT_S, log_dir, _write)
    return _tell(result, log_dir)


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "boot the kernel: a shell, or one command, whose exit status is then that of the verb"
    )
    parser.add_argument("--cmd", help="the command as a line for sh -c")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command")
    parser.add_argument("--dry-run", action="store_true", help="print the QEMU command only")
    parser.add_argument("--kernel", metavar="|".join(VARIANTS), help="which build to boot")
    parser.add_argument("--cpus", help=f"virtual CPUs (CPUS, {CPUS})")
    parser.add_argument("--mem", help=f"memory in MB (MEM, {MEM_MB})")
    parser.add_argument("--accel", metavar="|".join(ACCELS), help="how to run it (ACCEL, auto)")
    parser.add_argument(
        "--ports",
        help=f"pairs of network cards on a link, 0 to {PORTS_MAX}, with the modules for them "
        "(PORTS, 0)",
    )
    extras.register(parser)
    parser.add_argument("--append", help="more words for the kernel command line")

# SPDX-License-Identifier: GPL-2.0
"""A recording: one run of an experiment, with what the kernel traced meanwhile.

trace-cmd sets the tracing up and blktrace follows the disk, in the guest.  Both keep
what they see in the guest's memory until the run is over; then it leaves as an
archive by a port, which takes it at the instruction that writes it.
"""

import shutil
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.machine import quoted
from lab.guest.vm import run_boot
from lab.paths import Paths

PORT = "lab.trace"
SCRIPT = "lab/record.sh"
IMAGE = ("bin/busybox", "usr/bin/trace-cmd", "usr/sbin/blktrace")
NONE = "-"
"""Instead of a name or a disk."""
SLOWNESS = 2
"""A recorded run takes at most so many times as long."""
DAT = "trace.dat"


@dataclass(frozen=True)
class Recording:
    """What is recorded of one run: of the last program of a boot.

    events are of the kernel, GROUP or GROUP:EVENT, in addition to switches, sleeps and
    wakeups.  It begins when a task takes the name `start`, or with the program, and takes
    `seconds` of the guest.  blktrace follows `disk`, if it is given.  `label` names the run
    for people.
    """

    name: str
    label: str
    boot: Boot
    events: tuple[str, ...]
    seconds: int
    start: str = NONE
    disk: str = NONE

    def recorded(self, archive: Path) -> Boot:
        """The boot whose last program is recorded, into the archive."""
        *before, last = self.boot.programs
        command = ("busybox", "sh", f"/{SCRIPT}", PORT, str(self.seconds), self.start, self.disk)
        program = Program(
            last.name,
            (*command, *self.events, "--", *last.argv),
            last.timeout_s * SLOWNESS,
            files={**last.files, SCRIPT: Path(__file__).with_name("record.sh")},
            image=(*last.image, *IMAGE),
            busy_s=last.busy_s * SLOWNESS,
            what=last.what,
        )
        port = (
            *("-chardev", f"file,id=trace,path={quoted(archive)}"),
            *("-device", f"virtserialport,chardev=trace,name={PORT}"),
        )
        machine = replace(self.boot.machine, devices=(*self.boot.machine.devices, *port))
        return replace(self.boot, machine=machine, programs=(*before, program))


def record(paths: Paths, recording: Recording) -> Path:
    """Boot, and unpack what came out: the folder of it, $(O)/traces/NAME.

    Raises LabError (exit code 1) for a run that went wrong, or of which nothing came out.
    """
    folder = paths.traces / recording.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = folder / "recorded.tar"
    result = run_boot(paths, recording.recorded(archive), paths.logs / f"trace-{recording.name}")
    if not result.ok:
        problems = "; ".join(result.problems())
        raise LabError(f"{recording.name}: {problems}; see {result.console}", exit_code=1)
    try:
        with tarfile.open(archive) as members:
            members.extractall(folder, filter="data")
    except tarfile.TarError as error:
        raise LabError(f"{archive}: {error}", exit_code=1) from None
    archive.unlink()
    if not (folder / DAT).is_file():
        raise LabError(f"{folder}: no {DAT} came out of the guest", exit_code=1)
    return folder

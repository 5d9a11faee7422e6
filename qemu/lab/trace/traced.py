# SPDX-License-Identifier: GPL-2.0
"""What came out of a recording, and what a subject makes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lab import LabError
from lab.trace import events as ev
from lab.trace.record import DAT, Recording
from lab.trace.requests import Request, requests
from lab.trace.timeline import Lane, Side, Timeline
from lab.trace.waits import Span, spans, within


@dataclass(frozen=True)
class Traced:
    """The folder of a recording: its events, and the disk's requests."""

    folder: Path

    @cached_property
    def events(self) -> list[ev.Event]:
        """Of the kernel, in their order."""
        return ev.read(self.folder / DAT)

    @cached_property
    def requests(self) -> list[Request]:
        """Of the disk that blktrace followed, by their ends."""
        return list(requests(self.folder))

    def named(self, *names: str) -> list[ev.Event]:
        """Events with one of these names."""
        return [event for event in self.events if event.name in names]

    def pid(self, comm: str) -> int:
        """The last task to come whose name begins so.  Raises LabError if there was none."""
        switches = (event.fields for event in self.named("sched_switch"))
        found = [int(f["prev_pid"]) for f in switches if f["prev_comm"].startswith(comm)]
        if not found:
            raise LabError(f"{self.folder}: no task {comm} ran", exit_code=1)
        return list(dict.fromkeys(found))[-1]

    def task(self, pid: int) -> list[Span]:
        """What a task did."""
        return spans(self.events, pid)


@dataclass(frozen=True)
class Picture:
    """What is recorded of a subject, the stock run first, and what is drawn of a run.

    `lanes` gives the begin and the end of what is shown, in ns, and the lanes.
    """

    title: str
    subtitle: str
    unit: str
    recordings: Sequence[Recording]
    lanes: Callable[[Traced], tuple[int, int, list[Lane]]]

    def timeline(self, folders: Sequence[Path]) -> Timeline:
        """Of the recordings in these folders, in the same order."""
        sides = []
        for recording, folder in zip(self.recordings, folders, strict=True):
            begin, end, lanes = self.lanes(Traced(folder))
            cut = [replace(lane, spans=list(within(lane.spans, begin, end))) for lane in lanes]
            sides.append(Side(recording.label, begin, end, cut))
        return Timeline(self.title, self.subtitle, self.unit, sides)

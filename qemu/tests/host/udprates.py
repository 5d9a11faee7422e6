# SPDX-License-Identifier: GPL-2.0
"""The pure parts of udprate and the histogram, as Python sees them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from ctypes import c_double, c_uint32, c_uint64
from dataclasses import dataclass
from typing import ClassVar

from tests.host import rates

BUCKETS = 58 << 7
SOURCES = (
    "userland/udprate/schedule.c",
    "userland/lib/histogram.c",
    "modules/napi_livelock/rate.c",
)


class Plan(ctypes.Structure):
    _fields_: ClassVar = [
        ("bytes_per_s", c_uint64),
        ("workers", c_uint32),
        ("worker", c_uint32),
        ("size", c_uint32),
        ("stop_ns", c_uint64),
        ("quantum_ns", c_uint64),
        ("rate", rates.Params),
    ]


class Batch(ctypes.Structure):
    _fields_: ClassVar = [
        ("due_ns", c_uint64),
        ("begin_ns", c_uint64),
        ("gap_ns", c_uint64),
        ("packets", c_uint32),
        ("size", c_uint32),
    ]


class Schedule(ctypes.Structure):
    _fields_: ClassVar = [
        ("plan", Plan),
        ("packets", c_uint32),
        ("per_s", c_uint64),
        ("batch", c_uint64),
        ("rate", rates.State),
        ("next_ns", c_uint64),
    ]


class Pace(ctypes.Structure):
    _fields_: ClassVar = [("spin_ns", c_uint64), ("early_ns", c_uint64), ("woken_ns", c_uint64)]


class Sequence(ctypes.Structure):
    _fields_: ClassVar = [(name, c_uint64) for name in ("next", "received", "late", "duplicates")]


WINDOW = 65536


class Window(ctypes.Structure):
    _fields_: ClassVar = [("seen", c_uint64 * (WINDOW // 64))]


class Wall(ctypes.Structure):
    _fields_: ClassVar = [("ahead_ns", c_uint64)]


class Histogram(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, c_uint64) for name in ("count", "sum", "min", "max")),
        ("bucket", c_uint64 * BUCKETS),
    ]


class Fit(ctypes.Structure):
    _fields_: ClassVar = [
        (name, c_double)
        for name in (
            *("mean", "sd", "log_mean", "log_sd", "model_mean"),
            *("distance_normal", "distance_lognormal"),
        )
    ]


@dataclass(frozen=True)
class Sent:
    due_ns: int
    begin_ns: int
    packets: int
    size: int

    @property
    def bytes(self) -> int:
        return self.packets * self.size


@dataclass
class UdpRate:
    library: ctypes.CDLL

    def __post_init__(self) -> None:
        self.library.schedule_fault.restype = ctypes.c_char_p
        self.library.schedule_next.restype = ctypes.c_bool
        self.library.schedule_bytes.restype = c_uint64
        for name in ("schedule_period", "pace_auto_spin", "pace_sleep_until"):
            getattr(self.library, name).restype = c_uint64
        for name in ("sequence_lost", "histogram_floor"):
            getattr(self.library, name).restype = c_uint64
        self.library.wall_time.restype = c_uint64
        self.library.wall_time.argtypes = [ctypes.c_void_p, c_uint64, c_uint64, c_uint64]
        self.library.wall_learn.argtypes = self.library.wall_time.argtypes
        self.library.histogram_quantile.restype = c_double
        self.library.histogram_quantile.argtypes = [ctypes.c_void_p, c_double]
        self.library.histogram_add.argtypes = [ctypes.c_void_p, c_uint64]
        self.library.pace_sleep_until.argtypes = [ctypes.c_void_p, c_uint64]
        self.library.pace_woke.argtypes = [ctypes.c_void_p, c_uint64]
        self.library.pace_init.argtypes = [ctypes.c_void_p, c_uint64]
        self.library.pace_auto_spin.argtypes = [c_uint64]
        self.library.sequence_see.argtypes = [ctypes.c_void_p, ctypes.c_void_p, c_uint64]

    def fault(self, plan: Plan) -> str | None:
        text: bytes | None = self.library.schedule_fault(ctypes.byref(plan))
        return None if text is None else text.decode()

    def batches(self, plan: Plan) -> Iterator[Sent]:
        assert self.fault(plan) is None
        schedule, batch = Schedule(), Batch()
        self.library.schedule_init(ctypes.byref(schedule), ctypes.byref(plan))
        while self.library.schedule_next(ctypes.byref(schedule), ctypes.byref(batch)):
            yield Sent(batch.due_ns, batch.begin_ns, batch.packets, batch.size)

    def due(self, plan: Plan) -> int:
        """What is due of all workers, without a look at each batch."""
        schedule = Schedule()
        self.library.schedule_init(ctypes.byref(schedule), ctypes.byref(plan))
        return int(self.library.schedule_bytes(ctypes.byref(schedule)))

    def histogram(self, samples: Iterable[int]) -> Histogram:
        made = Histogram()
        add, at = self.library.histogram_add, ctypes.byref(made)
        for sample in samples:
            add(at, sample)
        return made

    def quantile(self, made: Histogram, q: float) -> float:
        return float(self.library.histogram_quantile(ctypes.byref(made), q))

    def fit(self, made: Histogram, offset: float = 0) -> Fit:
        fit = Fit()
        less = ctypes.c_double(offset)
        self.library.histogram_fit(ctypes.byref(made), less, ctypes.byref(fit))
        return fit

# SPDX-License-Identifier: GPL-2.0
"""The pure parts of udprate and the histogram, as Python sees them."""

import ctypes
from collections.abc import Iterable, Iterator
from ctypes import c_bool, c_char_p, c_double, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, ClassVar

from subjects.udp import rates

BUCKETS = 58 << 7
SOURCES = (
    "userland/udprate/schedule.c",
    "userland/lib/histogram.c",
    "modules/napi_livelock/rate.c",
)


class Plan(ctypes.Structure):
    _fields_: ClassVar = [
        ("bytes_per_s", c_uint64),
        *((name, c_uint32) for name in ("workers", "worker", "size")),
        *((name, c_uint64) for name in ("stop_ns", "quantum_ns")),
        ("rate", rates.Params),
    ]


class Batch(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, c_uint64) for name in ("due_ns", "begin_ns", "gap_ns")),
        *((name, c_uint32) for name in ("packets", "size")),
    ]

    @property
    def bytes(self) -> int:
        return int(self.packets * self.size)


class Schedule(ctypes.Structure):
    _fields_: ClassVar = [
        *(("plan", Plan), ("packets", c_uint32), ("per_s", c_uint64), ("batch", c_uint64)),
        *(("rate", rates.State), ("next_ns", c_uint64)),
    ]


class Pace(ctypes.Structure):
    _fields_: ClassVar = [(name, c_uint64) for name in ("spin_ns", "early_ns", "woken_ns")]


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


AT = c_void_p
# Name, what it returns, what it takes.
FUNCTIONS: tuple[tuple[Any, ...], ...] = (
    ("schedule_fault", c_char_p, AT),
    ("schedule_next", c_bool, AT, AT),
    ("schedule_bytes", c_uint64, AT),
    ("pace_init", None, AT, c_uint64),
    ("pace_auto_spin", c_uint64, c_uint64),
    ("pace_sleep_until", c_uint64, AT, c_uint64),
    ("pace_woke", None, AT, c_uint64),
    ("sequence_see", None, AT, AT, c_uint64),
    ("sequence_lost", c_uint64, AT),
    ("wall_time", c_uint64, AT, c_uint64, c_uint64, c_uint64),
    ("wall_learn", None, AT, c_uint64, c_uint64, c_uint64),
    ("histogram_floor", c_uint64, c_uint32),
    ("histogram_add", None, AT, c_uint64),
    ("histogram_quantile", c_double, AT, c_double),
    ("histogram_fit", None, AT, c_double, AT),
)


@dataclass
class UdpRate:
    library: ctypes.CDLL

    def __post_init__(self) -> None:
        for name, returned, *taken in FUNCTIONS:
            function = getattr(self.library, name)
            function.restype = returned
            function.argtypes = taken

    def fault(self, plan: Plan) -> str | None:
        text: bytes | None = self.library.schedule_fault(ctypes.byref(plan))
        return None if text is None else text.decode()

    def batches(self, plan: Plan) -> Iterator[Batch]:
        assert self.fault(plan) is None
        schedule = Schedule()
        self.library.schedule_init(ctypes.byref(schedule), ctypes.byref(plan))
        while self.library.schedule_next(ctypes.byref(schedule), ctypes.byref(batch := Batch())):
            yield batch

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
        self.library.histogram_fit(ctypes.byref(made), offset, ctypes.byref(fit))
        return fit

# SPDX-License-Identifier: GPL-2.0
"""The rate functions of modules/napi_livelock/rate.c, as Python sees them."""

import ctypes
from ctypes import c_bool, c_int64, c_uint32, c_uint64
from dataclasses import dataclass
from typing import ClassVar

SHAPES = ("constant", "poisson", "normal", "peaks", "ramp")
SECOND = 1_000_000_000


class Params(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, c_uint32) for name in ("shape", "sd_permille", "depth_permille")),
        *((name, c_uint64) for name in ("packets", "per_ns", "on_ns", "off_ns")),
        *((name, c_uint64) for name in ("period_ns", "seed")),
    ]


class State(ctypes.Structure):
    _fields_: ClassVar = [
        ("p", Params),
        *((name, c_uint64) for name in ("gap", "carry", "random")),
        *(("spare", c_int64), ("has_spare", c_bool), ("falling", c_bool)),
        *((name, c_uint64) for name in ("place", "step", "time")),
    ]


def params(shape: str, rate: int = 100_000, **more: int) -> Params:
    """Good parameters: rate packets a second, everything else as a person would choose it."""
    usual = {
        **{"sd_permille": 100, "depth_permille": 500, "packets": rate, "per_ns": SECOND},
        **{"on_ns": 3_000_000, "off_ns": 7_000_000, "period_ns": SECOND, "seed": 1},
    }
    return Params(shape=SHAPES.index(shape), **{**usual, **more})


@dataclass
class Rates:
    library: ctypes.CDLL

    def __post_init__(self) -> None:
        self.library.nll_rate_fault.restype = ctypes.c_char_p
        self.library.nll_rate_next.restype = c_uint64
        self.library.nll_rate_skip.restype = c_uint64

    def fault(self, wanted: Params) -> str | None:
        text: bytes | None = self.library.nll_rate_fault(ctypes.byref(wanted))
        return None if text is None else text.decode()

    def init(self, state: State, wanted: Params) -> int:
        return int(self.library.nll_rate_init(ctypes.byref(state), ctypes.byref(wanted)))

    def gaps(self, wanted: Params, count: int) -> list[int]:
        state = State()
        assert self.init(state, wanted) == 0, self.fault(wanted)
        following, at = self.library.nll_rate_next, ctypes.byref(state)
        return [following(at) for _ in range(count)]

    def skips(self, wanted: Params, times: list[int]) -> list[tuple[int, int]]:
        """How many packets were due by each of the times, and when the next one is."""
        state = State()
        assert self.init(state, wanted) == 0, self.fault(wanted)
        at = ctypes.byref(state)
        following = c_uint64(self.library.nll_rate_next(at))
        found = []
        for time in times:
            count = self.library.nll_rate_skip(at, ctypes.byref(following), c_uint64(time))
            found.append((count, following.value))
        return found

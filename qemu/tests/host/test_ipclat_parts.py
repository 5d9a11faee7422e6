# SPDX-License-Identifier: GPL-2.0
"""Parts of ipclat by themselves: what the clock costs, and which CPUs are where."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path

import pytest

from tests.host import native

LIB = "userland/lib"


@pytest.mark.parametrize("cost", [0, 52, 500])
def test_the_cost_of_the_clock_is_taken_off(tmp_path: Path, cost: int) -> None:
    """Where it is more than a sample took, the difference is negative and not 0."""
    sources = ("qemu/tests/host/ipclat_summary.c", "userland/ipclat/summary.c")
    library = native.load(tmp_path, *sources, f"{LIB}/histogram.c", f"{LIB}/interval.c")
    found = (ctypes.c_double * 4)()
    samples = (ctypes.c_uint64(100), ctypes.c_uint64(200))
    library.summarise_two(*samples, ctypes.c_double(cost), found)
    assert list(found) == [100 - cost, 150 - cost, 100 - cost, 200 - cost]
    library.summarise_two(ctypes.c_uint64(0), samples[1], ctypes.c_double(cost), found)
    assert all(map(math.isnan, found))


def test_cpus_beyond_63(tmp_path: Path) -> None:
    sources = ("qemu/tests/host/affinity_far.c", f"{LIB}/args.c", f"{LIB}/files.c")
    library = native.load(tmp_path, *sources)
    library.finds.restype = ctypes.c_bool
    assert all(library.finds(cpu) for cpu in (0, 63, 64, 130, 8190))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("same-core", "0 0"),
        ("sibling", "0 4"),
        ("cross-core", "0 1"),
        ("numa", "0 2"),
        ("7,3", "7 3"),
        ("5,5", "5 5"),
    ],
)
def test_places(tmp_path: Path, text: str, said: str) -> None:
    """Eight CPUs: two nodes with two cores of two threads, whose siblings are 4 apart."""
    for cpu in range(8):
        where = tmp_path / f"cpu{cpu}"
        (where / "topology").mkdir(parents=True)
        (where / "topology/physical_package_id").write_text(f"{cpu % 4 // 2}\n")
        (where / "topology/core_id").write_text(f"{cpu % 2}\n")
        (where / f"node{cpu % 4 // 2}").mkdir()
    sources = ["qemu/tests/host/ipclat_place.c", "userland/ipclat/place.c"]
    sources += [f"{LIB}/{name}.c" for name in ("args", "files", "memory")]
    program = native.build(tmp_path, *sources, options=(f'-DCPU_DIR="{tmp_path}"',))
    done = subprocess.run([str(program), text], capture_output=True, text=True, check=True)
    assert done.stdout == f"{said}\n"

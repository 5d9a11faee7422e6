# SPDX-License-Identifier: GPL-2.0
"""ipclat on this machine: bad input, then every mechanism for a moment, whatever it takes."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab.paths import Paths
from tests.host import native

# Those that need neither two CPUs nor root.
MECHANISMS = (
    *("semaphore", "zmq-inproc", "zmq-ipc", "zmq-tcp"),
    *("futex", "pipe", "eventfd", "unix", "mq"),
)
SPINNING = ("spin", "spin-affinity", "spin-shm")


def ipclat(paths: Paths, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [str(paths.bin / "ipclat"), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)


def rows(paths: Paths, *words: str) -> list[dict[str, Any]]:
    done = ipclat(paths, "--json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "telepathy"), "--mechanism: bad value 'telepathy': try --list"),
        (("-m", ""), "--mechanism: bad value ''"),
        (("-m", "pipe,"), "--mechanism: bad value ''"),
        (("-k", "0"), "--iterations: bad value '0': allowed 1..100000000"),
        (("-k", "1e6"), "--iterations: bad value '1e6'"),
        (("-n", "0"), "--repeats: bad value '0': allowed 1..10000"),
        (("-w", "-1"), "--warmup: bad value '-1'"),
        (("--seconds", "0"), "--seconds: bad value '0': allowed 1..3600"),
        (("--policy", "batch"), "--policy: bad value 'batch': allowed other, rr:PRIORITY"),
        (("--policy", "rr:0"), "--policy: bad value 'rr:0'"),
        (("--policy", "fifo:"), "--policy: bad value 'fifo:'"),
        (("--hogs", "65"), "--hogs: bad value '65': allowed 0..64"),
        (("--buckets",), "--buckets needs --json"),
        (("--hog-tickets", "10"), "--hog-tickets needs --hogs"),
        (("--runtime", "/no/such/crun"), "--runtime: bad value '/no/such/crun'"),
        (("--side", "sender"), "--side is for containers that ipclat starts"),
        (("pipe",), "unexpected argument 'pipe'"),
        (("-m", "pipe", "-k", "1", "-n", "1", "--repeats-csv", "/no/such/dir/x"), "--repeats-csv"),
    ],
)
def test_bad_input(lab_paths: Paths, words: tuple[str, ...], said: str) -> None:
    done = ipclat(lab_paths, *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("ipclat: ") and said in line


def test_every_mechanism_of_the_reference_is_there(lab_paths: Paths) -> None:
    listed = [line.split()[0] for line in ipclat(lab_paths, "--list").stdout.splitlines()]
    containers = ("zmq-tcp-containers", "shm-containers")
    assert set(listed) == {*SPINNING, *MECHANISMS, *containers, "flag", "zmq-perf"}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism(lab_paths: Paths, name: str) -> None:
    """No sample is lost, and what is said of them hangs together."""
    amount = ("-k", "200", "-n", "3", "-w", "10", "--seconds", "60")
    (row,) = rows(lab_paths, "-m", name, *amount)
    assert (row["mechanism"], row["samples"], row["missing"]) == (name, 600, "")
    assert 0 < row["p1_ns"] <= row["p50_ns"] <= row["p99_ns"] <= row["p999_ns"] <= row["max_ns"]
    assert row["low_ns"] <= row["model_mean_ns"] <= row["high_ns"]
    assert row["mean_ns"] <= row["max_ns"]
    assert 0.1 < row["tsc_ghz"] < 10 and 0 < row["clock_overhead_ns"] < 10_000
    assert row["p50_cycles"] == pytest.approx(row["p50_ns"] * row["tsc_ghz"], rel=1e-6)


def on_one_cpu(paths: Paths, *words: str) -> subprocess.CompletedProcess[str]:
    """Spinning needs two."""
    alone = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    argv = [*alone, str(paths.bin / "ipclat"), "-k", "10", "-n", "1", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", [*SPINNING, "flag"])
def test_spinning_needs_two_cpus(lab_paths: Paths, name: str) -> None:
    done = on_one_cpu(lab_paths, "-m", name)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"ipclat: {name}: not supported here: spinning needs two CPUs\n"


def test_what_was_asked_for_by_name_must_be_there(lab_paths: Paths) -> None:
    """Then nothing is measured, and each that is missing is named."""
    done = on_one_cpu(lab_paths, "-m", "pipe,spin,all,flag")
    assert (done.returncode, done.stdout) == (3, "")
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [" spin", " flag"]


@pytest.mark.parametrize("words", [("-m", "all"), ("--available", "-m", "spin,spin-shm,pipe")])
def test_what_is_left_out_is_named(lab_paths: Paths, words: tuple[str, ...]) -> None:
    done = on_one_cpu(lab_paths, *words)
    assert done.returncode == 0
    said = "spin-shm: left out, not supported here: spinning needs two CPUs"
    assert f"ipclat: {said}" in done.stderr.splitlines()
    names = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert "pipe" in names and not set(SPINNING) & set(names)


def test_rows_of_what_is_left_out_say_why(lab_paths: Paths) -> None:
    done = on_one_cpu(lab_paths, "--available", "-m", "spin", "--json")
    (row,) = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0
    assert (row["samples"], row["missing"]) == (0, "spinning needs two CPUs")


def test_buckets(lab_paths: Paths) -> None:
    (row,) = rows(lab_paths, "-m", "pipe", "-k", "100", "-n", "2", "--buckets")
    parts = [part.split(":") for part in row["buckets"].split()]
    assert sum(int(count) for _, count in parts) == row["samples"] == 200


def quantile_of(buckets: list[tuple[float, float, int]], q: float) -> tuple[float, float]:
    """The bucket that holds it."""
    rank = int(q * (sum(count for _, _, count in buckets) - 1))
    for low, high, count in buckets:
        if rank < count:
            return low, high
        rank -= count
    raise AssertionError("not reached")


def test_what_is_said_is_what_was_measured(lab_paths: Paths) -> None:
    """Each figure, found again in the histogram of all samples."""
    (row,) = rows(lab_paths, "-m", "pipe", "-k", "2000", "-n", "2", "--buckets")
    buckets = []
    for part in row["buckets"].split():
        ends, count = part.split(":")
        low, high = map(float, ends.split("-"))
        buckets.append((low, high, int(count)))
    for name, q in (("p1", 0.01), ("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1)):
        low, high = quantile_of(buckets, q)
        assert low - 0.01 <= row[f"{name}_ns"] <= high + 0.01, name
    mean = sum((low + high) / 2 * count for low, high, count in buckets) / row["samples"]
    assert row["mean_ns"] == pytest.approx(mean, rel=0.004)
    assert row["p50_cycles"] == pytest.approx(row["p50_ns"] * row["tsc_ghz"], rel=1e-6)


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The receiver alone, with messages of a known age."""
    names = ("affinity", "args", "clock", "files", "futex", "histogram", "lottery_sched", "policy")
    sources = ["qemu/tests/host/ipclat_side.c", "userland/ipclat/side.c"]
    sources += [f"userland/lib/{name}.c" for name in names]
    library = native.load(tmp_path_factory.mktemp("side"), *sources)
    library.receive_messages.restype = ctypes.c_uint64
    return library


@pytest.mark.parametrize("overhead", [0, 400_000])
def test_the_cost_of_the_clock_is_taken_off(side: ctypes.CDLL, overhead: int) -> None:
    """Some of 200 receptions is not disturbed, and so 1,000,000 cycles old and little more."""
    words = [ctypes.c_uint64(word) for word in (200, 20, 1_000_000, overhead)]
    noted = ctypes.c_uint64()
    least = side.receive_messages(*words, ctypes.byref(noted))
    assert noted.value == 180
    assert 1_000_000 - overhead <= least < 1_100_000 - overhead


def test_files(lab_paths: Paths, tmp_path: Path) -> None:
    """The histogram holds every sample; there is a line for each repeat."""
    histogram, repeats = tmp_path / "h.csv", tmp_path / "r.csv"
    files = ("--histogram", str(histogram), "--repeats-csv", str(repeats))
    rows(lab_paths, "-m", "pipe,unix", "-k", "100", "-n", "4", *files)
    with histogram.open(newline="") as stream:
        buckets = list(csv.DictReader(stream))
    for name in ("pipe", "unix"):
        own = [bucket for bucket in buckets if bucket["mechanism"] == name]
        assert sum(int(bucket["count"]) for bucket in own) == 400
        assert all(float(b["from_ns"]) < float(b["to_ns"]) for b in own)
    with repeats.open(newline="") as stream:
        lines = [(line["mechanism"], line["repeat"]) for line in csv.DictReader(stream)]
    assert lines == [(name, str(n)) for n in range(1, 5) for name in ("pipe", "unix")]


def test_a_policy_that_this_kernel_lacks(lab_paths: Paths) -> None:
    """On a kernel of ours it runs; on any other it says why not."""
    done = ipclat(lab_paths, "-m", "pipe", "-k", "10", "-n", "1", "--policy", "lottery:10")
    if done.returncode:
        assert done.returncode in (1, 3) and done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert "SCHED_LOTTERY" in line

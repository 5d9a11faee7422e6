# SPDX-License-Identifier: GPL-2.0
"""ipclat on this machine: bad input, then every mechanism for a moment, whatever it takes."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import signal
import subprocess
import time
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


def document(paths: Paths, *words: str) -> dict[str, Any]:
    done = ipclat(paths, "--json", *words)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def rows(paths: Paths, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(paths, *words)["results"]
    return found


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
        (("--seconds", "0"), "--seconds: bad value '0': allowed 0.1..3600 s"),
        (("--policy", "batch"), "--policy: bad value 'batch': allowed other, rr:PRIORITY"),
        (("--policy", "rr:0"), "--policy: bad value 'rr:0'"),
        (("--policy", "fifo:"), "--policy: bad value 'fifo:'"),
        (("--hogs", "65"), "--hogs: bad value '65': allowed 0..64"),
        (("--buckets",), "--buckets needs --json"),
        (("--json", "--csv"), "--json and --csv: one of them is allowed"),
        (("--hog-tickets", "10"), "--hog-tickets needs --hogs"),
        (("--runtime", "/no/such/crun"), "--runtime: bad value '/no/such/crun'"),
        (("--side", "sender"), "--side is for containers that ipclat starts"),
        (("pipe",), "unexpected argument 'pipe'"),
        (("-m", "pipe", "--repeats-csv", "/no/such/dir/x"), "--repeats-csv: cannot write"),
        (("-m", "pipe", "--histogram", "/no/such/dir/x"), "--histogram: cannot write"),
        (
            ("--percentiles", "50,101"),
            "--percentiles: bad value '50,101': allowed up to 16 numbers",
        ),
        (("--percentiles", "50,"), "--percentiles: bad value '50,'"),
        (("--percentiles", "1e1"), "--percentiles: bad value '1e1'"),
        (("--percentiles", "99."), "--percentiles: bad value '99.'"),
        (("--percentiles", ",".join("1" * 17)), "--percentiles: bad value '1,1"),
        (("--cpus", "0"), "--cpus: bad value '0': allowed A,B or same-core, sibling"),
        (("--cpus", "0,0,0"), "--cpus: bad value '0,0,0'"),
        (("--cpus", "0,8192"), "--cpus: bad value '0,8192'"),
        (("--cpus", "8191,0"), "--cpus: bad value '8191,0': CPU 8191 is not online or not allowed"),
        (("--both-ways",), "--both-ways needs --cpus or --pin"),
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
    amount = ("-k", "200", "-n", "3", "-w", "10", "--seconds", "60")
    found = document(lab_paths, "-m", name, *amount)
    (row,), clock = found["results"], found["clock"]
    assert (row["mechanism"], row["samples"], row["missing"]) == (name, 600, "")
    low, median, high, highest = (row["percentiles_ns"][p] for p in ("1", "50", "99", "99.9"))
    # a quantile is the middle of its bucket
    assert row["min_ns"] <= low <= median <= high <= highest <= row["max_ns"]
    assert median > 0 and 0 < row["low_ns"] <= row["mean_ns"] <= row["high_ns"]
    assert 0.1 < clock["ghz"] < 10 and 0 < clock["cost_ns"] < 10_000
    assert row["percentiles_cycles"]["50"] == pytest.approx(median * clock["ghz"], rel=1e-6)
    assert row["mean_cycles"] == pytest.approx(row["mean_ns"] * clock["ghz"], rel=1e-6)
    assert sum(row["repeat_means_ns"]) / 3 == pytest.approx(row["mean_ns"], rel=1e-6)


def test_the_document_says_what_was_asked_for(lab_paths: Paths) -> None:
    words = ("-m", "pipe,unix", "-k", "20", "-n", "2", "-w", "3", "--cpus", "same-core")
    found = document(lab_paths, *words)
    here = os.uname()
    assert (found["schema"], found["tool"], found["complete"]) == (1, "ipclat", True)
    assert (found["kernel"], found["host"]) == (here.release, here.nodename)
    cpu = min(os.sched_getaffinity(0))
    assert found["settings"] == {
        "mechanisms": "pipe,unix",
        "available": False,
        "iterations": 20,
        "repeats": 2,
        "warmup": 3,
        "limit_s": 10,
        "policy": "other",
        "placement": "same-core",
        "cpus": [cpu, cpu],
        "both_ways": False,
        "hogs": 0,
        "hog_tickets": 0,
    }


def test_one_repeat_has_no_interval(lab_paths: Paths) -> None:
    (row,) = rows(lab_paths, "-m", "pipe", "-k", "20", "-n", "1")
    assert row["mean_ns"] > 0 and row["low_ns"] is None and row["high_ns"] is None


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
    (row,) = json.loads(done.stdout)["results"]
    assert done.returncode == 0
    assert (row["samples"], row["missing"]) == (0, "spinning needs two CPUs")
    figures = [row[f"{stat}_ns"] for stat in ("mean", "low", "high", "min", "max", "sd")]
    figures += [*row["percentiles_ns"].values(), *row["percentiles_cycles"].values()]
    assert set(figures) == {None}
    done = on_one_cpu(lab_paths, "--available", "-m", "spin", "--csv")
    (line,) = csv.DictReader(done.stdout.splitlines())
    assert line.pop("mechanism") == "spin" and line.pop("missing") == "spinning needs two CPUs"
    assert line.pop("direction") == "forward" and set(line.values()) == {""}


def test_pinning_needs_two_cpus(lab_paths: Paths) -> None:
    done = on_one_cpu(lab_paths, "-m", "pipe", "--pin")
    cpu = min(os.sched_getaffinity(0))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"ipclat: --pin needs two CPUs, and only CPU {cpu} is allowed\n"
    done = on_one_cpu(lab_paths, "-m", "spin", "--cpus", "same-core")
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_both_ways(lab_paths: Paths) -> None:
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    words = ("-m", "pipe", "-k", "20", "-n", "2", "--both-ways", "--cpus", cpus)
    found = rows(lab_paths, *words)
    assert [row["direction"] for row in found] == ["forward", "back"]
    assert all(row["pinned"] and row["samples"] == 40 for row in found)
    lines = ipclat(lab_paths, *words).stdout.splitlines()
    assert lines[4].endswith(" back") and lines[5].startswith("pipe: half the difference")


@pytest.mark.parametrize(
    ("where", "said"), [("/no/such/dir", "No such file"), (f"/tmp{'/.' * 40}", "80 characters")]
)
def test_a_directory_for_sockets_that_cannot_be_used(
    lab_paths: Paths, where: str, said: str
) -> None:
    argv = [str(lab_paths.bin / "ipclat"), "-m", "zmq-ipc", "-k", "1"]
    env = {**os.environ, "TMPDIR": where}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, env=env, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "not supported here: TMPDIR: " in done.stderr and said in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(
    lab_paths: Paths, tmp_path: Path, number: signal.Signals
) -> None:
    """The document and the files are whole; it ends by the signal all the same."""
    csv_file = tmp_path / "r.csv"
    words = ("-m", "pipe", "-k", "200", "-n", "10000", "--json", "--repeats-csv", str(csv_file))
    argv = ["env", "--default-signal", str(lab_paths.bin / "ipclat"), *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (csv_file.exists() and csv_file.stat().st_size > 0):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == -number
    found = json.loads(output)
    (row,) = found["results"]
    with csv_file.open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert not found["complete"] and 0 < row["repeats"] == len(lines) < 10000
    assert row["samples"] == sum(int(line["samples"]) for line in lines) and row["missing"] == ""


def test_an_interrupt_before_there_is_a_figure_is_said(lab_paths: Paths) -> None:
    program = str(lab_paths.bin / "ipclat")
    argv = ["env", "--default-signal", program, "-m", "pipe", "-k", "100000000"]
    with subprocess.Popen(argv, stdout=-1, stderr=-1, text=True) as process:
        deadline = time.monotonic() + 60
        while len(children(process.pid)) < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert said == "ipclat: interrupted before the first repeat was complete\n"


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_what_never_had_its_turn_is_missing(lab_paths: Paths) -> None:
    """Not even the warm-up is over in time; the mechanism fails when no repeat counts."""
    words = ("-m", "pipe", "-k", "1", "-n", "2", "-w", "100000000", "--seconds", "0.2", "--json")
    done = ipclat(lab_paths, *words)
    (row,) = json.loads(done.stdout)["results"]
    assert done.returncode == 1
    assert (row["missing"], row["samples"]) == ("no message came within --seconds", 0)
    said = [f"ipclat: pipe: repeat {n} does not count: {row['missing']}" for n in (1, 2)]
    assert done.stderr.splitlines() == said


def test_percentiles_of_ones_choice(lab_paths: Paths) -> None:
    words = ("-m", "pipe", "-k", "100", "-n", "2", "--percentiles", "0,0.5,75,100")
    (row,) = rows(lab_paths, *words)
    found = row["percentiles_ns"]
    assert list(found) == ["0", "0.5", "75", "100"]
    assert found["0"] == pytest.approx(row["min_ns"], rel=0.01)
    assert found["100"] == pytest.approx(row["max_ns"], rel=0.01)
    header = ipclat(lab_paths, *words, "--csv").stdout.splitlines()[0]
    assert ",p0_ns,p0.5_ns,p75_ns,p100_ns," in header


def test_buckets(lab_paths: Paths) -> None:
    (row,) = rows(lab_paths, "-m", "pipe", "-k", "100", "-n", "2", "--buckets")
    assert sum(count for _, _, count in row["buckets_ns"]) == row["samples"] == 200


def quantile_of(buckets: list[list[float]], q: float) -> tuple[float, float]:
    """The bucket that holds it: the first up to whose end there is such a part."""
    samples = sum(count for _, _, count in buckets)
    before = 0.0
    for low, high, count in buckets:
        before += count
        if before >= q * samples:
            return low, high
    raise AssertionError("not reached")


def test_what_is_said_is_what_was_measured(lab_paths: Paths) -> None:
    """Each figure, found again in the histogram of all samples."""
    (row,) = rows(lab_paths, "-m", "pipe", "-k", "2000", "-n", "2", "--buckets")
    buckets = row["buckets_ns"]
    for name, q in (("1", 0.01), ("50", 0.5), ("99", 0.99), ("99.9", 0.999)):
        low, high = quantile_of(buckets, q)
        assert low - 0.01 <= row["percentiles_ns"][name] <= high + 0.01, name
    assert buckets[0][0] <= row["min_ns"] and row["max_ns"] <= buckets[-1][1]
    mean = sum((low + high) / 2 * count for low, high, count in buckets) / row["samples"]
    assert row["mean_ns"] == pytest.approx(mean, rel=0.004)


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    names = ("affinity", "args", "clock", "files", "futex", "histogram", "lottery_sched", "policy")
    sources = ["qemu/tests/host/ipclat_side.c", "userland/ipclat/side.c"]
    sources += [f"userland/lib/{name}.c" for name in names]
    library = native.load(tmp_path_factory.mktemp("side"), *sources)
    library.receive_messages.restype = ctypes.c_uint64
    return library


def test_the_receiver_notes_ages(side: ctypes.CDLL) -> None:
    """Some of 200 receptions is not disturbed, and so 1,000,000 cycles old and little more."""
    words = [ctypes.c_uint64(word) for word in (200, 20, 1_000_000)]
    noted = ctypes.c_uint64()
    least = side.receive_messages(*words, ctypes.byref(noted))
    assert noted.value == 180
    assert 1_000_000 <= least < 1_100_000


def test_files(lab_paths: Paths, tmp_path: Path) -> None:
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
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("ipclat: this kernel lacks SCHED_LOTTERY")

# SPDX-License-Identifier: GPL-2.0
"""ipclat on this machine: every mechanism for a moment, whatever it takes, and its parts."""

import csv
import ctypes
import json
import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab.paths import Paths
from subjects.ipc.experiment import MECHANISMS, SPINNING, WAITING
from tests.host import native
from tests.host.native import lib
from tests.host.programs import Done, assert_refused, children, one_cpu, run, wait_until

Run = Callable[..., Done]
Document = Callable[..., dict[str, Any]]


@pytest.fixture
def ipclat(lab_paths: Paths) -> Run:
    return partial(run, lab_paths.bin / "ipclat")


@pytest.fixture
def document(ipclat: Run) -> Document:
    def measured(*words: str) -> dict[str, Any]:
        done = ipclat("--json", *words)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return measured


def test_every_mechanism_of_the_reference_is_there(ipclat: Run) -> None:
    listed = [line.split()[0] for line in ipclat("--list").stdout.splitlines()]
    assert set(listed) == set(MECHANISMS)


@pytest.mark.parametrize("name", [name for name in WAITING if name != "zmq-perf"])
def test_a_mechanism(document: Document, name: str) -> None:
    """No sample is lost, and what is said of them hangs together."""
    found = document("-m", name, "-k", "200", "-n", "3", "-w", "10", "--seconds", "60")
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


def test_the_document_says_what_was_asked_for(document: Document) -> None:
    found = document("-m", "pipe,unix", "-k", "20", "-n", "1", "-w", "3", "--cpus", "same-core")
    here = os.uname()
    assert (found["schema"], found["tool"], found["complete"]) == (1, "ipclat", True)
    names = ("kernel", "host", "machine", "cpus")
    cpus = len(os.sched_getaffinity(0))
    assert [found[name] for name in names] == [here.release, here.nodename, here.machine, cpus]
    assert f": {found['cpu_model']}\n" in Path("/proc/cpuinfo").read_text()
    written = datetime.fromisoformat(found["time"])
    assert timedelta(0) <= datetime.now(UTC) - written < timedelta(minutes=1)
    assert found["settings"] == {
        "mechanisms": "pipe,unix",
        "available": False,
        **{"iterations": 20, "repeats": 1, "warmup": 3, "limit_s": 10, "policy": "other"},
        **{"placement": "same-core", "cpus": [one_cpu(), one_cpu()], "both_ways": False},
        **{"hogs": 0, "hog_tickets": 0},
    }
    for row in found["results"]:
        # one repeat has no interval
        assert row["mean_ns"] > 0 and row["low_ns"] is None and row["high_ns"] is None


@pytest.fixture
def on_one_cpu(lab_paths: Paths) -> Run:
    alone = ("taskset", "-c", str(one_cpu()))
    return partial(run, *alone, lab_paths.bin / "ipclat", "-k", "10", "-n", "1")


@pytest.mark.parametrize("name", SPINNING)
def test_spinning_needs_two_cpus(on_one_cpu: Run, name: str) -> None:
    said = f"ipclat: {name}: not supported here: spinning needs two CPUs"
    assert_refused(on_one_cpu("-m", name), said, 3)


def test_what_was_asked_for_by_name_must_be_there(on_one_cpu: Run) -> None:
    done = on_one_cpu("-m", "pipe,spin,all,flag")
    assert (done.returncode, done.stdout) == (3, "")
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [" spin", " flag"]


@pytest.mark.parametrize("words", [("-m", "all"), ("--available", "-m", "spin,spin-shm,pipe")])
def test_what_is_left_out_is_named(on_one_cpu: Run, words: tuple[str, ...]) -> None:
    done = on_one_cpu(*words)
    said = "spin-shm: left out, not supported here: spinning needs two CPUs"
    assert done.returncode == 0 and f"ipclat: {said}" in done.stderr.splitlines()
    names = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert "pipe" in names and not set(SPINNING) & set(names)


def test_rows_of_what_is_left_out_say_why(on_one_cpu: Run) -> None:
    done = on_one_cpu("--available", "-m", "spin", "--json")
    (row,) = json.loads(done.stdout)["results"]
    assert done.returncode == 0
    assert (row["samples"], row["missing"]) == (0, "spinning needs two CPUs")
    figures = [row[f"{stat}_ns"] for stat in ("mean", "low", "high", "min", "max", "sd")]
    figures += [*row["percentiles_ns"].values(), *row["percentiles_cycles"].values()]
    assert set(figures) == {None}
    done = on_one_cpu("--available", "-m", "spin", "--csv")
    (line,) = csv.DictReader(done.stdout.splitlines())
    assert line.pop("mechanism") == "spin" and line.pop("missing") == "spinning needs two CPUs"
    assert line.pop("direction") == "forward" and set(line.values()) == {""}


def test_pinning_needs_two_cpus(on_one_cpu: Run) -> None:
    said = f"ipclat: --pin needs two CPUs, and only CPU {one_cpu()} is allowed"
    assert_refused(on_one_cpu("-m", "pipe", "--pin"), said, 3)
    assert_refused(on_one_cpu("-m", "spin", "--cpus", "same-core"), "ipclat: spin: ", 3)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_both_ways(ipclat: Run, document: Document) -> None:
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    words = ("-m", "pipe", "-k", "20", "-n", "2", "--both-ways", "--cpus", cpus)
    found = document(*words)["results"]
    assert [row["direction"] for row in found] == ["forward", "back"]
    assert all(row["pinned"] and row["samples"] == 40 for row in found)
    lines = ipclat(*words).stdout.splitlines()
    assert lines[4].endswith(" back") and lines[5].startswith("pipe: half the difference")


@pytest.mark.parametrize(
    ("where", "said"), [("/no/such/dir", "No such file"), (f"/tmp{'/.' * 40}", "80 characters")]
)
def test_a_directory_for_sockets_that_cannot_be_used(ipclat: Run, where: str, said: str) -> None:
    done = ipclat("-m", "zmq-ipc", "-k", "1", env={**os.environ, "TMPDIR": where})
    assert_refused(done, "not supported here: TMPDIR: ", 3)
    assert said in done.stderr


def interrupted(
    paths: Paths, ready: Callable[[int], bool], number: int, *words: str
) -> tuple[int, str, str]:
    """Exit status and output of an ipclat that gets a signal once it is ready."""
    argv = ["env", "--default-signal", str(paths.bin / "ipclat"), "-m", "pipe", *words]
    with subprocess.Popen(argv, stdout=-1, stderr=-1, text=True) as process:
        wait_until(lambda: ready(process.pid) or process.poll() is not None)
        process.send_signal(number)
        output, said = process.communicate(timeout=60)
    return process.returncode, output, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(
    lab_paths: Paths, tmp_path: Path, number: signal.Signals
) -> None:
    file = tmp_path / "r.csv"
    words = ("-k", "200", "-n", "10000", "--json", "--repeats-csv", str(file))
    status, output, _ = interrupted(
        lab_paths, lambda _: file.exists() and file.stat().st_size > 0, number, *words
    )
    assert status == -number
    found = json.loads(output)
    (row,) = found["results"]
    lines = list(csv.DictReader(file.read_text().splitlines()))
    assert not found["complete"] and 0 < row["repeats"] == len(lines) < 10000
    assert row["samples"] == sum(int(line["samples"]) for line in lines) and row["missing"] == ""


def test_an_interrupt_before_there_is_a_figure_is_said(lab_paths: Paths) -> None:
    words = (signal.SIGINT, "-k", "100000000")
    _, _, said = interrupted(lab_paths, lambda pid: len(children(pid)) == 2, *words)
    assert said == "ipclat: interrupted before the first repeat was complete\n"


def test_what_never_had_its_turn_is_missing(ipclat: Run) -> None:
    """Not even the warm-up is over in time; the mechanism fails when no repeat counts."""
    words = ("-m", "pipe", "-k", "1", "-n", "2", "-w", "100000000", "--seconds", "0.2", "--json")
    done = ipclat(*words)
    found = json.loads(done.stdout)
    (row,) = found["results"]
    assert (done.returncode, found["settings"]["limit_s"]) == (1, 0.2)
    assert (row["missing"], row["samples"]) == ("no message came within --seconds", 0)
    said = [f"ipclat: pipe: repeat {n} does not count: {row['missing']}" for n in (1, 2)]
    assert done.stderr.splitlines() == said


def test_a_stopped_receiver_makes_a_message_late(lab_paths: Paths) -> None:
    """Of three stops; one that comes between its look at the clock and its answer is not seen."""
    argv = [str(lab_paths.bin / "ipclat"), "-m", "pipe", "-n", "1", "-w", "10", "--seconds", "60"]
    with subprocess.Popen([*argv, "-k", "50000", "--json"], stdout=-1, text=True) as process:
        wait_until(lambda: len(children(process.pid)) == 2)
        receiver = children(process.pid)[1]
        status = Path(f"/proc/{receiver}/status")
        # it has waited for 1000 messages or more
        wait_until(lambda: bool(re.search(r"\nvoluntary_ctxt_.*\d{4}", status.read_text())))
        for _ in range(3):
            os.kill(int(receiver), signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(int(receiver), signal.SIGCONT)
            time.sleep(0.001)
        output, _ = process.communicate(timeout=60)
    (row,) = json.loads(output)["results"]
    assert (process.returncode, row["samples"], row["missing"]) == (0, 50_000, "")
    assert row["max_ns"] >= 100_000_000


def test_percentiles_of_ones_choice(ipclat: Run, document: Document) -> None:
    words = ("-m", "pipe", "-k", "100", "-n", "2", "--percentiles", "0,0.5,75,100")
    (row,) = document(*words)["results"]
    found = row["percentiles_ns"]
    assert list(found) == ["0", "0.5", "75", "100"]
    assert found["0"] == pytest.approx(row["min_ns"], rel=0.01)
    assert found["100"] == pytest.approx(row["max_ns"], rel=0.01)
    header = ipclat(*words, "--csv").stdout.splitlines()[0]
    assert ",p0_ns,p0.5_ns,p75_ns,p100_ns," in header


def quantile_of(buckets: list[list[float]], q: float) -> tuple[float, float]:
    """The bucket that holds it: the first up to whose end there is such a part."""
    samples = sum(count for _, _, count in buckets)
    before = 0.0
    for low, high, count in buckets:
        before += count
        if before >= q * samples:
            return low, high
    raise AssertionError("not reached")


def test_what_is_said_is_what_was_measured(document: Document) -> None:
    """Each figure, found again in the histogram of all samples."""
    (row,) = document("-m", "pipe", "-k", "2000", "-n", "2", "--buckets")["results"]
    buckets = row["buckets_ns"]
    assert sum(count for _, _, count in buckets) == row["samples"] == 4000
    for name, q in (("1", 0.01), ("50", 0.5), ("99", 0.99), ("99.9", 0.999)):
        low, high = quantile_of(buckets, q)
        assert low - 0.01 <= row["percentiles_ns"][name] <= high + 0.01, name
    assert buckets[0][0] <= row["min_ns"] and row["max_ns"] <= buckets[-1][1]
    mean = sum((low + high) / 2 * count for low, high, count in buckets) / row["samples"]
    assert row["mean_ns"] == pytest.approx(mean, rel=0.004)


def test_files(document: Document, tmp_path: Path) -> None:
    histogram, repeats = tmp_path / "h.csv", tmp_path / "r.csv"
    files = ("--histogram", str(histogram), "--repeats-csv", str(repeats))
    document("-m", "pipe,unix", "-k", "100", "-n", "4", *files)
    buckets = list(csv.DictReader(histogram.read_text().splitlines()))
    assert all(float(b["from_ns"]) < float(b["to_ns"]) for b in buckets)
    for name in ("pipe", "unix"):
        assert sum(int(b["count"]) for b in buckets if b["mechanism"] == name) == 400
    lines = csv.DictReader(repeats.read_text().splitlines())
    found = [(line["mechanism"], line["repeat"]) for line in lines]
    assert found == [(name, str(n)) for n in range(1, 5) for name in ("pipe", "unix")]


def test_a_policy_that_this_kernel_lacks(ipclat: Run) -> None:
    """On a kernel of ours it runs; on any other it says why not."""
    done = ipclat("-m", "pipe", "-k", "10", "-n", "1", "--policy", "lottery:10")
    if done.returncode:
        assert_refused(done, "ipclat: this kernel lacks SCHED_LOTTERY", 3)


def test_the_receiver_notes_ages(tmp_path: Path) -> None:
    """Some of 200 receptions is not disturbed, and so 1,000,000 cycles old and little more."""
    names = ("affinity", "args", "clock", "crew", "files", "histogram", "lottery_sched")
    sources = ["qemu/tests/host/ipclat_side.c", "userland/ipclat/side.c"]
    side = native.load(tmp_path, *sources, *lib(*names, "policy", "procfs"))
    side.receive_messages.restype = ctypes.c_uint64
    words = [ctypes.c_uint64(word) for word in (200, 20, 1_000_000)]
    noted = ctypes.c_uint64()
    least = side.receive_messages(*words, ctypes.byref(noted))
    assert noted.value == 180
    assert 1_000_000 <= least < 1_100_000


@pytest.mark.parametrize("cost", [0, 52, 500])
def test_the_cost_of_the_clock_is_taken_off(tmp_path: Path, cost: int) -> None:
    """Where it is more than a sample took, the difference is negative and not 0."""
    sources = ("qemu/tests/host/ipclat_summary.c", "userland/ipclat/summary.c")
    library = native.load(tmp_path, *sources, *lib("histogram", "interval"))
    found = (ctypes.c_double * 4)()
    samples = (ctypes.c_uint64(100), ctypes.c_uint64(200))
    library.summarise_two(*samples, ctypes.c_double(cost), found)
    assert list(found) == [100 - cost, 150 - cost, 100 - cost, 200 - cost]
    library.summarise_two(ctypes.c_uint64(0), samples[1], ctypes.c_double(cost), found)
    assert all(map(math.isnan, found))


def test_cpus_beyond_63(tmp_path: Path) -> None:
    library = native.load(tmp_path, "qemu/tests/host/affinity_far.c", *lib("args", "files"))
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
    sources = (
        "qemu/tests/host/ipclat_place.c",
        "userland/ipclat/place.c",
        *lib("args", "files"),
    )
    program = native.build(tmp_path, *sources, options=(f'-DCPU_DIR="{tmp_path}"',))
    assert run(program, text).stdout == f"{said}\n"

# SPDX-License-Identifier: GPL-2.0
"""wrais-pgbench on programs that stand for PostgreSQL's."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.paths import Paths
from tests.host import programs
from tests.host.checkouts import script
from tests.host.programs import Done

READY = """\
import os, signal, socket
ended = {signal.SIGINT}
signal.pthread_sigmask(signal.SIG_BLOCK, ended)
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
signal.sigwait(ended)
"""
TIMES = """\
import os
with open(f"times.{os.getpid()}", "w") as file:
    file.writelines(f"0 {i} {1000 * i} 0 1577836800 {i}\\n" for i in range(1, 102))
"""
FAILS = "raise SystemExit('no such luck')\n"

Run = Callable[..., Done]


@pytest.fixture
def run(lab_paths: Paths, tmp_path: Path) -> Run:
    """The tool with `postgres` and `pgbench` of these lines, and more arguments."""

    def started(postgres: str = READY, pgbench: str = TIMES, more: tuple[str, ...] = ()) -> Done:
        for name, lines in (("postgres", postgres), ("pgbench", pgbench), ("initdb", "")):
            script(tmp_path / name, f"#!{sys.executable}\n{lines}")
        where = ("--programs", str(tmp_path), "--work", str(tmp_path / "w"), "--user", "0")
        cluster = () if more and more[-1].startswith("/") else (str(tmp_path),)
        return programs.run(lab_paths.bin / "wrais-pgbench", *where, *more, *cluster)

    return started


def test_quantiles_of_what_pgbench_has_logged(run: Run) -> None:
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    row = json.loads(done.stdout)
    assert (row["transactions"], row["p50_ms"], row["p99_ms"], row["max_ms"]) == (101, 51, 100, 101)


def test_nothing_is_printed_of_a_cluster_that_is_made(run: Run) -> None:
    done = run(more=("--make",))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("fakes", "told"),
    [
        ({"postgres": FAILS}, "no such luck\nwrais-pgbench: postgres failed\n"),
        ({"pgbench": FAILS}, "no such luck\nwrais-pgbench: pgbench failed\n"),
        ({"postgres": f"{READY}{FAILS}"}, "no such luck\nwrais-pgbench: postgres failed\n"),
        ({"pgbench": TIMES.replace("1000 * i", "'failed'")}, "no time in: 0 1 failed"),
    ],
)
def test_a_program_that_fails_is_quoted(run: Run, fakes: dict[str, str], told: str) -> None:
    done = run(**fakes)
    assert done.returncode == 1
    assert told in done.stderr


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--clients", "0"), "--clients"),
        (("--seconds", "x"), "--seconds"),
        (("--work", "here"), "--work: here: must begin with / and have at most 80 characters"),
        (("/nowhere/cluster",), "/nowhere/cluster: No such file or directory: make it with --make"),
    ],
)
def test_bad_input_changes_nothing(
    run: Run, tmp_path: Path, more: tuple[str, ...], told: str
) -> None:
    done = run(more=more)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (tmp_path / "w").exists()

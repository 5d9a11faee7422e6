# SPDX-License-Identifier: GPL-2.0
"""iperf3 as a peer: a UDP stream over the loopback, its JSON cut down to one row."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab import LabError
from lab.guest.boot import Program

NAME = "iperf3"
POLICIES = {"other": (), "fifo": ("chrt", "--fifo", "90")}
"""What stands before it, with udprate's priority."""
START_S = 10.0
TRIES = 3


def argv(rate: int, seconds: int, size: int, policy: str = "other") -> tuple[str, ...]:
    """What is asked of the client; where to is added when there is a server.

    The policy is the sender's alone, as udprate's is.
    """
    amount = ("-b", f"{rate}M", "-t", str(seconds), "-l", str(size))
    return (*POLICIES[policy], "iperf3", "-u", *amount, "--json")


def row(report: Mapping[str, Any], rate: int, seconds: int) -> dict[str, Any]:
    """A row as udprate prints it, of what iperf3's report says of the sender.

    An interval counts with its own length; the last one, if it is a rest, does not.
    """
    try:
        intervals = [part["sum"] for part in report["intervals"]]
        rates = [part["bits_per_second"] / 1e6 for part in intervals if part["seconds"] > 0.5]
        # of "sum" the seconds are the receiver's, which is late when others have its CPU
        sent = report["end"]["sum_sent"]
        achieved = sent["bytes"] * 8 / 1e6 / sent["seconds"]
        cpu = report["end"]["cpu_utilization_percent"]["host_total"]
    except (KeyError, TypeError) as error:
        raise LabError(f"iperf3: no {error} in its report", exit_code=1) from error
    return {
        "tool": NAME,
        "workers": 1,
        "seconds": seconds,
        "requested_mbps": rate,
        "achieved_mbps": achieved,
        "rate_error_pct": 100 * (achieved / rate - 1),
        "rate_sd_mbps": statistics.stdev(rates) if len(rates) > 1 else 0.0,
        "cpu_pct": cpu,
    }


def free_port() -> int:
    """A port of the loopback that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listening(port: int) -> bool:
    """Whether a TCP server listens on the port, without connecting to it."""
    tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
    text = "".join(table.read_text() for table in tables if table.exists())
    return re.search(rf":{port:04X} \S+ 0A ", text) is not None


def _measure(client: list[str], port: int) -> Any:
    """One server, one client, and the client's report."""
    server = subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_S
        while not listening(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise LabError("iperf3: its server did not start", exit_code=1)
            time.sleep(0.02)
        done = subprocess.run(client, capture_output=True, text=True, timeout=600, check=False)
        with suppress(ValueError):
            return json.loads(done.stdout)
        return {"error": f"exit {done.returncode}"}
    finally:
        server.kill()
        server.wait()


def run(program: Program) -> list[str]:
    """The peer of lab.native.  LabError if there is no iperf3, or it fails."""
    if not shutil.which("iperf3"):
        raise LabError("iperf3 is not installed: make deps", exit_code=1)
    rate = int(program.argv[program.argv.index("-b") + 1].removesuffix("M"))
    seconds = int(program.argv[program.argv.index("-t") + 1])
    report: Any = {}
    for _ in range(TRIES):
        port = free_port()
        where = ["--client", "127.0.0.1", "--port", str(port)]
        report = _measure([*program.argv, *where], port)
        if "error" not in report:
            return [json.dumps(row(report, rate, seconds))]
    raise LabError(f"iperf3: {report['error']}; uid {os.geteuid()}", exit_code=1)

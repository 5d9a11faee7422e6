# SPDX-License-Identifier: GPL-2.0
"""The JSON document of the instruments: what it says of the machine, and its nesting."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.host import native

SOURCES = [f"userland/lib/{name}.c" for name in ("args", "document", "files", "histogram", "json")]


def test_a_document(tmp_path: Path) -> None:
    program = native.build(tmp_path, "qemu/tests/host/document_print.c", *SOURCES)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    found = json.loads(first)
    written = datetime.fromisoformat(found.pop("time"))
    assert timedelta(0) <= datetime.now(UTC) - written < timedelta(minutes=1)
    here = os.uname()
    model = found.pop("cpu_model")
    assert f": {model}\n" in Path("/proc/cpuinfo").read_text()
    assert found == {
        "tool": "print",
        "schema": 1,
        "version": "1.0",
        "host": here.nodename,
        "kernel": here.release,
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "settings": {"quoted": 'a "b" \\ \ufffd', "nothing": {}},
        "results": [{"n": 1, "values": [1.5, None, -3], "last": True}, {}],
    }
    assert json.loads(second) == {"tool": "print"}

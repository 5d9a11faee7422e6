# SPDX-License-Identifier: GPL-2.0
"""The host as a place to measure: programs that run here, alone and under hogs."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Stream
from lab.native import run_here
from lab.paths import Paths
from tests.host.checkouts import script
from tests.host.programs import children, wait_until


def tool(paths: Paths, text: str) -> None:
    script(paths.bin / "tool", f"#!/bin/sh\n{text}\n")


def host(*programs: Program) -> Boot:
    return Boot("h", programs=programs, host=True)


def test_ours_and_those_of_others(paths: Paths) -> None:
    tool(paths, 'echo "$1"; echo "$2"')
    boot = host(Program("a", ("tool", "x", "y")), Program("b", ("other",), peer="peer"))
    peers = {"peer": lambda program: [f"peer {program.name}"]}
    result = run_here(paths, boot, peers, paths.logs)
    assert [p.output for p in result.programs] == [["x", "y"], ["peer b"]]
    assert result.ok
    log = Stream()
    log.feed((paths.logs / "result.ktap").read_bytes())
    document = log.close()
    assert [case.output for case in document.cases] == [["x", "y"], ["peer b"]]
    assert not document.errors


def test_a_failed_check_of_a_tool_is_still_a_measurement(paths: Paths) -> None:
    """As in a guest: its measurement is kept, and judged. Without the tool nothing is measured."""
    with pytest.raises(LabError, match="tool is missing: make userland"):
        run_here(paths, host(Program("a", ("tool",))), {}, paths.logs)
    tool(paths, "echo '{}'; echo tool: too slow >&2; exit 1")
    result = run_here(paths, host(Program("a", ("tool",))), {}, paths.logs)
    assert result.programs[0].output == ["{}"]


def busy_children() -> list[str]:
    pids = children(os.getpid())
    return [pid for pid in pids if "getppid" in Path(f"/proc/{pid}/cmdline").read_text()]


def used(pid: str) -> int:
    """Ticks of CPU time."""
    return int(Path(f"/proc/{pid}/stat").read_text().split()[13])


def test_hogs_are_there_as_long_as_their_program(paths: Paths) -> None:
    """All of them, with CPU time of their own; none afterwards, whatever became of it."""

    def peer(program: Program) -> list[str]:
        if program.name == "b":
            raise LabError("no luck")
        wait_until(lambda: all(used(pid) > 10 for pid in busy_children()))
        return [f"{len(busy_children())} of 3"]

    def boot(name: str) -> Boot:
        return host(Program(name, ("x",), peer="peer", hogs=3))

    assert run_here(paths, boot("a"), {"peer": peer}, paths.logs).programs[0].output == ["3 of 3"]
    with pytest.raises(LabError, match="no luck"):
        run_here(paths, boot("b"), {"peer": peer}, paths.logs)
    assert not busy_children()


@pytest.mark.parametrize(
    ("text", "timeout_s", "words"),
    [
        ("echo tool: no luck >&2; exit 1", 30, "a: exit 1: tool: no luck"),
        ("echo '{}'; echo tool: bad >&2; exit 2", 30, "a: exit 2: tool: bad"),
        ("exit 0", 30, "a: exit 0: no output"),
        ("exec sleep 60", 1, "a: no end after 1 s"),
    ],
)
def test_a_program_that_fails_is_named(paths: Paths, text: str, timeout_s: int, words: str) -> None:
    tool(paths, text)
    with pytest.raises(LabError, match=words) as caught:
        run_here(paths, host(Program("a", ("tool",), timeout_s)), {}, paths.logs)
    assert caught.value.exit_code == 1

# SPDX-License-Identifier: GPL-2.0
"""The plan file, and what is refused before a guest is started."""

import pytest

from lab import LabError
from lab.guest.boot import Boot, Program, Terminal
from lab.guest.machine import Machine


def test_render() -> None:
    """One item a line, fields separated by tabs; a window may not fit into 16 bits."""
    programs = (Program("a", ("prog", "-x", ""), 5), Program("b", ("@cat", "/x"), 0))
    text = "mode\tplan\nprogram\ta\t5\tprog\t-x\t\nprogram\tb\t0\t@cat\t/x\n"
    assert Boot("two", programs=programs).render() == text
    assert Boot("empty", defer=True).render() == "mode\tplan\ndefer\t1\n"
    shell = Boot("shell", mode="shell", terminal=Terminal("xterm", 40, 999999))
    assert shell.render() == "mode\tshell\nterm\txterm\t40\t65535\n"


def test_arguments_are_escaped() -> None:
    program = Program("c", ("sh", "-c", "printf 'a\tb\\n'\nexit 3"), 1)
    boot = Boot("one", programs=(program,), mode="command")
    assert boot.render().splitlines()[1] == "program\tc\t1\tsh\t-c\tprintf 'a\\tb\\\\n'\\nexit 3"


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a#b", "-a", "x" * 101, "ä"])
def test_bad_names(name: str) -> None:
    with pytest.raises(LabError, match="a name is"):
        Program(name, ("true",), 1)


@pytest.mark.parametrize(
    ("argv", "timeout_s", "words"),
    [
        ((), 1, "nothing to execute"),
        (("",), 1, "nothing to execute"),
        (("a", "b\0c"), 1, "NUL"),
        (("a",), -1, "timeout -1 s"),
        (("a",), 86401, "allowed are 0 to 86400"),
    ],
)
def test_bad_programs(argv: tuple[str, ...], timeout_s: int, words: str) -> None:
    with pytest.raises(LabError, match=words):
        Program("a", argv, timeout_s)


def test_bad_boots() -> None:
    program = Program("a", ("true",), 1)
    with pytest.raises(LabError, match="b: program 'a' is there twice"):
        Boot("b", programs=(program, program))
    with pytest.raises(LabError, match="mode 'bash'"):
        Boot("b", mode="bash")


def test_lost() -> None:
    """A guest is lost after some times its budget; without one its programs' times count."""
    programs = (Program("a", ("a",), 100, busy_s=2), Program("b", ("b",), 300, busy_s=1))
    real = Boot("real", programs=programs)
    assert real.lost_s() > 800 and real.program_lost_s(programs[0]) < 300
    virtual = Boot("virtual", Machine(accel="icount"), programs)
    assert virtual.lost_s() == 480 and virtual.program_lost_s(programs[0]) == 480
    assert Boot("short", programs=programs, budget_s=10).lost_s() == 240
    assert Boot("long", programs=programs, budget_s=100).lost_s() == 400

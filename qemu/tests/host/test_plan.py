# SPDX-License-Identifier: GPL-2.0
"""The plan file, and what is refused before a guest is started."""

import pytest

from lab import LabError
from lab.plan import Plan, PlanEntry, Terminal


def test_render() -> None:
    """One item a line, fields separated by tabs."""
    plan = Plan((PlanEntry("a", ("prog", "-x", ""), 5), PlanEntry("b", ("@cat", "/x"), 0)))
    assert plan.render() == "mode\tplan\nentry\ta\t5\tprog\t-x\t\nentry\tb\t0\t@cat\t/x\n"


def test_defer_and_terminal() -> None:
    """The other items, and a window that does not fit into 16 bits."""
    assert Plan(defer=True).render() == "mode\tplan\ndefer\t1\n"
    shell = Plan(mode="shell", terminal=Terminal("xterm", 40, 999999))
    assert shell.render() == "mode\tshell\nterm\txterm\t40\t65535\n"


def test_arguments_are_escaped() -> None:
    """Tabs, newlines and backslashes in an argument survive."""
    plan = Plan((PlanEntry("c", ("sh", "-c", "printf 'a\tb\\n'\nexit 3"), 1),), mode="command")
    assert plan.render().splitlines()[1] == "entry\tc\t1\tsh\t-c\tprintf 'a\\tb\\\\n'\\nexit 3"


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a#b", "-a", "x" * 101, "ä"])
def test_bad_names(name: str) -> None:
    """A name must survive a result line and a log line."""
    with pytest.raises(LabError, match="a name is"):
        PlanEntry(name, ("true",), 1)


@pytest.mark.parametrize(
    ("argv", "timeout_s", "words"),
    [
        ((), 1, "no program"),
        (("",), 1, "no program"),
        (("a", "b\0c"), 1, "NUL"),
        (("a",), -1, "timeout -1 s"),
        (("a",), 86401, "allowed are 0 to 86400"),
    ],
)
def test_bad_entries(argv: tuple[str, ...], timeout_s: int, words: str) -> None:
    """What PID 1 would refuse is refused here, with the value."""
    with pytest.raises(LabError, match=words):
        PlanEntry("a", argv, timeout_s)


def test_bad_plans() -> None:
    """Unknown modes and names that are used twice."""
    entry = PlanEntry("a", ("true",), 1)
    with pytest.raises(LabError, match="'a' is there twice"):
        Plan((entry, entry))
    with pytest.raises(LabError, match="mode 'bash'"):
        Plan(mode="bash")

# SPDX-License-Identifier: GPL-2.0
"""The matrix: which configurations, what is said of each, and when it fails."""

from pathlib import Path

import pytest

from lab import LabError, matrix
from lab.__main__ import main
from lab.matrix import Result
from lab.paths import MATRIX, Paths
from lab.tree import kconfig
from tests.host.checkouts import script

SESSION = """
import os
import pytest
@pytest.mark.parametrize("program", ["kunit-pool", "lottery-smp"])
def test_program(program):
    assert os.environ["LAB_KERNEL"] == "rt" and os.environ["LAB_SHORT"] == "1"
    assert program != os.environ.get("FAKE_FAILS")
    if program == os.environ.get("FAKE_LACKS"):
        pytest.skip("needs 4 CPUs")
"""
OTHERS = "def test_programs_of_something_else():\n    raise AssertionError\n"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    files = {
        "qemu/pyproject.toml": "[tool.pytest.ini_options]\n",
        "qemu/tests/guest/test_guest.py": SESSION,
        "qemu/tests/host/test_other.py": OTHERS,
    }
    for name, text in files.items():
        script(tmp_path / "top" / name, text)
    return Paths(tmp_path / "top", tmp_path / "out")


@pytest.mark.parametrize("name", ["fast", "guest", "torture", "", "up rt"])
def test_an_unknown_name_is_refused_before_anything_is_built(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel outside of the matrix as well; the one with a good name is not built either."""
    monkeypatch.setattr(matrix, "build", lambda *args: pytest.fail("built"))
    assert main(["matrix", "rt", name]) == 2
    assert f"lab: MATRIX '{name}': allowed are" in capsys.readouterr().err
    assert matrix.choose([]) == MATRIX and matrix.choose(["up", "rt", "up"]) == ("rt", "up")


def test_each_fragment_changes_the_normal_kernel() -> None:
    ours = Paths.from_env({}).configs
    assert {path.stem for path in (ours / "matrix").iterdir()} == set(MATRIX)
    merged = [kconfig.merge(ours, kconfig.FRAGMENTS[name]) for name in ("guest", *MATRIX)]
    values = [{symbol: item.value for symbol, item in one.items()} for one in merged]
    assert all(one != values[0] for one in values[1:])
    assert values[0]["SCHED_CORE"] == values[0]["IOSCHED_BFQ"] == "y"


def test_one_that_fails_does_not_keep_the_others_from_running(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    """One is not built, one fails, one passes: a line for each, and what was left out."""
    script(paths.kernel("up") / "vmlinux", "x" * 3 * 2**20)

    def build(name: str) -> None:
        if name == "rt":
            raise LabError("kernel-rt: CONFIG_PREEMPT_RT=y (rt.config:6): is not set", 1)

    def test(name: str) -> Result:
        if name == "hz250":
            return Result(name, "test_console[kunit]", 40)
        return Result(name, "", 37, ("test_program[smp]: needs 4 CPUs, kernel-up has 1",))

    results = matrix.run(paths, ["rt", "up", "hz250"], build, test)
    assert [result.passed for result in results] == [False, True, False]
    assert matrix.report(results[1:2]) == 0
    capsys.readouterr()
    assert matrix.report(results) == 1
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0] == "left out: up: test_program[smp]: needs 4 CPUs, kernel-up has 1"
    wanted = ["rt failed", "up passed", "hz250 failed"]
    assert [" ".join(line.split()[:2]) for line in lines[1:4]] == wanted
    assert "kernel-rt: CONFIG_PREEMPT_RT=y" in lines[1] and "built in 0 s (3 MB)" in lines[2]
    assert lines[3].endswith("test_console[kunit]")
    assert lines[4].startswith("1 of 3 configurations passed; ")


LACKS = {"FAKE_LACKS": "lottery-smp"}
SKIPPED = ("test_program[lottery-smp]: needs 4 CPUs",)


@pytest.mark.parametrize(
    ("environ", "words", "result"),
    [
        ({}, "", Result("rt", "", 2)),
        ({}, "kunit", Result("rt", "", 1)),
        ({"FAKE_FAILS": "lottery-smp"}, "", Result("rt", "test_program[lottery-smp]", 2)),
        (LACKS, "", Result("rt", "", 1, SKIPPED)),
        (LACKS, "smp", Result("rt", "nothing was tested", 0, SKIPPED)),
        ({}, "no-such-test", Result("rt", "pytest: exit 5", 0)),
    ],
)
def test_verdict(
    paths: Paths,
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    words: str,
    result: Result,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert matrix.test(paths, "rt", words) == result


def test_a_session_that_dies_has_failed() -> None:
    assert matrix.judge("rt", 3, "").why == "pytest: exit 3, no report"
    assert matrix.judge("rt", 1, '<t><testcase name="a"/></t>').why == "pytest: exit 1"

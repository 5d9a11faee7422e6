# SPDX-License-Identifier: GPL-2.0
"""Two result directories through benchstat, and inputs that are refused."""

import re
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main as lab
from lab.compare import main, pairs, tool
from lab.report.records import Sample, to_gobench
from tests.host.checkouts import script

FAKE = '#!/bin/sh\necho "benchstat: $*"\n[ ! -e {flag} ]\n'
"""A program that says how it was called; it fails once the flag exists."""


def results(directory: Path, *names: str) -> Path:
    directory.mkdir()
    for name in names:
        samples = [Sample(name, "cost_ns", "v", {"size": 3}, 1.0, "ns", str(n)) for n in (1, 2)]
        (directory / f"{name}.bench").write_text(to_gobench(samples))
    return directory


def test_what_both_have_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / "benchstat", FAKE.format(flag=tmp_path / "fail"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    one = results(tmp_path / "one", "udp", "ipc", "wrais")
    other = results(tmp_path / "other", "udp", "wrais")
    assert main(one, other) == 0
    assert capfd.readouterr().out.splitlines() == [
        line
        for name in ("udp", "wrais")
        for line in (f"{name}:", f"benchstat: A={one}/{name}.bench B={other}/{name}.bench")
    ]
    (tmp_path / "fail").touch()
    assert main(one, other) == 1


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(LabError, match=r"missing: install it with: go install golang\.org/x/perf"):
        tool()


def test_a_directory_that_is_none_is_named(tmp_path: Path) -> None:
    there = results(tmp_path / "there", "udp")
    with pytest.raises(LabError, match=r"A=.*/nowhere: must be a directory of results"):
        pairs(tmp_path / "nowhere", there)
    with pytest.raises(LabError, match=r"B=.*/empty: holds no \*\.bench"):
        pairs(there, results(tmp_path / "empty"))
    with pytest.raises(LabError, match=r"has udp\.bench, B=.* has ipc\.bench: must have an exp"):
        pairs(there, results(tmp_path / "other", "ipc"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "A is missing: must be two directories of results, or two files of ipclat or udp"),
        (("o.json",), "B is missing: must be two directories"),
        (("o.json", "nowhere"), "B=nowhere: there is no such file or directory"),
        (("there", "o.json"), "o.json is a file, and the other is a directory: must be two"),
        (("o.json", "o.json"), "o.json: not JSON: must be what ipclat or udprate printed"),
    ],
)
def test_the_command_says_what_it_expects(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    results(tmp_path / "there", "udp")
    (tmp_path / "o.json").write_text("mechanism,mean_ns\n")
    assert lab(["compare", *words]) == 2
    assert capsys.readouterr().err.startswith(f"lab: {said}")


@pytest.mark.parametrize("line", ["soup", "BenchmarkUdp/variant=v x 1 cost-ns", "{}"])
def test_a_line_that_is_not_right_is_named(tmp_path: Path, line: str) -> None:
    there, spoilt = (results(tmp_path / name, "udp") for name in ("there", "spoilt"))
    with (spoilt / "udp.bench").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(LabError, match=rf"{re.escape(file.name)}:4: '{re.escape(line)}': must"):
        pairs(there, spoilt)

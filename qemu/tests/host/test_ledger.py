# SPDX-License-Identifier: GPL-2.0
"""Findings of the gate's runs outlive the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import LabError, ledger
from lab.paths import Paths


def logged(tmp_path: Path, again: tuple[str, ...] = ()) -> Paths:
    paths = Paths(tmp_path / "top", tmp_path / "out")
    (tmp_path / "stages").mkdir(exist_ok=True)
    console = paths.logs / "guest/suite/console.log"
    console.parent.mkdir(parents=True, exist_ok=True)
    console.write_text("the kernel's words\n")
    (tmp_path / "stages/ci.txt").write_text("ci: test: failed, exit 2, 9 min\n")
    (tmp_path / "stages/ci-test.log").write_text("...\nFAILED suite-one\nAGAIN ok: suite-two\n")
    (paths.logs / "flaky-guest.json").write_text(json.dumps(again))
    (paths.logs / "red-guest.json").write_text(json.dumps([str(console), "/gone/console.log"]))
    return paths


def test_it_is_outside_the_checkout(tmp_path: Path) -> None:
    assert ledger.directory({"HOME": "/home/x"}) == Path("/home/x/.cache/who-waits/ci")
    assert ledger.directory({"LAB_LEDGER": str(tmp_path)}) == tmp_path


def test_a_run_is_kept_and_shown(tmp_path: Path) -> None:
    where = tmp_path / "ledger"
    with pytest.raises(LabError, match="no run"):
        ledger.shown(where)
    run = ledger.keep(logged(tmp_path), where, 0, tmp_path / "stages")
    assert run.name == "none-19700101T000000Z"
    assert (run / "console-suite.log").read_text() == "the kernel's words\n"
    said = ledger.shown(where)
    for word in ("failed, exit 2, 9 min", "FAILED suite-one", "AGAIN ok: suite-two", "console-"):
        assert word in said


def test_old_runs_keep_what_was_run_again_older_ones_nothing(tmp_path: Path) -> None:
    where = tmp_path / "ledger"
    assert not ledger.known(where)
    paths = logged(tmp_path, ("suite-two",))
    for number in range(ledger.LAST_RUNS + 2):
        ledger.keep(paths, where, number, tmp_path / "stages")
    kept = ledger.runs(where)
    assert len(kept) == ledger.LAST_RUNS and kept[0].name.endswith("T000002Z")
    whole = [run for run in kept if (run / "console-suite.log").is_file()]
    assert whole == kept[-ledger.RUNS :]
    assert ledger.known(where) == {"suite-two": ledger.LAST_RUNS}

# SPDX-License-Identifier: GPL-2.0
"""Records: validation, byte-repeatable files, and the export for benchstat."""

import json
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.report.records import (
    Record,
    Sample,
    read_csv,
    read_json,
    samples_csv,
    tidy,
    to_csv,
    to_gobench,
    to_json,
    write_text,
)

SPREAD = {"sd": 1.5, "min": 510.0, "max": 514.0}
GOOD = Record("lottery", "cycle_ns", "rbtree", {"tasks": 100}, 512.25, "ns", 3, SPREAD)
SAMPLE = Sample("lottery", "cycle_ns", "rbtree", {"tasks": 100}, 512.25, "ns", "1.1.1")


def test_files_come_back_and_leave_no_scratch_file(tmp_path: Path) -> None:
    """Fields are in their documented order."""
    folder = tmp_path / "results"
    write_text(folder / "one.json", to_json([GOOD]))
    write_text(folder / "none.json", to_json([]))
    raw = to_csv(["case", "wins"], [["10:1", 9], ["a,b", 1.5]])
    write_text(folder / "raw.csv", raw)
    (item,) = json.loads((folder / "one.json").read_text())
    assert list(item) == [field.name for field in fields(Record)]
    assert read_json(folder / "one.json") == [GOOD]
    assert read_json(folder / "none.json") == []
    rows = [{"case": "10:1", "wins": "9"}, {"case": "a,b", "wins": "1.5"}]
    assert read_csv(folder / "raw.csv") == rows
    assert len(list(folder.iterdir())) == 3


def test_json_is_the_same_for_any_order_of_records() -> None:
    many = [replace(GOOD, params={"tasks": tasks}) for tasks in (20, 3000, 100, 2)]
    text = to_json(many)
    assert text == to_json(reversed(many))
    assert [item["params"]["tasks"] for item in json.loads(text)] == [2, 20, 100, 3000]
    with pytest.raises(LabError, match=r"cycle_ns.*twice"):
        to_json([GOOD, replace(GOOD, value=1.0)])


def test_values_are_kept_to_six_digits() -> None:
    (item,) = json.loads(to_json([replace(GOOD, value=1234.56789, spread=0.1 + 0.2)]))
    assert (item["value"], item["spread"], tidy(18329.0)) == (1234.57, 0.3, 18329.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("experiment", "Lottery!"),
        ("metric", ""),
        ("metric", 7),
        ("variant", "a b"),
        ("params", {"Tasks": 1}),
        ("params", {"tasks": math.inf}),
        ("params", {"tasks": None}),
        ("params", [1]),
        ("value", math.nan),
        ("value", True),
        ("value", "12"),
        ("unit", "n s"),
        ("n", 0),
        ("n", 1.5),
        ("spread", math.inf),
        ("spread", {"sd": "wide"}),
    ],
)
def test_a_bad_field_is_named(field: str, value: Any) -> None:
    for good in (GOOD, SAMPLE) if field in ("params", "value") else (GOOD,):
        with pytest.raises(LabError, match=rf"{field}.*must be") as caught:
            replace(good, **{field: value})
        assert "\n" not in str(caught.value) and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("{}", "must be a list"),
        ('[{"metric": "x"}]', "record 1: must have the fields"),
        (json.dumps([GOOD.as_json(), {**GOOD.as_json(), "n": 0}]), "record 2: .* n 0: must be"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LabError, match=words) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


def test_a_bad_csv_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="csv row 2: 1 columns: must be 2"):
        to_csv(["a", "b"], [[1, 2], [3]])
    with pytest.raises(LabError, match="No such file"):
        read_csv(tmp_path / "none")


def test_samples_csv_has_a_column_for_every_parameter() -> None:
    other = Sample("lottery", "share_error_sigma", "list", {"ratio": "2:1"}, 0.5, "sigma", "2.1.1")
    assert samples_csv([other, SAMPLE]) == (
        "experiment,metric,variant,ratio,tasks,run,value,unit\n"
        "lottery,cycle_ns,rbtree,,100,1.1.1,512.25,ns\n"
        "lottery,share_error_sigma,list,2:1,,2.1.1,0.5,sigma\n"
    )


def test_gobench_has_one_line_a_sample_and_the_better_time() -> None:
    more = replace(SAMPLE, metric="rounds", unit="rounds", params={"mode": "a b/c"}, value=7.0)
    assert to_gobench([SAMPLE, replace(SAMPLE, value=500.0), more]) == (
        "Unit cycle-ns better=lower\n"
        "BenchmarkLottery/variant=rbtree/tasks=100 1 512.25 cycle-ns\n"
        "BenchmarkLottery/variant=rbtree/tasks=100 1 500 cycle-ns\n"
        "BenchmarkLottery/variant=rbtree/mode=a_b_c 1 7 rounds-rounds\n"
    )

# SPDX-License-Identifier: GPL-2.0
"""The exercises: what one begins with is wrong, so is a usual mistake, and an answer is right."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main
from lab.course import JUDGES, judge
from lab.paths import Paths
from lab.suite import tier
from tests.documents import TOP

BEGIN = TOP / "Documentation/course"
ANSWERS = TOP / "qemu/tests/course"
WRONG = {
    "pool": "wins for",
    "draw": "number 1 never wins",
    "strategy": "the application reads 0 while",
    "interval": "36.0 % hold the true mean",
    "wait": "records took",
}
REWEIGHT = """lottery_mine_remove(pool, e);
	e->tickets = tickets;
	lottery_mine_insert(pool, e);"""
MISTAKES = [
    ("pool", REWEIGHT, "e->tickets = tickets;", "the pool says"),
    ("pool", "winning < e->", "winning <= e->", "an entry with 14 tickets wins for 13 numbers"),
    ("draw", "found >= whole", "found > whole + 256", "wins 21760 times while 0 wins 22016 times"),
    ("draw", "found % tickets;", "found % tickets + 1;", "of 1 tickets number 1 wins"),
    ("strategy", "return 0;", "return 1000;", "is left alone while the CPU is free"),
    ("strategy", "2 * (round->received_us - HALF_US) + ROUND_US", "ROUND_US", "reads 5550 while"),
    ("interval", "BATCHES = 20", "BATCHES = 2000", "43.6 % hold the true mean"),
    ("interval", "log(mean) - sum / BATCHES", "0", "91.3 % hold the true mean"),
    ("wait", "if (fdatasync(fileno(file)))", "if (0)", "of 3 records 0 were waited for"),
    ("wait", "fflush(file);", "", "of 3 records 0 were waited for: a crash loses the others"),
]
"""What a usual mistake has in place of the right answer's words, and its verdict."""


# That one boots a guest for each.
JUDGED = [name for name in JUDGES if name != "wait" or tier(os.environ) == "long"]


@pytest.mark.parametrize("name", JUDGED)
def test_what_one_begins_with_is_wrong(lab_paths: Paths, name: str) -> None:
    verdict = judge(lab_paths, name, BEGIN / f"{name}.c")
    assert not verdict.right
    assert verdict.said.startswith("wrong: ") and WRONG[name] in verdict.said


@pytest.mark.parametrize(
    ("name", "right", "mistake", "said"), [one for one in MISTAKES if one[0] in JUDGED]
)
def test_a_usual_mistake_is_wrong(
    lab_paths: Paths, name: str, right: str, mistake: str, said: str, tmp_path: Path
) -> None:
    answer, wrong = (ANSWERS / f"{name}.c").read_text(), tmp_path / "wrong.c"
    wrong.write_text(answer.replace(right, mistake))
    assert wrong.read_text() != answer
    verdict = judge(lab_paths, name, wrong)
    assert not verdict.right
    assert verdict.said.startswith("wrong: ") and said in verdict.said


@pytest.mark.parametrize("name", JUDGES)
def test_an_answer_is_right(lab_paths: Paths, name: str) -> None:
    verdict = judge(lab_paths, name, ANSWERS / f"{name}.c")
    assert verdict.right, verdict.said


def test_what_is_no_answer_is_refused(
    lab_paths: Paths, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LabError, match="exercise 'nap': there are pool, draw, strategy, interval"):
        judge(lab_paths, "nap", BEGIN / "pool.c")
    with pytest.raises(LabError, match=r"none\.c: no such file"):
        judge(lab_paths, "pool", tmp_path / "none.c")
    (tmp_path / "empty.c").write_text("")
    with pytest.raises(LabError, match=r"does not take it:(.|\n)*undefined reference"):
        judge(lab_paths, "draw", tmp_path / "empty.c")
    (tmp_path / "falls.c").write_text(
        '#include "course.h"\n'
        "unsigned int course_draw(uint8_t (*b)(void *), void *a, unsigned int t)\n"
        "{ return *(volatile unsigned int *)0 + (b == a) + t; }\n"
    )
    assert judge(lab_paths, "draw", tmp_path / "falls.c").said == "wrong: it ended by signal 11"
    assert main(["course", "draw", str(tmp_path / "falls.c")]) == 1
    assert capsys.readouterr().out == "wrong: it ended by signal 11\n"

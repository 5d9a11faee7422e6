# SPDX-License-Identifier: GPL-2.0
"""The static checks find what they are for, and only that."""

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from lab import LabError
from lab.paths import Paths
from lab.tree import check, htmldocs, words
from lab.tree.patches import Patch
from tests.host.checkouts import script
from tests.host.fake_kernel import WHY, checkout, patch, prepared, set_series
from tests.host.programs import wait_until

GOOD = patch()
SIGNED = "Signed-off-by: A Hacker <hacker@localhost>\n"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return prepared(tmp_path, {"1.patch": GOOD})


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("From: A Hacker <hacker@localhost>\n", "", "no From: line"),
        ("Date: Wed, 1 Jan 2025 00:00:00 +0000\n", "", "no Date: line"),
        ("Subject: [PATCH] sched: Change a line\n", "", "no Subject: line"),
        # Below the line it does not count.
        (f"{SIGNED}---\n", f"---\n{SIGNED}", "no Signed-off-by"),
        (f"{WHY}\n\n", "", "say why"),
    ],
)
def test_a_message_has_everything(old: str, new: str, complaint: str) -> None:
    assert check.message(Patch.parse("p.patch", GOOD)) == []
    (problem,) = check.message(Patch.parse("p.patch", GOOD.replace(old, new)))
    assert problem.startswith("p.patch: ") and complaint in problem


def test_a_patch_adds_no_file() -> None:
    git = "diff --git a/n.c b/n.c\nnew file mode 100644\n"
    for text, problems in (
        (GOOD, 0),
        # Prose about files is no file.
        (GOOD.replace("digit", "\nrename to x\n"), 0),
        (f"{git}--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+x\n", 1),
        (f"{git}index 000..111\n", 1),
    ):
        assert len(check.adds_a_file(Patch.parse("p.patch", text))) == problems


def test_the_series_is_whole_and_git_am_has_the_last_word(paths: Paths) -> None:
    assert check.gate(paths) == []
    (paths.patches / "2.patch").write_text(GOOD)
    assert check.series_and_files(paths.patches) == ["patches/2.patch: not in a series"]
    second = patch(old=("line 9", "line 10"), new=("line 9", "line ten"), at=9)
    set_series(paths, {"1.patch": GOOD, "2.patch": second.replace(" line 9", " line nine")})
    (problem,) = check.gate(paths)
    assert problem.startswith("2.patch: git am: ")


def test_long_files_and_missing_licences_are_named(tmp_path: Path) -> None:
    paths, licence = checkout(tmp_path), "// SPDX-License-Identifier: GPL-2.0\n"
    (paths.top / "Makefile").write_text("\n" * (check.MAX_MAKEFILE_LINES + 1))
    script(paths.modules / "m/ok.c", licence)
    script(paths.modules / "m/long.c", licence + "\n" * check.MAX_LINES)
    script(paths.modules / "m/bare.h", "int bare;\n")
    named = [line.split(":")[0] for line in check.house(paths)]
    assert named == ["modules/m/long.c", "modules/m/bare.h", "Makefile"]


def test_a_folder_past_its_budget_is_named(tmp_path: Path) -> None:
    """Caches do not count, nor pictures, nor what is elsewhere."""
    budgets = script(tmp_path / "lines.toml", '"a/b" = 3\nc = 1\n')
    for name, lines in {"a/b/x": 2, "a/b/d/y": 2, "a/b/.cache/z": 9, "a/z": 9, "c/x": 1}.items():
        script(tmp_path / name, "\n" * lines)
    script(tmp_path / "a/b/picture", "\0\n")
    said = ["a/b: 4 lines; at most 3, says lines.toml"]
    assert check.past_their_budget(tmp_path, budgets) == said


def test_words_that_style_replaces_are_counted(tmp_path: Path) -> None:
    """The word "who" at the start of a clause, and each word, in both cases; not Python's None."""
    who = "who"
    bad = [f"The share of {who} waits", f"{who.title()} waits?", *words.PHRASES]
    bad += [f"{one[0].upper()}{one[1:]}" for one in words.PHRASES]
    good = [f"{who.title()} waits for whom", f"a task {who} waits", "x is None", "as everything"]
    (tmp_path / "a").mkdir()
    for name in ("a/page.rst", "style.rst"):
        (tmp_path / name).write_text(". ".join([*bad, *good]))
    budgets = tmp_path / "words.toml"
    budgets.write_text(f'"style.rst" = 0\na = {len(bad)}\n')
    assert check.past_their_budget(tmp_path, budgets, words.words_in) == []
    budgets.write_text(f"a = {len(bad) - 1}\n")
    said = f"a: {len(bad)} words; at most {len(bad) - 1}, says words.toml"
    assert check.past_their_budget(tmp_path, budgets, words.words_in) == [said]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """In place of each program that is called: returns its exit status and what it says."""
    call = Mock()
    monkeypatch.setattr(check, "call", call)
    return call


def test_checkpatch_and_shellcheck_see_all_that_is_ours(paths: Paths, called: Mock) -> None:
    """Patches, C of modules and programs; scenarios, and what has no ending but a #! line."""
    c = ["modules/m/bad.c", "userland/lottery/fine.c"]
    scripts = [".ci/run", "qemu/tests/guest/a/b.sh", "qemu/tests/guest/c.sh"]
    scripts.append("userland/completion")
    for name in (*c, *scripts):
        script(paths.top / name, "#!/bin/sh\n")
    bad = "modules/m/bad.c:1: WARNING: no"
    called.return_value = 1, f"{paths.top}/{bad}\n"
    for run, files in ((check.checkpatch, ["patches/1.patch", *c]), (check.shellcheck, scripts)):
        called.reset_mock()
        assert set(run(paths)) == {bad}
        words = [word for call in called.call_args_list for word in call.args[0]]
        prefix = f"{paths.top}/"
        seen = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
        assert seen == files


POOL = "kernel/sched/lottery/pool.c"
THEIRS = "linux/include/linux/x.h:1:1: warning: theirs"


@pytest.mark.parametrize(
    ("run", "status", "output", "problem"),
    [
        (check.checkpatch, 255, "", "checkpatch: exit 255: without a word"),
        (check.checkpatch, 1, "", "checkpatch: exit 1: without a word"),
        # Exceptions are of a file and a type, and of none if it has died.
        (check.checkpatch, 1, "p/0103-x.patch:7: WARNING:AVOID_BUG: no", ""),
        (check.checkpatch, 1, "p/0103-x.patch:7: WARNING:LONG_LINE: no", "p/0103-x.patch:7: "),
        (check.checkpatch, 1, "modules/core.c:7: WARNING:AVOID_BUG: no", "modules/core.c:7: "),
        (check.checkpatch, -11, "p/0103-x.patch:7: WARNING:AVOID_BUG: no", "checkpatch: exit -11"),
        (check.checkpatch, 2, "Can't locate Text.pm", "checkpatch: exit 2: Can't locate Text.pm"),
        (check.checkpatch, 0, "diff: x.c: No such file", "diff: x.c: No such file"),
        (check.sparse, 0, f"  CHECK   {POOL}\n{THEIRS}", ""),
        (check.sparse, 0, f"  CHECK   {POOL}\n{POOL}:7:1: warning: no", f"{POOL}:7:1: warning"),
        (check.sparse, 0, THEIRS, "modules/sched_lottery/pool.c: sparse did not look at it"),
        (check.sparse, 2, "no rule", "sched_lottery: sparse: exit 2: no rule"),
        (check.sparse, 2, "", "sched_lottery: sparse: exit 2: without a word"),
    ],
)
def test_what_a_tool_says_of_ours_is_a_problem_and_its_death_too(
    paths: Paths,
    called: Mock,
    run: Callable[[Paths], list[str]],
    status: int,
    output: str,
    problem: str,
) -> None:
    if run == check.sparse:
        for name in ("Kbuild", "pool.c"):
            script(paths.modules / "sched_lottery" / name, "")
    called.return_value = status, output
    found = run(paths)
    assert len(found) == bool(problem) and all(one.startswith(problem) for one in found)


def test_python_tools_keep_their_caches_below_out(paths: Paths) -> None:
    paths.qemu.mkdir()
    run = check.python_tool("ruff", "check", "--cache-dir={cache}")
    with pytest.raises(LabError, match="run make check"):
        run(paths)
    for text, problems in (
        ('echo "$@"; exit 1', [f"check --cache-dir={paths.out}/ruff"]),
        ("kill -9 $$", ["ruff: exit -9: without a word"]),
        ("echo fine", []),
    ):
        script(paths.venv / "bin/ruff", f"#!/bin/sh\n{text}\n")
        assert run(paths) == problems
    with pytest.raises(LabError, match="no-such-tool is not installed: make deps"):
        check.call(["no-such-tool"], paths.out)


@pytest.mark.parametrize(
    ("name", "status", "wanted"), [("a", 0, 0), ("a", 5, 5), ("b", 0, 1), ("b", 5, 1)]
)
def test_a_command_runs_beside_the_checks(
    paths: Paths,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    status: int,
    wanted: int,
) -> None:
    there = paths.out / "there"

    def seen(problems: list[str]) -> list[str]:
        wait_until(there.exists)
        return problems

    some = {"a": lambda _: seen([]), "b": lambda _: seen(["x.c:1: no"])}
    monkeypatch.setattr(check, "CHECKS", some)
    command = ["sh", "-c", f"touch {there}; exit {status}"]
    assert check.run_beside(paths, [name], command) == wanted
    assert check.run(paths, [name]) == (name == "b")
    told = "a: ok\n" if name == "a" else "b: 1 problems\n  x.c:1: no\n"
    assert capsys.readouterr().out == told * 2


def test_a_check_that_cannot_run_ends_the_command(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Paths) -> list[str]:
        raise LabError("no tool")

    monkeypatch.setattr(check, "CHECKS", {"a": broken})
    start = time.monotonic()
    with pytest.raises(LabError, match="no tool"):
        check.run_beside(paths, ["a"], ["sleep", "60"])
    assert time.monotonic() < start + 30


def test_sphinx_and_kernel_doc_are_heard(lab_paths: Paths, tmp_path: Path) -> None:
    paths = Paths(tmp_path / "top", tmp_path / "out")
    documents, header = paths.top / "Documentation", paths.top / "some.h"
    paths.out.mkdir()
    paths.linux.symlink_to(lab_paths.linux)
    shutil.copytree(lab_paths.top / "Documentation/static", documents / "static")
    shutil.copy(lab_paths.top / "Documentation/conf.py", documents)
    script(header, "/**\n * struct some - it\n * @one: there\n */\nstruct some { int one; };\n")
    page = script(documents / "index.rst", "A page\n======\n\n.. kernel-doc:: some.h\n")
    assert htmldocs.problems(paths) == []
    shown = (paths.out / "htmldocs/index.html").read_text()
    assert "struct some" in re.sub("<[^>]*>", "", shown)
    header.write_text(header.read_text().replace(" * @one: there\n", ""))
    assert any("'one' not described" in said for said in htmldocs.problems(paths))
    page.write_text(page.read_text() + "\n:doc:`nowhere`\n")
    assert any("nowhere" in said for said in htmldocs.problems(paths))

# SPDX-License-Identifier: GPL-2.0
"""The static checks find what they are for, and only that."""

import re
import shutil
import time
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import Paths
from lab.tree import check, htmldocs, patches, words
from lab.tree.patches import Patch
from tests.host.fake_kernel import WHY, checkout, patch, set_series, tarball

GOOD = patch()


def parsed(text: str) -> Patch:
    """The patch p.patch of this text."""
    return Patch.parse("p.patch", text)


def test_series_and_files_agree(tmp_path: Path) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    assert check.series_and_files(paths.patches) == []
    (paths.patches / "2.patch").write_text(GOOD)
    assert check.series_and_files(paths.patches) == ["patches/2.patch: not in a series"]


def test_a_patch_adds_no_file() -> None:
    assert check.adds_a_file(parsed(GOOD)) == []
    git = "diff --git a/n.c b/n.c\nnew file mode 100644\n"
    new = f"{git}--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+x\n"
    assert check.adds_a_file(parsed(new)) == ["p.patch: adds n.c: new files belong in modules/"]
    assert len(check.adds_a_file(parsed(f"{git}index 000..111\n"))) == 1
    # Prose about files is no file.
    assert check.adds_a_file(parsed(GOOD.replace("digit", "\nrename to x\n"))) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("From: A Hacker <hacker@localhost>\n", "", "no From: line"),
        ("Date: Wed, 1 Jan 2025 00:00:00 +0000\n", "", "no Date: line"),
        ("Subject: [PATCH] sched: Change a line\n", "", "no Subject: line"),
        ("Signed-off-by: A Hacker <hacker@localhost>\n", "", "no Signed-off-by"),
        (f"{WHY}\n\n", "", "say why"),
    ],
)
def test_a_message_has_everything(old: str, new: str, complaint: str) -> None:
    assert check.message(parsed(GOOD)) == []
    (problem,) = check.message(parsed(GOOD.replace(old, new)))
    assert complaint in problem
    assert problem.startswith("p.patch: ")


def test_a_sign_off_below_the_line_is_none() -> None:
    moved = GOOD.replace("---\n kernel", "---\nSigned-off-by: B <b@localhost>\n kernel")
    moved = moved.replace("Signed-off-by: A Hacker <hacker@localhost>\n", "")
    assert check.message(parsed(moved)) == ["p.patch: no Signed-off-by"]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A prepared checkout with one good patch."""
    paths = checkout(tmp_path, {"1.patch": GOOD})
    tarball(tmp_path)
    patches.prepare(paths, "", tmp_path)
    return paths


def test_a_good_series_passes_the_gate(paths: Paths) -> None:
    assert check.gate(paths) == []


def test_git_am_has_the_last_word(paths: Paths) -> None:
    second = patch(old=("line 9", "line 10"), new=("line 9", "line ten"), at=9)
    broken = second.replace(" line 9", " line nine")
    set_series(paths, {"1.patch": GOOD, "2.patch": broken})
    (problem,) = check.gate(paths)
    assert problem.startswith("2.patch: git am: ")


def test_long_files_and_missing_licences_are_named(tmp_path: Path) -> None:
    paths = checkout(tmp_path)
    (paths.top / "Makefile").write_text("\n" * 186)
    module = paths.modules / "m"
    module.mkdir(parents=True)
    (module / "ok.c").write_text("// SPDX-License-Identifier: GPL-2.0\n")
    (module / "long.c").write_text("// SPDX-License-Identifier: GPL-2.0-only\n" + "\n" * 600)
    (module / "bare.h").write_text("int bare;\n")
    assert check.house(paths) == [
        "modules/m/long.c: 601 lines; at most 600",
        "modules/m/bare.h: no SPDX-License-Identifier: GPL-2.0",
        "Makefile: 186 lines; at most 185",
    ]


def test_a_folder_past_its_budget_is_named(tmp_path: Path) -> None:
    """Caches do not count, nor what is elsewhere."""
    budgets = tmp_path / "lines.toml"
    budgets.write_text('"a/b" = 3\nc = 1\n')
    for name, lines in {"a/b/x": 2, "a/b/d/y": 2, "a/b/.cache/z": 9, "a/z": 9, "c/x": 1}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n" * lines)
    said = ["a/b: 4 lines; at most 3, says lines.toml"]
    assert check.past_their_budget(tmp_path, budgets) == said


def test_words_that_style_replaces_are_counted(tmp_path: Path) -> None:
    """A clause that begins with who, and each word, with a capital or not; not Python's None."""
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
def perl_says(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A checkpatch that objects to files named bad.*; returns its calls."""
    calls: list[list[str]] = []

    def call(words: list[str], cwd: Path) -> tuple[int, str]:
        calls.append(words)
        bad = [word for word in words if "bad." in word]
        return (1, "".join(f"{word}:1: WARNING: no\n" for word in bad)) if bad else (0, "")

    monkeypatch.setattr(check, "call", call)
    return calls


def test_checkpatch_sees_patches_and_all_c(paths: Paths, perl_says: list[list[str]]) -> None:
    for name in ("modules/m/bad.c", "userland/lottery/fine.c"):
        (paths.top / name).parent.mkdir(parents=True)
        (paths.top / name).touch()
    assert check.checkpatch(paths) == ["modules/m/bad.c:1: WARNING: no"]
    assert all("--strict" in words for words in perl_says)
    assert [words[-1].rpartition("/")[2] for words in perl_says] == ["1.patch", "bad.c", "fine.c"]


@pytest.mark.parametrize(
    ("status", "output", "problem"),
    [
        (255, "", "checkpatch: exit 255: without a word"),
        (1, "", "checkpatch: exit 1: without a word"),
        (-11, "p/0103-x.patch:7: WARNING:AVOID_BUG: no\n", "checkpatch: exit -11: p/0103-x.patch"),
        (2, "Can't locate Text.pm\n", "checkpatch: exit 2: Can't locate Text.pm"),
        (0, "diff: x.c: No such file\n", "diff: x.c: No such file"),
    ],
)
def test_a_checkpatch_that_dies_is_a_problem(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, status: int, output: str, problem: str
) -> None:
    monkeypatch.setattr(check, "call", lambda argv, cwd: (status, output))
    (found,) = check.checkpatch(paths)
    assert found.startswith(problem)


def test_exceptions_are_of_a_file_and_a_type() -> None:
    assert check.excepted("/top/patches/0103-x.patch:76: WARNING:AVOID_BUG: Do not crash")
    assert not check.excepted("/top/patches/0103-x.patch:76: WARNING:LONG_LINE: over 100")
    assert not check.excepted("/top/modules/m/core.c:76: WARNING:AVOID_BUG: Do not crash")


def test_sparse_counts_only_what_is_ours(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    link = "kernel/sched/lottery"
    (paths.modules / "sched_lottery").mkdir(parents=True)
    (paths.modules / "sched_lottery" / "Kbuild").touch()
    (paths.modules / "sched_lottery" / "pool.c").touch()
    output = (
        f"  CHECK   {link}/pool.c\n"
        f"linux/{link}/pool.c:7:1: warning: context imbalance\n"
        "linux/include/linux/x.h:1:1: warning: theirs\n"
    )
    monkeypatch.setattr(check, "call", lambda argv, cwd: (0, output))
    assert check.sparse(paths) == [f"linux/{link}/pool.c:7:1: warning: context imbalance"]
    monkeypatch.setattr(check, "call", lambda argv, cwd: (2, "no rule to make target"))
    assert check.sparse(paths) == ["sched_lottery: sparse: exit 2: no rule to make target"]
    monkeypatch.setattr(check, "call", lambda argv, cwd: (2, ""))
    assert check.sparse(paths) == ["sched_lottery: sparse: exit 2: without a word"]


def test_a_sparse_that_looks_at_nothing_is_a_problem(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = paths.modules / "sched_lottery"
    module.mkdir(parents=True)
    for name in ("Kbuild", "pool.c", "draw.c"):
        (module / name).touch()
    monkeypatch.setattr(
        check, "call", lambda argv, cwd: (0, "  CHECK   linux/kernel/sched/lottery/pool.c\n")
    )
    assert check.sparse(paths) == ["modules/sched_lottery/draw.c: sparse did not look at it"]


def test_python_tools_keep_their_caches_below_out(paths: Paths) -> None:
    tool = paths.venv / "bin/ruff"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "$@"\nexit 1\n')
    tool.chmod(0o755)
    paths.qemu.mkdir()
    run = check.python_tool("ruff", "check", "--cache-dir={cache}")
    assert run(paths) == [f"check --cache-dir={paths.out}/ruff"]
    tool.write_text("#!/bin/sh\nkill -9 $$\n")
    assert run(paths) == ["ruff: exit -9: without a word"]
    tool.write_text("#!/bin/sh\necho fine\n")
    assert run(paths) == []
    tool.unlink()
    with pytest.raises(LabError, match="run make check"):
        run(paths)


def test_shell_scripts_are_checked(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenarios of the guest, and what has no ending but a #! line."""
    own = ".ci/run", "userland/completion"
    for name in (*own, "qemu/tests/guest/a/b.sh", "qemu/tests/guest/c.sh"):
        (paths.top / name).parent.mkdir(parents=True, exist_ok=True)
        (paths.top / name).write_text("#!/bin/sh\n")
    calls: list[list[str]] = []

    def call(words: list[str], cwd: Path) -> tuple[int, str]:
        calls.append([word.rpartition("/")[2] for word in words if word.startswith("/")])
        bad = words[-1].endswith("c.sh")
        return (1, f"{words[-1]}:7:3: note: Double quote [SC2086]\n") if bad else (0, "")

    monkeypatch.setattr(check, "call", call)
    problem = "qemu/tests/guest/c.sh:7:3: note: Double quote [SC2086]"
    assert check.shellcheck(paths) == [problem]
    assert calls == [["run"], ["b.sh", "c.sh"], ["completion"]]
    monkeypatch.setattr(check, "call", lambda words, cwd: (2, ""))
    assert check.shellcheck(paths) == ["shellcheck: exit 2: without a word"] * 3


def test_a_tool_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no-such-tool is not installed: make deps"):
        check.call(["no-such-tool"], tmp_path)


def test_run_says_ok_or_lists_the_problems(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = (check.Check("a", lambda _: []), check.Check("b", lambda _: ["x.c:1: no"]))
    monkeypatch.setattr(check, "CHECKS", some)
    assert check.run(paths, ["a"]) == 0
    assert check.run(paths, ["a", "b"]) == 1
    assert capsys.readouterr().out == "a: ok\na: ok\nb: 1 problems\n  x.c:1: no\n"


@pytest.mark.parametrize(
    ("name", "status", "wanted"), [("a", 0, 0), ("a", 5, 5), ("b", 0, 1), ("b", 5, 1)]
)
def test_a_command_runs_beside_the_checks(
    paths: Paths,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    status: int,
    wanted: int,
) -> None:
    """The check sees what the command does meanwhile; both have a say in the status."""
    there = tmp_path / "there"

    def seen(problems: list[str]) -> list[str]:
        deadline = time.monotonic() + 30
        while not there.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return problems

    some = (check.Check("a", lambda _: seen([])), check.Check("b", lambda _: seen(["no"])))
    monkeypatch.setattr(check, "CHECKS", some)
    command = ["sh", "-c", f"touch {there}; exit {status}"]
    assert check.run_beside(paths, [name], command) == wanted


def test_a_check_that_cannot_run_ends_the_command(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Paths) -> list[str]:
        raise LabError("no tool")

    monkeypatch.setattr(check, "CHECKS", (check.Check("a", broken),))
    start = time.monotonic()
    with pytest.raises(LabError, match="no tool"):
        check.run_beside(paths, ["a"], ["sleep", "60"])
    assert time.monotonic() < start + 30


def test_sphinx_and_kernel_doc_are_heard(lab_paths: Paths, tmp_path: Path) -> None:
    """A page that refers to nothing, and a member that is not described, are problems."""
    top, out = tmp_path / "top", tmp_path / "out"
    out.mkdir()
    (out / "linux").symlink_to(lab_paths.linux)
    (top / "Documentation").mkdir(parents=True)
    shutil.copy(lab_paths.top / "Documentation/conf.py", top / "Documentation")
    shutil.copytree(lab_paths.top / "Documentation/static", top / "Documentation/static")
    page = top / "Documentation/index.rst"
    header, whole = top / "some.h", "/**\n * struct some - a structure\n * @one: there\n */\n"
    header.write_text(f"{whole}struct some {{ int one; }};\n")
    page.write_text("A page\n======\n\n.. kernel-doc:: some.h\n")
    paths = Paths(top, out)
    assert htmldocs.problems(paths) == []
    assert "struct some" in re.sub("<[^>]*>", "", (out / "htmldocs/index.html").read_text())
    header.write_text(header.read_text().replace(" * @one: there\n", ""))
    assert any("'one' not described" in said for said in htmldocs.problems(paths))
    page.write_text(page.read_text() + "\n:doc:`nowhere`\n")
    assert any("nowhere" in said for said in htmldocs.problems(paths))

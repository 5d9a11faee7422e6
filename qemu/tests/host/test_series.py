# SPDX-License-Identifier: GPL-2.0
"""The series, patch by patch: after each the kernel is built, and git takes what is exported."""

import difflib
import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main
from lab.host.overlay import refusal
from lab.paths import Paths
from lab.tree import series, source
from lab.tree.export import NEW, export, files
from lab.tree.patches import LINKS, Patch, carried, read_series
from tests.host.checkouts import script
from tests.host.programs import git

WHY_NOT = refusal()
needs_mounts = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

# A kbuild for C files of one directory.
MAKE = """#!/bin/sh
for word; do
	case $word in
	--directory=*) src=${word#*=} ;;
	O=*) build=${word#*=} ;;
	*.o) file=${word%.o}
		[ $build/$word -nt $src/$file.c ] && continue
		echo "  CC      $word"
		gcc -Wall -c -o $build/$word $src/$file.c || { echo "make: *** Error 1"; exit 2; } ;;
	esac
done
"""
BOTH = "int a(void);\nint b(void);\n"
A = BOTH + "int a(void)\n{\n\treturn 1;\n}\n"
B = BOTH + "int b(void)\n{\n\treturn a();\n}\n"


def patch(name: str, path: str, old: str, new: str) -> Patch:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    text = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
    return Patch.parse(name, text)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A kernel of two files, built, and the make that builds it."""
    paths = Paths(tmp_path / "top", tmp_path / "out")
    files = {
        paths.linux / "kernel/a.c": A,
        paths.linux / "kernel/b.c": B,
        paths.pristine / "kernel/a.c": A,
        paths.kernel() / ".config": "CONFIG_A=y\n",
        paths.kernel() / "System.map": "0 T a\n1 T b\n2 t local\n3 T elsewhere\n",
    }
    for name in ("a", "b"):
        cmd = f"deps := \\\n {paths.linux}/kernel/{name}.c \\\n"
        files[paths.kernel() / f"kernel/.{name}.o.cmd"] = cmd
    for path, text in files.items():
        script(path, text)
    script(tmp_path / "bin/make", MAKE)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return paths


def steps(paths: Paths, *texts: str, start: str = A) -> list[series.Step]:
    """Check a series that makes a.c each of these in turn; the tree carries all of it."""
    paths.patches.mkdir(parents=True)
    made: list[Patch] = []
    for number, (old, new) in enumerate(zip((start, *texts), texts, strict=False), 1):
        made.append(patch(f"{number}.patch", "kernel/a.c", old, new))
        (paths.patches / f"{number}.patch").write_text(made[-1].text)
    (paths.linux / "kernel/a.c").write_text(texts[-1])
    for name in ("a", "b"):
        argv = f"gcc -w -c -o {paths.kernel()}/kernel/{name}.o {paths.linux}/kernel/{name}.c"
        assert os.system(argv) == 0
    return list(series.check(paths, made))


GOOD = A.replace("1", "2")
IMPLICIT = A.replace("1", "later()")
BROKEN = A.replace("1", "}")
UNDEFINED = A.replace("1", "gone()").replace(BOTH, BOTH + "int gone(void);\n")
STATIC = UNDEFINED.replace("gone", "local")
OUTSIDE = UNDEFINED.replace("gone", "elsewhere")


@needs_mounts
def test_each_patch_is_built_and_nothing_is_left_of_it(paths: Paths) -> None:
    last = OUTSIDE
    found = steps(paths, GOOD, BROKEN, GOOD, IMPLICIT, UNDEFINED, STATIC, last)
    assert [step.name for step in found] == ["(no patch)", *(f"{n}.patch" for n in range(1, 8))]
    ok, problems = found[0].problems, [step.problems for step in found[1:]]
    assert ok == problems[0] == problems[2] == problems[6] == []
    assert any("error: " in line for line in problems[1])
    assert any("implicit declaration" in line for line in problems[3])
    assert problems[4:6] == [["not defined: gone"], ["not defined: local"]]
    # The file that no patch touches is not built again.
    assert [step.objects for step in found] == [1] * 8
    assert (paths.linux / "kernel/a.c").read_text() == last


@needs_mounts
def test_a_patch_that_does_not_fit_is_named(paths: Paths) -> None:
    with pytest.raises(LabError, match=r"1\.patch: does not apply"):
        steps(paths, GOOD, start=A.replace("1", "7"))
    assert (paths.linux / "kernel/a.c").read_text() == GOOD


def test_a_file_that_nothing_is_made_of_is_no_proof(paths: Paths) -> None:
    text = "int c;\n"
    (paths.linux / "kernel/c.c").write_text(text)
    with pytest.raises(LabError, match=r"kernel/c\.c: nothing in .* is made of it"):
        series.targets([patch("1.patch", "kernel/c.c", text, "")], paths.linux, paths.kernel())


def test_directories_of_makefiles_and_users_of_headers(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, makefile = "include/linux/a.h", "drivers/net/Makefile"
    with (paths.kernel() / "kernel/.b.o.cmd").open("a") as cmd:
        cmd.write(f"  {paths.linux}/{header} \\\n")
    some = [patch("1.patch", name, "a\n", "b\n") for name in (header, makefile, "kernel/a.c")]
    found = series.targets(some, paths.linux, paths.kernel())
    assert found == ["drivers/net/", "kernel/a.o", "kernel/b.o"]
    # Too many users are not followed.
    monkeypatch.setattr(series, "MANY", 0)
    assert series.targets(some[:1], paths.linux, paths.kernel()) == []


SUBJECTS = {new.subject for new in NEW}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return export(Paths.from_env(), tmp_path_factory.mktemp("export") / "patches")


def base(paths: Paths, series: list[Patch], tree: Path) -> set[str]:
    """A repository of those pristine files that the series changes; their names."""
    touched = {name for p in series for c in p.changes for name in (c.old, c.new) if name}
    for name in touched:
        if (paths.pristine / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.pristine / name, tree / name)
    git(tree, "init", "--quiet")
    git(tree, "add", "--all", "--force")
    git(tree, "commit", "--quiet", "-m", "base")
    return touched


def test_git_makes_the_tree_of_it_that_is_built(
    lab_paths: Paths, exported: list[Path], tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    series = carried(lab_paths)
    touched = base(lab_paths, series, tree)
    git(tree, "am", "--quiet", *map(str, exported))
    there = set(git(tree, "ls-files").split())
    ours = {
        f"{link}/{file.relative_to(lab_paths.modules / name)}"
        for name, link in LINKS.items()
        for file in files(lab_paths.modules, name)
    }
    # Nothing in the kernel reads these.
    assert not {"dkms.conf", "Makefile"} & {Path(name).name for name in ours}
    assert len(ours) > 50 and there == ours | {n for n in touched if (lab_paths.linux / n).exists()}
    for name in there:
        assert (tree / name).read_bytes() == (lab_paths.linux / name).read_bytes(), name


def test_one_patch_for_each_of_ours_and_those_of_new_files(
    lab_paths: Paths, exported: list[Path]
) -> None:
    """In their order, and each file is there before a patch has it built or included."""
    subjects = [patch.read_text().partition("\nSubject: [PATCH] ")[2] for patch in exported]
    firsts = [subject.splitlines()[0] for subject in subjects]
    assert set(firsts) >= SUBJECTS and len(firsts) == len(SUBJECTS) + len(carried(lab_paths))
    text = ""
    for patch, first in zip(exported, firsts, strict=True):
        text += patch.read_text() if first in SUBJECTS else ""
        for name in ("lottery", "wrais", "nll"):
            if f"+#include <linux/{name}/" in patch.read_text() and first not in SUBJECTS:
                assert f"+++ b/include/linux/{name}/" in text, patch.name
    order = (exported[0].parent / "series").read_text().splitlines()
    assert order == [patch.name for patch in exported] == sorted(order)


def test_it_is_the_series_of_the_kernel_that_was_asked_for(
    lab_paths: Paths, tmp_path: Path
) -> None:
    paths = replace(lab_paths, out=tmp_path / "out")
    paths.pristine.mkdir(parents=True)
    there = source.Source("x.tar.xz", "7.2.13", "0" * 64, 0, 0, 0)
    source.stamp_path(paths.pristine).write_text(json.dumps(asdict(there)))
    own = [patch.text for patch in read_series(lab_paths.patches, "7.2.13")]
    found = [patch.read_text() for patch in export(paths, tmp_path / "patches")]
    assert [text for text in found if text in own] == own and len(found) == len(own) + len(NEW)


def test_a_directory_in_use_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").touch()
    assert main(["export", str(tmp_path)]) == 2
    assert "allowed is a new or an empty directory" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert main(["export", ""]) == 2
    assert "DIR is empty" in capsys.readouterr().err

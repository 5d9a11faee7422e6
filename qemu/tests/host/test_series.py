# SPDX-License-Identifier: GPL-2.0
"""A patch after which the kernel does not build is named, with what is wrong."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from lab import LabError
from lab.host.overlay import refusal
from lab.paths import Paths
from lab.tree import series
from lab.tree.patches import Patch

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
    """The change from old to new."""
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
        tmp_path / "bin/make": MAKE,
    }
    for name in ("a", "b"):
        cmd = f"deps := \\\n {paths.linux}/kernel/{name}.c \\\n"
        files[paths.kernel() / f"kernel/.{name}.o.cmd"] = cmd
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "bin/make").chmod(0o755)
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


def test_directories_of_makefiles_and_users_of_headers(paths: Paths) -> None:
    header, makefile = "include/linux/a.h", "drivers/net/Makefile"
    with (paths.kernel() / "kernel/.b.o.cmd").open("a") as cmd:
        cmd.write(f"  {paths.linux}/{header} \\\n")
    some = [patch("1.patch", name, "a\n", "b\n") for name in (header, makefile, "kernel/a.c")]
    found = series.targets(some, paths.linux, paths.kernel())
    assert found == ["drivers/net/", "kernel/a.o", "kernel/b.o"]


def test_a_header_with_too_many_users_is_not_followed(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "MANY", 1)
    header = "include/linux/a.h"
    for name in ("a", "b"):
        with (paths.kernel() / f"kernel/.{name}.o.cmd").open("a") as cmd:
            cmd.write(f"  {paths.linux}/{header} \\\n")
    assert (
        series.targets([patch("1.patch", header, "a\n", "b\n")], paths.linux, paths.kernel()) == []
    )

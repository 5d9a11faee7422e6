# SPDX-License-Identifier: GPL-2.0
"""The exported series: git takes it, and it makes the tree that the lab builds."""

import json
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lab.__main__ import main
from lab.paths import Paths
from lab.tree import source
from lab.tree.export import IDENTITY, NEW, export, files
from lab.tree.patches import LINKS, Patch, carried, read_series

SUBJECTS = {new.subject for new in NEW}


def git(where: Path, *args: str) -> str:
    """What it said; it must end well."""
    argv = ["git", "-C", str(where), *IDENTITY, *args]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The patches."""
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
    """No other file is there, and none is different."""
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
    """7.2 has its own."""
    paths = replace(lab_paths, out=tmp_path / "out")
    paths.pristine.mkdir(parents=True)
    there = source.Source("x.tar.xz", "7.2.13", "0" * 64, 0, 0, 0)
    source.stamp_path(paths.pristine).write_text(json.dumps(asdict(there)))
    own = [patch.text for patch in read_series(lab_paths.patches, "7.2.13")]
    found = [patch.read_text() for patch in export(paths, tmp_path / "patches")]
    assert [text for text in found if text in own] == own
    assert len(found) == len(own) + len(NEW)


def test_files_of_ours_that_nothing_in_the_kernel_reads_stay_here(lab_paths: Paths) -> None:
    names = {file.name for link in LINKS for file in files(lab_paths.modules, link)}
    assert {"Kbuild", "Kconfig"} <= names and not {"dkms.conf", "Makefile"} & names


def test_a_directory_in_use_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").touch()
    assert main(["export", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"lab: DIR '{tmp_path}': allowed is a new or an empty directory\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert main(["export", ""]) == 2
    assert "DIR is empty" in capsys.readouterr().err

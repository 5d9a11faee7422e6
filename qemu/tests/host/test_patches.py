# SPDX-License-Identifier: GPL-2.0
"""The series on a tree: applied exactly, or not at all."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import Paths
from lab.tree import patches, source
from tests.host.fake_kernel import CORE_C, checkout, patch, set_series, snapshot, tarball

CORE = "kernel/sched/core.c"
GOOD = patch()
SECOND = patch(old=("line 9", "line 10", "line 11"), new=("line 9", "line ten", "line 11"), at=9)
# Right lines at the right place, but one line of context is not what is there.
FUZZY = patch(old=("line 4", "line 5", "line six"), new=("line 4", "line V", "line six"))


def prepared(tmp_path: Path, series: dict[str, str]) -> Paths:
    """A checkout with the series, on a fresh fake kernel."""
    paths = checkout(tmp_path, series)
    tarball(tmp_path)
    patches.prepare(paths, "", tmp_path)
    return paths


def again(paths: Paths) -> None:
    """Prepare with whatever the series says now."""
    patches.prepare(paths, "", paths.out.parent)


def test_parse_finds_files_and_counts_hunks() -> None:
    two = GOOD.replace("-- \n", SECOND[SECOND.index("@@ -9") :])
    parsed = patches.Patch.parse("p", two)
    assert parsed.changes == (patches.Change(CORE, CORE, 2),)


def test_parse_is_not_fooled_by_what_a_hunk_contains() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/decoy\n+++ b/decoy\n same\n"
    assert patches.Patch.parse("p", text).changes == (patches.Change("x", "x", 1),)


def test_parse_new_and_deleted_files() -> None:
    new = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"
    old = "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    changes = patches.Patch.parse("p", new + old).changes
    assert changes == (patches.Change(None, "new", 1), patches.Change("old", None, 1))


def test_series_has_comments_and_may_be_absent(tmp_path: Path) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    series = paths.patches / "series"
    series.write_text("# one\n\n1.patch # why\n")
    assert [item.name for item in patches.read_series(paths.patches)] == ["1.patch"]
    series.unlink()
    assert patches.read_series(paths.patches) == []


def test_a_kernel_gets_the_series_that_is_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    own = paths.patches / "7.2"
    own.mkdir()
    (own / "series").write_text("7.2/2.patch\n")
    (own / "2.patch").write_text(GOOD)
    (own / "base").write_text("7.2.13\n")
    for kernel, name in (("6.12.9", "1.patch"), ("7.2.14", "7.2/2.patch")):
        patches.prepare(paths, str(tarball(tmp_path, kernel)), tmp_path)
        assert [item.name for item in patches.carried(paths)] == [name]
    assert "kernel 7.2.14; the patches are pinned on 7.2.13" in capsys.readouterr().err


def test_what_is_carried_has_a_series(lab_paths: Paths) -> None:
    """And nothing else has one."""
    bases = [series.parent.name for series in lab_paths.patches.glob("*/series")]
    assert [source.CARRIED[0], *sorted(bases)] == list(source.CARRIED)


@pytest.mark.parametrize(
    ("series", "complaint"),
    [("gone.patch\n", "gone.patch: no such patch"), ("1.patch\n1.patch\n", "listed twice")],
)
def test_bad_series_is_named(tmp_path: Path, series: str, complaint: str) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    (paths.patches / "series").write_text(series)
    with pytest.raises(LabError, match=complaint):
        patches.read_series(paths.patches)


def test_empty_series_is_the_pristine_tree(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {})
    assert snapshot(paths.linux) == snapshot(paths.pristine)
    assert os.path.samefile(paths.linux / CORE, paths.pristine / CORE)


def test_series_is_applied_and_pristine_never_altered(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {})
    before = snapshot(paths.pristine)
    set_series(paths, {"1.patch": GOOD, "2.patch": SECOND})
    again(paths)
    text = (paths.linux / CORE).read_text()
    assert "line five\n" in text
    assert "line ten\n" in text
    assert snapshot(paths.pristine) == before
    assert not list(paths.linux.glob("**/*.orig")) + list(paths.linux.glob("**/*.rej"))


def test_lines_may_have_moved_but_not_changed(tmp_path: Path) -> None:
    moved = patch(at=9)
    assert "line five" in (prepared(tmp_path, {"1.patch": moved}).linux / CORE).read_text()


def test_fuzz_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"1\.patch: kernel/sched/core\.c: hunk 1 .*without fuzz"):
        prepared(tmp_path, {"1.patch": FUZZY})


def test_failing_hunk_is_named_and_nothing_half_applied(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {"1.patch": GOOD})
    hunk = "@@ -14,3 +14,3 @@\n line 14\n-line XV\n+line 15\n line 16\n"
    bad = SECOND.replace("-- \n", f"{hunk}-- \n")
    set_series(paths, {"1.patch": GOOD, "2.patch": bad})
    with pytest.raises(LabError) as caught:
        again(paths)
    assert str(caught.value) == (
        "2.patch: kernel/sched/core.c: hunk 2 (line 14) "
        "does not apply to kernel 6.12.117 without fuzz"
    )
    assert caught.value.exit_code == 1
    assert (paths.linux / CORE).read_text() == CORE_C
    assert not (paths.out / "linux.staging").exists()
    # It is not taken for done, and the mended series goes on.
    with pytest.raises(LabError):
        again(paths)
    set_series(paths, {"1.patch": GOOD, "2.patch": SECOND})
    again(paths)
    assert "line ten" in (paths.linux / CORE).read_text()


def test_a_patch_that_is_already_in_the_kernel_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"2\.patch: kernel/sched/core\.c: hunk 1 "):
        prepared(tmp_path, {"1.patch": GOOD, "2.patch": GOOD})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"1\.patch: kernel/gone\.c: no such file in kernel 6\.12"):
        prepared(tmp_path, {"1.patch": patch("kernel/gone.c")})


def test_garbage_is_named(tmp_path: Path) -> None:
    cut = GOOD[: GOOD.index("+line five")]
    with pytest.raises(LabError, match=r"1\.patch: .*(malformed|unexpected)"):
        prepared(tmp_path, {"1.patch": cut})


def test_only_changed_files_get_a_new_time(tmp_path: Path) -> None:
    fair = patch("kernel/sched/fair.c", ("int fair;",), ("int fairer;",), at=1)
    paths = prepared(tmp_path, {"1.patch": GOOD, "2.patch": fair})
    before = snapshot(paths.linux)
    inode = paths.linux.stat().st_ino
    set_series(paths, {"1.patch": GOOD, "2.patch": fair, "3.patch": SECOND})
    again(paths)
    after = snapshot(paths.linux)
    assert {name for name in after if after[name] != before.get(name)} == {CORE}
    assert paths.linux.stat().st_ino == inode


def test_a_file_that_goes_back_gets_a_new_time(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {"1.patch": GOOD})
    applied = (paths.linux / CORE).stat().st_mtime_ns
    set_series(paths, {})
    again(paths)
    assert (paths.linux / CORE).read_text() == CORE_C
    # Older than the object of the patched file it would not be compiled again.
    assert (paths.linux / CORE).stat().st_mtime_ns >= applied
    assert (paths.linux / CORE).stat().st_mtime_ns > (paths.pristine / CORE).stat().st_mtime_ns


def test_unchanged_series_touches_nothing(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {"1.patch": GOOD})
    # Not even what a person has put there meanwhile.
    (paths.linux / "kernel/sched/notes").touch()
    again(paths)
    assert (paths.linux / "kernel/sched/notes").exists()


def test_new_and_deleted_files_come_and_go(tmp_path: Path) -> None:
    new = "--- /dev/null\n+++ b/kernel/new/n.c\n@@ -0,0 +1 @@\n+int n;\n"
    old = "--- a/kernel/sched/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int old;\n"
    paths = prepared(tmp_path, {"1.patch": new, "2.patch": old})
    assert (paths.linux / "kernel/new/n.c").read_text() == "int n;\n"
    assert not (paths.linux / "kernel/sched/old.c").exists()
    set_series(paths, {})
    again(paths)
    assert not (paths.linux / "kernel/new").exists()
    assert (paths.linux / "kernel/sched/old.c").read_text() == "int old;\n"


def test_modules_are_linked_and_missing_ones_skipped(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {})
    link = paths.linux / "kernel/sched/lottery"
    assert not link.exists()
    module = paths.modules / "sched_lottery"
    module.mkdir(parents=True)
    again(paths)
    assert link.is_symlink()
    assert link.resolve() == module
    assert not (paths.linux / "block/bfq_wrais").exists()
    module.rmdir()
    again(paths)
    assert not link.is_symlink()


def test_another_kernel_is_another_generation(tmp_path: Path) -> None:
    paths = prepared(tmp_path, {"1.patch": GOOD})
    first = patches.generation(paths)
    set_series(paths, {})
    again(paths)
    assert patches.generation(paths) == first
    patches.prepare(paths, str(tarball(tmp_path / "other", "6.12.5")))
    assert patches.generation(paths) not in ("", first)
    assert "SUBLEVEL = 5" in (paths.linux / "Makefile").read_text()


def test_without_hard_links_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another device, or a file system without links: cp -al fails half-way."""
    cp = tmp_path / "bin/cp"
    cp.parent.mkdir()
    cp.write_text(
        '#!/bin/sh\ncase $1 in -al) mkdir -p "$3/half"; echo "cp: cross-device link" >&2; exit 1;;'
        '\n*) exec /bin/cp "$@";; esac\n'
    )
    cp.chmod(0o755)
    monkeypatch.setenv("PATH", str(cp.parent), prepend=os.pathsep)
    paths = prepared(tmp_path, {"1.patch": GOOD})
    assert "line five\n" in (paths.linux / CORE).read_text()
    assert not (paths.linux / "half").exists()
    assert not os.path.samefile(paths.linux / "Makefile", paths.pristine / "Makefile")
    cp.write_text("#!/bin/sh\necho 'cp: no space left' >&2\nexit 1\n")
    with pytest.raises(LabError, match="pristine: cannot be copied: cp: no space left") as caught:
        patches.hard_link_copy(paths.pristine, paths.linux)
    assert caught.value.exit_code == 1
    cp.unlink()
    again(paths)
    assert "line five\n" in (paths.linux / CORE).read_text()


def test_an_edit_through_a_hard_link_is_healed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = prepared(tmp_path, {})
    with (paths.linux / CORE).open("a") as stream:
        stream.write("written in place\n")
    set_series(paths, {"1.patch": GOOD})
    again(paths)
    assert (paths.pristine / CORE).read_text() == CORE_C
    assert (paths.linux / CORE).read_text() == CORE_C.replace("line 5\n", "line five\n")
    assert f"{CORE} was changed" in capsys.readouterr().err

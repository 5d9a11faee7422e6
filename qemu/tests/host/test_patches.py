# SPDX-License-Identifier: GPL-2.0
"""The series on a tree: applied exactly, or not at all; what it is carried on, and its source."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main
from lab.paths import Paths
from lab.tree import bases, patches, source
from lab.tree.bases import Release, offered
from lab.tree.patches import Change, Misfit, Patch, apply
from tests.host.checkouts import ran, script
from tests.host.fake_kernel import (
    CORE_C,
    checkout,
    makefile,
    patch,
    set_series,
    snapshot,
    tarball,
    tree,
)

CORE = "kernel/sched/core.c"
GOOD = patch()
SECOND = patch(old=("line 9", "line 10", "line 11"), new=("line 9", "line ten", "line 11"), at=9)
# Right lines at the right place, but one line of context is not what is there.
FUZZY = patch(old=("line 4", "line 5", "line six"), new=("line 4", "line V", "line six"))
NEW = "--- /dev/null\n+++ b/kernel/new/n.c\n@@ -0,0 +1 @@\n+int n;\n"
OLD = "--- a/kernel/sched/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int old;\n"


def prepared(tmp_path: Path, *texts: str) -> Paths:
    paths = checkout(tmp_path)
    tarball(tmp_path)
    again(paths, *texts)
    return paths


def again(paths: Paths, *texts: str) -> None:
    set_series(paths, {f"{number}.patch": text for number, text in enumerate(texts, 1)})
    patches.prepare(paths, "", paths.out.parent)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (GOOD.replace("-- \n", SECOND[SECOND.index("@@ -9") :]), [Change(CORE, CORE, 2)]),
        # What a hunk contains is no header.
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/decoy\n+++ b/decoy\n same\n",
            [Change("x", "x", 1)],
        ),
        (NEW + OLD, [Change(None, "kernel/new/n.c", 1), Change("kernel/sched/old.c", None, 1)]),
    ],
)
def test_parse(text: str, changes: list[Change]) -> None:
    assert list(Patch.parse("p", text).changes) == changes


def test_series_has_comments_and_may_be_absent_but_not_wrong(tmp_path: Path) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    series = paths.patches / "series"
    series.write_text("# one\n\n1.patch # why\n")
    assert [item.name for item in patches.read_series(paths.patches)] == ["1.patch"]
    for text, why in (("gone.patch\n", "gone.patch: no such patch"), ("1.patch\n" * 2, "twice")):
        series.write_text(text)
        with pytest.raises(LabError, match=why):
            patches.read_series(paths.patches)
    series.unlink()
    assert patches.read_series(paths.patches) == []


def test_a_kernel_gets_the_series_that_is_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lab_paths: Paths
) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD})
    own = paths.patches / "7.2"
    own.mkdir()
    for name, text in (("series", "7.2/2.patch\n"), ("2.patch", GOOD), ("base", "7.2.13\n")):
        (own / name).write_text(text)
    for kernel, name in (("6.12.9", "1.patch"), ("7.2.14", "7.2/2.patch")):
        patches.prepare(paths, str(tarball(tmp_path, kernel)), tmp_path)
        assert [item.name for item in patches.carried(paths)] == [name]
    assert "kernel 7.2.14; the patches are pinned on 7.2.13" in capsys.readouterr().err
    # What is carried has a series, and nothing else has one.
    bases = sorted(series.parent.name for series in lab_paths.patches.glob("*/series"))
    assert [source.CARRIED[0], *bases] == list(source.CARRIED)


def test_series_is_applied_and_pristine_never_altered(tmp_path: Path) -> None:
    paths = prepared(tmp_path)
    before = snapshot(paths.pristine)
    assert snapshot(paths.linux) == before
    assert os.path.samefile(paths.linux / CORE, paths.pristine / CORE)
    again(paths, patch(at=9), SECOND)
    text = (paths.linux / CORE).read_text()
    assert "line five\n" in text and "line ten\n" in text
    assert snapshot(paths.pristine) == before
    assert not list(paths.linux.glob("**/*.orig")) + list(paths.linux.glob("**/*.rej"))


HUNK = "@@ -14,3 +14,3 @@\n line 14\n-line XV\n+line 15\n line 16\n-- \n"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (FUZZY, f"{CORE}: hunk 1 (line 4) does not apply to kernel 6.12.117 without fuzz"),
        (SECOND.replace("-- \n", HUNK), f"{CORE}: hunk 2 (line 14) does not apply"),
        # It is in the kernel already.
        (GOOD, f"{CORE}: hunk 1 "),
        (patch("kernel/gone.c"), "kernel/gone.c: no such file in kernel 6.12"),
        (GOOD[: GOOD.index("+line five")], ""),
    ],
)
def test_what_does_not_apply_is_named_and_nothing_half_applied(
    tmp_path: Path, bad: str, why: str
) -> None:
    """It is not taken for done, and the mended series goes on."""
    paths = prepared(tmp_path)
    for _ in range(2):
        with pytest.raises(LabError) as caught:
            again(paths, GOOD, bad)
        assert str(caught.value).startswith(f"2.patch: {why}") and caught.value.exit_code == 1
        assert (paths.linux / CORE).read_text() == CORE_C
        assert not (paths.out / "linux.staging").exists()
    again(paths, GOOD, SECOND)
    assert "line ten" in (paths.linux / CORE).read_text()


def test_only_changed_files_get_a_new_time(tmp_path: Path) -> None:
    fair = patch("kernel/sched/fair.c", ("int fair;",), ("int fairer;",), at=1)
    paths = prepared(tmp_path, GOOD, fair)
    before, inode = snapshot(paths.linux), paths.linux.stat().st_ino
    again(paths, GOOD, fair, SECOND)
    after = snapshot(paths.linux)
    assert {name for name in after if after[name] != before.get(name)} == {CORE}
    assert paths.linux.stat().st_ino == inode
    again(paths, fair)
    # Older than the object of the patched file it would not be compiled again.
    assert (paths.linux / CORE).read_text() == CORE_C
    back = (paths.linux / CORE).stat().st_mtime_ns
    assert back >= after[CORE][1] and back > (paths.pristine / CORE).stat().st_mtime_ns
    # The same series touches nothing, not even what a person has put there meanwhile.
    (paths.linux / "kernel/sched/notes").touch()
    again(paths, fair)
    assert (paths.linux / "kernel/sched/notes").exists()


def test_new_and_deleted_files_come_and_go(tmp_path: Path) -> None:
    """Links of modules, too, where there are any."""
    paths = prepared(tmp_path, NEW, OLD)
    link, module = paths.linux / "kernel/sched/lottery", paths.modules / "sched_lottery"
    assert (paths.linux / "kernel/new/n.c").read_text() == "int n;\n"
    assert not (paths.linux / "kernel/sched/old.c").exists() and not link.exists()
    module.mkdir(parents=True)
    again(paths)
    assert not (paths.linux / "kernel/new").exists()
    assert (paths.linux / "kernel/sched/old.c").read_text() == "int old;\n"
    assert link.is_symlink() and link.resolve() == module
    assert not (paths.linux / "block/bfq_wrais").exists()
    module.rmdir()
    again(paths)
    assert not link.is_symlink()


def test_a_directory_of_links_comes_back(tmp_path: Path) -> None:
    pristine, linux = tmp_path / "pristine", tmp_path / "linux"
    (pristine / "dts").mkdir(parents=True)
    (pristine / "dts/include").symlink_to("../include")
    linux.mkdir()
    patches.sync(pristine, linux, {}, {})
    assert (linux / "dts/include").readlink() == Path("../include")


def test_without_hard_links_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another device, or a file system without links: cp -al fails half-way."""
    cp = script(
        tmp_path / "bin/cp",
        '#!/bin/sh\n[ $1 = -al ] || exec /bin/cp "$@"\nmkdir -p "$3/half"; exit 1\n',
    )
    monkeypatch.setenv("PATH", str(cp.parent), prepend=os.pathsep)
    paths = prepared(tmp_path, GOOD)
    assert "line five\n" in (paths.linux / CORE).read_text()
    assert not (paths.linux / "half").exists()
    assert not os.path.samefile(paths.linux / "Makefile", paths.pristine / "Makefile")
    script(cp, "#!/bin/sh\necho 'cp: no space left' >&2\nexit 1\n")
    with pytest.raises(LabError, match="pristine: cannot be copied: cp: no space left") as caught:
        patches.hard_link_copy(paths.pristine, paths.linux)
    assert caught.value.exit_code == 1
    cp.unlink()
    again(paths, GOOD)
    assert "line five\n" in (paths.linux / CORE).read_text()


def test_an_edit_through_a_hard_link_is_healed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = prepared(tmp_path)
    with (paths.linux / CORE).open("a") as stream:
        stream.write("written in place\n")
    again(paths, GOOD)
    assert (paths.pristine / CORE).read_text() == CORE_C
    assert (paths.linux / CORE).read_text() == CORE_C.replace("line 5\n", "line five\n")
    assert f"{CORE} was changed" in capsys.readouterr().err


@pytest.fixture
def pristine(tmp_path: Path) -> Path:
    return tmp_path / "pristine"


def test_version_out_of_a_makefile() -> None:
    assert source.version(makefile("6.12.117")) == "6.12.117"
    assert source.version("all:\n\techo no kernel\n") is None
    # What tar has written only half of is not a version yet.
    assert source.version("VERSION = 6\nPATCHLEVEL = 12\n") is None
    text = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n"
    assert source.version(text) == "6.12.0-rc3"


def test_debians_tarball_is_found_or_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"install linux-source-6\.12 or give KERNEL="):
        source.find("", tmp_path)
    with pytest.raises(LabError, match="KERNEL=nowhere: no such directory or tarball"):
        source.find("nowhere", tmp_path)
    packed = tarball(tmp_path)
    assert source.find("", tmp_path) == packed


@pytest.mark.parametrize("name", ["linux.tar.xz", "linux.tar.gz", "linux.tar"])
def test_unpacked_once_until_the_bytes_are_others(
    tmp_path: Path, pristine: Path, name: str
) -> None:
    packed = tarball(tmp_path, "6.12.9", name)
    first = source.ensure(pristine, str(packed))
    assert first.version == "6.12.9" and (pristine / "kernel/sched/fair.c").exists()
    before = pristine.stat().st_ino
    assert source.ensure(pristine, str(packed)) == first
    os.utime(packed, ns=(1, 1))
    source.ensure(pristine, str(packed))
    assert pristine.stat().st_ino == before
    (pristine / "left over").touch()
    again = source.ensure(pristine, str(tarball(tmp_path / "b", "6.12.2")))
    assert again.version == "6.12.2" and not (pristine / "left over").exists()


def test_what_cannot_be_taken_leaves_everything_as_it_was(tmp_path: Path, pristine: Path) -> None:
    """Another version, half a tarball, one of something else, a directory that was built in."""
    good = source.ensure(pristine, str(tarball(tmp_path / "a")))
    before = snapshot(pristine)
    broken, song = tmp_path / "broken.tar.xz", tmp_path / "song.tar"
    broken.write_bytes((tmp_path / "a/linux-source-6.12.tar.xz").read_bytes()[:100])
    (tmp_path / "la").write_text("la la\n")
    ran("tar", "-cf", song, "-C", tmp_path, "la")
    used = tree(tmp_path / "linux")
    (used / ".config").touch()
    for bad, why in (
        (tarball(tmp_path / "b", "6.1.99"), r"kernel 6\.1\.99; carried are 6\.12\.y and 7\.2\.y"),
        (broken, r"broken\.tar\.xz: cannot be unpacked: "),
        (song, "not a kernel source"),
        (used, "has been built in"),
    ):
        with pytest.raises(LabError, match=why):
            source.ensure(pristine, str(bad))
        assert snapshot(pristine) == before and source.load(pristine) == good
        assert not (tmp_path / "pristine.part").exists()


def test_a_directory_is_copied_without_git(tmp_path: Path, pristine: Path) -> None:
    origin = tree(tmp_path / "linux", "6.12.3")
    (origin / ".git").mkdir()
    (origin / "link").symlink_to("Makefile")
    assert source.ensure(pristine, str(origin)).version == "6.12.3"
    assert not (pristine / ".git").exists() and (pristine / "link").is_symlink()
    (origin / "kernel/sched/fair.c").write_text("int fairer;\n")
    source.ensure(pristine, str(origin))
    assert (pristine / "kernel/sched/fair.c").read_text() == "int fairer;\n"


def test_pin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, digest = tmp_path / "base", "0" * 64
    assert source.pin(base) == ("", "")
    base.write_text(f"# made on 6.12.1\n6.12.117\n# the tarball\n{digest}\n")
    for version, found, said in (
        ("6.12.117", digest, ""),
        ("6.12.118", digest, "kernel 6.12.118; the patches are pinned on 6.12.117"),
        ("6.12.117", "1" * 64, "not the pinned tarball"),
    ):
        source.note_pin(source.Source("x.tar.xz", version, found, 0, 0, 0), base)
        told = capsys.readouterr().err
        assert said in told and bool(told) == bool(said)


MADISON = """\
 linux-source-6.12 | 6.12.117-1~deb12u1 | http://mirror bookworm-security/main amd64 Packages
 linux-source-6.12 | 6.12.99-2~deb12u1 | http://mirror bookworm-security/main amd64 Packages
 linux-source-6.12 | 6.12.99-1 | http://mirror trixie/main amd64 Packages
"""
# The kernel has line 14 in its place.
OTHER = patch(old=("line 13", "line 14a", "line 15"), new=("line 13", "x", "line 15"), at=13)
GONE = patch().replace(CORE, "kernel/sched/gone.c")


def parsed(*texts: str) -> list[Patch]:
    return [Patch.parse(f"{number}.patch", text) for number, text in enumerate(texts, 1)]


def test_each_kernel_once_the_oldest_first() -> None:
    assert offered(MADISON) == [
        Release("6.12.99-2~deb12u1", "6.12.99"),
        Release("6.12.117-1~deb12u1", "6.12.117"),
    ]
    assert offered("N: Unable to locate package\n") == []


def test_a_hunk_that_fails_does_not_keep_the_others_out(tmp_path: Path) -> None:
    both = GOOD.replace("-- \n", OTHER[OTHER.index("@@ -13") :])
    top = tree(tmp_path / "linux")
    assert apply(parsed(both)[0], top) == [Misfit(CORE, 2, 13)]
    assert (top / CORE).read_text() != (tree(tmp_path / "as it was") / CORE).read_text()


def test_what_does_not_fit_stands_beside_what_is_there(tmp_path: Path) -> None:
    top = tree(tmp_path / "linux")
    found = list(bases.find(parsed(GOOD, OTHER, SECOND, GONE), top))
    assert [(one.patch, one.misfit.hunk) for one in found] == [("2.patch", 1), ("4.patch", 0)]
    assert found[0].difference == ("  line 13", "- line 14a", "+ line 14", "  line 15")
    assert list(found[1].lines()) == ["4.patch: kernel/sched/gone.c: no such file"]


def test_lines_that_have_moved_are_found_where_they_are_now() -> None:
    text = [f"line {number}" for number in range(1, 100)]
    assert bases.likest(["line 70", "other", "line 72"], text, 3) == text[69:72]
    # Of two that are alike it is the nearer one.
    assert bases.likest(["a"], ["a", "b", "a"], 3) == ["a"]
    assert bases.likest(["a", "b"], [], 1) == []


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_says_what_does_not_fit_a_tree(
    tmp_path: Path,
    packed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = checkout(tmp_path, {"1.patch": GOOD, "2.patch": OTHER})
    monkeypatch.setattr(Paths, "from_env", classmethod(lambda cls: paths))
    make = tarball if packed else tree
    kernel = make(tmp_path / "linux", "7.2.13")
    assert main(["bases", str(kernel)]) == 1
    said = capsys.readouterr().out
    assert "7.2.13: 1 of 2 patches apply" in said
    assert "2.patch: kernel/sched/core.c: hunk 1 (line 13)" in said
    song = tmp_path / "song.tar"
    ran("tar", "-cf", song, "-C", tmp_path, "top")
    for other in (song, tmp_path, tmp_path / "no"):
        assert main(["bases", str(other)]) == 2
    # A series of its own takes from the other one what fits.
    own = paths.patches / "7.2"
    own.mkdir()
    (own / "2.patch").write_text(SECOND)
    (own / "series").write_text("1.patch\n7.2/2.patch\n")
    assert main(["bases", str(kernel)]) == 0
    assert "7.2.13: 2 of 2 patches apply" in capsys.readouterr().out
    (own / "series").write_text("7.2/3.patch\n")
    assert main(["bases", str(kernel)]) == 2
    assert "patches/7.2/series: 7.2/3.patch: no such patch" in capsys.readouterr().err

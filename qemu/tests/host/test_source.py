# SPDX-License-Identifier: GPL-2.0
"""Finding, refusing and unpacking kernel source."""

import os
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.tree import source
from tests.host.fake_kernel import makefile, snapshot, tarball, tree


def test_version_out_of_a_makefile() -> None:
    assert source.version(makefile("6.12.117")) == "6.12.117"
    assert source.version("all:\n\techo no kernel\n") is None
    assert source.version("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n") == (
        "6.12.0-rc3"
    )
    # What tar has written only half of is not a version yet.
    assert source.version("VERSION = 6\nPATCHLEVEL = 12\n") is None


@pytest.mark.parametrize("good", ["6.12.0", "6.12.5", "6.12.117", "7.2.13"])
def test_what_there_is_a_series_for_is_carried(good: str) -> None:
    assert source.check_version(good, Path("x")) == good


@pytest.mark.parametrize("bad", ["6.1.12", "6.13.0", "7.20.1", "5.12.6", "6.12.0-rc3", None])
def test_other_versions_are_refused_in_one_line(bad: str | None) -> None:
    with pytest.raises(LabError, match=r"carried are 6\.12\.y and 7\.2\.y") as caught:
        source.check_version(bad, Path("linux.tar.xz"))
    assert caught.value.exit_code == 2
    assert "linux.tar.xz" in str(caught.value)


def test_debians_tarball_is_found(tmp_path: Path) -> None:
    packed = tarball(tmp_path)
    assert source.find("", tmp_path) == packed


def test_no_source_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"install linux-source-6\.12 or give KERNEL="):
        source.find("", tmp_path)


def test_wanted_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="KERNEL=nowhere: no such directory or tarball"):
        source.find("nowhere", tmp_path)


@pytest.mark.parametrize("name", ["linux.tar.xz", "linux.tar.gz", "linux.tar"])
def test_unpack_and_keep(tmp_path: Path, name: str) -> None:
    packed = tarball(tmp_path, "6.12.9", name)
    pristine = tmp_path / "pristine"
    first = source.ensure(pristine, str(packed))
    assert first.version == "6.12.9"
    assert (pristine / "kernel/sched/fair.c").exists()
    before = pristine.stat().st_ino
    assert source.ensure(pristine, str(packed)) == first
    assert pristine.stat().st_ino == before


def test_same_bytes_under_a_new_time_are_not_unpacked_again(tmp_path: Path) -> None:
    packed = tarball(tmp_path)
    pristine = tmp_path / "pristine"
    source.ensure(pristine, str(packed))
    before = pristine.stat().st_ino
    os.utime(packed, ns=(1, 1))
    source.ensure(pristine, str(packed))
    assert pristine.stat().st_ino == before


def test_another_tarball_replaces_the_tree(tmp_path: Path) -> None:
    pristine = tmp_path / "pristine"
    source.ensure(pristine, str(tarball(tmp_path / "a", "6.12.1")))
    (pristine / "left over").touch()
    again = source.ensure(pristine, str(tarball(tmp_path / "b", "6.12.2")))
    assert again.version == "6.12.2"
    assert not (pristine / "left over").exists()


def test_wrong_tarball_leaves_everything_as_it_was(tmp_path: Path) -> None:
    pristine = tmp_path / "pristine"
    good = source.ensure(pristine, str(tarball(tmp_path / "a")))
    before = snapshot(pristine)
    with pytest.raises(LabError, match=r"kernel 6\.1\.99; carried are 6\.12\.y and 7\.2\.y"):
        source.ensure(pristine, str(tarball(tmp_path / "b", "6.1.99")))
    assert snapshot(pristine) == before
    assert source.load(pristine) == good
    assert not (tmp_path / "pristine.part").exists()


def test_broken_tarball_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tar.xz"
    broken.write_bytes(tarball(tmp_path).read_bytes()[:100])
    with pytest.raises(LabError, match=r"broken\.tar\.xz: cannot be unpacked: "):
        source.ensure(tmp_path / "pristine", str(broken))
    assert not (tmp_path / "pristine").exists()


def test_tarball_of_something_else(tmp_path: Path) -> None:
    packed = tmp_path / "song.tar"
    (tmp_path / "la").write_text("la la\n")
    subprocess.run(["tar", "-cf", packed, "-C", tmp_path, "la"], check=True)
    with pytest.raises(LabError, match="not a kernel source"):
        source.ensure(tmp_path / "pristine", str(packed))


def test_a_directory_is_copied_without_git(tmp_path: Path) -> None:
    origin = tree(tmp_path / "linux", "6.12.3")
    (origin / ".git").mkdir()
    (origin / ".git/HEAD").touch()
    (origin / "link").symlink_to("Makefile")
    pristine = tmp_path / "pristine"
    assert source.ensure(pristine, str(origin)).version == "6.12.3"
    assert not (pristine / ".git").exists()
    assert (pristine / "link").is_symlink()
    (origin / "kernel/sched/fair.c").write_text("int fairer;\n")
    source.ensure(pristine, str(origin))
    assert (pristine / "kernel/sched/fair.c").read_text() == "int fairer;\n"


def test_a_directory_that_was_built_in_is_refused(tmp_path: Path) -> None:
    origin = tree(tmp_path / "linux")
    (origin / ".config").touch()
    with pytest.raises(LabError, match="has been built in"):
        source.ensure(tmp_path / "pristine", str(origin))


def test_a_write_into_pristine_is_noticed(tmp_path: Path) -> None:
    pristine = tmp_path / "pristine"
    found = source.ensure(pristine, str(tarball(tmp_path)))
    assert source.written_into(pristine, found) is None
    (pristine / "kernel/sched/core.c").write_text("oops\n")
    os.utime(pristine / "kernel/sched/core.c", ns=(1, found.newest_ns + 1))
    assert source.written_into(pristine, found) == "kernel/sched/core.c"


def test_pin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = tmp_path / "base"
    assert source.Pin.read(base) == source.Pin()
    digest = "0" * 64
    base.write_text(f"# made on 6.12.1\n6.12.117\n# the tarball\n{digest}\n")
    assert source.Pin.read(base) == source.Pin("6.12.117", digest)
    same = source.Source("x.tar.xz", "6.12.117", digest, 0, 0, 0)
    source.note_pin(same, base)
    assert capsys.readouterr().err == ""
    source.note_pin(source.Source("x.tar.xz", "6.12.118", digest, 0, 0, 0), base)
    assert "kernel 6.12.118; the patches are pinned on 6.12.117" in capsys.readouterr().err
    source.note_pin(source.Source("x.tar.xz", "6.12.117", "1" * 64, 0, 0, 0), base)
    assert "not the pinned tarball" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0
"""What is made is in $(O), what is removed is there too, and strange paths are refused."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import LabError
from lab.guest.accel import kvm_works
from lab.host import outdir
from lab.paths import VARIANTS, Paths
from lab.tree import patches, source
from tests.host.checkouts import TOP, copied, environment, make, names

STRANGE = ("a b", "a\tb", " a", "a:b", "a'b", 'a"b', "a$b", "a;b", "a#b", "a%b", "a*b", "a\\b")
TARGETS = ("clean", "mrproper", "all", "test", "help", "demo", "run", "prepare", "userland")
UNPRIVILEGED = 65534


def decoys(where: Path) -> None:
    """What a shell or make would take parts of a strange path for."""
    for word in ("a", "b", "a/build", "build", "b/build"):
        (where / word).mkdir(exist_ok=True)
        (where / word / "thesis.txt").touch()


def refused(done: "subprocess.CompletedProcess[str]", path: str) -> bool:
    """One line that names the path, and nothing else."""
    lines = done.stderr.splitlines()
    return (
        (done.returncode, done.stdout, len(lines)) == (2, "", 1)
        and "this path has a space or one of" in lines[0]
        and path in lines[0]
    )


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_path_of_the_checkout_is_refused_and_nothing_is_removed(
    tmp_path: Path, name: str
) -> None:
    top = copied(tmp_path / name / "checkout")
    decoys(tmp_path)
    before = names(tmp_path)
    for target in TARGETS:
        done = make(target, top=top)
        assert refused(done, str(top)), (target, done)
        assert names(tmp_path) == before, target


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("given", ["word", "environment"])
def test_a_strange_output_directory_is_refused(tmp_path: Path, name: str, given: str) -> None:
    top = copied(tmp_path / "checkout")
    decoys(tmp_path)
    out = f"{tmp_path}/{name}"
    before = names(tmp_path)
    for target in TARGETS:
        # make expands a variable that it takes from a word of its command line.
        done = (
            make(target, f"O={out}", top=top)
            if given == "word"
            else make(target, top=top, env={"O": out})
        )
        assert refused(done, out), (target, done)
        assert names(tmp_path) == before, target


def test_a_path_that_people_have_works(tmp_path: Path) -> None:
    top = copied(tmp_path / "Jürgen@home/c++_1.2-x")
    done = make("clean", top=top)
    assert (done.returncode, done.stderr) == (0, "")
    assert "build/rootfs.sqfs" in make("run", "DRY=1", top=top).stdout
    assert not (top / "build").exists()


def test_no_directory_is_refused(tmp_path: Path) -> None:
    done = make("clean", "O=", top=copied(tmp_path / "checkout"))
    assert done.returncode == 2 and "O= names no directory" in done.stderr


@pytest.mark.parametrize("out", [".", "..", "qemu", "qemu/lab", "../home"])
@pytest.mark.parametrize("target", ["clean", "mrproper", "deps", "rootfs"])
def test_a_directory_that_is_not_ours_stays_as_it_is(tmp_path: Path, out: str, target: str) -> None:
    """The checkout itself has a userland/, a home a linux/: names alone do not make it ours."""
    top = copied(tmp_path / "checkout")
    for name in ("checkout/userland/main.c", "home/linux/fork.c", "home/results/thesis.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "userland").mkdir()
    before = names(tmp_path)
    done = make(target, f"O={out}", top=top)
    assert done.returncode == 2
    assert done.stderr.startswith("lab: O=") and "not made by this lab" in done.stderr
    assert names(tmp_path) == before


@pytest.mark.parametrize("target", ["clean", "mrproper"])
def test_a_link_is_not_followed(tmp_path: Path, target: str) -> None:
    top = copied(tmp_path / "checkout")
    elsewhere = Paths(top, tmp_path / "elsewhere")
    outdir.claim(elsewhere)
    (elsewhere.userland / "init").mkdir(parents=True)
    (tmp_path / "link").symlink_to(elsewhere.out)
    before = names(tmp_path)
    done = make(target, f"O={tmp_path / 'link'}", top=top)
    assert done.returncode == 2
    assert f"a symbolic link: nothing is removed; name {elsewhere.out}" in done.stderr
    assert names(tmp_path) == before
    # Links inside go, what they name stays.
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/pool.c").touch()
    (elsewhere.out / "logs").symlink_to(tmp_path / "modules")
    (elsewhere.userland / "link").symlink_to(tmp_path / "modules")
    assert make(target, f"O={elsewhere.out}", top=top).returncode == 0
    assert not elsewhere.userland.exists() and not os.path.lexists(elsewhere.out / "logs")
    assert (tmp_path / "modules/pool.c").exists()


def generate(paths: Paths) -> None:
    """Everything that some part of the lab says it writes into $(O), as files and directories."""
    stems = [
        getattr(paths, name) for name, kind in vars(Paths).items() if isinstance(kind, property)
    ]
    ours = [path for path in stems if path.is_relative_to(paths.out)]
    ours += [paths.kernel(variant) for variant in VARIANTS]
    ours += [source.stamp_path(paths.pristine), patches.stamp_path(paths)]
    ours += [paths.out / f"{name}.part" for name in ("linux", "pristine", "rootfs")]
    ours += [paths.out / "symbol-off-base", paths.out / "symbol-off-base-tree.part"]
    ours += [paths.out / name for name in ("mypy", "ruff", "pytest", "tags", "defconfig")]
    ours += [paths.out / "linux.staging", paths.out / "compile_commands.json"]
    for path in ours:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.mkdir() if not path.suffix else path.touch()


def test_clean_keeps_sources_image_environment_and_results(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path / "out")
    outdir.claim(paths)
    generate(paths)
    outdir.clean(paths, everything=False)
    kept = {"lab", "linux", "linux.json", "linux.part", "linux.staging", "pristine"}
    kept |= {"pristine.json", "pristine.part", "rootfs.sqfs", "rootfs.part"}
    kept |= {"venv", "results", "plots", "traces"}
    assert {path.name for path in paths.out.iterdir()} == kept


def test_mrproper_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = copied(tmp_path / "checkout")
    paths = Paths(top, top / "build")
    outdir.claim(paths)
    generate(paths)
    monkeypatch.setattr("lab.guest.accel.KVM", tmp_path)
    kvm_works(paths, probe=lambda paths: False, qemu="true")
    assert (paths.out / "kvm.json").exists()
    done = make("mrproper", top=top)
    assert (done.returncode, done.stderr) == (0, "")
    assert not paths.out.exists()
    # Nothing is there to remove, and nothing is made for it.
    assert make("mrproper", top=top).returncode == 0
    assert not paths.out.exists()


def test_mrproper_leaves_what_is_not_ours_and_says_so(tmp_path: Path) -> None:
    top = copied(tmp_path / "checkout")
    paths = Paths(top, top / "build")
    outdir.claim(paths)
    generate(paths)
    (paths.out / "thesis.txt").touch()
    done = make("mrproper", top=top)
    assert done.returncode == 0
    assert done.stderr == f"lab: {paths.out}: left there, not made by the lab: thesis.txt\n"
    assert names(paths.out) == ["thesis.txt"]


def test_what_an_older_lab_made_is_ours(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path / "out")
    paths.pristine.mkdir(parents=True)
    for name in ("pristine.json", "linux.json"):
        (paths.out / name).touch()
    outdir.clean(paths, everything=True)
    assert not paths.out.exists()


@contextmanager
def unprivileged() -> Iterator[None]:
    """No longer root, if we are."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(UNPRIVILEGED)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def barred() -> Iterator[Path]:
    """A directory that can be reached, and not be written by those who are not root."""
    with tempfile.TemporaryDirectory() as name:
        where = Path(name)
        (where / "out").mkdir()
        (where / "out").chmod(0o555)
        where.chmod(0o755 if os.geteuid() == 0 else 0o555)
        yield where
        where.chmod(0o755)


def test_a_directory_of_another_user_is_one_line(barred: Path) -> None:
    for out in (barred / "out", barred / "new"):
        with unprivileged(), pytest.raises((LabError, PermissionError)) as caught:
            outdir.claim(Paths(TOP, out))
        if out.name == "out":
            assert f"O={out}: belongs to {outdir.owner(out)}, and you may not write there" in str(
                caught.value
            )
        else:
            assert isinstance(caught.value, PermissionError)


def test_launcher_is_the_lab_with_its_directory(tmp_path: Path) -> None:
    paths = Paths(TOP, tmp_path / "out")
    outdir.claim(paths)
    done = subprocess.run(
        [outdir.launcher(paths), "run", "--dry-run", "--cpus", "3", "--", "ls", "-l"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(paths.rootfs) in done.stdout and "-smp 3" in done.stdout


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("part", ["userland", "modules/napi_livelock"])
def test_makefiles_of_parts_refuse_it_too(tmp_path: Path, name: str, part: str) -> None:
    """They have a clean of their own, which people may run where it is."""
    top = copied(tmp_path / name / "checkout")
    shutil.copytree(
        TOP / part, top / part, ignore=shutil.ignore_patterns("*.c"), dirs_exist_ok=True
    )
    decoys(tmp_path)
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    # What kbuild would do to the M= that it is given.
    (kernel / "Makefile").write_text("clean %:\n\ttouch $(M)/cleaned\n")
    before = names(tmp_path)
    for words in (["clean"], ["clean", "O=/nowhere/out"]):
        done = make(*words, f"KDIR={kernel}", top=top / part)
        assert done.returncode == 2 and "this path has a space or one of" in done.stderr, done
        assert names(tmp_path) == before


def test_the_programs_of_the_guest_are_not_made_among_their_sources(tmp_path: Path) -> None:
    top = copied(tmp_path / "checkout")
    shutil.copytree(TOP / "userland", top / "userland", dirs_exist_ok=True)
    before = names(tmp_path)
    for target in ("all", "clean"):
        done = make(target, "O=..", top=top / "userland")
        assert done.returncode == 2 and "that is where the sources are" in done.stderr
        assert names(tmp_path) == before
    # What else is there stays.
    for name in ("out/userland/bin/lottery", "out/userland/init", "out/userland/thesis.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert make("clean", f"O={tmp_path / 'out'}", top=top / "userland").returncode == 0
    assert names(tmp_path / "out") == ["userland", "userland/thesis.txt"]

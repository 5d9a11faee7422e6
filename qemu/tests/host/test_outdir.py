# SPDX-License-Identifier: GPL-2.0
"""What is made is in $(O), what is removed is there too, and strange paths are refused."""

import os
import shutil
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARM64, X86_64
from lab.host import outdir
from lab.paths import VARIANTS, Paths
from lab.tree import patches, source
from tests.host.checkouts import TOP, copied, environment, make, names, ran, script

OTHER = ARM64 if os.uname().machine == X86_64.machine else X86_64
STRANGE = ("a b", "a\tb", " a", "a:b", "a'b", 'a"b', "a$b", "a;b", "a#b", "a%b", "a*b", "a\\b")


def decoys(where: Path) -> list[str]:
    """What a shell or make would take parts of a strange path for; all that is there."""
    for word in ("a", "b", "a/build", "build", "b/build"):
        script(where / word / "thesis.txt", "")
    return names(where)


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_path_is_refused_and_nothing_is_removed(tmp_path: Path, name: str) -> None:
    """The checkout's or O=, which make takes from the environment as well, and expands if not."""
    strange, plain = copied(tmp_path / name / "checkout"), copied(tmp_path / "checkout")
    before, out = decoys(tmp_path), f"{tmp_path}/{name}"
    for target in ("clean", "mrproper", "all", "test", "help", "run"):
        for path, done in (
            (str(strange), make(target, top=strange)),
            (out, make(target, f"O={out}", top=plain)),
            (out, make(target, top=plain, env={"O": out})),
        ):
            (line,) = done.stderr.splitlines()
            assert (done.returncode, done.stdout) == (2, ""), done
            assert "this path has a space or one of" in line and path in line
            assert names(tmp_path) == before, done


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("part", ["userland", "modules/napi_livelock"])
def test_makefiles_of_parts_refuse_it_too(tmp_path: Path, name: str, part: str) -> None:
    """They have a clean of their own, which people may run where it is."""
    top = copied(tmp_path / name / "checkout")
    unwanted = shutil.ignore_patterns("*.c")
    shutil.copytree(TOP / part, top / part, ignore=unwanted, dirs_exist_ok=True)
    # What kbuild would do to the M= that it is given.
    kernel = script(tmp_path / "kernel/Makefile", "clean %:\n\ttouch $(M)/cleaned\n").parent
    before = decoys(tmp_path)
    for words in (["clean"], ["clean", "O=/nowhere/out"]):
        done = make(*words, f"KDIR={kernel}", top=top / part)
        assert done.returncode == 2 and "this path has a space or one of" in done.stderr, done
        assert names(tmp_path) == before


def test_a_path_that_people_have_works(tmp_path: Path) -> None:
    top = copied(tmp_path / "Jürgen@home/c++_1.2-x")
    done = make("clean", top=top)
    assert (done.returncode, done.stderr) == (0, "")
    assert "build/rootfs.sqfs" in make("run", "DRY=1", top=top).stdout
    assert not (top / "build").exists()
    done = make("clean", "O=", top=top)
    assert done.returncode == 2 and "O= names no directory" in done.stderr


@pytest.mark.parametrize("out", [".", "..", "qemu", "qemu/lab", "../home"])
def test_a_directory_that_is_not_ours_stays_as_it_is(tmp_path: Path, out: str) -> None:
    """The checkout itself has a userland/, a home a linux/: names alone do not make it ours."""
    top = copied(tmp_path / "checkout")
    for name in ("checkout/userland/main.c", "home/linux/fork.c", "home/results/thesis.txt"):
        script(tmp_path / name, "")
    (tmp_path / "userland").mkdir()
    before = names(tmp_path)
    for target in ("clean", "mrproper", "deps", "rootfs"):
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
    assert done.returncode == 2 and "a symbolic link: nothing is removed" in done.stderr
    assert names(tmp_path) == before
    # Links inside go, what they name stays.
    script(tmp_path / "modules/pool.c", "")
    (elsewhere.out / "logs").symlink_to(tmp_path / "modules")
    (elsewhere.userland / "link").symlink_to(tmp_path / "modules")
    assert make(target, f"O={elsewhere.out}", top=top).returncode == 0
    assert not elsewhere.userland.exists() and not os.path.lexists(elsewhere.out / "logs")
    assert (tmp_path / "modules/pool.c").exists()


def generate(paths: Paths) -> None:
    """Everything that some part of the lab says it writes into $(O), as files and directories."""
    stems = (getattr(paths, name) for name in vars(Paths))
    ours = [one for one in stems if isinstance(one, Path) and one.is_relative_to(paths.out)]
    ours += [paths.kernel(variant) for variant in VARIANTS]
    ours += [source.stamp_path(paths.pristine), patches.stamp_path(paths)]
    ours += [paths.out / f"{name}.part" for name in ("linux", "pristine", "rootfs")]
    ours += [paths.out / "symbol-off-base", paths.out / "symbol-off-base-tree.part"]
    ours += [paths.out / name for name in ("mypy", "ruff", "pytest", "tags", "defconfig")]
    ours += [paths.out / name for name in ("linux.staging", "compile_commands.json", "kvm.json")]
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
    kept |= {"venv", "results", "plots", "traces", "kvm.json"}
    assert {path.name for path in paths.out.iterdir()} == kept


def test_mrproper_leaves_nothing_but_what_is_not_ours(tmp_path: Path) -> None:
    top = copied(tmp_path / "checkout")
    paths = Paths(top, top / "build")
    for left in ([], ["thesis.txt"]):
        outdir.claim(paths)
        generate(paths)
        for name in left:
            (paths.out / name).touch()
        done = make("mrproper", top=top)
        said = f"lab: {paths.out}: left there, not made by the lab: thesis.txt\n" if left else ""
        assert (done.returncode, done.stderr) == (0, said)
        assert paths.out.exists() == bool(left) and names(paths.out) == left
        # Nothing is there to remove, and nothing is made for it.
        assert left or (make("mrproper", top=top).returncode, paths.out.exists()) == (0, False)
    # What an older lab made has no launcher.
    shutil.rmtree(paths.out)
    paths.pristine.mkdir(parents=True)
    for name in ("pristine.json", "linux.json"):
        (paths.out / name).touch()
    outdir.clean(paths, everything=True)
    assert not paths.out.exists()


def test_a_directory_is_of_one_architecture(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths(TOP, paths.out)
    outdir.claim(paths)
    words = ("run", "--dry-run", "--cpus", "3", "--", "ls", "-l")
    done = ran(outdir.launcher(paths), *words, env=environment())
    assert done.returncode == 0, done.stderr
    assert str(paths.rootfs) in done.stdout and "-smp 3" in done.stdout
    outdir.claim(paths)
    monkeypatch.setattr(outdir, "ARCH", OTHER)
    with pytest.raises(LabError, match=rf"is for ARCH=\w+, this is {OTHER.name}"):
        outdir.claim(paths)


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
        script(tmp_path / name, "")
    assert make("clean", f"O={tmp_path / 'out'}", top=top / "userland").returncode == 0
    assert names(tmp_path / "out") == ["userland", "userland/thesis.txt"]

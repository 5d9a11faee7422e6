# SPDX-License-Identifier: GPL-2.0
"""Driving kbuild: what it is told, what is shown of what it says."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARCH
from lab.paths import PACKAGE, Paths
from lab.tree import kernel, patches
from tests.host.fake_kernel import FakeMake, fake_make, prepared, set_series, tarball

with_ccache = pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not here")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout that is configured for the guest."""
    paths = prepared(tmp_path)
    (kernel.build_dir(paths, "guest") / ".config").write_text("CONFIG_BASE=y\n")
    return paths


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeMake:
    """A make that builds nothing."""
    return fake_make(monkeypatch, tmp_path)


def test_reproducible_and_out_of_tree(paths: Paths, make: FakeMake) -> None:
    kernel.build(paths, "guest", [ARCH.image_target])
    argv = make.calls()[0]
    assert f"--directory={paths.linux}" in argv
    assert f"O={paths.kernel()}" in argv
    assert {"KBUILD_BUILD_USER=lab", "KBUILD_BUILD_HOST=lab", "KBUILD_BUILD_VERSION=1"} <= set(argv)
    assert any(word.startswith("KBUILD_BUILD_TIMESTAMP=20") for word in argv)


@pytest.mark.parametrize(
    ("ccache", "llvm", "expected"),
    [
        (False, False, {"CC=gcc"}),
        (True, False, {f"CC={kernel.CACHED} gcc"}),
        (False, True, {"CC=clang", "LLVM=1"}),
        (True, True, {f"CC={kernel.CACHED} clang", "LLVM=1"}),
    ],
)
def test_compiler(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, ccache: bool, llvm: bool, expected: set[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if ccache else None)
    argv = kernel.kbuild(paths, "guest", [ARCH.image_target], llvm)
    assert {word for word in argv if word.startswith(("CC=", "LLVM="))} == expected


def compile_cached(out: Path, source: str, depend: str = "CCACHE_DEPEND") -> bytes:
    """Compile out/linux/SOURCE as kbuild does, in out/kernel-guest; the object."""
    work = out / "kernel-guest"
    work.mkdir(exist_ok=True)
    words = [f"-fmacro-prefix-map={out}/linux/=", "-Wp,-MMD,x.d", "-c", "-o", "x.o"]
    subprocess.run(
        [kernel.CACHED, "gcc", *words, f"{out}/linux/{source}"],
        cwd=work,
        env={**os.environ, depend: "1", "CCACHE_DIR": str(out.parent / "cache")},
        check=True,
    )
    return (work / "x.o").read_bytes()


def cached_objects(cache: Path) -> int:
    """How many times the cache had what was asked for."""
    said = subprocess.run(
        ["ccache", "--print-stats"],
        env={**os.environ, "CCACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    fields = dict(line.split("\t") for line in said.splitlines())
    return int(fields["direct_cache_hit"])


@with_ccache
@pytest.mark.parametrize("source", ["piggy.S", "kernel/configs.c", "kernel/kheaders.c"])
def test_what_is_included_as_it_is_is_never_old(tmp_path: Path, source: str) -> None:
    """An object with other bytes by .incbin, of the same number, is another object."""
    asked = tmp_path / "out/linux" / source
    asked.parent.mkdir(parents=True)
    line = f'.incbin "{tmp_path}/image"'
    asked.write_text(f"{line}\n" if source.endswith(".S") else f"asm({json.dumps(line)});\n")
    for depend in ("CCACHE_DEPEND", "CCACHE_NODEPEND"):
        for image in (b"first image", b"other image"):
            (tmp_path / "image").write_bytes(image)
            assert image in compile_cached(tmp_path / "out", source, depend)


def test_every_source_with_incbin_is_known() -> None:
    """None of 6.12 that we build stands outside what is never cached."""
    linux = Paths.from_env().linux
    known = kernel.CACHED.read_text()
    found = 0
    for directory in ("kernel", "init", "lib", "usr", "security", "net", "block", "mm", "fs"):
        for source in (linux / directory).rglob("*.c"):
            if ".incbin" in source.read_text(errors="replace"):
                found += 1
                assert f"*/{source.relative_to(linux)}" in known
    assert found


@with_ccache
def test_another_checkout_takes_the_objects(tmp_path: Path) -> None:
    """The same source elsewhere is not compiled again, and names its file alike."""
    objects = []
    for name in ("one", "another"):
        source = tmp_path / name / "linux/kernel/fork.c"
        source.parent.mkdir(parents=True)
        source.write_text("const char *where = __FILE__;\n")
        objects.append(compile_cached(tmp_path / name, "kernel/fork.c"))
    assert cached_objects(tmp_path / "cache") == 1
    assert objects[0] == objects[1]
    assert b"\0kernel/fork.c\0" in objects[0].replace(b"\0\0", b"\0")
    assert b"../linux" not in objects[0]


def test_file_systems_are_compiled_on_demand() -> None:
    """Most have no use for them; a kernel that is installed has all."""
    fewer, all_of_it = kernel.targets("guest"), kernel.targets("guest", "files")
    assert set(fewer) < set(kernel.targets("guest", "demo"))
    assert "CONFIG_XFS_FS=" in fewer
    assert all_of_it == kernel.targets(PACKAGE) == kernel.BUILT["all"] == fewer[-2:]


def test_what_is_compiled_on_demand_is_a_module(lab_paths: Paths) -> None:
    """Without it the image would be another one; and what else is one, guests always have."""
    config = (lab_paths.configs / "guest.config").read_text()
    named = re.findall(r"^CONFIG_(\w+_FS)=m$", config, re.M)
    left_out = (*kernel.FILES, *kernel.TESTED)
    assert set(named) == {name for name in left_out if name.endswith("_FS")}


def test_our_make_variables_do_not_leak(
    paths: Paths, make: FakeMake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAKEFLAGS", "MAKELEVEL", "O", "V", "KERNEL", "CMD", "REPEAT", "GIT_DIR"):
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("LANG", "C")
    kernel.build(paths, "guest", [ARCH.image_target])
    env = make.environments()[0]
    assert "leak" not in env.values()
    assert env["LANG"] == "C"


def test_objects_are_counted_for_the_next_whole_build(
    paths: Paths, make: FakeMake, capsys: pytest.CaptureFixture[str]
) -> None:
    make.tell(says="  CC      a.o\n  AS      b.o\n  CC [M]  c.o\n  AR      x.a\n  GEN     t.h")
    kernel.build(paths, "guest", [ARCH.image_target])
    estimate = kernel.ESTIMATE["guest"]
    assert f"kernel-guest: 3/{estimate} objects" in capsys.readouterr().err
    # The total of an incremental build is not known beforehand.
    make.tell(says="  CC      a.o")
    kernel.build(paths, "guest", [ARCH.image_target])
    assert "kernel-guest: 1 objects" in capsys.readouterr().err
    (paths.kernel() / "vmlinux").unlink()
    kernel.build(paths, "guest", [ARCH.image_target])
    assert "kernel-guest: 1/3 objects" in capsys.readouterr().err


def test_diagnostics_are_shown_and_failure_is_exit_1(
    paths: Paths, make: FakeMake, capsys: pytest.CaptureFixture[str]
) -> None:
    make.tell(says="  CC      a.o\na.c:7:1: error: expected ';'\n", exit="2")
    with pytest.raises(LabError, match=r"build failed.*kernel-guest\.log") as caught:
        kernel.build(paths, "guest", [ARCH.image_target])
    assert caught.value.exit_code == 1
    shown = capsys.readouterr().err
    assert "a.c:7:1: error: expected ';'\n" in shown
    assert "CC      a.o" not in shown
    assert "  CC      a.o\n" in (paths.logs / "kernel-guest.log").read_text()


def test_verbose_shows_the_commands(
    paths: Paths, make: FakeMake, capsys: pytest.CaptureFixture[str]
) -> None:
    make.tell(says="gcc -c a.c")
    kernel.build(paths, "guest", [ARCH.image_target], verbose=True)
    assert "V=1" in make.calls()[0]
    assert "gcc -c a.c\n" in capsys.readouterr().err


def test_not_configured_says_what_to_do(paths: Paths, make: FakeMake) -> None:
    (paths.kernel() / ".config").unlink()
    with pytest.raises(LabError, match="run make defconfig first"):
        kernel.build(paths, "guest", [ARCH.image_target])
    assert make.calls() == []


def test_objects_of_another_kernel_are_thrown_away(paths: Paths, tmp_path: Path) -> None:
    old = paths.kernel() / "old.o"
    old.touch()
    set_series(paths, {})
    patches.prepare(paths, "", tmp_path)
    assert kernel.build_dir(paths, "guest") == paths.kernel()
    assert old.exists()
    patches.prepare(paths, str(tarball(tmp_path / "other", "6.12.5")))
    kernel.build_dir(paths, "guest")
    assert not old.exists()


def test_unknown_variant_is_refused(paths: Paths) -> None:
    with pytest.raises(LabError, match="kernel 'fast': allowed are guest, debug, plain"):
        paths.kernel("fast")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_build_is_stopped_and_goes_on(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    program = tmp_path / "fake-bin/make"
    whole = program.read_text()
    # It says something while it works, for much longer than it takes to be stopped.
    program.write_text("#!/bin/sh\nkill -INT $PPID\nyes '  CC      a.o' | head -n 3000000\n")
    with pytest.raises(KeyboardInterrupt):
        kernel.build(paths, "guest", [ARCH.image_target])
    program.write_text(whole)
    kernel.build(paths, "guest", [ARCH.image_target])
    assert (paths.kernel() / "vmlinux").exists()


def test_compile_commands_that_fail_are_one_line(paths: Paths) -> None:
    with pytest.raises(LabError, match=r"gen_compile_commands\.py failed"):
        kernel.compile_commands(paths, "guest")


def test_compile_commands_name_our_own_files(paths: Paths) -> None:
    script = paths.linux / "scripts/clang-tools/gen_compile_commands.py"
    script.parent.mkdir(parents=True)
    script.write_text(
        "import json, sys\n"
        "out = [word for word in sys.argv if word.startswith('--output=')][0][9:]\n"
        f"top = {str(paths.linux)!r}\n"
        "files = [top + '/kernel/fork.c', top + '/kernel/sched/lottery/pool.c']\n"
        "open(out, 'w').write(json.dumps([{'file': name} for name in files], indent=2))\n"
    )
    target = kernel.compile_commands(paths, "guest")
    names = [item["file"] for item in json.loads(target.read_text())]
    assert names == [
        str(paths.linux / "kernel/fork.c"),
        str(paths.modules / "sched_lottery/pool.c"),
    ]

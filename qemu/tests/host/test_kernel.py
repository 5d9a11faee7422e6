# SPDX-License-Identifier: GPL-2.0
"""Driving kbuild: what it is told, what is shown of what it says."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARCH, ARM64, X86_64
from lab.paths import PACKAGE, VARIANTS, Paths
from lab.tree import kernel, patches
from tests.host.checkouts import ran, script
from tests.host.fake_kernel import FakeMake, prepared, set_series, tarball

OTHER = ARM64 if os.uname().machine == X86_64.machine else X86_64
with_ccache = pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not here")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = prepared(tmp_path)
    (kernel.build_dir(paths, "guest") / ".config").write_text("CONFIG_BASE=y\n")
    return paths


def test_reproducible_and_out_of_tree(
    paths: Paths, make: FakeMake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of what make or git has in the environment, nothing gets there."""
    for name in ("MAKEFLAGS", "MAKELEVEL", "O", "V", "KERNEL", "CMD", "ARCH", "GIT_DIR"):
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("LANG", "C")
    kernel.build(paths, "guest", [ARCH.image_target], verbose=True)
    (argv,), env = make.calls(), make.environment()
    assert {f"--directory={paths.linux}", f"O={paths.kernel()}", "V=1"} <= set(argv)
    assert {"KBUILD_BUILD_USER=lab", "KBUILD_BUILD_HOST=lab", "KBUILD_BUILD_VERSION=1"} <= set(argv)
    assert any(word.startswith("KBUILD_BUILD_TIMESTAMP=20") for word in argv)
    assert "LANG=C" in env and not [line for line in env if line.endswith("=leak")]


def test_a_tool_that_it_does_not_need_leaves_it_as_it_is(paths: Paths) -> None:
    told = {name for name in (*VARIANTS, PACKAGE) if "PAHOLE=" in kernel.kbuild(paths, name, [])}
    assert told == {*VARIANTS, PACKAGE} - {"ext", PACKAGE}


@pytest.mark.parametrize("cached", [False, True])
def test_the_kernel_is_built_with_the_compiler_asked_for(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if cached else None)
    by = f"{kernel.CACHED} " if cached else ""
    assert {f"CC={by}gcc"} <= {*kernel.kbuild(paths, "guest", [])}
    assert {f"CC={by}clang", "LLVM=1"} <= {*kernel.kbuild(paths, "guest", [], llvm=True)}
    monkeypatch.setattr(kernel, "ARCH", OTHER)
    wanted = {f"ARCH={OTHER.name}", f"CROSS_COMPILE={OTHER.gnu}-", f"CC={by}{OTHER.gnu}-gcc"}
    assert wanted <= {*kernel.kbuild(paths, "guest", [])}


def compile_cached(out: Path, source: str, depend: str = "CCACHE_DEPEND") -> bytes:
    """Compile out/linux/SOURCE as kbuild does, in out/kernel-guest; the object."""
    work = out / "kernel-guest"
    work.mkdir(exist_ok=True)
    words = [f"-fmacro-prefix-map={out}/linux/=", "-Wp,-MMD,x.d", "-c", "-o", "x.o"]
    env = {**os.environ, depend: "1", "CCACHE_DIR": str(out.parent / "cache")}
    done = ran(kernel.CACHED, "gcc", *words, f"{out}/linux/{source}", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    return (work / "x.o").read_bytes()


@with_ccache
@pytest.mark.parametrize("source", ["piggy.S", "kernel/configs.c", "kernel/kheaders.c"])
def test_what_is_included_as_it_is_is_never_old(tmp_path: Path, source: str) -> None:
    """An object with other bytes by .incbin, of the same number, is another object."""
    line = f'.incbin "{tmp_path}/image"'
    text = f"{line}\n" if source.endswith(".S") else f"asm({json.dumps(line)});\n"
    script(tmp_path / "out/linux" / source, text)
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
        where = tmp_path / name / "linux/kernel/fork.c"
        script(where, "const char *where = __FILE__;\n")
        objects.append(compile_cached(tmp_path / name, "kernel/fork.c"))
    env = {**os.environ, "CCACHE_DIR": str(tmp_path / "cache")}
    assert "direct_cache_hit\t1\n" in ran("ccache", "--print-stats", env=env).stdout
    assert objects[0] == objects[1]
    assert b"\0kernel/fork.c\0" in objects[0].replace(b"\0\0", b"\0")
    assert b"../linux" not in objects[0]


def test_what_is_compiled_on_demand_is_a_module(lab_paths: Paths) -> None:
    """Without it the image would be another one; and what else is one, guests always have."""
    config = (lab_paths.configs / "guest.config").read_text()
    named = re.findall(r"^CONFIG_(\w+_FS)=m$", config, re.M)
    left_out = (*kernel.FILES, *kernel.TESTED)
    assert set(named) == {name for name in left_out if name.endswith("_FS")}


def test_diagnostics_are_shown_and_failure_is_exit_1(
    paths: Paths, make: FakeMake, capsys: pytest.CaptureFixture[str]
) -> None:
    make.tell(says="  CC      a.o\na.c:7:1: error: expected ';'\n", exit="2")
    with pytest.raises(LabError, match=r"build failed.*kernel-guest\.log") as caught:
        kernel.build(paths, "guest", [ARCH.image_target])
    assert caught.value.exit_code == 1
    shown = capsys.readouterr().err
    assert "a.c:7:1: error: expected ';'\n" in shown and "CC      a.o" not in shown
    assert "  CC      a.o\n" in (paths.logs / "kernel-guest.log").read_text()
    # Objects are counted for the next whole build.
    make.tell(says="  CC      a.o")
    kernel.build(paths, "guest", [ARCH.image_target])
    (paths.kernel() / "vmlinux").unlink()
    kernel.build(paths, "guest", [ARCH.image_target])
    assert "kernel-guest: 1/1 objects" in capsys.readouterr().err
    (paths.kernel() / ".config").unlink()
    with pytest.raises(LabError, match="run make defconfig first"):
        kernel.build(paths, "guest", [ARCH.image_target])


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


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_build_is_stopped_and_goes_on(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    program = tmp_path / "fake-bin/make"
    whole = program.read_text()
    # It works for much longer than it takes to be stopped.
    program.write_text("#!/bin/sh\nkill -INT $PPID\nyes '  CC      a.o' | head -n 3000000\n")
    with pytest.raises(KeyboardInterrupt):
        kernel.build(paths, "guest", [ARCH.image_target])
    program.write_text(whole)
    kernel.build(paths, "guest", [ARCH.image_target])
    assert (paths.kernel() / "vmlinux").exists()


def test_compile_commands_name_our_own_files(paths: Paths) -> None:
    with pytest.raises(LabError, match=r"gen_compile_commands\.py failed"):
        kernel.compile_commands(paths, "guest")
    script(
        paths.linux / "scripts/clang-tools/gen_compile_commands.py",
        "import json, sys\n"
        "out = [word for word in sys.argv if word.startswith('--output=')][0][9:]\n"
        f"top = {str(paths.linux)!r}\n"
        "files = [top + '/kernel/fork.c', top + '/kernel/sched/lottery/pool.c']\n"
        "open(out, 'w').write(json.dumps([{'file': name} for name in files], indent=2))\n",
    )
    target = kernel.compile_commands(paths, "guest")
    names = [item["file"] for item in json.loads(target.read_text())]
    assert names == [
        str(paths.linux / "kernel/fork.c"),
        str(paths.modules / "sched_lottery/pool.c"),
    ]

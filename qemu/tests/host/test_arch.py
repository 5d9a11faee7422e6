# SPDX-License-Identifier: GPL-2.0
"""A guest of another architecture than this machine's: compiler, emulator, packages, directory."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARM64, X86_64, Arch
from lab.guest import machine
from lab.guest.machine import Files, Machine
from lab.host import outdir, rootfs
from lab.paths import Paths
from lab.tree import kernel

OTHER = ARM64 if os.uname().machine == X86_64.machine else X86_64


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout and a directory of output, both empty."""
    return Paths(tmp_path / "top", tmp_path / "out")


def test_the_kernel_is_built_with_the_compiler_of_the_other(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ARCH", OTHER)
    argv = kernel.kbuild(paths, "guest", ["x"])
    assert {f"ARCH={OTHER.name}", f"CROSS_COMPILE={OTHER.gnu}-"} <= set(argv)
    assert any(word.startswith("CC=") and word.endswith(f"{OTHER.gnu}-gcc") for word in argv)


def test_make_variable_does_not_reach_the_kernels_build() -> None:
    assert "ARCH" not in kernel.environment({"ARCH": "arm64", "HOME": "/"})


@pytest.mark.parametrize("arch", [X86_64, ARM64])
def test_the_emulator_is_that_of_the_guest(
    paths: Paths, arch: Arch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "ARCH", arch)
    files = Files.under(paths.out)
    for accel, virtual in (("tcg", 0), ("icount", 1)):
        guest = Machine(accel=accel, qemu=arch.qemu)
        argv = guest.argv(paths, files)
        assert argv[argv.index("-machine") + 1] == arch.boards[virtual]
        assert argv[argv.index("-cpu") + 1] == arch.cpus[virtual]
        assert set(arch.words) <= set(guest.command_line().split())
    assert Machine(cpu="some").model == "some"


def test_a_directory_is_of_one_architecture(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    outdir.claim(paths)
    outdir.claim(paths)
    monkeypatch.setattr(outdir, "ARCH", OTHER)
    with pytest.raises(LabError, match=rf"is for ARCH=\w+, this is {OTHER.name}"):
        outdir.claim(paths)


def test_an_image_needs_a_kernel_that_starts_its_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def told(argv: Sequence[str]) -> str:
        said.append(argv[0])
        return ""

    monkeypatch.setattr(rootfs, "_output", told)
    rootfs.emulate(tmp_path)
    assert not said
    monkeypatch.setattr(rootfs, "ARCH", OTHER)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError, match=f"starts no programs of {OTHER.machine}"):
        rootfs.emulate(tmp_path)
    assert not said
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(LabError, match="update-binfmts --enable"):
        rootfs.emulate(tmp_path)
    assert said == ["mount", "update-binfmts"]
    (tmp_path / f"qemu-{OTHER.machine}").touch()
    rootfs.emulate(tmp_path)
    assert len(said) == 2


def test_libraries_are_where_debian_has_them() -> None:
    assert ARM64.library("libc.so.6") == "lib/aarch64-linux-gnu/libc.so.6"
    assert ARM64.library("ld-linux-aarch64.so.1") == ARM64.loader
    assert X86_64.library("ld-linux-x86-64.so.2") == "lib64/ld-linux-x86-64.so.2"

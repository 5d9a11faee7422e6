# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the command line: every target is there, explained, and passes things on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.__main__ import VERBS, main
from lab.paths import Paths

TOP = Paths.from_env({}).top
TARGETS = (
    *("all", "prepare", "defconfig", "menuconfig", "savedefconfig", "kernel", "modules"),
    *(
        "userland",
        "rootfs",
        "run",
        "test",
        "test-crash",
        "test-debug",
        "kunit",
        "check",
        "bench",
        "report",
    ),
    *("demo", "tags", "compile_commands.json", "install", "clean", "mrproper", "help"),
)
VARIABLES = ("KERNEL", "O", "V", "CPUS", "MEM", "ACCEL", "TESTS", "LLVM", "CMD", "EXP", "DRY")


def make(*words: str, out: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run make at the top, as from a person's shell."""
    hidden = (*VARIABLES, "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "LAB_OUT", "LAB_CMD")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    where = [f"O={out}"] if out else []
    return subprocess.run(
        ["make", *where, *words], cwd=TOP, env=env, capture_output=True, text=True, check=False
    )


def test_makefile_is_short() -> None:
    assert (TOP / "Makefile").read_text().count("\n") <= 150


def test_help_lists_every_target_and_variable(tmp_path: Path) -> None:
    text = make("help", out=tmp_path).stdout
    for target in TARGETS:
        assert re.search(rf"^  {re.escape(target)} ", text, re.M), target
    for name in VARIABLES:
        assert f"{name}=" in text, name
    assert make(out=tmp_path).stdout == text


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_rule(target: str, tmp_path: Path) -> None:
    done = make("--dry-run", target, out=tmp_path)
    assert "No rule" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_nothing_is_written_for_a_dry_run(tmp_path: Path) -> None:
    make("--dry-run", "test", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_reaches_the_guest_as_written(tmp_path: Path) -> None:
    text = make("--dry-run", "run", "CMD=echo \"$HOME\" 'x'; exit 3", out=tmp_path).stdout
    assert 'run --cmd "$LAB_CMD"' in text
    told = 'import os; print(os.environ["LAB_CMD"])'
    extra = tmp_path / "extra.mk"
    extra.write_text(f"include Makefile\nshow:\n\t@{sys.executable} -c '{told}'\n")
    shown = make("-f", str(extra), "show", "CMD=echo \"$HOME\" 'x'; exit 3", out=tmp_path).stdout
    assert shown == "echo \"$HOME\" 'x'; exit 3\n"


def test_dry_run_needs_no_build(tmp_path: Path) -> None:
    text = make("--dry-run", "run", "DRY=1", out=tmp_path).stdout
    assert "run  --dry-run" in text
    assert "lab kernel" not in text


def test_out_and_options_are_passed_on(tmp_path: Path) -> None:
    text = make("--dry-run", "kernel", "LLVM=1", "V=1", "KERNEL=/k s", out=tmp_path).stdout
    assert "prepare --source '/k s'" in text
    assert "config --llvm" in text
    assert "kernel --llvm --verbose" in text
    assert re.search(r"lab deps .* kernel llvm$", text, re.M)
    assert f"-C userland O={tmp_path}" in make("--dry-run", "userland", out=tmp_path).stdout


def test_tests_are_selected_by_name(tmp_path: Path) -> None:
    text = make("--dry-run", "test", "TESTS=pool or draw", out=tmp_path).stdout
    assert "-k 'pool or draw' qemu/tests" in text


def test_debug_tests_are_short_and_only_the_guests(tmp_path: Path) -> None:
    text = make("--dry-run", "test-debug", out=tmp_path).stdout
    assert re.search(r"LAB_KERNEL=debug LAB_SHORT=1 .* qemu/tests/guest$", text, re.M)
    assert "kernel --kernel debug" in text


def test_the_kernel_to_compare_with_is_built_only_for_a_full_bench_of_the_io(
    tmp_path: Path,
) -> None:
    built = "kernel --kernel plain"
    assert built in make("--dry-run", "bench", "EXP=wrais", out=tmp_path).stdout
    for words in (
        ("bench", "EXP=wrais", "QUICK=1"),
        ("bench",),
        ("bench", "EXP=lottery"),
        ("test",),
    ):
        assert built not in make("--dry-run", *words, out=tmp_path).stdout, words


def test_mrproper_leaves_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "linux").mkdir()
    (tmp_path / "thesis.txt").touch()
    assert make("mrproper", out=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_ci_runs_the_three_in_order() -> None:
    lines = (TOP / ".ci/run").read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    assert "set -eu" in lines
    assert [line for line in lines if line.startswith("make ")] == [
        "make test",
        "make check",
        "make test-debug",
    ]
    assert os.access(TOP / ".ci/run", os.X_OK)


def test_every_verb_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as caught:
            main([verb, "--help"])
        assert caught.value.code == 0
        assert f"lab {verb}" in capsys.readouterr().out


def test_set_up_verbs_need_only_python_itself() -> None:
    """They run before the environment exists: with no third-party package in reach."""
    code = (
        "import sys; from lab.__main__ import parse\n"
        "for verb in ('deps', 'prepare', 'config', 'kernel', 'rootfs'): parse([verb])\n"
        "third = {'pytest', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'{third}' if third else 0)"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TOP / "qemu")}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_errors_are_one_line_and_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_OUT", str(tmp_path))
    assert main(["prepare", "--source", "/no/such/kernel"]) == 2
    shown = capsys.readouterr().err
    assert shown == "lab: KERNEL=/no/such/kernel: no such directory or tarball\n"


def test_bad_usage_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["dance"], ["kernel", "vmlinuz"]):
        with pytest.raises(SystemExit) as caught:
            main(argv)
        assert caught.value.code == 2
        assert "lab" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the command line: every target is there, explained, and passes things on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.__main__ import VERBS, main
from lab.tree.check import MAX_MAKEFILE_LINES
from tests.host.checkouts import TOP, copied, environment, make, names

TARGETS = (
    *("all", "deps", "prepare", "defconfig", "menuconfig", "savedefconfig", "kernel"),
    *("kernel-debug", "modules", "userland", "rootfs", "install", "run", "bench", "report", "demo"),
    *("compare", "trace", "lava-job", "kcidb"),
    *("deb", "patches-export", "htmldocs", "test-packages"),
    *(
        "test",
        "test-fast",
        "test-long",
        "ci-last",
        "test-crash",
        "test-debug",
        "test-mutants",
        "test-matrix",
        "test-torture",
    ),
    *("kunit", "check", "check-series"),
    *("tags", "compile_commands.json", "clean", "mrproper"),
)
VARIABLES = (
    *("O", "V", "KERNEL", "CONFIG", "LLVM", "CPUS", "MEM", "PORTS", "ACCEL", "DIR"),
    *("SHARE", "DISK", "NET", "GDB"),
    *("REPO", "ORIGIN"),
    *("HOST", "TIER", "CHECKS", "PART"),
    *("A", "B", "CMD", "DRY", "EXP", "QUICK", "REPEAT", "BUDGET", "TESTS", "MUTANTS", "MATRIX"),
)


def dry(*words: str) -> str:
    """The commands of a target, for an output directory that does not exist."""
    done = make("--dry-run", *words, "O=/nowhere/out")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_makefile_is_short() -> None:
    assert (TOP / "Makefile").read_text().count("\n") <= MAX_MAKEFILE_LINES


def test_help_lists_every_target_and_variable() -> None:
    text = make("help").stdout
    for target in TARGETS:
        assert re.search(rf"^  (.* )?{re.escape(target)}[ ,]", text, re.M), target
    for name in VARIABLES:
        assert f"{name}=" in text, name
    assert make().stdout == text


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_rule(target: str) -> None:
    assert dry(target)


def test_nothing_is_written_for_a_dry_run(tmp_path: Path) -> None:
    top = copied(tmp_path / "checkout")
    before = names(tmp_path)
    assert make("run", "DRY=1", top=top).returncode == 0
    assert make("--dry-run", "rootfs", top=top).returncode == 0
    assert names(tmp_path) == before


@pytest.mark.parametrize("variable", ["KERNEL", "TESTS", "EXP", "REPEAT", "CMD"])
def test_values_arrive_as_a_person_wrote_them(variable: str, tmp_path: Path) -> None:
    """Through make and the shell: quotes, dollars, spaces, commas."""
    target = {"KERNEL": "prepare", "TESTS": "test", "CMD": "run"}
    value = 'it\'s "$HOME" $(date), `x`; a b'
    top = copied(tmp_path / "checkout")
    (top / "userland/Makefile").write_text("all:;\n")
    told = tmp_path / "told"
    # Everything that make starts is this, which notes its words, and says that all is well.
    program = tmp_path / "bin/python3"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\nwith open({str(told)!r}, 'a') as out:\n"
        "    print(*sys.argv[1:], os.environ.get('LAB_CMD'), sep='|', file=out)\n"
    )
    program.chmod(0o755)
    (top / "build/venv/bin").mkdir(parents=True)
    (top / "build/venv/bin/python").symlink_to(program)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = make(target.get(variable, "bench"), f"{variable}={value}", top=top, env=path)
    assert done.returncode == 0, done.stderr
    last = told.read_text().splitlines()[-1].split("|")
    assert (f"({value})" if variable == "TESTS" else value) in last


def test_several_mutants_are_several_words() -> None:
    assert dry("test-mutants", "MUTANTS=lottery lab/ktap").endswith(
        "mutants 'lottery' 'lab/ktap'\n"
    )
    assert dry("test-mutants").endswith("mutants \n")


def test_several_configurations_are_several_words() -> None:
    """And nothing is built before their names have been looked at."""
    text = dry("test-matrix", "MATRIX=up it's", "LLVM=1", "TESTS=pool or draw")
    assert text.endswith("matrix --llvm  -k '(pool or draw)' 'up' 'it'\\''s'\n")
    assert "lab kernel" not in text and "lab config" not in text
    assert re.search(r"lab deps +matrix$", text, re.M)
    assert dry("test-matrix").rstrip().endswith("-m lab matrix")


def test_the_long_torture_has_its_kernel_and_is_not_shortened() -> None:
    text = dry("test-torture")
    assert re.search(
        r"^LAB_KERNEL=torture +LAB_TIER=gate \S+/python -m pytest .* qemu/tests/guest$", text, re.M
    )
    assert "config unchanged --kernel torture" in text
    assert "kernel --kernel torture" in text and "--kernel guest" not in text


def test_dry_run_needs_no_build() -> None:
    text = dry("run", "DRY=1")
    assert "lab run  --dry-run" in text
    assert "lab kernel" not in text


def test_options_are_passed_on() -> None:
    text = dry("kernel", "LLVM=1", "V=1")
    assert "config --kernel guest --llvm" in text
    assert "kernel  --llvm --verbose" in text
    assert re.search(r"lab deps .* kernel llvm$|lab deps +kernel llvm$", text, re.M)
    assert "bench  --quick --repeat '2'" in dry("bench", "QUICK=1", "REPEAT=2")
    assert "-C userland O=/nowhere/out" in dry("userland")


@pytest.mark.parametrize(
    ("target", "selected"),
    [
        ("test", "'(pool or draw)'"),
        ("test-debug", "'(pool or draw)'"),
        ("kunit", "'kunit and (pool or draw)'"),
        ("test-crash", "'crash and (pool or draw)'"),
    ],
)
def test_tests_are_selected_by_name(target: str, selected: str) -> None:
    assert f" -k {selected} qemu/tests" in dry(target, "TESTS=pool or draw")
    assert "pool" not in dry(target)


def test_debug_tests_are_short_and_only_the_guests() -> None:
    text = dry("test-debug")
    assert re.search(r"LAB_KERNEL=debug LAB_SHORT=1 .* qemu/tests/guest$", text, re.M)
    assert "kernel --kernel debug" in text
    assert "config unchanged --kernel debug" in text


@pytest.mark.parametrize("target", ["test", "test-crash", "kunit", "demo", "bench", "test-mutants"])
def test_a_configuration_by_hand_is_only_run(target: str) -> None:
    """It is refused before anything is built; run takes it."""
    text = dry(target)
    assert text.index("config unchanged --kernel guest") < text.index("lab kernel")
    assert "unchanged" not in dry("run") and "unchanged" not in dry("kernel")


def test_the_kernel_to_compare_with_is_built_only_for_a_full_bench_of_the_io() -> None:
    built = "kernel --kernel plain"
    assert built in dry("bench", "EXP=wrais") and built in dry("bench")
    for words in (("EXP=wrais", "QUICK=1"), ("QUICK=1",), ("EXP=lottery",)):
        assert built not in dry("bench", *words), words
    assert built not in dry("test")


def test_ci_runs_neither_the_matrix_nor_the_long_torture() -> None:
    """They take too long for every change."""
    text = (TOP / ".ci/run").read_text()
    assert "make test-debug" in text
    assert "matrix" not in text and "torture" not in text


STAGES = ("test-fast", "test", "test-debug", "check")


def gate(tmp_path: Path, failing: str = "none", **more: str) -> subprocess.CompletedProcess[str]:
    """Run .ci/run of a copy. A make that knows which target is to fail stands in for all work."""
    top = copied(tmp_path / "checkout")
    (top / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", top / ".ci/run")
    program = tmp_path / "make"
    program.write_text(f'#!/bin/sh\necho "$@"\npwd >&2\n[ "$1" != {failing} ]\n')
    program.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LAB_LEDGER": str(tmp_path / "ledger")}
    return subprocess.run(
        ["bash", top / ".ci/run"],
        cwd=tmp_path,
        env={**environment(), **path, **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("failing", ["none", *STAGES])
def test_ci_fails_when_any_of_its_parts_does(tmp_path: Path, failing: str) -> None:
    done = gate(tmp_path, failing)
    assert done.returncode == (0 if failing == "none" else 1)
    said = [line.split()[1].rstrip(":,") for line in done.stdout.splitlines() if "ci: " in line]
    last = STAGES.index(failing) if failing in STAGES else len(STAGES)
    wanted = [*STAGES[: last + 1], *(["green"] if failing == "none" else [])]
    assert said == wanted
    assert not (tmp_path / "checkout/build").exists()
    (run,) = (tmp_path / "ledger").iterdir()
    assert (run / "ci.txt").read_text().count("ok, 0 min") == last
    assert {file.name for file in run.glob("ci-*.log")} == {
        f"ci-{s}.log" for s in wanted[: last + 1] if s != "green"
    }


def test_ci_ends_itself(tmp_path: Path) -> None:
    done = gate(tmp_path, CI_MINUTES="0")
    assert done.returncode == 1
    assert "ci: ended at 0 minutes, before test-fast\n" in done.stdout


def test_every_verb_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as caught:
            main([verb, "--help"])
        assert caught.value.code == 0
        assert f"lab {verb}" in capsys.readouterr().out


def test_set_up_verbs_need_only_python_itself() -> None:
    """They run before the environment exists: with no third-party package in reach."""
    code = (
        "import sys; from lab.__main__ import SET_UP, parse\n"
        "for verb in ('deps', 'prepare', 'config', 'kernel', 'rootfs'): parse([verb])\n"
        "third = {'pytest', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'{third}' if third else 0)"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TOP / "qemu")}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_bad_usage_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["dance"], ["kernel", "vmlinuz"]):
        with pytest.raises(SystemExit) as caught:
            main(argv)
        assert caught.value.code == 2
        assert "lab" in capsys.readouterr().err

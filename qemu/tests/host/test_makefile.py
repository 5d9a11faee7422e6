# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the command line: every target is there, explained, and passes things on."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.__main__ import VERBS, main
from lab.tree import kernel
from tests.host.checkouts import TOP, copied, environment, make, ran, script

# What the Makefile reads, but for make's own; and what passes it, for the lab.
READ = re.compile(r"\((?:value |call option,\w+,)?([A-Z]+)\)")
VARIABLES = {*READ.findall((TOP / "Makefile").read_text()), *kernel.HIDDEN}
MAKES_OWN = re.compile(r"CURDIR|MFLAGS|MAKE\w*")
# Only other targets need them.
INTERNAL = re.compile(r"help|python3|beside|(config|unchanged)(-\w+)?")
DATABASE = make("--print-data-base", "--question", "help", "O=/nowhere/out").stdout
TARGETS = re.findall(r"^\.PHONY: (.+)$", DATABASE, re.M)[0].split()


def dry(*words: str) -> str:
    done = make("--dry-run", *words, "O=/nowhere/out")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_every_target_and_variable() -> None:
    text = make("help").stdout
    first = re.findall(r"^  (\S+(?:,? \S+)*)(?:  |$)", text, re.M)
    listed = {word for words in first for word in re.split(r",? ", words)}
    assert len(TARGETS) > 40
    for target in TARGETS:
        short = target.removeprefix("kernel")
        assert {target, short} & listed or INTERNAL.fullmatch(target), target
        assert dry(target)
    for name in VARIABLES:
        assert f"{name}=" in text or MAKES_OWN.fullmatch(name), name
    assert make().stdout == text


@pytest.mark.parametrize("variable", ["KERNEL", "TESTS", "EXP", "REPEAT", "CMD"])
def test_values_arrive_as_a_person_wrote_them(variable: str, tmp_path: Path) -> None:
    """Through make and the shell: quotes, dollars, spaces, commas."""
    target = {"KERNEL": "prepare", "TESTS": "test", "CMD": "run"}
    value = 'it\'s "$HOME" $(date), `x`; a b'
    top = copied(tmp_path / "checkout")
    (top / "userland/Makefile").write_text("all:;\n")
    told = tmp_path / "told"
    # Everything that make starts is this, which notes its words, and says that all is well.
    text = (
        f"#!{sys.executable}\nimport os, sys\nwith open({str(told)!r}, 'a') as out:\n"
        "    print(*sys.argv[1:], os.environ.get('LAB_CMD'), sep='|', file=out)\n"
    )
    program = script(tmp_path / "bin/python3", text)
    (top / "build/venv/bin").mkdir(parents=True)
    (top / "build/venv/bin/python").symlink_to(program)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = make(target.get(variable, "bench"), f"{variable}={value}", top=top, env=path)
    assert done.returncode == 0, done.stderr
    last = told.read_text().splitlines()[-1].split("|")
    assert (f"({value})" if variable == "TESTS" else value) in last


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ("test-mutants|MUTANTS=lottery it's", "mutants 'lottery' 'it'\\''s'"),
        ("test-matrix|MATRIX=up it's|LLVM=1", "matrix --llvm  -k '(pool)' 'up' 'it'\\''s'"),
        ("test", "LAB_KERNEL=guest | -k '(pool)' qemu/tests/guest"),
        ("test-crash", "LAB_KERNEL=guest LAB_CRASH| -k 'crash and (pool)' qemu/tests/guest"),
        ("kunit", "LAB_KERNEL=guest | -k 'kunit and (pool)' qemu/tests/guest"),
        ("test-debug", "LAB_KERNEL=debug LAB_SHORT=1 | -k '(pool)' qemu/tests/guest"),
        ("test-torture", "LAB_KERNEL=torture  LAB_TIER=| -k '(pool)' qemu/tests/guest"),
        ("kernel|LLVM=1|V=1", "python3 -m lab kernel  --llvm --verbose"),
        ("bench|QUICK=1|REPEAT=2", "bench  --quick --repeat '2'"),
        ("run|DRY=1", "lab run  --dry-run"),
    ],
)
def test_words_are_passed_on(words: str, called: str) -> None:
    """And nothing is built before those of the matrix have been looked at, or for a dry run."""
    text = dry(*words.split("|"), "TESTS=pool")
    assert all(part in text.splitlines()[-1] for part in called.split("|"))
    assert ("lab kernel" in text) != words.startswith(("test-matrix", "run"))
    other = re.match("test-(debug|torture)", words)
    assert not other or f"config unchanged --kernel {other[1]}\n" in text.replace(" \n", "\n")


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


STAGES = ("test-fast", "test", "test-debug", "check")


def gate(
    tmp_path: Path, failing: str = "none", how: str = "false", **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run .ci/run of a copy. A make that knows which target is to fail stands in for all work."""
    top = copied(tmp_path / "checkout")
    (top / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", top / ".ci/run")
    script(tmp_path / "make", f'#!/bin/sh\necho "$@"\npwd >&2\n[ "$1" != {failing} ] || {how}\n')
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LAB_LEDGER": str(tmp_path / "ledger")}
    return ran("bash", top / ".ci/run", cwd=tmp_path, env={**environment(), **path, **more})


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


def test_ci_keeps_nothing_of_the_run_before(tmp_path: Path) -> None:
    logs = tmp_path / "out/logs"
    logs.mkdir(parents=True)
    for name, age_s in (("junit-test.xml", 60), ("junit-test-fast.xml", -60)):
        (logs / name).touch()
        os.utime(logs / name, (time.time() - age_s,) * 2)
    gate(tmp_path, LAB_OUT=str(tmp_path / "out"))
    (run,) = (tmp_path / "ledger").iterdir()
    assert [file.name for file in run.glob("junit-*")] == ["junit-test-fast.xml"]


@pytest.mark.parametrize(("minutes", "where"), [("0", "before"), ("1", "in")])
def test_ci_ends_itself(tmp_path: Path, minutes: str, where: str) -> None:
    """At 57 seconds: bash counts on from those of its environment."""
    done = gate(tmp_path, "test-fast", "sleep 60", CI_MINUTES=minutes, SECONDS="57")
    assert done.returncode == 1
    assert f"ci: ended at {minutes} minutes, {where} test-fast\n" in done.stdout


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
    done = ran(sys.executable, "-S", "-c", code, env=env)
    assert done.returncode == 0, done.stderr


def test_bad_usage_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["dance"], ["kernel", "vmlinuz"]):
        with pytest.raises(SystemExit) as caught:
            main(argv)
        assert caught.value.code == 2
        assert "lab" in capsys.readouterr().err

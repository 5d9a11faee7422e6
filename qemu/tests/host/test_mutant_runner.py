# SPDX-License-Identifier: GPL-2.0
"""Mutants are planted in private, and the right verdict comes out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import LabError, mutants
from lab.__main__ import main
from lab.host.overlay import overlay, refusal
from lab.mutants import Kind, Mutant, Verdict
from lab.paths import Paths
from tests.host.checkouts import script
from tests.host.fake_kernel import snapshot

WHY_NOT = refusal()
needs_mounts = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

TESTS = """
import os
from pathlib import Path
import pytest
from lab import LabError
TOP, OUT = Path(__file__).parents[2], Path(os.environ["LAB_OUT"])
FOLDERS = {"value": TOP, "other": TOP, "program": OUT, "image": OUT, "module": OUT}
@pytest.mark.parametrize("name", FOLDERS)
def test_file(name):
    assert (FOLDERS[name] / name).read_text() == "1\\n"
def test_left_out():
    pytest.skip("no such machine")
def test_short():
    assert "LAB_SHORT" not in os.environ
def test_tier():
    assert os.environ["LAB_TIER"] == "long"
@pytest.fixture
def broken():
    test_file("value")
def test_broken(broken):
    pass
def test_lab():
    if (TOP / "value").read_text() != "1\\n":
        raise LabError("no such emulator")
def test_hurt():
    assert 0
"""
LAB = """
import os, shutil, sys
name, source = {"kernel": ("image", "linux/source")}.get(sys.argv[-1], ("module", ""))
source = os.path.join(os.environ["LAB_OUT"], source) if source else "modules/source"
shutil.copyfile(source, os.path.join(os.environ["LAB_OUT"], name))
"""
FILES = {
    **dict.fromkeys(("top/value", "top/other", "top/modules/source", "top/userland/source"), "1\n"),
    **dict.fromkeys(("out/linux/source", "out/program", "out/image", "out/module"), "1\n"),
    "top/userland/Makefile": "all:\n\t@! grep -q 3 source\n\t@cp source $(O)/program\n",
    "top/qemu/pyproject.toml": "[tool.pytest.ini_options]\n",
    "top/qemu/lab/__init__.py": "class LabError(Exception):\n    pass\n",
    "top/qemu/lab/__main__.py": LAB,
    "top/qemu/tests/test_fake.py": TESTS,
}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout whose kernel, modules and programs are a digit each."""
    for name, text in FILES.items():
        script(tmp_path / name, text)
    return Paths(tmp_path / "top", tmp_path / "out")


def fault(**other: object) -> dict[str, object]:
    """A table: the value is 2. What is None in `other` is not there."""
    usual = {"what": "It is 2.", "caught_by": "value", "file": "value"}
    table = {**usual, "before": "1", "after": "2", **other}
    return {key: value for key, value in table.items() if value is not None}


def planted(table: dict[str, object]) -> Mutant:
    return Mutant.parse("s/m", table)


def test_a_table_says_everything(paths: Paths) -> None:
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in fault(short=True).items())
    file = script(paths.qemu / "tests/mutants/s.toml", f"[m]\n{text}\n")
    (mutant,) = mutants.load(paths)
    assert mutant == planted(fault(short=True)) and mutant.short and not mutant.often
    assert (mutant.name, mutant.changes) == ("s/m", (("1", "2"),))
    assert planted(fault(file="linux/value")).path(paths) == paths.linux / "value"
    # The longest folder that fits says what is built again.
    for name, kind in (("modules/a.c", "kernel"), ("modules/napi_livelock/rx.c", "module")):
        assert planted(fault(file=name)).kind == kind
        assert planted(fault(file=name, kind="lab")).kind == Kind.LAB
    file.write_text("prose\n")
    with pytest.raises(LabError, match=r"s\.toml: "):
        mutants.load(paths)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (fault(why="It is 2."), "'why': allowed are what, caught_by"),
        (fault(what=None), "no 'what'"),
        (fault(caught_by=""), "no 'caught_by'"),
        (fault(before=""), "no 'before'"),
        (fault(after=None), "no 'after'"),
        (fault(kind="mind"), "kind 'mind': allowed are kernel, module, program, lab"),
        (fault(short=False), "'short' is true or not there"),
    ],
)
def test_a_table_with_a_fault_is_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(LabError) as caught:
        planted(table)
    assert words in str(caught.value)


@needs_mounts
@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        (fault(), Verdict.CAUGHT, "value"),
        (fault(caught_by="other"), Verdict.MISSED, "its tests passed"),
        (fault(file="linux/source", caught_by="image"), Verdict.CAUGHT, "image"),
        (fault(file="modules/source", kind="module", caught_by="module"), Verdict.CAUGHT, "module"),
        (fault(file="userland/source", caught_by="program"), Verdict.CAUGHT, "program"),
        # Not built again: only the tests of what is read as it is can see it.
        (fault(file="userland/source", kind="lab", caught_by="program"), Verdict.MISSED, ""),
        (fault(caught_by="test_short", short=True), Verdict.CAUGHT, "short"),
        (fault(caught_by="test_short"), Verdict.MISSED, ""),
        (fault(before="5"), Verdict.ERROR, "does not fit"),
        (fault(file="absent"), Verdict.ERROR, "does not fit"),
        (fault(also=[{"before": "2", "after": "3"}]), Verdict.CAUGHT, "value"),
        (fault(also=[{"before": "1", "after": "3"}]), Verdict.ERROR, "does not fit"),
        (fault(file="userland/source", after="3"), Verdict.ERROR, "does not build"),
        (fault(caught_by="test_nothing"), Verdict.ERROR, "selects no test"),
        (fault(caught_by="test_left_out"), Verdict.ERROR, "all skipped"),
        (fault(caught_by="test_broken"), Verdict.ERROR, "failed on setup"),
        (fault(caught_by="test_lab"), Verdict.ERROR, "no such emulator"),
        (fault(caught_by="and"), Verdict.ERROR, "pytest: exit 4"),
    ],
)
def test_verdicts(paths: Paths, table: dict[str, object], verdict: Verdict, words: str) -> None:
    """And the checkout and $(O) are as before, but for the log."""
    mutant = planted(table)
    before = snapshot(paths.top) | snapshot(paths.linux)
    result = mutants.try_mutant(paths, mutant)
    assert (result.name, result.kind, result.verdict) == ("s/m", mutant.kind, verdict)
    assert words in ", ".join(result.by) + result.reason
    assert result.by or verdict is not Verdict.CAUGHT
    assert snapshot(paths.top) | snapshot(paths.linux) == before
    assert all((paths.out / name).read_text() == "1\n" for name in ("program", "image", "module"))
    assert (paths.logs / "mutants/s-m.log").read_text().startswith("$ ")


@needs_mounts
def test_tests_that_fail_anyway_prove_nothing(paths: Paths) -> None:
    good = planted(fault())
    mutants.verify(paths, [good])
    bad = planted(fault(caught_by="test_hurt", short=True))
    with pytest.raises(LabError, match="without a mutant, too: test_hurt: assert 0"):
        mutants.verify(paths, [good, bad])


@needs_mounts
@pytest.mark.parametrize(("words", "status"), [((), 1), (("--tier", "gate"), 0)])
def test_a_tier_that_is_named_is_that_of_its_tests(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], status: int
) -> None:
    monkeypatch.setattr(Paths, "from_env", lambda: paths)
    monkeypatch.setattr(mutants, "load", lambda _: [planted(fault(caught_by="test_tier"))])
    assert main(["mutants", "--trust", *words]) == status


@needs_mounts
def test_a_run_that_hangs_is_ended(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import signal\ndef test_slow():\n    signal.pause()\n"
    script(paths.qemu / "tests/test_slow.py", text)
    monkeypatch.setattr(mutants, "TEST_S", 3)
    result = mutants.try_mutant(paths, planted(fault(caught_by="test_slow")))
    assert (result.verdict, result.reason) == (Verdict.ERROR, "no end within 3 s")


@needs_mounts
def test_links_out_of_the_output_directory_are_refused(paths: Paths, tmp_path: Path) -> None:
    mutant = planted(fault())
    paths.linux.rename(tmp_path / "shared")
    paths.linux.symlink_to(tmp_path / "shared")
    with pytest.raises(LabError, match="a mutant would be written there"):
        mutants.try_mutant(paths, mutant)


@needs_mounts
@pytest.mark.parametrize("when", ["running", "starting"])
def test_an_overlay_that_is_ended_leaves_nothing(tmp_path: Path, when: str) -> None:
    """Neither its scratch directory nor the command that runs in it, or has just begun to."""
    place, fifo, starting = tmp_path / "place", tmp_path / "fifo", tmp_path / "starting"
    place.mkdir()
    os.mkfifo(fifo)
    text = (
        "import os, subprocess, sys, time; from pathlib import Path\n"
        "from lab.host.overlay import overlay\n"
        "place, fifo, starting = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])\n"
        "class Slow(subprocess.Popen):\n"
        "    def __init__(self, *words, **more):\n"
        "        super().__init__(*words, **more)\n"
        "        while starting.exists(): time.sleep(0.01)\n"
        "subprocess.Popen = Slow\n"
        "with overlay([place]) as view:\n"
        "    said = f'echo $$ {view.scratch} >{fifo}; exec sleep 600'\n"
        "    view.run(['sh', '-c', said], place, place / 'log', dict(os.environ), 600)\n"
    )
    if when == "starting":
        starting.touch()
    argv = [sys.executable, "-c", text, str(place), str(fifo), str(starting)]
    child = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    pid, scratch = fifo.read_text().split()
    assert Path(scratch).exists()
    child.terminate()
    starting.unlink(missing_ok=True)
    child.wait(60)
    assert not Path(scratch).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_scratch_below_what_it_covers_and_no_mounts_are_refused(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(paths.out))
    before = sorted(paths.out.iterdir())
    with pytest.raises(LabError, match="TMPDIR must not be below"), overlay([paths.out]):
        pass
    assert sorted(paths.out.iterdir()) == before
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "No such file" in refusal()
    with pytest.raises(LabError, match="mutants need private mounts: "):
        mutants.try_mutant(paths, planted(fault()))


def test_mutants_are_chosen_by_name_and_folder(paths: Paths) -> None:
    first = planted(fault())
    other = Mutant("t/n", "It is 2.", Kind.LAB, "test_value", first.file, first.changes)
    known = [first, other]
    assert mutants.choose(known, []) == known
    assert mutants.choose(known, ["s"]) == [first]
    assert mutants.choose(known, ["*/n", "t/n"]) == [other]
    with pytest.raises(LabError, match="mutant 'u'"):
        mutants.choose(known, ["s", "u"])


def test_the_report_counts(capsys: pytest.CaptureFixture[str]) -> None:
    caught = mutants.Result("s/m", Kind.LAB, Verdict.CAUGHT, ("test_value",), "assert", 1, 2)
    missed = mutants.Result("s/longer", Kind.KERNEL, Verdict.MISSED, (), "its tests passed", 60, 4)
    assert mutants.report([caught]) == 0 and mutants.report([caught, missed]) == 1
    assert capsys.readouterr().out.endswith("1 of 2 mutants caught\n")

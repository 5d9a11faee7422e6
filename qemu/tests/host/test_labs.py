# SPDX-License-Identifier: GPL-2.0
"""What other people's test labs take, held against their own schemas; and what comes back."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import kcidb_io  # type: ignore[import-untyped]
import pytest

from lab import LabError, matrix
from lab.__main__ import main
from lab.guest.ktap import Case, Status
from lab.host.deps import LAVA
from lab.host.program import Done, run
from lab.labs import kcidb, lava
from lab.matrix import Result
from lab.paths import MATRIX, Paths
from lab.registry import names
from lab.report import provenance
from tests.documents import TOP
from tests.host.checkouts import ran, script

CHECK = """
import sys, yaml
from lava_common.schemas import validate
validate(yaml.safe_load(sys.stdin), strict=True)
"""


def of_lava(job: str) -> Done:
    return run("/usr/bin/python3", "-c", CHECK, stdin=job)


@pytest.mark.skipif(not Path(LAVA).exists(), reason=f"{LAVA} is missing: make deps installs it")
@pytest.mark.parametrize("quick", [False, True])
def test_lava_takes_the_job(quick: bool) -> None:
    for name in names():
        job = lava.job(name, quick, "https://example.org/who-waits.git")
        done = of_lava(job)
        assert done.status == 0, done.said
        assert f"make bench EXP={name}{' QUICK=1' if quick else ''}\n" in job
    # and the schema looks at it
    assert of_lava(job.replace("method: docker", "method: dreams")).status


def test_lava_has_a_case_for_each_goal(tmp_path: Path) -> None:
    paths = Paths(TOP, tmp_path)
    with pytest.raises(LabError, match="no results of wrais: make bench EXP=wrais"):
        list(lava.results(paths, "wrais"))
    goals = [("a / b, 1r", True), ("a / b; 1r", False), ("only reported", None)]
    paths.results.mkdir()
    (paths.results / "wrais.json").write_text("[]")
    told = [{"name": name, "bound": "", "measured": "", "met": met} for name, met in goals]
    (paths.results / "wrais-goals.json").write_text(json.dumps(told))
    assert list(lava.results(paths, "wrais")) == [
        "lava-test-case a-b-1r --result pass",
        "lava-test-case a-b-1r-2 --result fail",
        "lava-test-case only-reported --result skip",
    ]


def test_lava_needs_to_know_where_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lava", "--exp", "wrais"]) == 2
    assert "REPO '': the address of a repository" in capsys.readouterr().err
    assert main(["lava", "--exp", "wrais", "--repository", "https://x y"]) == 2


KTAP = """\
KTAP version 1
1..3
ok 1 alone
  KTAP version 1
  1..2
  ok 1 sub.one
  not ok 2 two
not ok 2 group
ok 3 third # SKIP not here
# lab: done
"""


def test_kcidb_takes_the_report(tmp_path: Path) -> None:
    paths = Paths(TOP, tmp_path)
    with pytest.raises(LabError, match="no results of suites: make test"):
        kcidb.report(paths, "local")
    folder = paths.logs / "guest" / "some-suite"
    folder.mkdir(parents=True)
    (folder / "result.ktap").write_text(KTAP)
    found = kcidb.report(paths, "local")
    kcidb_io.schema.LATEST.validate(found)
    assert {test["path"]: test["status"] for test in found["tests"]} == {
        "who_waits.some-suite.alone": "PASS",
        "who_waits.some-suite.group.sub_one": "PASS",
        "who_waits.some-suite.group.two": "FAIL",
        "who_waits.some-suite.third": "SKIP",
    }
    (build,), (checkout,) = found["builds"], found["checkouts"]
    assert build["checkout_id"] == checkout["id"]
    assert checkout.get("git_commit_hash", "unknown") == provenance.commit(TOP)[0]
    with pytest.raises(LabError, match="origin 'My Lab'"):
        kcidb.report(paths, "My Lab")


def test_kcidb_hears_of_what_never_ended() -> None:
    lost = Case(1, "lost", Status.CRASH, "no result", (Case(1, "begun", Status.OK),))
    found = {path: case.status for path, case in kcidb.cases((), lost)}
    assert found == {("lost",): Status.CRASH, ("lost", "begun"): Status.OK}
    assert kcidb.STATUS[Status.CRASH] == kcidb.STATUS[Status.TIMEOUT] == "ERROR"


def kept(top: Path, results: Iterable[Result]) -> list[Path]:
    folders = []
    for result in results:
        file = top / result.name / matrix.RESULTS
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps([asdict(result)]))
        folders.append(top / result.name)
    return folders


def test_runs_on_a_cluster_are_merged(tmp_path: Path) -> None:
    whole = [Result(name, tests=7, skipped=("a: b",)) for name in MATRIX]
    assert matrix.merge(kept(tmp_path, reversed(whole))) == whole


def test_what_did_not_run_has_not_passed(tmp_path: Path) -> None:
    folders = kept(tmp_path, map(Result, MATRIX))
    for some, told in (
        (folders[1:], f"no results of {MATRIX[0]}$"),
        ([*folders, folders[1]], f"{MATRIX[1]} is there twice"),
        ([*folders, tmp_path / "none"], r"none/results/matrix\.json: no results of the matrix"),
    ):
        with pytest.raises(LabError, match=told):
            matrix.merge(some)
    (folders[0] / matrix.RESULTS).write_text('[{"name": "rt"}]')
    with pytest.raises(LabError, match="no results of the matrix"):
        matrix.merge(folders)


SCRIPT = "qemu/lab/labs/matrix.sbatch"


def batch(top: Path, *argv: str, **more: str) -> str:
    """What the array's script says with a make that says what it is asked for."""
    script(top / "make", '#!/bin/sh\necho "$@"\n')
    return ran("bash", SCRIPT, *argv, cwd=TOP, env={"PATH": f"{top}:/usr/bin:/bin", **more}).stdout


def test_a_task_of_the_array_has_one_of_them(tmp_path: Path) -> None:
    assert f"#SBATCH --array=0-{len(MATRIX) - 1}\n" in (TOP / SCRIPT).read_text()
    for task, name in ((0, MATRIX[0]), (len(MATRIX) - 1, MATRIX[-1])):
        said = batch(tmp_path, "/shared", SLURM_ARRAY_TASK_ID=str(task))
        assert said == f"test-matrix MATRIX={name} O=/shared/{name}\n"
    kept(tmp_path / "shared", map(Result, MATRIX))
    said = batch(tmp_path, str(tmp_path / "shared"), SLURM_ARRAY_TASK_ID="0", MERGE="1")
    assert f"{len(MATRIX)} of {len(MATRIX)} configurations passed" in said

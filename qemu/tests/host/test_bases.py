# SPDX-License-Identifier: GPL-2.0
"""The kernels that the series is carried on: which are offered, and what does not fit one."""

import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main
from lab.paths import Paths
from lab.tree import bases, misfits
from lab.tree.bases import Release, offered
from lab.tree.patches import Misfit, Patch, apply
from tests.host.fake_kernel import checkout, patch, tarball, tree

MADISON = """\
 linux-source-6.12 | 6.12.117-1~deb12u1 | http://mirror bookworm-security/main amd64 Packages
 linux-source-6.12 | 6.12.99-2~deb12u1 | http://mirror bookworm-security/main amd64 Packages
 linux-source-6.12 | 6.12.99-1 | http://mirror trixie/main amd64 Packages
"""
CORE = "kernel/sched/core.c"
FIRST = patch()
LATER = patch(old=("line 9", "line 10", "line 11"), new=("line 9", "line ten", "line 11"), at=9)
# The kernel has line 14 in its place.
OTHER = patch(old=("line 13", "line 14a", "line 15"), new=("line 13", "x", "line 15"), at=13)
GONE = patch().replace(CORE, "kernel/sched/gone.c")


def parsed(*texts: str) -> list[Patch]:
    """A series of these."""
    return [Patch.parse(f"{number}.patch", text) for number, text in enumerate(texts, 1)]


def test_each_kernel_once_the_oldest_first() -> None:
    assert offered(MADISON) == [
        Release("6.12.99-2~deb12u1", "6.12.99"),
        Release("6.12.117-1~deb12u1", "6.12.117"),
    ]
    assert offered("N: Unable to locate package\n") == []


def test_a_hunk_that_fails_does_not_keep_the_others_out(tmp_path: Path) -> None:
    both = FIRST.replace("-- \n", OTHER[OTHER.index("@@ -13") :])
    top = tree(tmp_path / "linux")
    assert apply(parsed(both)[0], top) == [Misfit(CORE, 2, 13)]
    assert (top / CORE).read_text() != (tree(tmp_path / "as it was") / CORE).read_text()


def test_what_does_not_fit_stands_beside_what_is_there(tmp_path: Path) -> None:
    top = tree(tmp_path / "linux")
    found = list(misfits.find(parsed(FIRST, OTHER, LATER, GONE), top))
    assert [(one.patch, one.misfit.hunk) for one in found] == [("2.patch", 1), ("4.patch", 0)]
    assert found[0].difference == ("  line 13", "- line 14a", "+ line 14", "  line 15")
    assert list(found[1].lines()) == ["4.patch: kernel/sched/gone.c: no such file"]


def test_lines_that_have_moved_are_found_where_they_are_now() -> None:
    text = [f"line {number}" for number in range(1, 100)]
    assert misfits.likest(["line 70", "other", "line 72"], text, 3) == text[69:72]
    # Of two that are alike it is the nearer one.
    assert misfits.likest(["a"], ["a", "b", "a"], 3) == ["a"]
    assert misfits.likest(["a", "b"], [], 1) == []


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_says_what_does_not_fit_a_tree(
    tmp_path: Path,
    packed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = checkout(tmp_path, {"1.patch": FIRST, "2.patch": OTHER})
    monkeypatch.setattr(Paths, "from_env", classmethod(lambda cls: paths))
    make = tarball if packed else tree
    kernel = make(tmp_path / "linux", "7.2.13")
    assert main(["bases", str(kernel)]) == 1
    said = capsys.readouterr().out
    assert "7.2.13: 1 of 2 patches apply" in said
    assert "2.patch: kernel/sched/core.c: hunk 1 (line 13)" in said
    assert main(["bases", str(tmp_path / "no")]) == 2
    # A series of its own takes from the other one what fits.
    own = paths.patches / "7.2"
    own.mkdir()
    (own / "2.patch").write_text(LATER)
    (own / "series").write_text("1.patch\n7.2/2.patch\n")
    assert main(["bases", str(kernel)]) == 0
    assert "7.2.13: 2 of 2 patches apply" in capsys.readouterr().out
    (own / "series").write_text("7.2/3.patch\n")
    assert main(["bases", str(kernel)]) == 2
    assert "patches/7.2/series: 7.2/3.patch: no such patch" in capsys.readouterr().err


def test_what_is_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "song").write_text("la la\n")
    subprocess.run(["tar", "-cf", tmp_path / "song.tar", "-C", tmp_path, "song"], check=True)
    for other in (tmp_path / "song.tar", tmp_path):
        with pytest.raises(LabError, match="not a kernel source"):
            bases.fit(tmp_path / "patches", other, tmp_path)

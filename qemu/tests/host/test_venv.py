# SPDX-License-Identifier: GPL-2.0
"""The Python environment: whole, or one line that says why not."""

import sys
from pathlib import Path

import pytest

from lab import LabError
from lab.host import venv
from lab.paths import Paths

NO_NETWORK = "WARNING: Retrying\nERROR: No matching distribution found for ruff\nsee above"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A checkout with a lock, and a Python whose environments have a pip that FAILS tells."""
    paths = Paths(tmp_path / "top", tmp_path / "out")
    paths.qemu.mkdir(parents=True)
    (paths.qemu / "requirements.lock").write_text("ruff==1 --hash=sha256:0\n")
    (paths.venv / "bin").mkdir(parents=True)
    (paths.venv / "bin/left-over").touch()
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        'if [ "$2" = venv ]; then [ "$3" = --clear ] && rm -rf "$4" && mkdir -p "$4/bin" &&\n'
        '\tcp "$0" "$4/bin/python"; exit; fi\n'
        '[ "$2 $3" = "pip install" ] || exit 3\n'
        '[ -z "$FAILS" ] || { echo "$FAILS"; exit 1; }\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return paths


def test_made_anew_and_stamped_last(paths: Paths) -> None:
    venv.make(paths)
    assert (paths.venv / "lock").read_text() == (paths.qemu / "requirements.lock").read_text()
    assert not (paths.venv / "bin/left-over").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [(NO_NETWORK, "ERROR: No matching distribution found for ruff"), ("dead\n", "dead")],
)
def test_no_network_is_one_line_and_tried_again(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    monkeypatch.setenv("FAILS", text)
    with pytest.raises(LabError) as caught:
        venv.make(paths)
    assert str(caught.value) == (
        f"no Python environment: {why}; all of it: {paths.logs / 'venv.log'}"
    )
    assert caught.value.exit_code == 1
    # Without the lock in it, make takes it for out of date.
    assert not (paths.venv / "lock").exists()
    monkeypatch.delenv("FAILS")
    venv.make(paths)
    assert (paths.venv / "lock").exists()

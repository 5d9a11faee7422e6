# SPDX-License-Identifier: GPL-2.0
"""Debian packages, as far as it takes no build: what goes in, and that it fits the programs."""

import re
import subprocess
from pathlib import Path

import pytest

from lab import LabError, deb
from lab.paths import Paths

OURS = Paths.from_env()
COMPLETIONS = OURS.top / "userland/completions"
PROGRAMS = sorted(file.name for file in COMPLETIONS.iterdir())
EXAMPLES = OURS.top / "userland/debian/examples"


def test_the_source_package_has_what_both_are_made_of(tmp_path: Path) -> None:
    deb.source_package(OURS, tmp_path)
    for name in ("debian/control", "userland/Makefile", "modules/napi_livelock/dkms.conf"):
        assert (tmp_path / name).is_file()
    assert list((tmp_path / "Documentation/man").glob("*.1"))
    assert not (tmp_path / "userland/debian").exists()
    left = [path.suffix for path in tmp_path.glob("**/*")]
    assert not {".o", ".ko", ".cmd", ".pyc"} & set(left)


def test_one_package_of_each_kind(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path / "out")
    paths.packages.mkdir(parents=True)
    with pytest.raises(LabError, match=r"who-waits-for-whom_\*\.deb: 0 packages instead of 1"):
        deb.found(paths, deb.TOOLS_DEBS)
    for name in ("who-waits-for-whom_1.0_amd64.deb", "napi-livelock-dkms_1.0_all.deb"):
        (paths.packages / name).touch()
    assert len(deb.found(paths, deb.TOOLS_DEBS)) == 2
    (paths.packages / "who-waits-for-whom_1.1_amd64.deb").touch()
    with pytest.raises(LabError, match="2 packages instead of 1"):
        deb.found(paths, deb.TOOLS_DEBS)


def test_versions_agree() -> None:
    """dkms finds the driver's source by its version, which is the package's."""
    rules = (OURS.top / "userland/debian/rules").read_text()
    conf = (OURS.modules / "napi_livelock/dkms.conf").read_text()
    changelog = (OURS.top / "userland/debian/changelog").read_text()
    version = re.search(r'PACKAGE_VERSION="(.*)"', conf)
    assert version and f"usr/src/napi_livelock-{version[1]}\n" in rules
    assert changelog.startswith(f"who-waits-for-whom ({version[1]}) ")


@pytest.mark.parametrize("name", PROGRAMS)
def test_completion_knows_options_and_words_of_the_program(name: str) -> None:
    """A word that the program does not have would be offered, or its value be misread."""
    file = COMPLETIONS / name
    done = subprocess.run(["bash", "-n", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([OURS.bin / name, "--help"], capture_output=True, text=True, check=True)
    text = file.read_text()
    code = "\n".join(line for line in text.splitlines() if not re.search(r"compgen -[cG]", line))
    options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?= *(?:\||\)))", code))
    words = {
        word.rstrip(":")
        for offered in re.findall(r"compgen -W (?:\\\n\s*)?'([\w :-]+)'", text)
        for word in offered.split()
        if not word.isdigit()
    }
    assert options and words
    # The mechanisms and relations are named in the text, too.
    missing = {word for word in options | words if not re.search(rf"(?<!\w){word}\b", said.stdout)}
    assert not missing


def test_units_start_programs_that_are_installed() -> None:
    units = [*EXAMPLES.glob("*.service"), *(OURS.top / "userland/debian").glob("*.service")]
    assert len(units) == 2
    for unit in units:
        commands = re.findall(r"^Exec\w+=/usr/bin/(\S+)", unit.read_text(), re.M)
        assert commands and all((OURS.bin / name).is_file() for name in commands), unit

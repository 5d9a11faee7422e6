# SPDX-License-Identifier: GPL-2.0
"""Debian packages, as far as it takes no build: what goes in, and that it fits the programs."""

import re
from pathlib import Path

import pytest

from lab import LabError, deb
from lab.paths import Paths
from tests.host.checkouts import ran

OURS = Paths.from_env()
EXAMPLES = OURS.top / "userland/debian/examples"


def test_the_source_package_has_what_both_are_made_of(tmp_path: Path) -> None:
    deb.source_package(OURS, tmp_path)
    for name in ("debian/control", "userland/Makefile", "modules/napi_livelock/dkms.conf"):
        assert (tmp_path / name).is_file()
    assert list((tmp_path / "Documentation/man").glob("*.1"))
    assert not (tmp_path / "userland/debian").exists()
    left = [path.suffix for path in tmp_path.glob("**/*")]
    assert not {".o", ".ko", ".cmd", ".pyc"} & set(left)


def test_one_package_of_each_kind(paths: Paths) -> None:
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


# What bash-completion does for the script; cur and prev are the last two of the words.
COMPLETE = """
_init_completion() {
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${words[-1]} prev=${words[-2]}
}
_filedir() { COMPREPLY+=("files$1"); }
_pids() { COMPREPLY+=(pids); }
_known_hosts_real() { COMPREPLY+=(hosts); }
. "$1" && shift && complete -p "${1##*/}" >&2
PATH= COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_who_waits_for_whom "$1"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wrais sta", "stat stalls"),
        ("wrais -v sta", ""),
        ("wrais on di", "dirty"),
        ("wrais on --", "--help --version"),
        ("wrais -n ", "0 1 2 3 4 5 6 7"),
        ("wrais -g ", "files-d"),
        ("wrais stalls --s", "--seconds"),
        ("wrais stalls -t ", ""),
        ("wrais-run --class i", "idle"),
        ("lottery-bench s", "share scale server"),
        ("lottery-bench share --case s", "steady sleepwake"),
        ("lottery top -s ", "tickets got"),
        ("lottery top --trace ", "files"),
        ("lottery lend --to ", "pids"),
        ("ipclat -m b", "baselines"),
        ("ipclat --policy r", "rr:"),
        ("ipclat --cpus s", "same-core sibling"),
        ("ipclat --si", ""),
        ("udprate --shape p", "poisson peaks"),
        ("udprate -t ", ""),
        ("udprate ", "hosts"),
        ("rxmode l", "lo"),
        ("rxmode lo l", "limit low"),
        ("rxmode lo mode n", "napi"),
        ("rxmode lo limit ", ""),
    ],
)
def test_completion_offers(tmp_path: Path, line: str, offered: str) -> None:
    program, *words = line.split(" ")
    script = tmp_path / program
    script.symlink_to(OURS.top / "userland/completion")
    done = ran("bash", "-c", COMPLETE, "bash", script, OURS.bin / program, *words)
    assert done.stdout.split() == offered.split(), done.stderr


def test_units_start_programs_that_are_installed() -> None:
    units = [*EXAMPLES.glob("*.service"), *(OURS.top / "userland/debian").glob("*.service")]
    assert len(units) == 2
    for unit in units:
        commands = re.findall(r"^Exec\w+=/usr/bin/(\S+)", unit.read_text(), re.M)
        assert commands and all((OURS.bin / name).is_file() for name in commands), unit

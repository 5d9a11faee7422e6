# SPDX-License-Identifier: GPL-2.0
"""What is looked for on a machine, and what is said or done about it; the Python environment."""

import shutil
import sys
from pathlib import Path

import pytest

from lab import LabError
from lab.host import deps, program, venv
from lab.paths import Paths
from tests.host.checkouts import make, ran, script


def test_what_is_looked_for_is_in_the_package() -> None:
    """With the package there, the probe finds it: otherwise installing it would not help."""
    if not shutil.which("dpkg-query"):
        pytest.skip("no dpkg-query")
    for purpose, needs in deps.PURPOSES.items():
        for need in needs:
            done = ran("dpkg-query", "-W", "-f", "${db:Status-Status}", need.debian)
            if done.stdout == "installed":
                assert not need.missing(), (purpose, need.name, need.debian)


def test_commands_headers_and_libraries_are_looked_for_not_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bin/bc", "include/arch/gelf.h", "lib/libzmq.a", "src/linux-source-6.12.tar.xz"):
        script(tmp_path / name, "")
    monkeypatch.setattr(program, "SBIN", ())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(deps, "HEADERS", (f"{tmp_path}/include", f"{tmp_path}/include/*"))
    monkeypatch.setattr(deps, "LIBRARIES", (f"{tmp_path}/lib",))
    monkeypatch.setattr(deps, "DEBIAN_DIR", tmp_path / "src")
    assert deps.have_command("bc") and not deps.have_command("gcc")
    assert deps.have_header("gelf.h") and not deps.have_header("stdio.h")
    assert deps.have_library("libzmq.a") and not deps.have_library("libc.a")
    assert deps.have_source(deps.DEBIAN_GLOB)
    assert deps.have_module("json") and not deps.have_module("jsn")
    # A command that a person without root does not have in PATH.
    monkeypatch.setattr(program, "SBIN", (str(tmp_path / "bin"),))
    monkeypatch.setenv("PATH", "/nowhere")
    assert deps.have_command("bc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', deps.DEBIAN),
        ("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n", deps.UBUNTU),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', deps.UBUNTU),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', deps.FEDORA),
        ("ID=arch\n", None),
    ],
)
def test_distribution(tmp_path: Path, text: str, expected: deps.System | None) -> None:
    file = tmp_path / "os-release"
    assert deps.system(file) is None
    file.write_text(text)
    assert deps.system(file) is expected


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What a machine of unknown distribution lacks, all if empty; what apt-get installs."""
    names: set[str] = set()
    monkeypatch.setattr(deps.Need, "missing", lambda need: not names or need.name in names)
    monkeypatch.setattr(deps, "install", lambda packages, log: log.write_text(" ".join(packages)))
    monkeypatch.setattr(deps, "system", lambda: None)
    return names


@pytest.mark.parametrize(
    ("where", "purpose", "root", "words"),
    [
        (deps.DEBIAN, "kernle", True, "'kernle': allowed are kernel, "),
        (deps.DEBIAN, "peers", False, "with: sudo apt-get install --no-install-recommends crun "),
        (deps.UBUNTU, "kernel", True, "; Ubuntu has no Linux 6.12: give KERNEL="),
        (deps.FEDORA, "menuconfig", True, " elfutils-libelf-devel "),
        (deps.FEDORA, "userland", True, "; Fedora has no package with libsqlite3.a "),
        (deps.FEDORA, "emulator", False, "install them with: sudo dnf install btrfs-progs "),
        (None, "peers", True, "missing: crun iperf3 ip (in Debian: crun iperf3 iproute2)"),
    ],
)
@pytest.mark.usefixtures("lacking")
def test_what_is_missing_is_one_line(
    tmp_path: Path, where: deps.System | None, purpose: str, root: bool, words: str
) -> None:
    with pytest.raises(LabError) as caught:
        deps.ensure([purpose], False, tmp_path / "log", root=root, where=where)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    assert words in str(caught.value)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("names", "purpose", "own", "installed"),
    [
        ("crun ip", "peers", False, "crun iproute2"),
        (f"bc {deps.DEBIAN_GLOB}", "kernel", True, "bc"),
        # It comes with what is missing, and is no reason to stop.
        ("bc ccache", "kernel", False, "bc ccache"),
        ("bc ccache", "all", False, "bc ccache"),
        ("ccache", "kernel", False, ""),
        ("clang", "all", False, ""),
    ],
)
def test_root_installs(
    tmp_path: Path,
    lacking: set[str],
    capsys: pytest.CaptureFixture[str],
    names: str,
    purpose: str,
    own: bool,
    installed: str,
) -> None:
    lacking |= {*names.split()}
    log = tmp_path / "log"
    where = deps.UBUNTU if own else deps.DEBIAN if installed else None
    deps.ensure([purpose], own, log, root=bool(installed), where=where)
    assert (log.read_text() if log.exists() else "") == installed
    said = f"lab: installing missing packages: {installed}\n" if installed else ""
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("target", ["all", "run", "test", "test-debug", "kunit", "demo", "bench"])
def test_one_round_names_all_that_a_target_needs(target: str) -> None:
    """Without root, a person installs by hand: once."""
    lines = make("--dry-run", target, "O=/nowhere/out").stdout.splitlines()
    rounds = [set(line.split()[4:]) for line in lines if line.startswith("python3 -m lab deps")]
    assert rounds and all(later <= rounds[0] for later in rounds), rounds


@pytest.mark.parametrize(
    ("said", "why"),
    [("E: Unable to fetch", "E: Unable to fetch"), ("nothing useful", "exit code 100")],
)
def test_failing_apt_is_one_line_with_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, why: str
) -> None:
    """What an interrupted dpkg has left comes first: apt-get would refuse to go on."""
    text = f'#!/bin/sh\necho "$0 $1" >>{tmp_path}/calls; echo "{said}"; exit 100\n'
    for name in ("dpkg", "apt-get"):
        script(tmp_path / name, text)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    log = tmp_path / "logs/apt.log"
    with pytest.raises(LabError) as caught:
        deps.install(["bc"], log)
    assert str(caught.value) == f"apt-get install failed: {why}; all of it: {log}"
    assert caught.value.exit_code == 1
    words = [line.rpartition("/")[2] for line in (tmp_path / "calls").read_text().splitlines()]
    assert words == ["dpkg --configure", "apt-get update", "apt-get install"]


PIP = """#!/bin/sh
if [ "$2" = venv ]; then
	[ "$3" = --clear ] && rm -rf "$4" && mkdir -p "$4/bin" && cp "$0" "$4/bin/python"
	exit
fi
[ "$2 $3" = "pip install" ] || exit 3
[ -z "$FAILS" ] || { echo "$FAILS"; exit 1; }
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [("WARNING: Retrying\nERROR: No matching\nsee", "ERROR: No matching"), ("dead\n", "dead")],
)
def test_an_environment_is_whole_or_one_line_says_why_not(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    """Without the lock in it, make takes it for out of date."""
    script(paths.qemu / "requirements.lock", "ruff==1 --hash=sha256:0\n")
    script(paths.venv / "bin/left-over", "")
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "python", PIP)))
    monkeypatch.setenv("FAILS", text)
    with pytest.raises(LabError, match=f"no Python environment: {why}; all of it: ") as caught:
        venv.make(paths)
    assert caught.value.exit_code == 1
    assert not (paths.venv / "lock").exists()
    monkeypatch.delenv("FAILS")
    venv.make(paths)
    assert (paths.venv / "lock").read_text() == (paths.qemu / "requirements.lock").read_text()
    assert not (paths.venv / "bin/left-over").exists()

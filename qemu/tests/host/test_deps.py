# SPDX-License-Identifier: GPL-2.0
"""What is looked for on a machine, and what is said or done about what is missing."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from lab import LabError
from lab.host import deps

BOOKWORM = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_CODENAME=bookworm\n'
TRIXIE = "ID=debian\nVERSION_CODENAME=trixie\n"
NOBLE = "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n"
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\n'
FEDORA = "ID=fedora\n"
ROCKY = 'ID="rocky"\nID_LIKE="rhel centos fedora"\n'
ARCH = "ID=arch\n"


def names(needs: Iterable[deps.Need]) -> set[str]:
    """What is looked for."""
    return {need.name for need in needs}


def test_purposes_add_up() -> None:
    found = names(deps.needed(["emulator", "peers"], own_source=False))
    mkfs = {"mke2fs", "mkfs.btrfs", "mkfs.f2fs", "mkfs.xfs"}
    assert found == mkfs | {"qemu-system-x86_64", "crun", "iperf3", "ip"}


def test_own_source_needs_no_debian_source() -> None:
    assert deps.DEBIAN_GLOB in names(deps.needed(["kernel"], own_source=False))
    assert deps.DEBIAN_GLOB not in names(deps.needed(["kernel"], own_source=True))


def test_all_is_everything_but_the_other_compiler() -> None:
    found = names(deps.needed(["all"], own_source=False))
    assert {"gcc", "iperf3", "sparse", "ctags", "ncurses.h"} <= found
    assert "clang" not in found


def test_unknown_purpose_is_named_with_what_is_allowed() -> None:
    with pytest.raises(LabError, match="'kernle': allowed are kernel, ") as caught:
        deps.needed(["kernle"], own_source=False)
    assert caught.value.exit_code == 2


def test_what_is_looked_for_is_in_the_package() -> None:
    """With the package there, the probe says so: else a person could install for ever."""
    if not shutil.which("dpkg-query"):
        pytest.skip("no dpkg-query")
    for purpose, needs in deps.PURPOSES.items():
        for need in needs:
            argv = ["dpkg-query", "-W", "-f", "${db:Status-Status}", need.debian]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            if done.stdout == "installed":
                assert not need.missing(), (purpose, need.name, need.debian)


def test_commands_headers_and_libraries_are_looked_for_not_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bin/bc", "include/arch/gelf.h", "lib/libzmq.a", "src/linux-source-6.12.tar.xz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(deps, "SBIN", ())
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
    monkeypatch.setattr(deps, "SBIN", (str(tmp_path / "bin"),))
    monkeypatch.setenv("PATH", "/nowhere")
    assert deps.have_command("bc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BOOKWORM, deps.DEBIAN),
        (TRIXIE, deps.DEBIAN),
        (NOBLE, deps.UBUNTU),
        (MINT, deps.UBUNTU),
        (FEDORA, deps.FEDORA),
        (ROCKY, deps.FEDORA),
        (ARCH, None),
    ],
)
def test_distribution(tmp_path: Path, text: str, expected: deps.System | None) -> None:
    file = tmp_path / "os-release"
    file.write_text(text)
    assert deps.system(file) is expected
    assert deps.system(tmp_path / "gone") is None


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A machine without anything; returns what apt-get is told to install."""
    installed: list[list[str]] = []
    monkeypatch.setattr(deps.Need, "missing", lambda need: True)
    monkeypatch.setattr(deps, "install", lambda packages, log: installed.append(packages))
    return installed


def said(where: deps.System | None, *purposes: str, own: bool = False, root: bool = False) -> str:
    """What ensure refuses with on a bare machine: one line, exit code 2."""
    with pytest.raises(LabError) as caught:
        deps.ensure(purposes, own, Path("/nowhere/log"), root=root, where=where)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_root_one_line_with_the_command(bare: list[list[str]]) -> None:
    assert said(deps.DEBIAN, "emulator", "peers") == (
        "packages are missing, install them with: sudo apt-get install --no-install-recommends "
        "btrfs-progs crun e2fsprogs f2fs-tools iperf3 iproute2 qemu-system-x86 xfsprogs"
    )
    assert bare == []


@pytest.mark.parametrize(
    "target", ["all", "run", "test", "test-debug", "test-mutants", "kunit", "demo", "bench"]
)
def test_one_round_names_all_that_a_target_needs(target: str) -> None:
    """Who is not root installs by hand: once."""
    from tests.host.checkouts import make

    lines = make("--dry-run", target, "O=/nowhere/out").stdout.splitlines()
    rounds = [set(line.split()[4:]) for line in lines if line.startswith("python3 -m lab deps")]
    assert rounds and all(later <= rounds[0] for later in rounds), rounds


def test_as_root_says_which_first_then_installs(
    bare: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deps.ensure(["emulator"], False, tmp_path / "log", root=True, where=deps.DEBIAN)
    shown = capsys.readouterr().err
    packages = ["btrfs-progs", "e2fsprogs", "f2fs-tools", "qemu-system-x86", "xfsprogs"]
    assert f"installing missing packages: {' '.join(packages)}\n" in shown
    assert bare == [packages]


def test_ubuntu_has_the_packages_but_not_the_kernel(bare: list[list[str]]) -> None:
    assert said(deps.UBUNTU, "kernel", root=True).endswith(
        "xz-utils; Ubuntu has no Linux 6.12: give KERNEL=<its directory or tarball>"
    )
    assert bare == []
    deps.ensure(["kernel"], True, Path("/nowhere/log"), root=True, where=deps.UBUNTU)
    assert {"gcc", "libelf-dev", "ccache"} <= set(bare[0])
    assert deps.SOURCE.debian not in bare[0]


def test_fedora_is_told_its_own_names(bare: list[list[str]]) -> None:
    text = said(deps.FEDORA, "kernel", "userland", own=True, root=True)
    assert "install them with: dnf install bc bison ccache" not in text
    assert "elfutils-libelf-devel" in text and "libelf-dev " not in text
    without = "libfuse3.a libsqlite3.a libzmq.a"
    assert text.endswith(f"; Fedora has no package with {without}: install from source")
    packages = "btrfs-progs e2fsprogs f2fs-tools qemu-system-x86 xfsprogs"
    assert f"sudo dnf install {packages}" in said(deps.FEDORA, "emulator")
    assert bare == []


def test_elsewhere_the_things_themselves_are_named(
    bare: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deps, "system", lambda: None)
    assert said(None, "emulator") == (
        "missing: mke2fs mkfs.btrfs mkfs.f2fs mkfs.xfs qemu-system-x86_64 "
        "(in Debian: btrfs-progs e2fsprogs f2fs-tools qemu-system-x86 xfsprogs)"
    )


def test_what_is_there_is_used_on_any_distribution(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(deps.Need, "missing", lambda need: False)
    monkeypatch.setattr(deps, "system", lambda: pytest.fail("asked although nothing is missing"))
    deps.ensure(["all"], False, tmp_path / "log", root=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("purpose", ["kernel", "all"])
def test_ccache_comes_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, bare: list[list[str]], tmp_path: Path, purpose: str
) -> None:
    monkeypatch.setattr(deps.Need, "missing", lambda need: need.name in ("bc", "ccache"))
    deps.ensure([purpose], False, tmp_path / "log", root=True, where=deps.DEBIAN)
    assert bare == [["bc", "ccache"]]


def test_ccache_is_no_reason_to_stop(
    monkeypatch: pytest.MonkeyPatch, bare: list[list[str]], tmp_path: Path
) -> None:
    monkeypatch.setattr(deps.Need, "missing", lambda need: need.name == "ccache")
    deps.ensure(["kernel"], False, tmp_path / "log", root=False, where=deps.DEBIAN)
    assert bare == []


@pytest.mark.parametrize(
    ("complaint", "why"),
    [
        ("E: Unable to fetch some archives", "E: Unable to fetch some archives"),
        ("nothing useful", "exit code 100"),
    ],
)
def test_failing_apt_is_one_line_with_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complaint: str, why: str
) -> None:
    """No network: apt-get update goes on with a warning or fails, install says why it fails."""
    calls: list[Sequence[str]] = []

    def run(argv: Sequence[str], **options: object) -> "subprocess.CompletedProcess[str]":
        calls.append(argv)
        out = options["stdout"]
        print(complaint, file=out, flush=True)  # type: ignore[call-overload]
        return subprocess.CompletedProcess(argv, 100)

    monkeypatch.setattr("subprocess.run", run)
    log = tmp_path / "logs" / "apt.log"
    with pytest.raises(LabError) as caught:
        deps.install(["bc"], log)
    assert str(caught.value) == f"apt-get install failed: {why}; all of it: {log}"
    assert caught.value.exit_code == 1
    # What an interrupted dpkg has left comes first: apt-get would refuse to go on.
    assert [argv[1] for argv in calls] == ["--configure", "update", "install"]

# SPDX-License-Identifier: GPL-2.0
"""The root image: where it comes from, when it is made anew, and what happens if it fails."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARM64, X86_64
from lab.host import rootfs
from lab.paths import Paths
from tests.host.checkouts import ran, script

OTHER = ARM64 if os.uname().machine == X86_64.machine else X86_64
TARGETS = """\
Packages|bookworm|bookworm|main|/etc/apt/sources.list.d/debian.sources:1
Translations|bookworm|bookworm|main|/etc/apt/sources.list.d/debian.sources:1
Packages|bookworm|bookworm|contrib|/etc/apt/contrib.list:1
Packages|bookworm-security|bookworm-security|main|/etc/apt/sources.list:3
Packages|bookworm-security|bookworm-security|main|/etc/apt/sources.list:4
Packages|bookworm|$(CODENAME)|stable|/etc/apt/sources.list.d/vendor.list:1
Packages|trixie|trixie|main|/etc/apt/sources.list.d/next.list:1
"""

CONFIG = """\
Acquire::Changelogs::URI::Origin::Debian "somewhere";
Acquire::http "";
Acquire::http::Proxy "proxy:3142";
Acquire::Retries "3";
Dir::Etc "etc/apt";
"""


def test_release(tmp_path: Path) -> None:
    file = tmp_path / "os-release"
    assert rootfs.release(file) == ""
    for text, name in (
        ('ID=debian\nVERSION_CODENAME="bookworm"\n', "bookworm"),
        *((other, "") for other in ("ID=ubuntu\nVERSION_CODENAME=noble\n", "ID=debian\n", "")),
    ):
        file.write_text(text)
        assert rootfs.release(file) == name


def test_sources_and_proxy_are_those_of_the_hosts_apt() -> None:
    assert rootfs.sources("bookworm", lambda argv: TARGETS) == [
        Path("/etc/apt/sources.list.d/debian.sources"),
        Path("/etc/apt/sources.list"),
    ]
    with pytest.raises(LabError, match="apt has no source of Debian sid main"):
        rootfs.sources("sid", lambda argv: TARGETS)
    assert rootfs.acquire_options(lambda argv: CONFIG) == [
        '--aptopt=Acquire::http::Proxy "proxy:3142"',
        '--aptopt=Acquire::Retries "3"',
    ]


MMDEBSTRAP = """#!/bin/sh
echo "$@" >>$CALLS
echo I: extracting >&2
printf 'the root'
[ -z "$FAIL" ] || { echo E: no such package >&2; exit 1; }
"""


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """An output directory, on a machine whose mmdebstrap and tar2sqfs are ours."""
    script(tmp_path / "bin/mmdebstrap", MMDEBSTRAP)
    script(tmp_path / "bin/tar2sqfs", '#!/bin/sh\nfor last; do :; done\nexec cat >"$last"\n')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(rootfs, "release", lambda: "bookworm")
    monkeypatch.setattr(rootfs, "sources", lambda suite: [Path("/etc/apt/sources.list")])
    monkeypatch.setattr(rootfs, "acquire_options", lambda: [])
    return Paths(tmp_path / "top", tmp_path / "out")


def calls(paths: Paths) -> list[str]:
    return (paths.out.parent / "calls").read_text().splitlines()


def test_made_once(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our programs are not part of it; the list of packages is."""
    rootfs.make(paths)
    assert paths.rootfs.read_text() == "the root"
    script(paths.bin / "lottery", "")
    rootfs.make(paths)
    (call,) = calls(paths)
    assert call.endswith("bookworm - /etc/apt/sources.list")
    monkeypatch.setattr(rootfs, "OPTIONS", (*rootfs.OPTIONS, "--include=more"))
    rootfs.make(paths)
    assert len(calls(paths)) == 2
    # Elsewhere it is Debian from its own mirror: the host's apt, if it has one, has none.
    monkeypatch.setattr(rootfs, "release", lambda: "")
    monkeypatch.setattr(rootfs, "sources", lambda suite: pytest.fail("asked apt"))
    monkeypatch.setenv("HOME", "/dev/null")
    paths.rootfs.unlink()
    rootfs.make(paths)
    assert calls(paths)[-1].endswith(f"{rootfs.ELSEWHERE} -")


def test_another_folder_takes_it_for_some_days(paths: Paths, tmp_path: Path) -> None:
    rootfs.make(paths)
    other = Paths(paths.top, tmp_path)
    rootfs.make(other)
    assert other.rootfs.read_text() == "the root" and len(calls(paths)) == 1
    (kept,) = (tmp_path / "home").rglob("*.sqfs")
    os.utime(kept, (0, 0))
    other.rootfs.unlink()
    rootfs.make(other)
    assert other.rootfs.read_text() == "the root" and len(calls(paths)) == 2


def test_no_folder_of_ours_gets_into_it(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages compile their Python files while they are installed."""
    for name in ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, str(paths.out))
    program = Path(os.environ["PATH"].partition(":")[0], "mmdebstrap")
    program.write_text("#!/bin/sh\nenv | sort\n")
    rootfs.make(paths)
    told = dict(line.split("=", 1) for line in paths.rootfs.read_text().splitlines())
    assert {name: told[name] for name in told if name.startswith("PYTHON")} == {
        "PYTHONDONTWRITEBYTECODE": "1"
    }
    assert told["SOURCE_DATE_EPOCH"] == rootfs.EPOCH and told["LC_ALL"] == "C"


def test_what_is_another_each_time_is_not_kept(tmp_path: Path) -> None:
    """A database and a certificate, whose name is by its hash; and nothing else goes."""
    certs = tmp_path / "etc/ssl/certs"
    gone = (
        *("var/lib/postgresql/15/main/PG_VERSION", "etc/postgresql/15/main/pg_hba.conf"),
        *("etc/ssl/private/ssl-cert-snakeoil.key", "etc/ssl/certs/ssl-cert-snakeoil.pem"),
    )
    kept = ("etc/ssl/certs/root.pem", "usr/lib/postgresql/15/bin/postgres")
    for name in (*gone, *kept):
        script(tmp_path / name, "")
    for link, name in (("1a2b.0", "ssl-cert-snakeoil.pem"), ("3c4d.0", "root.pem")):
        (certs / link).symlink_to(name)
    assert not ran("sh", "-ec", rootfs.FORGET, "hook", tmp_path).returncode
    assert not any((tmp_path / name).exists() for name in gone)
    assert all((tmp_path / name).exists() for name in kept)
    assert sorted(path.name for path in certs.iterdir()) == ["3c4d.0", "root.pem"]
    assert any(rootfs.FORGET in option for option in rootfs.OPTIONS)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_both_and_the_next_run_makes_it(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/mmdebstrap"
    whole = program.read_text()
    # It says more than fits the pipe, so that its reader has started it in whole, before it
    # interrupts; and then something for much longer than it takes to be stopped.
    said = "yes I: working | head -n {} >&2\n".format
    program.write_text(f"#!/bin/sh\n{said(20_000)}kill -INT $PPID\n{said(3_000_000)}")
    with pytest.raises(KeyboardInterrupt):
        rootfs.make(paths)
    assert not paths.rootfs.with_suffix(".part").exists() and not paths.rootfs.exists()
    program.write_text(whole)
    rootfs.make(paths)
    assert paths.rootfs.read_text() == "the root"


def test_failure_keeps_the_image_there_was(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    rootfs.make(paths)
    monkeypatch.setattr(rootfs, "OPTIONS", ("--include=nonsense",))
    monkeypatch.setenv("FAIL", "1")
    # And it is tried again, not taken for up to date.
    for _ in range(2):
        with pytest.raises(LabError, match=r"no such package.*rootfs\.log") as caught:
            rootfs.make(paths)
        assert caught.value.exit_code == 1
        assert paths.rootfs.read_text() == "the root"
        assert not paths.rootfs.with_suffix(".part").exists()


def test_without_mmdebstrap_it_says_so(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LabError, match="no mmdebstrap: run make deps first"):
        rootfs.make(paths)


def test_an_image_needs_a_kernel_that_starts_its_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root has it registered, others are told."""
    said: list[str] = []

    def told(argv: Sequence[str]) -> str:
        said.append(argv[0])
        return ""

    monkeypatch.setattr(rootfs, "_output", told)
    rootfs.emulate(tmp_path)
    monkeypatch.setattr(rootfs, "ARCH", OTHER)
    for user, words, run in (
        (1000, f"starts no programs of {OTHER.machine}", []),
        (0, "update-binfmts --enable", ["mount", "update-binfmts"]),
    ):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        with pytest.raises(LabError, match=words):
            rootfs.emulate(tmp_path)
        assert said == run
    (tmp_path / f"qemu-{OTHER.machine}").touch()
    rootfs.emulate(tmp_path)
    assert len(said) == 2

# SPDX-License-Identifier: GPL-2.0
"""The root image: where it comes from, when it is made anew, and what happens if it fails."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab import LabError
from lab.host import rootfs
from lab.paths import Paths

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


def answers(text: str) -> rootfs.Output:
    """A program that says this."""

    def output(argv: Sequence[str]) -> str:
        return text

    return output


def test_release(tmp_path: Path) -> None:
    file = tmp_path / "os-release"
    file.write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
    assert rootfs.release(file) == "bookworm"
    for other in ("ID=ubuntu\nVERSION_CODENAME=noble\n", "ID=debian\n", ""):
        file.write_text(other)
        assert rootfs.release(file) == ""
    assert rootfs.release(tmp_path / "gone") == ""


def test_only_files_of_the_suites_main_component() -> None:
    assert rootfs.sources("bookworm", answers(TARGETS)) == [
        Path("/etc/apt/sources.list.d/debian.sources"),
        Path("/etc/apt/sources.list"),
    ]


def test_no_source_is_an_error() -> None:
    with pytest.raises(LabError, match="apt has no source of Debian sid main"):
        rootfs.sources("sid", answers(TARGETS))


def test_the_hosts_proxy_is_used() -> None:
    assert rootfs.acquire_options(answers(CONFIG)) == [
        '--aptopt=Acquire::http::Proxy "proxy:3142"',
        '--aptopt=Acquire::Retries "3"',
    ]


def test_digest_follows_the_package_list(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rootfs.digest("bookworm")
    assert rootfs.digest("trixie") != before
    monkeypatch.setattr(rootfs, "OPTIONS", (*rootfs.OPTIONS, "--include=more"))
    assert rootfs.digest("bookworm") != before


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """An output directory, on a machine whose mmdebstrap and tar2sqfs are ours."""
    directory = tmp_path / "bin"
    directory.mkdir()
    programs = {
        "mmdebstrap": (
            "import os, sys\n"
            "open(os.environ['CALLS'], 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
            "print('I: extracting', file=sys.stderr)\n"
            "print('the root', end='')\n"
            "if 'FAIL' in os.environ:\n"
            "    sys.exit('E: no such package')\n"
        ),
        "tar2sqfs": "import sys\nopen(sys.argv[-1], 'w').write(sys.stdin.read())\n",
    }
    for name, text in programs.items():
        program = directory / name
        program.write_text(f"#!{sys.executable}\n{text}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(directory), prepend=":")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(rootfs, "release", lambda: "bookworm")
    monkeypatch.setattr(rootfs, "sources", lambda suite: [Path("/etc/apt/sources.list")])
    monkeypatch.setattr(rootfs, "acquire_options", lambda: [])
    return Paths(tmp_path / "top", tmp_path / "out")


def calls(paths: Paths) -> list[str]:
    """Arguments of every call of mmdebstrap."""
    return (paths.out.parent / "calls").read_text().splitlines()


def test_made_once(paths: Paths) -> None:
    rootfs.make(paths)
    assert paths.rootfs.read_text() == "the root"
    rootfs.make(paths)
    assert len(calls(paths)) == 1
    assert calls(paths)[0].endswith("bookworm - /etc/apt/sources.list")
    paths.rootfs.unlink()
    rootfs.make(paths)
    assert len(calls(paths)) == 2


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
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for link, name in (("1a2b.0", "ssl-cert-snakeoil.pem"), ("3c4d.0", "root.pem")):
        (certs / link).symlink_to(name)
    subprocess.run(["sh", "-ec", rootfs.FORGET, "hook", str(tmp_path)], check=True)
    assert not any((tmp_path / name).exists() for name in gone)
    assert all((tmp_path / name).exists() for name in kept)
    assert sorted(path.name for path in certs.iterdir()) == ["3c4d.0", "root.pem"]
    assert any(rootfs.FORGET in option for option in rootfs.OPTIONS)


def test_elsewhere_it_is_debian_from_its_own_mirror(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's apt, if it has one, knows nothing of Debian."""
    monkeypatch.setattr(rootfs, "release", lambda: "")
    monkeypatch.setattr(rootfs, "sources", lambda suite: pytest.fail("asked apt"))
    rootfs.make(paths)
    assert calls(paths)[0].endswith(f"{rootfs.ELSEWHERE} -")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_both_and_the_next_run_makes_it(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/mmdebstrap"
    whole = program.read_text()
    # It says something while it works, for much longer than it takes to be stopped.
    program.write_text("#!/bin/sh\nkill -INT $PPID\nyes I: working | head -n 3000000 >&2\n")
    with pytest.raises(KeyboardInterrupt):
        rootfs.make(paths)
    assert not paths.rootfs.with_suffix(".part").exists() and not paths.rootfs.exists()
    program.write_text(whole)
    rootfs.make(paths)
    assert paths.rootfs.read_text() == "the root"


def test_our_programs_are_not_part_of_it(paths: Paths) -> None:
    rootfs.make(paths)
    paths.bin.mkdir(parents=True)
    (paths.bin / "lottery").touch()
    rootfs.make(paths)
    assert len(calls(paths)) == 1


def test_failure_keeps_the_image_there_was(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    rootfs.make(paths)
    monkeypatch.setattr(rootfs, "OPTIONS", ("--include=nonsense",))
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(LabError, match=r"no such package.*rootfs\.log") as caught:
        rootfs.make(paths)
    assert caught.value.exit_code == 1
    assert paths.rootfs.read_text() == "the root"
    assert not paths.rootfs.with_suffix(".part").exists()
    # And it is tried again, not taken for up to date.
    with pytest.raises(LabError):
        rootfs.make(paths)


def test_without_mmdebstrap_it_says_so(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LabError, match="no mmdebstrap: run make deps first"):
        rootfs.make(paths)

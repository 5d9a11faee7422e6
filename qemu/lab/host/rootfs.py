# SPDX-License-Identifier: GPL-2.0
"""The root image of the guest: a squashfs of Debian packages, from the host's own apt sources."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab import LabError
from lab.arch import ARCH
from lab.host import stamps
from lab.host.deps import OS_RELEASE, said_of
from lab.host.progress import Progress
from lab.paths import Paths, outside

PACKAGES = (
    *("blktrace", "busybox", "crun", "e2fsprogs", "ethtool", "fio", "iperf3", "iproute2", "kmod"),
    *("less", "linux-perf", "man-db", "mount", "nano", "postgresql-15", "procps", "python3"),
    *("rt-tests", "strace", "stress-ng", "trace-cmd", "util-linux"),
)

# Not read in the guest.
LEFT_OUT = (
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
    "/usr/share/locale/*",
    "/usr/share/man/??/*",
    "/usr/share/man/??_*",
    # PostgreSQL's own compiler of queries, which has a library of 100 MB.
    "/usr/lib/*/libLLVM-*",
    "/usr/lib/llvm-*",
    "/usr/lib/postgresql/*/lib/bitcode/*",
)

# The guest decompresses in an emulator: lz4 costs least there.
COMPRESSOR = "lz4"

# All times in the image, seconds: it shall not depend on when it was made.
EPOCH = "1577836800"

# What the packages make for this one installation: a certificate by the host's name, with its
# key, and a database. Nothing in the guest wants them, and they are others each time.
FORGET = "; ".join(
    (
        'rm -rf "$1/var/lib/postgresql/15" "$1/etc/postgresql/15"',
        'rm -f "$1/etc/ssl/private/ssl-cert-snakeoil.key" "$1/etc/ssl/certs/ssl-cert-snakeoil.pem"',
        'rm -rf "$1/var/cache/man/"*',
        'find "$1/etc/ssl/certs" -lname ssl-cert-snakeoil.pem -delete',
    )
)

OPTIONS = (
    *((f"--architectures={ARCH.debian}",) if ARCH.foreign else ()),
    "--variant=essential",
    "--format=tar",
    f"--include={','.join(PACKAGES)}",
    '--aptopt=APT::Install-Recommends "false"',
    *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
    f"--customize-hook={FORGET}",
)

# The image on hosts that are no release of Debian, from the mirror that mmdebstrap knows.
ELSEWHERE = "bookworm"

# What the network needs to work as it does for the host's own apt.
_ACQUIRE = re.compile(r'^(Acquire::(?:http|https|ftp|Retries|ForceIPv[46])\b.*) (".*");$')

# Where the kernel says which programs it starts by an emulator.
BINFMT = Path("/proc/sys/fs/binfmt_misc")

# Other folders take an image for so long [s]: Debian's packages change meanwhile.
KEPT_S = 7 * 86400

# mmdebstrap says this many things on the way.
STEPS = 14

Output = Callable[[Sequence[str]], str]


def _output(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout


def release(os_release: Path = OS_RELEASE) -> str:
    """Code name of the host's Debian release, such as "bookworm"; "" for anything else."""
    name, code = said_of(os_release, "ID", "VERSION_CODENAME")
    return code if name == "debian" else ""


def sources(suite: str, output: Output = _output) -> list[Path]:
    """The files of apt's configuration, of whatever form, that offer the suite's main component."""
    fields = "$(CREATED_BY)|$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(SOURCESENTRY)"
    found: list[Path] = []
    for line in output(["apt-get", "indextargets", "--format", fields]).splitlines():
        created_by, named, codename, component, entry = line.split("|")
        wanted = {suite, f"{suite}-updates", f"{suite}-security"}
        if created_by != "Packages" or component != "main" or not wanted & {named, codename}:
            continue
        file = Path(entry.rpartition(":")[0])
        if file not in found:
            found.append(file)
    if not found:
        raise LabError(f"apt has no source of Debian {suite} main: see /etc/apt/sources.list")
    return found


def acquire_options(output: Output = _output) -> list[str]:
    """The host's way to its mirror (proxies, retries), as options of mmdebstrap."""
    lines = output(["apt-config", "dump"]).splitlines()
    matches = (_ACQUIRE.match(line) for line in lines)
    return [f"--aptopt={match[1]} {match[2]}" for match in matches if match and match[2] != '""']


def emulate(binfmt: Path = BINFMT) -> None:
    """Have the kernel start programs of the image's architecture. LabError if it does not."""
    interpreter = f"qemu-{ARCH.machine}"
    if not ARCH.foreign or (binfmt / interpreter).exists():
        return
    if os.geteuid() == 0:
        # Without systemd it is not mounted yet.
        if not (binfmt / "status").exists():
            _output(["mount", "-t", "binfmt_misc", "binfmt_misc", str(binfmt)])
        _output(["update-binfmts", "--enable", interpreter])
    if not (binfmt / interpreter).exists():
        raise LabError(
            f"{binfmt / interpreter} is missing: the kernel starts no programs of {ARCH.machine}; "
            f"with binfmt-support and qemu-user-static: sudo update-binfmts --enable {interpreter}",
            exit_code=1,
        )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Ours, for programs of the packages: with our Python's settings theirs would write paths
    of this folder into the image."""
    kept = {name: value for name, value in environ.items() if not name.startswith("PYTHON")}
    fixed = {"LC_ALL": "C", "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **fixed}


def _copy(image: Path, to: Path) -> None:
    """In whole or not at all, also while another folder does the same."""
    part = to.with_suffix(f".{os.getpid()}.part")
    try:
        shutil.copyfile(image, part)
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)


def make(paths: Paths) -> None:
    """Have $(O)/rootfs.sqfs, building it only if its package list has changed.

    What one folder has built others take, as they take objects of the kernel from ccache.
    """
    own = release()
    suite = own or ELSEWHERE
    stamp = paths.rootfs.with_suffix(".json")
    key = stamps.digest(suite, OPTIONS, COMPRESSOR)
    if paths.rootfs.exists() and stamp.exists() and stamp.read_text() == key:
        return
    kept = outside(os.environ) / "images" / f"{key}.sqfs"
    if kept.is_file() and time.time() - kept.stat().st_mtime < KEPT_S:
        _copy(kept, paths.rootfs)
        stamp.write_text(key)
        return
    for tool in ("mmdebstrap", "tar2sqfs"):
        if not shutil.which(tool):
            raise LabError(f"no {tool}: run make deps first", exit_code=1)
    paths.logs.mkdir(parents=True, exist_ok=True)
    log = paths.logs / "rootfs.log"
    names = ", ".join(PACKAGES)
    print(f"lab: root image of Debian {suite} with {names}", file=sys.stderr, flush=True)
    emulate()
    argv = ["mmdebstrap", *OPTIONS, *acquire_options(), suite, "-"]
    argv += map(str, sources(suite)) if own else []
    stamp.unlink(missing_ok=True)
    part = paths.rootfs.with_suffix(".part")
    try:
        _pipe(argv, part, log)
        part.replace(paths.rootfs)
    finally:
        part.unlink(missing_ok=True)
    stamp.write_text(key)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        _copy(paths.rootfs, kept)
    size = paths.rootfs.stat().st_size >> 20
    print(f"lab: {paths.rootfs}: {size} MiB", file=sys.stderr)


def _pipe(argv: Sequence[str], image: Path, log: Path) -> None:
    """mmdebstrap | tar2sqfs, following what mmdebstrap says. LabError, exit code 1, on failure."""
    pack = ["tar2sqfs", "--quiet", "--force", f"--compressor={COMPRESSOR}", str(image)]
    progress = Progress("root image", STEPS, "steps")
    done = 0
    started: list[subprocess.Popen[Any]] = []
    reading, writing = os.pipe()
    with log.open("w") as out, open(reading, "rb") as taken, open(writing, "wb") as given:
        try:
            # The one that writes the image is the first: of an interruption while a process is
            # being started we do not know that process, and it must not leave an image.
            started.append(subprocess.Popen(pack, stdin=taken, stdout=out, stderr=out))
            taken.close()
            unpack = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=given,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=environment(os.environ),
            )
            started.append(unpack)
            assert unpack.stderr
            # Only mmdebstrap holds the writing end now: tar2sqfs sees the end of the tar.
            given.close()
            for line in unpack.stderr:
                out.write(line)
                done += line.startswith("I: ")
                progress.update(done)
        except BaseException:
            # After an interruption, or with a full disk, they would go on without us.
            for process in started:
                process.terminate()
            raise
        finally:
            statuses = [process.wait() for process in started]
            progress.close()
    if any(statuses):
        errors = [line for line in log.read_text().splitlines() if line.startswith("E: ")]
        why = errors[0] if errors else f"exit codes {statuses[1]} and {statuses[0]}"
        raise LabError(f"no root image: {why}; everything it said: {log}", exit_code=1)


def verb(args: argparse.Namespace) -> None:
    make(Paths.from_env())

# SPDX-License-Identifier: GPL-2.0
"""What each purpose needs of the machine: looked for, named, and installed when we are root.

Commands, headers and libraries are looked for, not packages: it does not
matter who brought them. Packages are known for Debian, Ubuntu and Fedora.
"""

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.host.program import logged, search_path
from lab.paths import Paths

HEADERS = ("/usr/include", "/usr/include/*", "/usr/local/include")
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib/*", "/usr/local/lib")
DEBIAN_DIR = Path("/usr/src")
DEBIAN_GLOB = "linux-source-6.12.tar*"
OS_RELEASE = Path("/etc/os-release")


def have_command(name: str) -> bool:
    """A program of that name can be started."""
    return shutil.which(name, path=search_path()) is not None


def _in_any(directories: Iterable[str], name: str) -> bool:
    return any(any(Path("/").glob(f"{where[1:]}/{name}")) for where in directories)


def have_header(name: str) -> bool:
    """The compiler finds the header without being told where."""
    return _in_any(HEADERS, name)


def have_library(name: str) -> bool:
    """The same of a static library, such as libc.a."""
    return _in_any(LIBRARIES, name)


def have_file(name: str) -> bool:
    """A file of that absolute name."""
    return Path(name).is_file()


def have_module(name: str) -> bool:
    """This Python can import it."""
    return importlib.util.find_spec(name) is not None


def have_source(pattern: str) -> bool:
    """A packed kernel source where Debian puts it."""
    return any(DEBIAN_DIR.glob(pattern))


@dataclass(frozen=True)
class Need:
    """One thing to look for, and the packages that bring it; None where there is none."""

    have: Callable[[str], bool]
    name: str
    debian: str
    ubuntu: str | None
    fedora: str | None

    def missing(self) -> bool:
        """It is not here."""
        return not self.have(self.name)


def _need(
    have: Callable[[str], bool], name: str, debian: str = "", fedora: str | None = ""
) -> Need:
    """Packages are called as what they bring, and in Ubuntu as in Debian, unless said."""
    debian = debian or name
    return Need(have, name, debian, debian, debian if fedora == "" else fedora)


SOURCE = Need(have_source, DEBIAN_GLOB, "linux-source-6.12", None, None)
TOOLCHAIN = (
    _need(have_command, "gcc"),
    _need(have_command, "make"),
    _need(have_header, "stdio.h", "libc6-dev", "glibc-devel"),
    *((_need(have_command, f"{ARCH.cross}gcc", f"gcc-{ARCH.gnu}"),) if ARCH.foreign else ()),
)


def _static(library: str, package: str, fedora: str | None = None) -> Need:
    """A static library that programs of the guest are linked with, of its architecture."""
    if not ARCH.foreign:
        return _need(have_library, library, package, fedora)
    return Need(have_file, f"/usr/lib/{ARCH.gnu}/{library}", f"{package}:{ARCH.debian}", None, None)


KERNEL = (
    *TOOLCHAIN,
    *(_need(have_command, name) for name in ("bc", "bison", "cpio", "flex", "kmod", "lz4")),
    *(_need(have_command, name) for name in ("patch", "perl")),
    _need(have_command, "xz", "xz-utils", "xz"),
    _need(have_header, "libelf.h", "libelf-dev", "elfutils-libelf-devel"),
    SOURCE,
)
DEBIAN_TOOLS = (("dh", "debhelper"), ("dh_dkms", "dh-dkms"), ("dpkg-buildpackage", "dpkg-dev"))
PYTHON = _need(have_module, "ensurepip", "python3-venv", "python3")
CHARTS = _need(have_file, "/usr/share/javascript/chart.js/chart.min.js", "libjs-chart.js", None)
LAVA = "/usr/lib/python3/dist-packages/lava_common/schemas/__init__.py"
FOREIGN_IMAGE = (
    _need(have_command, "arch-test", fedora=None),
    _need(have_command, "update-binfmts", "binfmt-support", None),
    _need(have_command, f"qemu-{ARCH.machine}-static", "qemu-user-static", "qemu-user-static"),
)
PAGES = (
    _need(have_command, "sphinx-build", "python3-sphinx", "python3-sphinx"),
    _need(have_command, "groff", "groff-base", "groff-base"),
)
PURPOSES: dict[str, tuple[Need, ...]] = {
    "kernel": KERNEL,
    "llvm": (
        _need(have_command, "clang"),
        _need(have_command, "ld.lld", "lld", "lld"),
        _need(have_command, "llvm-ar", "llvm", "llvm"),
    ),
    # Programs of the guest are static; Fedora has no such libraries of these three.
    "userland": (
        *TOOLCHAIN,
        _need(have_command, "g++", "g++", "gcc-c++"),
        *((_need(have_command, f"{ARCH.cross}g++", f"g++-{ARCH.gnu}"),) if ARCH.foreign else ()),
        _static("libc.a", "libc6-dev", "glibc-static"),
        _static("libfuse3.a", "libfuse3-dev"),
        _static("libsqlite3.a", "libsqlite3-dev"),
        _static("libzmq.a", "libzmq3-dev"),
    ),
    "image": (
        _need(have_command, "mmdebstrap"),
        _need(have_command, "tar2sqfs", "squashfs-tools-ng"),
        # How mmdebstrap works without root.
        _need(have_command, "newuidmap", "uidmap", "shadow-utils"),
        _need(
            have_file,
            "/usr/share/keyrings/debian-archive-keyring.gpg",
            "debian-archive-keyring",
            "debian-keyring",
        ),
        # Packages of another architecture are set up by its own programs, emulated.
        *(FOREIGN_IMAGE if ARCH.foreign else ()),
    ),
    "emulator": (
        # The file systems of guests that have no disk, and those after a crash.
        _need(have_command, "mke2fs", "e2fsprogs"),
        _need(have_command, "mkfs.btrfs", "btrfs-progs"),
        _need(have_command, "mkfs.f2fs", "f2fs-tools"),
        _need(have_command, "mkfs.xfs", "xfsprogs"),
        _need(have_command, ARCH.qemu, ARCH.qemu_package),
    ),
    "packages": (
        *KERNEL,
        *(_need(have_command, name, brings, None) for name, brings in DEBIAN_TOOLS),
        _need(have_command, "rsync"),
        _need(have_header, "openssl/ssl.h", "libssl-dev", "openssl-devel"),
    ),
    # A disk with a boot loader, and the firmware that starts it.
    "disk": (
        _need(have_command, "mcopy", "mtools"),
        _need(have_command, "sfdisk", "fdisk", "util-linux"),
        _need(have_file, "/usr/share/OVMF/OVMF_CODE.fd", "ovmf", None),
    ),
    # The types of the kernel, for sched_ext.
    "matrix": (
        *KERNEL,
        _need(have_command, "pahole", "pahole", "dwarves"),
        _need(have_header, "zlib.h", "zlib1g-dev", "zlib-devel"),
    ),
    "python": (PYTHON,),
    # What is compared with, and what makes containers, in runs on the host itself.
    "peers": (
        _need(have_command, "crun"),
        _need(have_command, "iperf3"),
        _need(have_command, "ip", "iproute2", "iproute"),
    ),
    # Plots that answer to the pointer; the page is looked at in the browser by its tests.
    "report": (PYTHON, CHARTS),
    "browser": (_need(have_command, "chromium", "chromium"),),
    # Jobs for LAVA are held against its own schema.
    "lava": (_need(have_file, LAVA, "lava-common", None),),
    # What was recorded in the guest is read here.
    "trace": (_need(have_command, "trace-cmd"),),
    "check": (
        *KERNEL,
        PYTHON,
        *(_need(have_command, name) for name in ("git", "sparse")),
        _need(have_command, "shellcheck", "shellcheck", "ShellCheck"),
        *PAGES,
    ),
    "htmldocs": (*KERNEL, *PAGES),
    "menuconfig": (
        *KERNEL,
        _need(have_header, "ncurses.h", "libncurses-dev", "ncurses-devel"),
        _need(have_command, "pkg-config", "pkg-config", "pkgconf-pkg-config"),
    ),
    "tags": (*KERNEL, _need(have_command, "ctags", "universal-ctags", "ctags")),
}
ALL = "all"

# Installed along with what is missing, but never a reason to stop.
CCACHE = (_need(have_command, "ccache"),)
OPTIONAL = {"kernel": CCACHE, ALL: CCACHE}


def needed(purposes: Iterable[str], own_source: bool) -> list[Need]:
    """What the purposes need, each once. own_source: KERNEL= gives the kernel's source."""
    needs: dict[str, Need] = {}
    for purpose in purposes:
        if purpose not in (*PURPOSES, ALL):
            raise LabError(f"purpose '{purpose}': allowed are {', '.join(PURPOSES)}, {ALL}")
        names = [purpose] if purpose != ALL else [name for name in PURPOSES if name != "llvm"]
        needs.update((need.name, need) for name in names for need in PURPOSES[name])
    if own_source:
        needs.pop(SOURCE.name, None)
    return list(needs.values())


@dataclass(frozen=True)
class System:
    """A distribution as far as packages go: which ones it has, and the command for them."""

    name: str
    install: str
    package: Callable[[Need], str | None]


_APT = "apt-get install --no-install-recommends"
DEBIAN = System("Debian", _APT, lambda need: need.debian)
UBUNTU = System("Ubuntu", _APT, lambda need: need.ubuntu)
FEDORA = System("Fedora", "dnf install", lambda need: need.fedora)


def said_of(os_release: Path, *names: str) -> list[str]:
    """Values of os-release(5), "" for what is not there."""
    try:
        lines = os_release.read_text().splitlines()
    except OSError:
        lines = []
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return [fields.get(name, "").strip("\"'") for name in names]


def system(os_release: Path = OS_RELEASE) -> System | None:
    """The distribution that this is or is like, or None."""
    like = said_of(os_release, "ID", "ID_LIKE")
    if like[0] == "debian":
        return DEBIAN
    words = " ".join(like).split()
    if "debian" in words or "ubuntu" in words:
        return UBUNTU
    return FEDORA if "fedora" in words else None


def packages(needs: Iterable[Need], where: System) -> list[str]:
    """Packages that bring what is needed, sorted."""
    return sorted({name for need in needs if (name := where.package(need))})


def advice(lacking: Sequence[Need], where: System | None, sudo: str = "sudo ") -> str:
    """What a person has to do about what is missing, in one line."""
    if where is None:
        names = " ".join(need.name for need in lacking)
        return f"missing: {names} (in Debian: {' '.join(packages(lacking, DEBIAN))})"
    parts: list[str] = []
    if found := packages(lacking, where):
        foreign = any(":" in name for name in found)
        before = f"{sudo}dpkg --add-architecture {ARCH.debian} && " if foreign else ""
        parts.append(f"packages are missing, install them with: {before}{sudo}{where.install} ")
        parts[-1] += " ".join(found)
    without = [need for need in lacking if not where.package(need)]
    if SOURCE in without:
        parts.append(f"{where.name} has no Linux 6.12: give KERNEL=<its directory or tarball>")
    if rest := [need.name for need in without if need is not SOURCE]:
        parts.append(f"{where.name} has no package with {' '.join(rest)}: install from source")
    return "; ".join(parts)


def install(names: Sequence[str], log: Path) -> None:
    """apt-get the packages as root; its output goes to the log. Exit code 1 if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    foreign = sorted({name.partition(":")[2] for name in names if ":" in name})
    # What an interrupted run has left half-installed: the others would refuse.
    logged(["dpkg", "--configure", "-a"], log, env=env)
    for debian in foreign:
        logged(["dpkg", "--add-architecture", debian], log, "a", env=env)
    logged(["apt-get", "update"], log, "a", env=env)
    # Stale package lists may still be good enough to install from.
    wanted = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    if status := logged(wanted, log, "a", env=env):
        said = [line for line in log.read_text().splitlines() if line.startswith("E: ")]
        why = said[-1] if said else f"exit code {status}"
        raise LabError(f"apt-get install failed: {why}; all of it: {log}", exit_code=1)


def ensure(
    purposes: Sequence[str],
    own_source: bool,
    log: Path,
    root: bool | None = None,
    where: System | None = None,
) -> None:
    """Have what the purposes need, or say how to get it (LabError, exit code 2)."""
    lacking = [need for need in needed(purposes, own_source) if need.missing()]
    if not lacking:
        return
    where = where or system()
    if root is None:
        root = os.geteuid() == 0
    sudo = "" if root else "sudo "
    if where is None or any(not where.package(need) for need in lacking):
        raise LabError(advice(lacking, where, sudo))
    optional = [need for purpose in purposes for need in OPTIONAL.get(purpose, ())]
    lacking += [need for need in optional if need.missing()]
    if not root or where is FEDORA:
        raise LabError(advice(lacking, where, sudo))
    names = packages(lacking, where)
    print(f"lab: installing missing packages: {' '.join(names)}", file=sys.stderr, flush=True)
    install(names, log)


def register(parser: argparse.ArgumentParser) -> None:
    which = f"of {', '.join(PURPOSES)}; {ALL} (the default) is all of them but llvm"
    parser.add_argument("purposes", nargs="*", metavar="PURPOSE", help=which)
    parser.add_argument("--source", default="", help="kernel source that is not Debian's")


def verb(args: argparse.Namespace) -> None:
    ensure(args.purposes or [ALL], bool(args.source), Paths.from_env().logs / "apt.log")

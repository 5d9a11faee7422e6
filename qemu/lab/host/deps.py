# SPDX-License-Identifier: GPL-2.0
"""What each purpose needs of the machine: looked for, named, and installed when we are root.

Commands, headers and libraries are looked for, not packages: any package may
bring them. Packages are known for Debian, Ubuntu and Fedora.
"""

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError, one_of
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
    """One thing to look for, and the packages that bring it; None without such a package."""

    have: Callable[[str], bool]
    name: str
    debian: str
    ubuntu: str | None
    fedora: str | None

    def missing(self) -> bool:
        """It is not here."""
        return not self.have(self.name)


LAVA = "/usr/lib/python3/dist-packages/lava_common/schemas/__init__.py"
# What brings something that is called otherwise: packages of Debian and, if they differ, of
# Fedora, where "-" means no package. Without a row the package has the name of what it brings.
PACKAGES = f"""
{ARCH.gnu}-gcc gcc-{ARCH.gnu}
stdio.h libc6-dev glibc-devel
xz xz-utils xz
libelf.h libelf-dev elfutils-libelf-devel
ensurepip python3-venv python3
ld.lld lld
llvm-ar llvm
g++ g++ gcc-c++
{ARCH.gnu}-g++ g++-{ARCH.gnu}
libc.a libc6-dev glibc-static
libsqlite3.a libsqlite3-dev -
libzmq.a libzmq3-dev -
tar2sqfs squashfs-tools-ng
newuidmap uidmap shadow-utils
/usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring debian-keyring
arch-test arch-test -
update-binfmts binfmt-support -
qemu-{ARCH.machine}-static qemu-user-static
mke2fs e2fsprogs
mkfs.btrfs btrfs-progs
mkfs.f2fs f2fs-tools
mkfs.xfs xfsprogs
{ARCH.qemu} {ARCH.qemu_package}
dh debhelper -
dh_dkms dh-dkms -
dpkg-buildpackage dpkg-dev -
openssl/ssl.h libssl-dev openssl-devel
mcopy mtools
sfdisk fdisk util-linux
/usr/share/OVMF/OVMF_CODE.fd ovmf -
pahole pahole dwarves
zlib.h zlib1g-dev zlib-devel
ip iproute2 iproute
/usr/share/javascript/chart.js/chart.min.js libjs-chart.js -
{LAVA} lava-common -
sphinx-build python3-sphinx
groff groff-base
shellcheck shellcheck ShellCheck
ncurses.h libncurses-dev ncurses-devel
pkg-config pkg-config pkgconf-pkg-config
ctags universal-ctags ctags
"""
_BRINGS = {words[0]: words[1:] for line in PACKAGES.split("\n") if (words := line.split())}
SOURCE = Need(have_source, DEBIAN_GLOB, "linux-source-6.12", None, None)


def _need(name: str) -> Need:
    """A source, file, header, static library or module by the form of its name, or a command."""
    if name == DEBIAN_GLOB:
        return SOURCE
    debian, *other = _BRINGS.get(name, [name])
    fedora = (other or [debian])[0]
    if name.endswith(".a") and ARCH.foreign:
        # Programs of the guest are linked with those of its architecture.
        file = f"/usr/lib/{ARCH.gnu}/{name}"
        return Need(have_file, file, f"{debian}:{ARCH.debian}", None, None)
    kinds = [(name[0] == "/", have_file), (name[-2:] == ".h", have_header)]
    kinds += [(name[-2:] == ".a", have_library), (name == "ensurepip", have_module)]
    have = next((have for fits, have in kinds if fits), have_command)
    return Need(have, name, debian, debian, None if fedora == "-" else fedora)


_TOOLCHAIN = f"gcc make stdio.h {f'{ARCH.cross}gcc' if ARCH.foreign else ''}"
_KERNEL = f"{_TOOLCHAIN} bc bison cpio flex kmod lz4 patch perl xz libelf.h {DEBIAN_GLOB}"
_PAGES = "sphinx-build groff"
# Packages of another architecture are set up by its own programs, emulated.
_FOREIGN = f"arch-test update-binfmts qemu-{ARCH.machine}-static" if ARCH.foreign else ""
_LIBRARIES = "libc.a libsqlite3.a libzmq.a"
PURPOSES: dict[str, tuple[Need, ...]] = {
    purpose: tuple(map(_need, words.split()))
    for purpose, words in {
        "kernel": _KERNEL,
        "llvm": "clang ld.lld llvm-ar",
        "userland": f"{_TOOLCHAIN} g++ {f'{ARCH.cross}g++' if ARCH.foreign else ''} {_LIBRARIES}",
        # newuidmap is how mmdebstrap works without root.
        "image": "mmdebstrap tar2sqfs newuidmap "
        f"/usr/share/keyrings/debian-archive-keyring.gpg {_FOREIGN}",
        # The file systems of guests that have no disk, and those after a crash.
        "emulator": f"mke2fs mkfs.btrfs mkfs.f2fs mkfs.xfs {ARCH.qemu}",
        "packages": f"{_KERNEL} dh dh_dkms dpkg-buildpackage rsync openssl/ssl.h",
        # A disk with a boot loader, and the firmware that starts it.
        "disk": "mcopy sfdisk /usr/share/OVMF/OVMF_CODE.fd",
        # The types of the kernel, for sched_ext.
        "matrix": f"{_KERNEL} pahole zlib.h",
        "python": "ensurepip",
        # What is compared with, and what makes containers, in runs on the host itself.
        "peers": "crun iperf3 ip",
        # Plots that answer to the pointer; the page is looked at in the browser by its tests.
        "report": "ensurepip /usr/share/javascript/chart.js/chart.min.js",
        "browser": "chromium",
        # Jobs for LAVA are held against its own schema.
        "lava": LAVA,
        # What was recorded in the guest is read here.
        "trace": "trace-cmd",
        "check": f"{_KERNEL} ensurepip git sparse shellcheck {_PAGES}",
        "htmldocs": f"{_KERNEL} {_PAGES}",
        "menuconfig": f"{_KERNEL} ncurses.h pkg-config",
        "tags": f"{_KERNEL} ctags",
    }.items()
}
ALL = "all"

# Installed along with what is missing, but never a reason to stop.
CCACHE = (_need("ccache"),)
OPTIONAL = {"kernel": CCACHE, ALL: CCACHE}


def needed(purposes: Iterable[str], own_source: bool) -> list[Need]:
    """What the purposes need, each once. own_source: KERNEL= gives the kernel's source."""
    needs: dict[str, Need] = {}
    for purpose in purposes:
        one_of("purpose", purpose, (*PURPOSES, ALL))
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

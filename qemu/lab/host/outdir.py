# SPDX-License-Identifier: GPL-2.0
"""$(O), the output directory: known as ours by its launcher, and emptied of known names alone."""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.paths import Paths

# What make can build again from the source, the image and the environment, which clean keeps.
BUILT = (
    *("kernel-*", "symbol-off-*", "userland", "logs", "pytest", "pycache", "mypy", "ruff"),
    *("tags", "compile_commands.json", "defconfig", "packages", "htmldocs"),
    # Where the kernel's own packaging puts what an interrupted run has left there.
    *("linux-image-*", "linux-headers-*", "linux-libc-dev_*", "linux-upstream_*"),
)
KEPT = (
    *("pristine", "pristine.json", "pristine.part", "linux", "linux.json", "linux.part"),
    *("linux.staging", "rootfs.sqfs", "rootfs.json", "rootfs.part", "venv", "kvm.json"),
    *("results", "plots", "traces", "bench", "report.html"),
)

# The launcher's second line: nothing else has it, so a directory that has it is ours.
MARK = "# Who waits for whom: the lab of a checkout, and the mark of its output directory."

LAUNCHER = """\
#!/bin/sh
{mark}
# {name} VERB ..., for example: {name} run -- uname -r
export LAB_OUT={out}
export LAB_ARCH={arch}
export PYTHONPATH={qemu}
export PYTHONPYCACHEPREFIX={out}/pycache
python={out}/venv/bin/python
[ -x "$python" ] || python=python3
exec "$python" -m lab "$@"
"""

_ARCH = re.compile(r"^export LAB_ARCH=(\w+)$", re.M)


def launcher(paths: Paths) -> Path:
    """The program that people start: the lab, with this checkout and this directory."""
    return paths.out / "lab"


def is_ours(paths: Paths) -> bool:
    """The launcher is there, or the stamp of a kernel source from before there was one."""
    try:
        with launcher(paths).open(errors="replace") as stream:
            head = (stream.readline(), stream.readline().rstrip("\n"))
        if head == ("#!/bin/sh\n", MARK):
            return True
    except OSError:
        pass
    stamps = (paths.out / name for name in ("pristine.json", "linux.json"))
    return paths.pristine.is_dir() and all(stamp.is_file() for stamp in stamps)


def owner(path: Path) -> str:
    """The name of the owner, or the number of one without a name."""
    try:
        return path.owner()
    except KeyError:
        return str(path.stat().st_uid)


def claim(paths: Paths) -> None:
    """Have the directory, with the launcher in it. Raises LabError for one that is not ours."""
    out = paths.out
    if out.exists() and not out.is_dir():
        raise LabError(f"O={out}: not a directory")
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
        raise LabError(f"O={out}: belongs to {owner(out)}, and you may not write there", 1)
    if not is_ours(paths) and {path.name for path in out.iterdir()} - {"pycache"}:
        raise LabError(
            f"O={out}: not empty, and not made by this lab: name a new or an empty directory"
        )
    target = launcher(paths)
    there = _architecture(target)
    if there not in ("", ARCH.name):
        raise LabError(f"O={out}: is for ARCH={there}, this is {ARCH.name}: name another directory")
    where = {"name": target, "out": out, "arch": ARCH.name, "qemu": paths.qemu}
    quoted = {name: shlex.quote(str(path)) for name, path in where.items()}
    text = LAUNCHER.format(mark=MARK, **quoted)
    if not target.is_file() or target.read_text() != text:
        target.write_text(text)
        target.chmod(0o755)


def _architecture(target: Path) -> str:
    """What the launcher of a directory says of it; "" for none, and for one that does not say."""
    try:
        said = _ARCH.search(target.read_text())
    except OSError:
        return ""
    return said[1] if said else ""


def remove(out: Path, patterns: Iterable[str]) -> None:
    """Remove the entries of a directory that match; of a link the link alone."""
    for path in sorted(out.iterdir()):
        if not any(fnmatch(path.name, pattern) for pattern in patterns):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def clean(paths: Paths, everything: bool) -> None:
    """Remove what was built; everything: all that was generated, and the directory if empty."""
    out = paths.out
    if not os.path.lexists(out):
        return
    if out.is_symlink():
        raise LabError(f"O={out}: a symbolic link: nothing is removed; name {out.resolve()}")
    if not out.is_dir() or (any(out.iterdir()) and not is_ours(paths)):
        raise LabError(f"O={out}: not made by this lab: nothing is removed")
    if not any(out.iterdir()):
        out.rmdir()
        return
    # The launcher goes last: after an interruption the rest is still known as ours.
    claim(paths)
    remove(out, BUILT)
    if not everything:
        return
    remove(out, KEPT)
    launcher(paths).unlink()
    left = sorted(path.name for path in out.iterdir())
    if left:
        print(f"lab: {out}: left there, not made by the lab: {' '.join(left)}", file=sys.stderr)
    else:
        out.rmdir()


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="all that was generated")


def verb(args: argparse.Namespace) -> None:
    # Bytecode of what is imported from here on would be back at once.
    sys.dont_write_bytecode = True
    clean(Paths.from_env(), args.all)

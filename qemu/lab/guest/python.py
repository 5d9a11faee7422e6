# SPDX-License-Identifier: GPL-2.0
"""Python in a guest without the root image, for tests in virtual time: out of that image.

The modules are in one archive, where Python looks by itself, and compiled, as the image has
them: to compile those that a test imports takes three seconds of the guest.
"""

import re
import zipfile
from pathlib import Path

from lab import LabError
from lab.guest import image
from lab.paths import Paths

INTERPRETER = "usr/bin/python3"
HERE = Path(__file__).resolve().parents[2] / "inside"
FOLDER = "lab/python"
"""Where the guest has our own modules."""
_WORDS = """
__future__ _collections_abc _weakrefset abc ast bisect codecs contextlib copy copyreg dataclasses
dis enum fnmatch functools genericpath inspect io ipaddress keyword linecache locale ntpath
numbers opcode operator os pathlib posixpath random reprlib selectors signal stat struct
subprocess textwrap threading token tokenize traceback types typing warnings weakref
collections/__init__ collections/abc ctypes/__init__ ctypes/_endian encodings/__init__
encodings/aliases encodings/utf_8 importlib/__init__ importlib/_abc importlib/machinery
re/__init__ re/_casefix re/_compiler re/_constants re/_parser urllib/__init__ urllib/parse
"""
MODULES = _WORDS.split()
EXTENSIONS = ("_ctypes", "_typing", "mmap", "resource")


def command(module: str, *args: str) -> tuple[str, ...]:
    """What runs inside.MODULE in a guest."""
    return ("python3", "-BES", f"/{FOLDER}", module, *args)


def sources() -> dict[str, Path]:
    """Our own modules, by their names in the guest."""
    found = {f"{FOLDER}/inside/{file.relative_to(HERE)}": file for file in HERE.rglob("*.py")}
    return {f"{FOLDER}/__main__.py": HERE / "__main__.py", **found}


def extra(paths: Paths, log_dir: Path) -> dict[str, Path]:
    """More files for the initramfs: Python, made in log_dir.  Raises LabError without Python."""
    description = image.describe(paths)
    version = image.links(description).get(INTERPRETER, "").removeprefix("python")
    if not version:
        raise LabError(f"{paths.rootfs}: no Python in it: make rootfs", exit_code=1)
    library = f"usr/lib/python{version}"
    compiled = re.compile(rf"file {library}/(\S*?)(?:__pycache__/)(\S+)\.cpython-\d+\.pyc ")
    archive = log_dir / "image/python.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    # the guest has no zlib
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for found in compiled.finditer(description):
            if found[1] + found[2] in MODULES:
                name = found[0].split()[1]
                made = zipfile.ZipInfo(f"{found[1]}{found[2]}.pyc")
                packed.writestr(made, image.read(paths.rootfs, "--cat", name))
    extensions = rf"{library}/lib-dynload/(?:{'|'.join(EXTENSIONS)})\.\S+\.so"
    # by its os.py it knows where its library is
    plain = [f"{library}/os.py", *re.findall(extensions, description)]
    zipped = f"usr/lib/python{version.replace('.', '')}.zip"
    return {**image.extra(paths, plain, log_dir), zipped: archive}

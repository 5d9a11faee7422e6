# SPDX-License-Identifier: GPL-2.0
"""Pure C of ours inside the test's own process: no clock, no kernel, no VM."""

import ctypes
import subprocess
from pathlib import Path

from lab.paths import Paths

TOP = Paths.from_env({}).top
INCLUDES = (TOP / "userland/lib", TOP / "modules/napi_livelock")


FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Werror")


def _compile(output: Path, options: tuple[str, ...], sources: tuple[str, ...]) -> None:
    where = (word for path in INCLUDES for word in ("-iquote", str(path)))
    files = (str(TOP / source) for source in sources)
    subprocess.run(["cc", *FLAGS, *where, *options, "-o", str(output), *files, "-lm"], check=True)


def lib(*names: str) -> tuple[str, ...]:
    return tuple(f"userland/lib/{name}.c" for name in names)


def load(scratch: Path, *sources: str) -> ctypes.CDLL:
    """The sources, named from the top of the checkout, as one loaded library."""
    library = scratch / "native.so"
    _compile(library, ("-fPIC", "-shared"), sources)
    return ctypes.CDLL(str(library))


def build(scratch: Path, *sources: str, options: tuple[str, ...] = ()) -> Path:
    """The sources as a program, for what needs a process of its own."""
    program = scratch / "native"
    _compile(program, ("-pthread", *options), sources)
    return program

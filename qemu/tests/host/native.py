# SPDX-License-Identifier: GPL-2.0
"""Pure C of ours inside the test's own process: no clock, no kernel, no VM."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

from lab.paths import Paths

TOP = Paths.from_env({}).top
INCLUDES = (TOP / "userland/lib", TOP / "modules/napi_livelock")


def load(scratch: Path, *sources: str) -> ctypes.CDLL:
    """The sources, named from the top of the checkout, as one loaded library."""
    library = scratch / "native.so"
    flags = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC")
    where = (word for path in INCLUDES for word in ("-iquote", str(path)))
    files = (str(TOP / source) for source in sources)
    subprocess.run(["cc", *flags, *where, "-shared", "-o", str(library), *files, "-lm"], check=True)
    return ctypes.CDLL(str(library))

# SPDX-License-Identifier: GPL-2.0
"""Documentation/ as pages in $(O)/htmldocs, by Sphinx and the kernel's kernel-doc."""

from lab.host.program import run
from lab.paths import Paths

SPHINX_S = 300


def problems(paths: Paths) -> list[str]:
    """Make all pages anew; what Sphinx and kernel-doc said, which is nothing if all is well."""
    pages = str(paths.out / "htmldocs")
    variables = (f"KERNEL_TREE={paths.linux}", "PYTHONDONTWRITEBYTECODE=1")
    sphinx = ("sphinx-build", "-q", "-W", "--keep-going", "-E", "-b", "html")
    argv = ("env", "-u", "PYTHONPATH", *variables, *sphinx, str(paths.top / "Documentation"), pages)
    done = run(*argv, timeout_s=SPHINX_S)
    said = [line for line in done.said.splitlines() if line.strip()]
    return said or ([f"sphinx-build exit {done.status}"] if done.status else [])

# SPDX-License-Identifier: GPL-2.0
"""Documentation/ as pages in $(O)/htmldocs, by Sphinx and the kernel's kernel-doc."""

import subprocess

from lab.paths import Paths

SPHINX_S = 300


def problems(paths: Paths) -> list[str]:
    """Make all pages anew; what Sphinx and kernel-doc said, which is nothing if all is well."""
    pages = paths.out / "htmldocs"
    variables = (f"KERNEL_TREE={paths.linux}", "PYTHONDONTWRITEBYTECODE=1")
    sphinx = ("sphinx-build", "-q", "-W", "--keep-going", "-E", "-b", "html")
    done = subprocess.run(
        ["env", "-u", "PYTHONPATH", *variables, *sphinx, str(paths.top / "Documentation"), pages],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SPHINX_S,
        check=False,
    )
    said = [line for line in done.stdout.splitlines() if line.strip()]
    return said or ([f"sphinx-build exit {done.returncode}"] if done.returncode else [])

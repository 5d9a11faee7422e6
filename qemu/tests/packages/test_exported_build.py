# SPDX-License-Identifier: GPL-2.0
"""The exported series on a whole tree: git takes it, and what it touches is built.

6 minutes on two CPUs, of which git needs one for a kernel's files.
"""

import os
import shutil
import subprocess
from pathlib import Path

from lab.paths import PACKAGE, Paths
from lab.tree.export import IDENTITY, export
from lab.tree.patches import hard_link_copy

# What the series touches, but for headers.
DIRECTORIES = (
    *("kernel/sched/", "block/", "mm/", "fs/ext4/", "fs/jbd2/", "drivers/block/", "drivers/md/"),
    *("net/core/", "net/ipv4/", "drivers/net/ethernet/napi_livelock/"),
)


def test_the_exported_series_builds(tmp_path: Path) -> None:
    paths = Paths.from_env()
    tree, objects, log = (paths.packages / name for name in ("linux", "objects", "export.log"))
    hard_link_copy(paths.pristine, tree)
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir()
    patches = export(paths, tmp_path / "patches")
    shutil.copyfile(paths.kernel(PACKAGE) / ".config", objects / ".config")
    # Nothing of git's may be at work when the tree is removed.
    git = ["git", *IDENTITY, "-c", "gc.auto=0", "-C", str(tree)]
    make = ["make", "-C", str(tree), f"O={objects}", f"-j{os.cpu_count()}"]
    with log.open("w") as out:
        for command in (
            [*git, "init", "--quiet"],
            [*git, "add", "--all", "--force"],
            [*git, "commit", "--quiet", "-m", "base"],
            [*git, "am", "--quiet", *map(str, patches)],
            [*make, "olddefconfig"],
            [*make, "KCFLAGS=-Werror", *DIRECTORIES],
        ):
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
            assert done.returncode == 0, f"{command[:6]}: see {log}"
    # Our options are those that the patches bring: nothing asks for any that is not there.
    assert "CONFIG_SCHED_LOTTERY=y\n" in (objects / ".config").read_text()
    shutil.rmtree(objects)
    shutil.rmtree(tree)

# SPDX-License-Identifier: GPL-2.0
"""With our options off, the objects that the patches touch are those of the base.

The base is the pristine kernel and the fixes for it, which have no option.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lab.host.program import run
from lab.paths import Paths
from lab.tree import kconfig, patches
from lab.tree.kernel import REPRODUCIBLE, environment, kbuild

# How the names of the patches begin that fix the base.
FIXES = "00"

OBJECTS = ("kernel/sched/core.o", "kernel/sched/fair.o")

# Assertions carry the number of their line, which every patch moves.
LINE_NUMBERS = "# CONFIG_DEBUG_BUGVERBOSE is not set\n"


def build(paths: Paths, tree: Path, name: str) -> Path:
    """Compile OBJECTS from a tree, without any option of ours; returns the build directory."""
    out = paths.out / f"symbol-off-{name}"
    out.mkdir(parents=True, exist_ok=True)
    fragment = out / "lab.config"
    asked = kconfig.merge(paths.configs, (*kconfig.BASE, "guest")).values()
    fragment.write_text("".join(f"{item}\n" for item in asked) + LINE_NUMBERS)
    for targets in ([f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig"], list(OBJECTS)):
        argv = kbuild(paths, "guest", ["-s", *targets])
        argv = [f"--directory={tree}" if word.startswith("--directory=") else word for word in argv]
        argv = [f"O={out}" if word.startswith("O=") else word for word in argv]
        assert set(REPRODUCIBLE) <= set(argv)
        subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL, check=True)
    return out


def contents(obj: Path) -> list[str]:
    """Bytes and relocations of every section that ends up in the kernel."""
    dump = run("objdump", "--full-contents", "--reloc", "--wide", obj.name, cwd=obj.parent)
    assert dump.status == 0, dump.said
    return dump.said.splitlines()


def base_tree(paths: Paths) -> Path:
    tree = paths.out / "symbol-off-base-tree"
    if not tree.exists():
        patches.hard_link_copy(paths.pristine, tree)
    fixes = [patch for patch in patches.carried(paths) if patch.file.startswith(FIXES)]
    assert fixes
    with TemporaryDirectory() as staging:
        staged = patches.stage(fixes, paths.pristine, Path(staging), "of the base")
        patches.sync(paths.pristine, tree, staged, {})
    return tree


@pytest.fixture(scope="module")
def builds(lab_paths: Paths) -> tuple[Path, Path]:
    trees = {"base": base_tree(lab_paths), "patched": lab_paths.linux}
    base, patched = (build(lab_paths, tree, name) for name, tree in trees.items())
    return base, patched


@pytest.mark.parametrize("name", OBJECTS)
def test_object_is_unchanged(builds: tuple[Path, Path], name: str) -> None:
    """Not a byte and not a relocation differs."""
    base, patched = (contents(build / name) for build in builds)
    assert len(base) > 1000
    assert base == patched

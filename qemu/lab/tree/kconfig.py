# SPDX-License-Identifier: GPL-2.0
"""The kernel's configuration: fragments on allnoconfig, and the proof that they held."""

import argparse
import functools
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.host import stamps
from lab.host.program import logged
from lab.paths import MATRIX, PACKAGE, VARIANTS, Paths
from lab.tree import patches, source
from lab.tree.kernel import build_dir, environment, kbuild
from lab.tree.source import tree_files

BASE = ("base", f"arch/{ARCH.name}")
GUEST = (*BASE, "guest", "features", "kunit")
FRAGMENTS = {
    "guest": GUEST,
    **{name: (*GUEST, name) for name in ("debug", "plain", "torture", "vng")},
    **{name: (*GUEST, f"matrix/{name}") for name in MATRIX},
    PACKAGE: (*BASE, "features", "package"),
}

# On top of a person's own configuration, and all that is checked there.
ONTO = ("features",)

# What a symbol is that no fragment names: on a machine of unknown parts, the kernel's default.
UNNAMED = {PACKAGE: "alldefconfig"}

_SET = re.compile(r"CONFIG_(\w+)=(y|m|n|-?\d+|0x[0-9a-fA-F]+|\".*\")")
_UNSET = re.compile(r"# CONFIG_(\w+) is not set")
_DEFINED = re.compile(r"^\s*(?:menu)?config\s+(\w+)", re.M)


@dataclass(frozen=True)
class Asked:
    """A line of a fragment. value is None for "is not set"; where is "file:line"."""

    symbol: str
    value: str | None
    where: str

    def __str__(self) -> str:
        if self.value is None:
            return f"# CONFIG_{self.symbol} is not set"
        return f"CONFIG_{self.symbol}={self.value}"


def parse(name: str, text: str) -> dict[str, Asked]:
    """The lines of a fragment, by symbol. A line that is neither one nor a comment is an error."""
    asked: dict[str, Asked] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        given, unset = _SET.fullmatch(line.strip()), _UNSET.fullmatch(line.strip())
        if given:
            value = None if given[2] == "n" else given[2]
            item = Asked(given[1], value, where)
        elif unset:
            item = Asked(unset[1], None, where)
        elif not line.strip() or line.startswith("#"):
            continue
        else:
            raise LabError(
                f"{where}: '{line}': allowed are CONFIG_X=value, # CONFIG_X is not set, comments"
            )
        if item.symbol in asked:
            first = asked[item.symbol].where
            raise LabError(f"{where}: CONFIG_{item.symbol} is already at {first}")
        asked[item.symbol] = item
    return asked


def merge(configs: Path, names: Iterable[str]) -> dict[str, Asked]:
    """What the fragments ask for together, by symbol; the later one wins."""
    merged: dict[str, Asked] = {}
    for name in names:
        path = configs / f"{name}.config"
        if not path.is_file():
            raise LabError(f"{path}: no such fragment")
        merged |= parse(path.name, path.read_text())
    return merged


def of_kernel(paths: Paths) -> tuple[str, ...]:
    """The fragment with options that only the kernel in $(O)/pristine has, if there is one."""
    found = source.load(paths.pristine)
    name = f"kernel/{source.base_of(found.version)}" if found else ""
    return (name,) if (paths.configs / f"{name}.config").is_file() else ()


def _own(file: Path) -> dict[str, Asked]:
    """A person's configuration, such as /boot/config-6.12.0-amd64."""
    if not file.is_file():
        raise LabError(f"CONFIG={file}: no such file")
    return parse(str(file), file.read_text())


def final_values(text: str) -> dict[str, str]:
    """What a .config sets; a symbol that it does not set is not in it."""
    return {match[1]: match[2] for line in text.splitlines() if (match := _SET.fullmatch(line))}


def broken(merged: Mapping[str, Asked], final: Mapping[str, str]) -> list[Asked]:
    """Those of the symbols asked for that the final .config has otherwise."""
    return [item for item in merged.values() if final.get(item.symbol) != item.value]


def defined(linux: Path, symbols: Iterable[str]) -> set[str]:
    """Those of the symbols that some Kconfig file of the tree, or of a module in it, defines."""
    wanted = set(symbols)
    files = [linux / name for name, _ in tree_files(linux) if "/Kconfig" in f"/{name}"]
    for link in patches.LINKS.values():
        files += sorted((linux / link).glob("**/Kconfig*"))
    found: set[str] = set()
    for file in files:
        if file.is_file():
            found |= wanted.intersection(_DEFINED.findall(file.read_text(errors="replace")))
    return found


def complaint(unmet: Sequence[Asked], final: Mapping[str, str], known: set[str]) -> str:
    """One line that names every symbol that did not hold, and why as far as it is known."""
    parts: list[str] = []
    for item in unmet:
        if item.symbol not in known:
            why = "no such option in this kernel"
        elif item.symbol in final:
            why = f"is {final[item.symbol]}, forced by another option"
        else:
            why = "is not set, what it depends on is missing"
        parts.append(f"{item} ({item.where}): {why}")
    return "; ".join(parts)


def write(paths: Paths, variant: str, llvm: bool = False, own: Path | None = None) -> None:
    """Configure the variant from its fragments, unless it was and nothing has changed.

    own: the configuration that our options go on top of, instead of our fragments. Raises
    LabError, exit code 1, that names every symbol of ours which is not in the final .config
    as asked.
    """
    names = ONTO if own else (*FRAGMENTS[variant], *of_kernel(paths))
    ours = merge(paths.configs, names)
    merged = {**_own(own), **ours} if own else ours
    directory = build_dir(paths, variant)
    stamp = _stamp(paths, variant)
    digest = _digest(paths, merged, llvm)
    config = directory / ".config"
    if config.exists() and stamps.load(stamp).get("asked") == digest:
        return
    stamp.unlink(missing_ok=True)
    fragment = directory / "lab.config"
    fragment.write_text("".join(f"{item}\n" for item in merged.values()))
    sources = ", ".join([str(own), *names] if own else names)
    print(f"lab: {directory.name}: configuring from {sources}", file=sys.stderr)
    unnamed = UNNAMED.get(variant, "allnoconfig")
    _conf(paths, variant, [f"KCONFIG_ALLCONFIG={fragment}", unnamed], llvm)
    final = final_values(config.read_text())
    unmet = broken(ours, final)
    if unmet:
        known = defined(paths.linux, (item.symbol for item in unmet))
        raise LabError(f"{directory.name}: {complaint(unmet, final, known)}", exit_code=1)
    stamps.save(stamp, {"asked": digest, "config": _sha256(config)})


def _sha256(config: Path) -> str:
    return hashlib.sha256(config.read_bytes()).hexdigest()


def _stamp(paths: Paths, variant: str) -> Path:
    """What .config was made of, and what it was then."""
    return paths.kernel(variant) / "lab.config.json"


def unchanged(paths: Paths, variant: str) -> None:
    """Raises LabError for a .config that is not what the fragments gave.

    Tests and figures are about that one; only `make run` boots any other.
    """
    config = paths.kernel(variant) / ".config"
    stamp = _stamp(paths, variant)
    if not config.exists() or _sha256(config) != stamps.load(stamp).get("config"):
        back = "make defconfig" if variant == VARIANTS[0] else f"removing {config}"
        raise LabError(
            f"kernel-{variant}: .config is not what configs/ gave (menuconfig?): only make run "
            f"boots such a kernel; {back} goes back"
        )


@functools.cache
def maximum_cpus(variant: str) -> int:
    """How many CPUs the kernel of a variant takes, as the fragments of this checkout say."""
    asked = merge(Paths.from_env({}).configs, FRAGMENTS[variant])["NR_CPUS"].value
    assert asked
    return int(asked)


def _digest(paths: Paths, merged: Mapping[str, Asked], llvm: bool) -> str:
    kconfigs = [file.read_text() for file in sorted(paths.modules.glob("*/**/Kconfig*"))]
    for patch in patches.carried(paths):
        # Other patches change no option: a person's menuconfig outlives their edits.
        if any("/Kconfig" in f"/{change.new}" for change in patch.changes):
            kconfigs.append(patch.text)
    tree = patches.generation(paths)
    return stamps.digest([str(item) for item in merged.values()], kconfigs, tree, llvm)


def _conf(paths: Paths, variant: str, targets: Sequence[str], llvm: bool) -> None:
    """Run a configuration target of kbuild."""
    log = paths.logs / f"config-{variant}.log"
    if status := logged(kbuild(paths, variant, ["-s", *targets], llvm), log, env=environment()):
        lines = [line for line in log.read_text().splitlines() if line.strip()]
        first = lines[0] if lines else f"make exit {status}"
        raise LabError(f"kernel-{variant}: {first} (all of it: {log})", exit_code=1)


def menu(paths: Paths, variant: str, llvm: bool) -> None:
    argv = kbuild(paths, variant, ["menuconfig"], llvm)
    if subprocess.run(argv, env=environment(), check=False).returncode:
        raise LabError("menuconfig failed", exit_code=1)


def save(paths: Paths, variant: str, llvm: bool) -> Path:
    """Write $(O)/defconfig: what the current configuration has beyond the defaults."""
    _conf(paths, variant, ["savedefconfig"], llvm)
    target = paths.out / "defconfig"
    shutil.copyfile(paths.kernel(variant) / "defconfig", target)
    return target


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="config",
        choices=("config", "unchanged", "defconfig", "menuconfig", "savedefconfig"),
        help="config: configure if out of date (default); unchanged: and refuse one that was "
        "changed by hand; the others as in the kernel",
    )
    parser.add_argument("--kernel", default="guest", choices=VARIANTS)
    parser.add_argument("--llvm", action="store_true", help="for a build with clang")


def verb(args: argparse.Namespace) -> None:
    paths = Paths.from_env()
    if args.action == "defconfig":
        (build_dir(paths, args.kernel) / ".config").unlink(missing_ok=True)
    write(paths, args.kernel, args.llvm)
    if args.action == "unchanged":
        unchanged(paths, args.kernel)
    elif args.action == "menuconfig":
        menu(paths, args.kernel, args.llvm)
    elif args.action == "savedefconfig":
        print(save(paths, args.kernel, args.llvm))

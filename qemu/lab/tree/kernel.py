# SPDX-License-Identifier: GPL-2.0
"""Building a kernel in $(O)/kernel-VARIANT from $(O)/linux."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.host.progress import Progress
from lab.paths import PACKAGE, VARIANTS, Paths
from lab.tree import patches

# Figures depend on the image, so the image depends on nothing but its sources.
REPRODUCIBLE = (
    "KBUILD_BUILD_TIMESTAMP=2020-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER=lab",
    "KBUILD_BUILD_HOST=lab",
    "KBUILD_BUILD_VERSION=1",
)

# Objects of a first build, where no earlier one has been counted: about, for the others.
ESTIMATE = {"guest": 1715, "debug": 1650, "plain": 1500, PACKAGE: 2510}

# Modules of the file systems that only experiments of privileged I/O and crash tests mount, and
# of what only these use; and those that tests load, but no guest of the demo. The configuration
# has them, so the image is the same with and without them; a variable of make keeps kbuild from
# compiling them. IPv6 has parts in the image, which want its symbol as it is.
FILES = (
    *("XFS_FS", "BTRFS_FS", "F2FS_FS", "LIBCRC32C", "XXHASH", "RAID6_PQ", "XOR_BLOCKS"),
    *("ZSTD_COMMON", "ZSTD_COMPRESS", "ZSTD_DECOMPRESS"),
    *("ZLIB_DEFLATE", "LZO_COMPRESS", "LZO_DECOMPRESS"),
    *(f"CRYPTO_{name}" for name in ("BLAKE2B", "SHA256", "XXHASH", "CRC32")),
)
TESTED = (
    *("NET_9P", "NET_9P_VIRTIO", "9P_FS", "NETFS_SUPPORT", "E1000E"),
    *("SCHED_LOTTERY_MUTEX_TEST", "NAPI_LIVELOCK_KUNIT_TEST"),
)

# What kbuild makes for a target of ours.
BUILT = {
    "all": (ARCH.image_target, "modules"),
    "image": (ARCH.image_target,),
    "modules": ("modules",),
    "files": (ARCH.image_target, "modules"),
    "demo": (ARCH.image_target, "modules"),
}
LEFT_OUT = {"files": (), "demo": (*FILES, *TESTED)}

# The kernel that is installed beside others goes by a name of its own.
NAMED = {PACKAGE: ("LOCALVERSION=-who-waits", "KDEB_CHANGELOG_DIST=unstable")}

# Kernels that can have BTF, of which pahole(1) makes a part; the others are to be the same with
# and without it on the machine.
TYPED = ("ext", PACKAGE)

# Variables of our own make, and make's own, mean something else to kbuild.
HIDDEN = (
    *("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES"),
    *("ARCH", "KERNEL", "O", "V"),
    *("CPUS", "MEM", "PORTS", "ACCEL", "TESTS", "MUTANTS", "MATRIX", "LLVM"),
    *("SHARE", "DISK", "NET", "GDB"),
    *("CMD", "CONFIG", "DRY", "EXP", "QUICK", "REPEAT"),
    *("TIER", "CHECKS", "PART", "STRICT"),
)

_STEP = re.compile(r"^\s+[A-Z][A-Z0-9_+-]*(?: \[M\])?\s+\S")
_OBJECT = re.compile(r"\.k?o$")
_CHATTER = re.compile(r"^(Kernel: |make(\[\d+\])?: (Nothing|Entering|Leaving|')|mkdir |$)")


# The compiler through ccache.
CACHED = Path(__file__).with_name("cached.sh")


def environment() -> dict[str, str]:
    """Ours, without what would leak into kbuild or git.

    Started by a hook of git, GIT_DIR would point at a person's repository.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name not in HIDDEN and not name.startswith("GIT_")
    }


def kbuild(paths: Paths, variant: str, targets: Sequence[str], llvm: bool = False) -> list[str]:
    """The make command for targets of the variant's build directory."""
    compiler = "clang" if llvm else f"{ARCH.cross}gcc"
    cached = f"{CACHED} {compiler}" if shutil.which("ccache") else compiler
    return [
        "make",
        "--no-print-directory",
        f"--directory={paths.linux}",
        f"O={paths.kernel(variant)}",
        f"-j{os.cpu_count() or 1}",
        *REPRODUCIBLE,
        *(() if variant in TYPED else ("PAHOLE=",)),
        *([f"ARCH={ARCH.name}", f"CROSS_COMPILE={ARCH.cross}"] if ARCH.foreign else []),
        *(["LLVM=1"] if llvm else []),
        f"CC={cached}",
        # The packages would have the host's programs built again for another compiler.
        *((f"HOSTCC={cached}", *NAMED[variant]) if variant in NAMED else ()),
        *targets,
    ]


def targets(variant: str, target: str = "all") -> tuple[str, ...]:
    """What make is told for a target of ours: the usual one is without FILES."""
    left_out = () if variant == PACKAGE else LEFT_OUT.get(target, FILES)
    return (*(f"CONFIG_{name}=" for name in left_out), *BUILT[target])


def build_dir(paths: Paths, variant: str) -> Path:
    """The variant's build directory; emptied first if $(O)/linux was copied anew."""
    directory = paths.kernel(variant)
    stamp = directory / "lab.generation"
    generation = patches.generation(paths)
    if not generation:
        raise LabError(f"{paths.linux}: not prepared; run make prepare first", exit_code=1)
    if not stamp.exists() or stamp.read_text() != generation:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        stamp.write_text(generation)
    return directory


def build(
    paths: Paths, variant: str, targets: Sequence[str], llvm: bool = False, verbose: bool = False
) -> None:
    """Build targets, showing progress. LabError, exit code 1, if the build fails."""
    directory = build_dir(paths, variant)
    if not (directory / ".config").exists():
        raise LabError(f"{directory}: not configured; run make defconfig first", exit_code=1)
    counts = directory / "lab.objects"
    first = not (directory / "vmlinux").exists()
    argv = kbuild(paths, variant, [*(["V=1"] if verbose else []), *targets], llvm)
    paths.logs.mkdir(parents=True, exist_ok=True)
    log = paths.logs / f"{directory.name}.log"
    progress = Progress(directory.name, _expected(counts, variant) if first else 0, "objects")
    done, status = _follow(argv, log, progress, verbose)
    if status:
        raise LabError(f"{directory.name}: the build failed; everything it said: {log}", 1)
    if first:
        counts.write_text(json.dumps(done) + "\n")


def _expected(counts: Path, variant: str) -> int:
    """Objects of a whole build: as counted last time, else an estimate."""
    try:
        return int(json.loads(counts.read_text()))
    except (OSError, ValueError, TypeError):
        return ESTIMATE.get(variant, ESTIMATE["guest"])


def _follow(argv: Sequence[str], log: Path, progress: Progress, verbose: bool) -> tuple[int, int]:
    """Run a build: everything to the log, steps to progress, the rest to the person.

    Returns the number of objects built and the exit status.
    """
    done = 0
    make = subprocess.Popen(
        argv,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert make.stdout
    try:
        with log.open("w") as out:
            for line in make.stdout:
                out.write(line)
                text = line.rstrip("\n")
                if _STEP.match(text):
                    done += bool(_OBJECT.search(text))
                    progress.update(done)
                elif verbose or not _CHATTER.match(text):
                    progress.say(text)
        status = make.wait()
    finally:
        if make.poll() is None:
            make.terminate()
            make.wait()
        progress.close()
    return done, status


def compile_commands(paths: Paths, variant: str) -> Path:
    """$(O)/compile_commands.json of a kernel that has been built."""
    target = paths.out / "compile_commands.json"
    script = paths.linux / "scripts/clang-tools/gen_compile_commands.py"
    where = (f"--directory={paths.kernel(variant)}", f"--output={target}")
    if subprocess.run([sys.executable, str(script), *where], check=False).returncode:
        raise LabError("gen_compile_commands.py failed", exit_code=1)
    # Editors open our files in modules/, the compiler saw them through the links.
    text = target.read_text()
    for name, link in patches.LINKS.items():
        text = text.replace(f'"file": "{paths.linux}/{link}/', f'"file": "{paths.modules}/{name}/')
    target.write_text(text)
    return target


def tags(paths: Paths, variant: str) -> Path:
    """$(O)/tags of what the variant compiles, modules included."""
    argv = kbuild(paths, variant, ["COMPILED_SOURCE=1", "tags"])
    done = subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise LabError("make tags failed", exit_code=1)
    target = paths.out / "tags"
    shutil.copyfile(paths.kernel(variant) / "tags", target)
    return target


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target",
        nargs="?",
        default="all",
        choices=(*BUILT, "tags", "compile_commands.json"),
    )
    parser.add_argument("--kernel", default="guest", choices=VARIANTS)
    parser.add_argument("--llvm", action="store_true", help="clang and lld instead of gcc and ld")
    parser.add_argument("--verbose", action="store_true", help="show the commands")


def verb(args: argparse.Namespace) -> None:
    paths = Paths.from_env()
    if args.target == "tags":
        print(tags(paths, args.kernel))
    elif args.target == "compile_commands.json":
        print(compile_commands(paths, args.kernel))
    else:
        build(paths, args.kernel, targets(args.kernel, args.target), args.llvm, args.verbose)

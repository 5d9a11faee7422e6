# SPDX-License-Identifier: GPL-2.0
"""python3 -m lab VERB: finds the module of the verb and imports only that one.

Set-up verbs have to run before the Python environment exists, so nothing else
may be imported on their behalf.
"""

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lab import LabError, arch
from lab.host.outdir import claim, owner
from lab.paths import Paths

VERBS = {
    "deps": ("lab.host.deps", "install, or name, the packages that are missing"),
    "prepare": ("lab.tree.patches", "kernel source, patches and links of the modules"),
    "config": ("lab.tree.kconfig", "kernel configuration from the fragments"),
    "kernel": ("lab.tree.kernel", "build a kernel"),
    "export": ("lab.tree.export", "the whole series, new files too, for git am"),
    "deb": ("lab.deb", "Debian packages of kernel, tools and driver"),
    "rootfs": ("lab.host.rootfs", "make the root image"),
    "venv": ("lab.host.venv", "make the Python environment"),
    "clean": ("lab.host.outdir", "remove what was built"),
    "check": ("lab.tree.check", "static checks of patches, C and Python"),
    "bases": ("lab.tree.bases", "does the series apply to the kernels offered, or to a tree?"),
    "series": ("lab.tree.series", "build after every patch of the series"),
    "matrix": ("lab.matrix", "build other kernels and test the lottery class with each"),
    "long": ("lab.long", "what the gate leaves out; some of it five times"),
    "mutants": ("lab.mutants", "plant faults and run the tests that catch them"),
    "ledger": ("lab.ledger", "keep or show what the last runs of the gate found"),
    "run": ("lab.run", "boot the kernel: a shell, or one command"),
    "bench": ("lab.campaign", "run an experiment, or all"),
    "trace": ("lab.trace.verb", "record a run and draw who waits for whom"),
    "figures": ("lab.figures", "put results into the tables of the documents"),
    "report": ("lab.redraw", "plots and one HTML page of the results"),
    "compare": ("lab.compare", "two directories of results, or two runs of an instrument"),
    "plot": ("lab.plot", "draw runs of ipclat or udprate"),
    "hdr": ("lab.hdr", "all samples of such runs as a HdrHistogram log"),
    "flood": ("lab.flood", "frames from the host to a guest's card, a cross-check"),
    "lava": ("lab.labs.lava", "a job for LAVA that runs an experiment, and its results"),
    "course": ("lab.course", "judge the answer to an exercise"),
    "kcidb": ("lab.labs.kcidb", "results of the suites for KCIDB"),
    "demo": ("lab.demo", "each experiment in its smallest scope, on one screen"),
}

# These are first to write into $(O).
SET_UP = ("deps", "prepare", "config", "kernel", "bases", "deb", "rootfs", "venv")
# These only read, or remove: on any machine.
ANYWHERE = (
    *("clean", "report", "figures", "compare", "plot", "hdr", "check", "export"),
    *("lava", "kcidb", "ledger"),
)
# Their figures are about the kernel of configs/, and no other.
MEASURES = ("bench", "demo")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments of the verb named first, by the parser of its own module."""
    parser = argparse.ArgumentParser(prog="lab", description="The lab: build, boot, measure.")
    verb = argv[0] if argv else ""
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (place, summary) in VERBS.items():
        of_verb = subparsers.add_parser(name, help=summary)
        if name == verb:
            module = importlib.import_module(place)
            getattr(module, "register", lambda _: None)(of_verb)
            of_verb.set_defaults(func=module.verb)
    return parser.parse_args(argv)


def told(error: OSError, paths: Paths) -> str:
    """One line for what the operating system refused."""
    where = Path(os.fsdecode(error.filename)) if error.filename else paths.out
    why = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        there = next((path for path in (where, *where.parents) if os.path.lexists(path)), where)
        why += f"; {there} belongs to {owner(there)}"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        why += "; make clean frees some, O=DIR on another disk does, too"
    return f"{where}: {why}"


def run(argv: Sequence[str]) -> int:
    """Run a verb; its exit code."""
    args = parse(argv)
    if args.verb not in ANYWHERE:
        arch.require(os.environ, os.uname())
    paths = Paths.from_env()
    if args.verb in SET_UP:
        claim(paths)
    if args.verb in MEASURES:
        from lab.tree.kconfig import unchanged

        unchanged(paths, "guest")
    return int(args.func(args) or 0)


def main(argv: Sequence[str]) -> int:
    """Run a verb; the exit code. People get one line for what they have to know."""
    try:
        return run(argv)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has ended; the rest of the output is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"lab: {told(error, Paths.from_env())}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0
"""python3 -m lab VERB: finds the module of the verb and imports only that one.

Set-up verbs have to run before the Python environment exists, so nothing else
may be imported on their behalf.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from lab import LabError

VERBS = {
    "deps": ("lab.host.deps", "install, or name, the Debian packages needed"),
    "prepare": ("lab.tree.patches", "kernel source, patches and links of the modules"),
    "config": ("lab.tree.kconfig", "kernel configuration from the fragments"),
    "kernel": ("lab.tree.kernel", "build a kernel"),
    "rootfs": ("lab.host.rootfs", "make the root image"),
    "check": ("lab.tree.check", "static checks of patches, C and Python"),
    "series": ("lab.tree.series", "build after every patch of the series"),
    "mutants": ("lab.mutants", "plant faults and see who notices"),
    "run": ("lab.run", "boot the kernel: a shell, or one command"),
    "bench": ("lab.bench", "run an experiment"),
    "report": ("lab.redraw", "tables and plots of the results"),
    "flood": ("lab.flood", "frames from the host to a guest's card, a cross-check"),
    "demo": ("lab.demo", "the validators on real tasks, a table and plots"),
}


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments of the verb named first, by the parser of its own module."""
    parser = argparse.ArgumentParser(prog="lab", description="The lab: build, boot, measure.")
    verb = argv[0] if argv else ""
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (module, summary) in VERBS.items():
        if name == verb:
            importlib.import_module(module).register(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Run a verb; the exit code. People get one line for what they have to know."""
    try:
        args = parse(argv)
        return int(args.func(args))
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

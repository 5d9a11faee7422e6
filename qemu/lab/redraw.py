# SPDX-License-Identifier: GPL-2.0
"""The `report` verb: draw the figures of the experiments from their records.

Reads $(O)/results, writes $(O)/plots and measures nothing, so that figures can
be redrawn at any time.
"""

from __future__ import annotations

import argparse
from typing import Any

from lab import LabError
from lab.paths import Paths
from lab.subjects.registry import lookup, names


def main(paths: Paths, exp: str | None) -> int:
    """Draw one experiment, or all that have results.  Raises LabError if none has."""
    wanted = names() if exp is None else [lookup(exp).name]
    there = [name for name in wanted if (paths.results / f"{name}.json").exists()]
    if not there:
        raise LabError(
            f"{paths.results}: no results of {', '.join(wanted)}: run `make bench EXP={wanted[0]}`"
        )
    for name in there:
        files = lookup(name).draw(paths.results, paths.plots, name)
        if not files:
            raise LabError(f"{paths.results / name}.json: holds nothing that can be drawn")
        for file in files:
            print(file)
    return 0


def register(subparsers: Any) -> None:
    """Add the `report` verb."""
    text = "draw the figures of the results under $(O)/results into $(O)/plots"
    parser = subparsers.add_parser("report", help=text, description=text)
    parser.add_argument("--exp", metavar="NAME", help=f"one of {', '.join(names())}; default: all")
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    return main(Paths.from_env(), args.exp)

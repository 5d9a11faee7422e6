# SPDX-License-Identifier: GPL-2.0
"""The `report` verb: the figures of the experiments and one page, from their records.

Reads $(O)/results, writes $(O)/plots and $(O)/report.html and measures nothing, so
that both can be made again at any time.
"""

import argparse
import sys

from lab import LabError
from lab.paths import Paths
from lab.registry import PICTURES, lookup, names
from lab.report import page, three
from lab.report.results import fullest, stem


def main(paths: Paths, exp: str | None) -> int:
    """Draw one experiment, or all that have results, and write the page.

    Of each experiment the fullest results are taken.  Raises LabError if none has any, or the
    one that is asked for holds nothing that can be drawn.
    """
    wanted = names() if exp is None else [lookup(exp).name]
    scopes = {name: fullest(paths.results, name) for name in wanted}
    stems = {name: stem(name, scope) for name, scope in scopes.items() if scope}
    if not stems:
        raise LabError(
            f"{paths.results}: no results of {', '.join(wanted)}: run `make bench EXP={wanted[0]}`"
        )
    for name, found in stems.items():
        files = lookup(name).draw(paths.results, paths.plots, found)
        if not files:
            complaint = f"{paths.results / found}.json: holds nothing that can be drawn"
            if exp is not None:
                raise LabError(complaint)
            # Of an earlier form: the others have their page.
            print(f"lab: {complaint}", file=sys.stderr)
        for file in files:
            print(file)
    for file in three.draw(paths):
        print(file)
    print(page.write(paths, pictured=tuple(PICTURES)))
    return 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "figures and one HTML page of the results under $(O)/results"
    parser.add_argument(
        "--exp", metavar="NAME", help=f"draw only one of {', '.join(names())}; default: all"
    )


def verb(args: argparse.Namespace) -> int:
    return main(Paths.from_env(), args.exp)

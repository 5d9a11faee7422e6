# SPDX-License-Identifier: GPL-2.0
"""The `figures` verb: put what was measured into the documents.

What is marked there, see lab.report.quotes, is taken from $(O)/results, and the pictures of
PICTURES from $(O)/plots. Nothing else of a document is touched, and no number of such a table
is typed by hand.
"""

import argparse
import difflib
import filecmp
import shutil
from functools import partial
from pathlib import Path

from lab import LabError, one_of
from lab.experiment import SCOPES
from lab.paths import Paths
from lab.registry import lookup, names
from lab.report import results
from lab.report.quotes import renewed
from lab.report.records import write_text

PICTURES = {"three.png": "three.png", "lottery-cycle.png": "lottery-figure-3.png"}
"""The documents' pictures, by the plot that each of them is."""


def documents(top: Path) -> list[Path]:
    """Where tables may be marked."""
    return [top / "README.md", *sorted((top / "Documentation").glob("**/*.rst"))]


def measured(paths: Paths, exp: str | None, name: str, scope: str) -> results.Run | None:
    """What was measured, or None if there is nothing or it is not asked for."""
    lookup(name)
    one_of("scope", scope, SCOPES)
    if exp not in (None, name):
        return None
    run = results.run(paths, name, scope)
    return run if run.stem else None


def renew_pictures(paths: Paths, check: bool) -> list[str]:
    """Copy the pictures that are drawn anew, but with `check`; returns those that differ."""
    differ = []
    for name, plot in PICTURES.items():
        drawn, shown = paths.plots / plot, paths.top / "Documentation/images" / name
        if drawn.exists() and not (shown.exists() and filecmp.cmp(drawn, shown, shallow=False)):
            differ.append(str(shown.relative_to(paths.top)))
            if not check:
                shown.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(drawn, shown)
    return differ


def main(paths: Paths, exp: str | None, check: bool) -> int:
    """Renew tables and pictures that have results; with `check` only say which would change.

    Returns 1 if some differ and are to be checked.  Raises LabError, naming the document, for
    a mark that is not right, and if there are no results of any.
    """
    differ: list[str] = []
    count = 0
    for file in documents(paths.top):
        old = file.read_text(encoding="utf-8")
        document = str(file.relative_to(paths.top))
        try:
            new, made = renewed(old, document, partial(measured, paths, exp))
        except LabError as error:
            raise LabError(f"{document}: {error}") from None
        count += len(made)
        if new == old:
            continue
        differ.append(document)
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), document, document, "", "", 0, ""
        )
        print("\n".join(lines))
        if not check:
            write_text(file, new)
    if not count:
        raise LabError(
            f"{paths.results}: no results of a table that is marked: run `make bench`, as the "
            f"documents tell"
        )
    if exp is None:
        differ += renew_pictures(paths, check)
    print(f"{count} tables, {len(differ)} files {'differ' if check else 'changed'}")
    return 1 if check and differ else 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "put the results under $(O)/results into the tables of the documents"
    parser.add_argument(
        "--exp", metavar="NAME", help=f"of one of {', '.join(names())}; default: all"
    )
    parser.add_argument("--check", action="store_true", help="change nothing: exit 1 if any differ")


def verb(args: argparse.Namespace) -> int:
    exp = None if args.exp is None else lookup(args.exp).name
    return main(Paths.from_env(), exp, args.check)

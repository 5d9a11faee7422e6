# SPDX-License-Identifier: GPL-2.0
"""The `plot` verb: draw runs of an instrument.  Needs no kernel and no guest.

Where all samples are there (--buckets), how many took longer than so long; otherwise
means, their intervals, and the outermost percentiles.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.report.document import Document, Result, read_document
from lab.report.sheet import MUTED, Sheet

COLOURS = ("#2b6cb0", "#c0392b", "#1e8449", "#d68910", "#6c3483", "#117a8b")
DASHES = ("-", "--", "-.", ":")
PERCENTILES = "percentiles_"


@dataclass(frozen=True)
class Drawn:
    """A result of a run, with a name that tells it from all others."""

    label: str
    result: Result

    @property
    def unit(self) -> str:
        """Of its figures: of its percentiles, ns before cycles."""
        names = [key for key in self.result.figures if key.startswith(PERCENTILES)]
        return names[0].partition(".")[0].removeprefix(PERCENTILES) if names else ""

    def percentiles(self) -> list[float]:
        """From the least to the greatest."""
        stem = f"{PERCENTILES}{self.unit}."
        return sorted(v for k, v in self.result.figures.items() if k.startswith(stem))

    def tail(self) -> tuple[list[float], list[float]]:
        """Ends of buckets, and what part of the samples is beyond each."""
        buckets = self.result.lists.get(f"buckets_{self.unit}", [])
        count = sum(bucket[2] for bucket in buckets)
        left, xs, ys = count, [], []
        for low, _, many in buckets:
            if low > 0:
                xs.append(low)
                ys.append(left / count)
            left -= many
        return xs, ys


def _drawn(documents: Sequence[tuple[str, Document]]) -> Iterator[Drawn]:
    for name, document in documents:
        for result in document.named().values():
            if not result.missing:
                label = result.name.removesuffix(" forward")
                yield Drawn(label if len(documents) == 1 else f"{label}, {name}", result)


def _draw_tails(sheet: Sheet, items: Sequence[Drawn]) -> None:
    axes = sheet.axes
    for number, item in enumerate(items):
        style = DASHES[number // len(COLOURS) % len(DASHES)]
        colour = COLOURS[number % len(COLOURS)]
        axes.step(*item.tail(), style, where="post", color=colour, label=item.label, lw=1.4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(items[0].unit)
    axes.set_ylabel("part of the samples that are as great or greater")
    # beside the curves, which fill the axes
    axes.set_position((0.11, 0.1, 0.64, 0.755))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)


def _draw_ranges(sheet: Sheet, items: Sequence[Drawn]) -> None:
    axes = sheet.axes
    for place, item in enumerate(reversed(items)):
        found = item.percentiles()
        colour = COLOURS[0]
        axes.plot([found[0], found[-1]], [place] * 2, color=MUTED, lw=2)
        mean = f"mean_{item.unit}"
        if mean in item.result.figures:
            axes.plot([item.result.figures[mean]], [place], "o", color=colour)
        ends = item.result.interval(mean)
        if ends:
            axes.plot(ends, [place] * 2, color=colour, lw=4, alpha=0.5)
    axes.set_xscale("log")
    axes.set_yticks(range(len(items)), [item.label for item in reversed(items)], fontsize=8)
    axes.set_xlabel(
        f"{items[0].unit}; dot and thick line: mean and its 95 % interval; thin line: percentiles"
    )
    axes.grid(visible=False, axis="y")
    axes.set_position((0.25, 0.1, 0.7, 0.755))


def sheet_of(documents: Sequence[tuple[str, Document]]) -> Sheet:
    """One figure of all results.  Raises LabError if there is nothing to draw."""
    items = [item for item in _drawn(documents) if item.unit]
    if not items:
        raise LabError(f"{documents[0][0]}: holds nothing that can be drawn")
    tools = sorted({document.tool for _, document in documents})
    first = documents[0][1]
    where = f"{first.host}, {first.cpu_model}, Linux {first.kernel}, {first.time}"
    sheet = Sheet(", ".join(tools), where)
    if all(item.tail()[0] for item in items):
        _draw_tails(sheet, items)
    else:
        _draw_ranges(sheet, items)
    return sheet


def main(files: Sequence[Path], output: Path) -> int:
    """Draw the runs in FILES as OUTPUT.png and OUTPUT.svg."""
    documents = [(file.stem, read_document(file)) for file in files]
    for path in sheet_of(documents).save(output.parent, output.name):
        print(path)
    return 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "draw runs of ipclat or of udprate: what they printed with --json"
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+")
    parser.add_argument(
        "--output",
        metavar="STEM",
        type=Path,
        help="write STEM.png and STEM.svg (default: the first file's name without .json)",
    )


def verb(args: argparse.Namespace) -> int:
    return main(args.files, args.output or args.files[0].with_suffix(""))

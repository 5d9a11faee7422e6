# SPDX-License-Identifier: GPL-2.0
"""The `hdr` verb: all samples of runs as a HdrHistogram log, which other people's tools read.

Each result is an interval with a tag of its own, which begins when the run did; values are
nanoseconds, each the middle of its bucket.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from lab import LabError
from lab.report.document import Document, Result, read_document

# How many ns a unit of the instruments has.
UNITS = {"ns": 1, "us": 1000}
# Significant digits: the instruments keep 128 buckets to a power of two.
DIGITS = 3


@dataclass(frozen=True)
class Tagged:
    """The samples of a result: how many there are of each duration, in ns."""

    tag: str
    time: datetime
    counts: list[tuple[int, int]]

    @property
    def negative(self) -> int:
        """Samples that took less than the reading of a clock, which was taken off."""
        return sum(count for value, count in self.counts if value < 0)

    def histogram(self) -> HdrHistogram:
        """As the library keeps it; what is negative counts as 0."""
        highest = max(2, *(value for value, _ in self.counts))
        histogram = HdrHistogram(1, 2 * highest, DIGITS)
        for value, count in self.counts:
            histogram.record_value(max(value, 0), count)
        return histogram


def _counts(result: Result) -> list[tuple[int, int]]:
    for unit, ns in UNITS.items():
        if buckets := result.lists.get(f"buckets_{unit}"):
            return [(round((low + high) / 2 * ns), count) for low, high, count in buckets]
    return []


def tagged(documents: Sequence[tuple[str, Document]]) -> Iterator[Tagged]:
    """What there are samples of; tags have the name of the file if there are several."""
    for file, document in documents:
        begun = datetime.fromisoformat(document.time)
        for result in document.named().values():
            words = result.name if len(documents) == 1 else f"{file} {result.name}"
            if counts := _counts(result):
                yield Tagged("-".join(words.replace(",", " ").split()), begun, counts)


def main(files: Sequence[Path], output: Path) -> int:
    """Write the log.  Raises LabError where a file has no samples."""
    documents = [(file.stem, read_document(file)) for file in files]
    for file, pair in zip(files, documents, strict=True):
        if not list(tagged([pair])):
            raise LabError(f"{file}: holds no samples: it takes --json --buckets to have them")
    try:
        with output.open("w", encoding="ascii") as stream:
            writer = HistogramLogWriter(stream)
            writer.output_log_format_version()
            for item in tagged(documents):
                if item.negative:
                    writer.output_comment(f"{item.tag}: {item.negative} below 0 ns, written as 0")
                stream.write(f"Tag={item.tag},")
                at = item.time.timestamp()
                writer.output_interval_histogram(item.histogram(), at, at)
    except OSError as error:
        raise LabError(f"{output}: {error.strerror}") from None
    print(output)
    return 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "a HdrHistogram log of runs of ipclat or of udprate (--json --buckets)"
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+")
    parser.add_argument(
        "--output", metavar="LOG", type=Path, help="default: the first file's name with .hlog"
    )


def verb(args: argparse.Namespace) -> int:
    return main(args.files, args.output or args.files[0].with_suffix(".hlog"))

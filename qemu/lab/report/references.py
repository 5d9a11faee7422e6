# SPDX-License-Identifier: GPL-2.0
"""What the five reference documents print: references.toml, as data.

It is the one place that these numbers are in; the plots and the report read them here.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lab import LabError

FILE = Path(__file__).with_name("references.toml")


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document; its name is that of the experiment that repeats it.

    `subject` is that in words; `original` is the document's own title, with place and year as
    far as it states them; `link` is one that it states, and `link_is` what is there. `words`
    explains what the figures below it call things.
    """

    subject: str
    title: str
    authors: str
    original: str
    link: str = ""
    link_is: str = ""
    caution: str = ""
    words: dict[str, str] = {}


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One column: what is printed there by row, and which records stand beside it.

    `by` names the parameter of a record, or "variant", that is its row. What is printed
    is divided by `divide`. With `error` a record's value is per cent off its row. Without
    `metric` nothing can be measured here. Text in `theirs` is a result that is no number.
    """

    name: str
    by: str
    metric: str = ""
    variant: str | None = None
    where: dict[str, str | int | float] = {}
    divide: float = 1.0
    error: bool = False
    theirs: dict[str, str | int | float] = {}

    def printed(self) -> dict[str, float | str]:
        """What is printed by row, in the unit of the figure."""
        return {
            row: value if isinstance(value, str) else value / self.divide
            for row, value in self.theirs.items()
        }


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A figure or a table: what it claims, and how that is judged here.

    The claim holds if all `goals` of the experiment are met; with `refuted` they say the
    opposite, that it is a problem of theirs and solved here. With `order` it holds if the first
    column rises from row to row. Without any of them it is not judged.
    `plots` are the figures drawn of our results, without the experiment's name.
    """

    id: str
    document: str
    number: str
    title: str
    claim: str
    note: str
    row: str
    unit: str = ""
    refuted: bool = False
    goals: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    plots: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()


class References(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The documents in the order in which they are shown, and their figures."""

    documents: dict[str, Document]
    figures: tuple[Figure, ...]

    def of(self, document: str) -> list[Figure]:
        """The figures of a document."""
        return [figure for figure in self.figures if figure.document == document]

    def column(self, figure: str, series: str) -> dict[str, float]:
        """The numbers printed in one column, by row.  Raises LabError without such a column."""
        for one in self.figures:
            for found in one.series:
                if (one.id, found.name) == (figure, series):
                    pairs = found.printed().items()
                    return {row: value for row, value in pairs if not isinstance(value, str)}
        raise LabError(f"{FILE.name}: figure '{figure}' has no column '{series}'")


def _added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both; what the other has counts, and their `where` add up."""
    return {**one, **other, "where": {**one.get("where", {}), **other.get("where", {})}}


def _figure(row: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """A figure with what is common to its document, which its id begins with, and is shared."""
    document = str(row.get("id")).partition("-")[0]
    of_all = common.get(document, {})
    whole = {**of_all, **row, "document": document}
    shared = _added(of_all.get("shared", {}), whole.pop("shared", {}))
    return {**whole, "series": [_added(shared, own) for own in whole.get("series", ())]}


def parse(text: str) -> References:
    """The references of a TOML text.  Raises LabError that names what is wrong."""
    try:
        raw = tomllib.loads(text)
        common = raw.pop("common", {})
        figures = [_figure(row, common) for row in raw.get("figures", ())]
        found = msgspec.convert({**raw, "figures": figures}, References)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise LabError(f"{FILE.name}: {error}") from None
    names = [figure.id for figure in found.figures]
    plots = [(figure.document, plot) for figure in found.figures for plot in figure.plots]
    for document, plot in plots:
        if plots.count((document, plot)) > 1:
            raise LabError(f"{FILE.name}: plot '{plot}': must be of one figure")
    for figure in found.figures:
        if figure.document not in found.documents or names.count(figure.id) > 1:
            raise LabError(f"{FILE.name}: figure '{figure.id}': one of a known document, once")
    return found


@cache
def references() -> References:
    """Those of the project."""
    return parse(FILE.read_text(encoding="utf-8"))

# SPDX-License-Identifier: GPL-2.0
"""Tables of documents that are taken from results.

A mark stands in front of each, as a comment that the reader does not see:

    <!-- figures: lottery quick -->          .. figures: lottery quick

It names an experiment and the scope that was measured. By itself it stands for the
goals that the document quotes: what, wanted, measured. With lines below it, for records:

    .. figures: wrais full
       rows: variant: bfq; member = in a group
       columns: background: 1r; 4r4w = 4 readers, 4 writers
       where: metric = startup_over_idle; depth = 2
       form: .3f
       beside: median

Rows and columns are values of a parameter, of `variant` or of `metric`, in this order, with
what the table calls them. `beside` is a part of the spread, which follows in parentheses.
A cell has several numbers where `where` and `form` have: `metric = got_pps / late_us`,
`quantile = - / p99` (the first has none), `.0f / .1f`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

from lab import LabError
from lab.report.goals import NOT_MEASURED, Verdict, unsigned
from lab.report.records import Param, Record
from lab.report.results import Run

MARK = re.compile(r"(?:<!--|\.\.) figures: (?P<exp>\w+) (?P<scope>\w+)(?P<end> ?-->)?")
KEYS = ("rows", "columns", "where", "form", "beside")
HEADER = ("what", "wanted", "measured")
SLASH, NONE = " / ", "-"
"""Between the numbers of a cell, and what is said of each; and where nothing is there."""
RULES = "|=-+"
"""What the lines of a table begin with."""


@dataclass(frozen=True)
class Quote:
    """A mark: lines [first, table) of a document; its table, if there is one, ends before `end`."""

    exp: str
    scope: str
    first: int
    table: int
    end: int
    words: Mapping[str, str] = field(default_factory=dict)


def _pairs(text: str) -> dict[str, str]:
    """`a; b = c` with a label for each: without one it is its name."""
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, _, label = (word.strip() for word in part.partition("="))
        found[name] = label or name
    return found


def _axis(quote: Quote, key: str) -> tuple[str, dict[str, str]]:
    """A parameter, and what the table calls its values."""
    name, colon, values = quote.words.get(key, "").partition(":")
    labels = _pairs(values)
    if not colon or not labels:
        raise LabError(f"line {quote.first + 1}: {key}: must be 'NAME: VALUE; VALUE = LABEL'")
    return name.strip(), labels


def _words(lines: Sequence[str], first: int, last: int) -> dict[str, str]:
    """The lines of a mark below its first; one without a key goes on."""
    found: dict[str, str] = {}
    key = ""
    for number in range(first, last):
        line = lines[number].strip()
        word, colon, text = line.partition(":")
        if colon and word in KEYS:
            key, found[word] = word, text.strip()
        elif key and not (colon and word.isidentifier()):
            found[key] += f" {line}"
        else:
            raise LabError(f"line {number + 1}: '{word}': allowed are {', '.join(KEYS)}")
    return found


def _mark_end(lines: Sequence[str], at: int, match: re.Match[str]) -> tuple[int, int]:
    """The line behind the last word of a mark, and that behind the mark."""
    if match["end"]:
        return at + 1, at + 1
    is_open = lines[at].startswith("<!--")
    end = at + 1
    while end < len(lines) and (
        lines[end].strip() != "-->" if is_open else lines[end].startswith(" ")
    ):
        end += 1
    if is_open and end == len(lines):
        raise LabError(f"line {at + 1}: the mark has no end: '-->' in a line of its own")
    return end, end + is_open


def quotes(lines: Sequence[str]) -> Iterator[Quote]:
    """The marks of a document, in their order.  Raises LabError that names a line."""
    for at, line in enumerate(lines):
        match = MARK.fullmatch(line.rstrip())
        if not match:
            continue
        words_end, behind = _mark_end(lines, at, match)
        start = behind
        while start < len(lines) and not lines[start].strip():
            start += 1
        end = start
        while end < len(lines) and lines[end].strip():
            end += 1
        if start == len(lines) or lines[start][0] not in RULES:
            start = end = behind
        words = _words(lines, at + 1, words_end)
        yield Quote(match["exp"], match["scope"], at, behind, end, words)


def _goals(verdicts: Sequence[Verdict], document: str) -> tuple[Sequence[str], list[list[str]]]:
    """The goals that a document quotes, if they were measured; what was missed says so."""
    rows = [
        [one.name, one.bound, one.measured + (f", {one.outcome}" if one.met is False else "")]
        for one in verdicts
        if document in one.quoted and one.measured != NOT_MEASURED
    ]
    return HEADER, rows


def _text(value: Param) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _names(record: Record) -> dict[str, str]:
    params = {name: _text(value) for name, value in record.params.items()}
    return {**params, "metric": record.metric, "variant": record.variant}


def _number(quote: Quote, found: Sequence[Record], place: str, form: str) -> str:
    if not found:
        return ""
    where = f"line {quote.first + 1}"
    if len(found) > 1:
        raise LabError(f"{where}: {place}: {len(found)} records: where must tell one")
    record, beside = found[0], quote.words.get("beside", "")
    text = unsigned(f"{record.value:{form}}")
    if not beside:
        return text
    spread = record.spread if isinstance(record.spread, Mapping) else {}
    if beside not in spread:
        raise LabError(f"{where}: beside: '{beside}': allowed are {', '.join(spread)}")
    return f"{text} ({spread[beside]:{form}})"


def _numbers(quote: Quote) -> list[tuple[str, dict[str, str]]]:
    """The form of each number of a cell, and what the record has that it is taken from."""
    form = quote.words.get("form", ".3g").split(SLASH)
    where = {name: text.split(SLASH) for name, text in _pairs(quote.words.get("where", "")).items()}
    several = {name: len(each) for name, each in {"form": form, **where}.items() if len(each) > 1}
    if len(set(several.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in several.items())
        raise LabError(f"line {quote.first + 1}: numbers of a cell: {told}: must be as many")
    found = []
    for at in range(max(several.values(), default=1)):
        picked = {name: each[at % len(each)] for name, each in where.items()}
        fixed = {name: text for name, text in picked.items() if text != NONE}
        found.append((form[at % len(form)], fixed))
    return found


def _pivot(quote: Quote, records: Sequence[Record]) -> tuple[Sequence[str], list[list[str]]]:
    """Records over two of their parameters."""
    (down, rows), (across, columns) = _axis(quote, "rows"), _axis(quote, "columns")
    numbers = _numbers(quote)
    named = [(_names(record), record) for record in records]

    def cell(row: str, column: str) -> str:
        texts = []
        for form, fixed in numbers:
            wanted = {**fixed, down: row, across: column}
            found = [r for names, r in named if wanted.items() <= names.items()]
            texts.append(_number(quote, found, f"{row}, {column}", form))
        return SLASH.join(text or NONE for text in texts) if any(texts) else ""

    cells = [[label, *(cell(row, column) for column in columns)] for row, label in rows.items()]
    return [down, *columns.values()], cells


def table(quote: Quote, run: Run, document: str) -> list[str]:
    """The lines of a table.  Raises LabError if nothing of it was measured."""
    if quote.words:
        header, rows = _pivot(quote, run.records)
    else:
        header, rows = _goals(run.verdicts, document)
    if not any(any(row[1:]) for row in rows):
        raise LabError(f"line {quote.first + 1}: nothing of it in the results of {run.command}")
    style = "github" if document.endswith(".md") else "rst"
    return tabulate(rows, header, tablefmt=style, disable_numparse=True).splitlines()


def renewed(
    text: str, document: str, results: Callable[[str, str], Run | None]
) -> tuple[str, list[Quote]]:
    """A document with the tables of the runs that there are, and the marks of those."""
    lines = text.splitlines()
    made: list[tuple[Quote, list[str]]] = []
    for quote in quotes(lines):
        run = results(quote.exp, quote.scope)
        if run is not None:
            made.append((quote, table(quote, run, document)))
    for quote, found in reversed(made):
        behind = [""] if lines[quote.end : quote.end + 1] not in ([], [""]) else []
        lines[quote.table : quote.end] = ["", *found, *behind]
    return "\n".join(lines) + "\n", [quote for quote, _ in made]

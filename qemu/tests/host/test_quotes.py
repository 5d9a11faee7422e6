# SPDX-License-Identifier: GPL-2.0
"""Tables of documents: taken from results, and nothing else of a document is touched."""

import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest

from lab import LabError, figures
from lab.paths import Paths
from lab.report.goals import Verdict, goals_json
from lab.report.quotes import quotes, renewed, table
from lab.report.records import Record, write_text
from lab.report.results import Run
from tests.documents import FILES, TOP

PAGE = "Documentation/page.rst"
RECORDS = [
    Record("toy", "start", variant, {"load": load, "depth": 2}, value, "s", 3, {"median": 1.0})
    for variant, load, value in (("old", "1r", 3.5), ("old", "1w", 4.25), ("new", "1r", 1.0625))
]
VERDICTS = [
    Verdict("start", "<= 1.1", "1.06", True, (PAGE, "README.md")),
    Verdict("stalls", "<= 2", "3", False, (PAGE,)),
    Verdict("else", "<= 2", "3", False, ("README.md",)),
    Verdict("nothing", "<= 2", "not measured", None, (PAGE,)),
]
RUN = Run("toy", "toy", "full", RECORDS, VERDICTS)
PIVOT = """\
.. figures: toy full
   rows: variant: old; new = ours, on
      both
   columns: load: 1w; 1r = a reader
   where: metric = start; depth = 2
   form: .2f
   beside: median
"""


def of(name: str, scope: str) -> Run | None:
    return RUN if (name, scope) == ("toy", "full") else None


def test_goals_that_the_document_quotes() -> None:
    text, made = renewed("before\n\n.. figures: toy full\n\nbehind\n", PAGE, of)
    assert len(made) == 1
    rule = "======  ========  =========="
    table = [rule, "what    wanted    measured", rule, "start   <= 1.1    1.06"]
    table += ["stalls  <= 2      3, missed", rule]
    assert text.splitlines() == ["before", "", ".. figures: toy full", "", *table, "", "behind"]
    assert renewed(text, PAGE, of)[0] == text
    readme, _ = renewed("<!-- figures: toy full -->\nbehind\n", "README.md", of)
    assert "| start  | <= 1.1   | 1.06       |" in readme.splitlines()
    assert "| else   | <= 2     | 3, missed  |" in readme.splitlines()
    assert "stalls" not in readme and readme.endswith("|\n\nbehind\n")


def test_records_over_two_parameters() -> None:
    text, _ = renewed(f"{PIVOT}\n=== ===\nold table\n=== ===\n\nbehind\n", PAGE, of)
    lines = text.splitlines()
    assert lines[:7] == PIVOT.splitlines() and lines[-2:] == ["", "behind"]
    assert lines[9].split("  ")[0] == "variant" and lines[9].endswith("a reader")
    assert lines[11].split() == ["old", "4.25", "(1.00)", "3.50", "(1.00)"]
    assert lines[12].split() == ["ours,", "on", "both", "1.06", "(1.00)"]
    assert "old table" not in text and renewed(text, PAGE, of)[0] == text


def test_several_numbers_in_a_cell() -> None:
    deeper = [replace(RECORDS[2], params={"load": "1r", "depth": 3, "late": "yes"}, value=7.0625)]
    run = Run("toy", "toy", "full", RECORDS + deeper, VERDICTS)
    mark = PIVOT.replace("depth = 2", "depth = 2 / 3; late = - / yes").replace(".2f", ".1f / .3f")
    text, _ = renewed(mark.replace("   beside: median\n", ""), PAGE, lambda *_: run)
    old, ours = (line.split() for line in text.splitlines()[10:12])
    assert old == ["old", "4.2", "/", "-", "3.5", "/", "-"]
    assert ours == ["ours,", "on", "both", "1.1", "/", "7.062"]


def test_a_comment_of_markdown_may_have_lines() -> None:
    mark = "<!-- figures: toy full\nrows: variant: new\ncolumns: load: 1r\n-->\n"
    text, _ = renewed(f"{mark}\n| a |\n\nbehind\n", "README.md", of)
    assert text.startswith(mark) and "| new       | 1.06 |" in text and "| a |" not in text


def test_what_was_not_measured_stays() -> None:
    text = ".. figures: toy quick\n\n== ==\nold table\n== ==\n"
    assert renewed(text, PAGE, of) == (text, [])
    with pytest.raises(LabError, match=r"line 1: nothing of it in .* make bench EXP=toy"):
        renewed(PIVOT.replace("start", "end"), PAGE, of)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("form:", "shape:", "line 5: 'shape': allowed are rows, columns, where, form, beside"),
        ("load: 1w; 1r = a reader", "load", "line 1: columns: must be 'NAME: VALUE"),
        ("beside: median", "beside: mean", "line 1: beside: 'mean': allowed are median"),
        ("variant: old; new = ours, on", "metric: start", "2 records: where must tell one"),
        (".2f", ".2f / .1f / .1f\n   where: depth = 2 / 3", "form 3, depth 2: must be as many"),
    ],
)
def test_a_mark_that_is_not_right(old: str, new: str, said: str) -> None:
    text = PIVOT.replace(old, new).replace("      both\n", "")
    with pytest.raises(LabError, match=said.replace("(", r"\(")):
        renewed(text, PAGE, of)
    with pytest.raises(LabError, match="line 1: the mark has no end"):
        renewed("<!-- figures: toy full\nrows: variant: new\n", "README.md", of)


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Paths(tmp_path / "top", tmp_path / "out")
    readme, other = place.top / "README.md", place.top / PAGE
    other.parent.mkdir(parents=True)
    place.results.mkdir(parents=True)
    old, untouched = (
        "<!-- figures: lottery quick -->\n\n| a |\n",
        ".. figures: udp full\n\nbehind\n",
    )
    readme.write_text(old)
    other.write_text(untouched)
    write_text(place.results / "lottery-quick.json", "[]\n")
    (place.results / "lottery-quick-goals.json").write_text(goals_json(VERDICTS))
    assert figures.main(place, None, check=True) == 1
    assert readme.read_text() == old and "+| else" in capsys.readouterr().out
    assert figures.main(place, None, check=False) == 0
    assert "| else" in readme.read_text() and "| a |" not in readme.read_text()
    assert other.read_text() == untouched
    assert figures.main(place, "lottery", check=True) == 0
    assert capsys.readouterr().out.endswith("1 tables, 0 files differ\n")

    write_text(place.plots / "three.png", "drawn anew")
    picture = place.top / "Documentation/images/three.png"
    assert figures.main(place, None, check=True) == 1 and not picture.exists()
    assert figures.main(place, None, check=False) == 0 and picture.read_text() == "drawn anew"
    assert figures.main(place, None, check=True) == 0

    for mark, said in (
        ("lottary quick", "README.md: EXP 'lottary': allowed are"),
        ("lottery slow", "README.md: scope 'slow': allowed are full, quick, demo"),
        ("lottery full", "no results of a table that is marked"),
    ):
        readme.write_text(f"<!-- figures: {mark} -->\n")
        with pytest.raises(LabError, match=said):
            figures.main(place, None, check=False)


def test_the_marks_of_the_documents_are_right() -> None:
    found = [(file, quote) for file in FILES for quote in quotes(file.read_text().splitlines())]
    assert found
    for file, quote in found:
        where = f"{file.relative_to(TOP)}:{quote.first + 1}"
        assert quote.end > quote.table, f"{where}: no table"
        figures.measured(Paths(TOP, TOP / "none"), None, quote.exp, quote.scope)
        if quote.words:
            run = Run(quote.exp, "", quote.scope)
            with pytest.raises(LabError, match="nothing of it"):
                table(quote, run, str(file.relative_to(TOP)))


FIGURE = re.compile(r"[<>*]*[ -]?\d[\d,.]*( ?%| x)?\**( [(/].*)?")
RULE = re.compile(r"=+( +=+)+|\|[-:|]+\|")


def cells(table: list[str]) -> list[str]:
    """The cells of a table below its header, not those of its first column."""
    rule = next(line for line in table if RULE.fullmatch(line))
    spans = [match.span() for match in re.finditer(r"=+|(?<=\|)[^|]+", rule)][1:]
    rows = [
        line.split("|")[2:-1] if "|" in rule else [line[a:b] for a, b in spans] for line in table
    ]
    return [cell.strip() for row in rows for cell in row if cell.strip(" =-")]


def test_a_table_of_figures_is_taken_from_results() -> None:
    for file in FILES:
        lines = file.read_text().splitlines()
        drawn = {quote.table + 1 for quote in quotes(lines)}
        starts = [at for at, line in enumerate(lines) if line and not lines[at - 1]]
        for at in set(starts) - drawn:
            table = list(takewhile(bool, lines[at:]))
            if any(map(RULE.fullmatch, table)):
                found = cells(table)
                figures = [cell for cell in found if FIGURE.fullmatch(cell)]
                where = f"{file.relative_to(TOP)}:{at + 1}"
                assert len(figures) < len(found) / 2, f"{where}: no mark, but {figures[:4]}"

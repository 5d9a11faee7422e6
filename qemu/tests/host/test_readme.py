# SPDX-License-Identifier: GPL-2.0
"""What README says: short, with figures that are among the results, and links that are known."""

from __future__ import annotations

import re

from lab.report.references import references
from tests.documents import TOP

README = (TOP / "README.md").read_text()
RESULTS = (TOP / "Documentation/results.rst").read_text()
MOST_LINES = 120


def cells(name: str) -> list[str]:
    """The row of the results that begins so, in words."""
    (line,) = [line for line in RESULTS.splitlines() if line.startswith(f"{name}  ")]
    return re.split(r"\s{2,}", line.strip())[1:]


def row(words: str) -> str:
    """Of the table in README."""
    (line,) = [line for line in README.splitlines() if line.startswith("|") and words in line]
    return line


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_its_figures_are_those_of_the_results() -> None:
    assert f"**{cells('ratio_10_1')[1]} to 1**" in row("10 to 1")
    stock, ours = (float(cells(name)[0]) for name in ("stock BFQ", "privileged"))
    assert f"takes {stock:.2f} times" in row("starts") and f"**{ours:.2f} times**" in row("starts")
    flood = row("60,000 packets/s")
    got, left = cells("e1000, in-tree")
    assert f"| {got}/s reach the application, and {left} % of the CPU" in flood
    got, left = cells("e1000, in-tree, with the governor, no GRO")
    assert f"**{got}/s**, and {left} % of the CPU is left" in flood


def test_the_references_are_named_with_the_links_that_they_state() -> None:
    text = " ".join(README.split())
    for document in references().documents.values():
        assert f"{document.authors}: *{document.original.partition(' (')[0]}*" in text
        assert f"[{document.link_is}]({document.link})" in text or not document.link
    links = set(re.findall(r"\((http[^)]*)\)", text))
    assert links == {one.link for one in references().documents.values() if one.link}


def test_what_it_names_is_there() -> None:
    for path in re.findall(r"\]\(([^):#]+)\)", README):
        assert (TOP / path).exists(), path

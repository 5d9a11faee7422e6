# SPDX-License-Identifier: GPL-2.0
"""The words that guest and host share: read from the header, none missing, none twice."""

import re
from pathlib import Path

import pytest

from lab import LabError
from lab.guest import protocol
from lab.paths import Paths

TOP = Paths.from_env().top
HEADER = TOP / protocol.HEADER


@pytest.fixture
def words(tmp_path: Path) -> protocol.Protocol:
    """A header with one of each."""
    header = tmp_path / "words.h"
    header.write_text(
        "#ifndef GUARD\n#define GUARD\n\n/* A text. */\n"
        '#define TEXT\t"a b "\n#define NUMBER\t4\n#define SUM\t(1 + 2)\n#endif\n'
    )
    return protocol.Protocol(header)


def test_kinds(words: protocol.Protocol) -> None:
    """A blank at the end of a text belongs to it."""
    assert words.text("TEXT") == "a b " and words.number("NUMBER") == 4


@pytest.mark.parametrize(
    ("kind", "name"),
    [("text", "NUMBER"), ("number", "TEXT"), ("text", "GUARD"), ("number", "SUM"), ("text", "X")],
)
def test_missing(words: protocol.Protocol, kind: str, name: str) -> None:
    """One line names the header and the word."""
    with pytest.raises(LabError, match=rf"words\.h: no (string|number) {name} in it"):
        getattr(words, kind)(name)


def test_no_header(tmp_path: Path) -> None:
    """A checkout that is not whole."""
    with pytest.raises(LabError, match=r"gone\.h: No such file or directory"):
        protocol.Protocol(tmp_path / "gone.h")


def test_every_define_is_read() -> None:
    """What the header defines beside its guard has a name here, with that value."""
    defines = re.findall(r"^#define (\w+)\t(.+)$", HEADER.read_text(), re.MULTILINE)
    assert len(defines) > 10
    for name, value in defines:
        assert str(getattr(protocol, name)) == value.strip().strip('"')


@pytest.mark.parametrize("name", ["RESULTS_DONE", "COMMAND_EXIT", "GAVE_UP", "RESULT_PORT"])
def test_one_place(name: str) -> None:
    """No source repeats the words."""
    word = getattr(protocol, name)
    sources = [*TOP.glob("userland/**/*.[ch]"), *TOP.glob("qemu/lab/**/*.py")]
    holders = [path for path in sources if f'{word}"' in path.read_text().replace("'", '"')]
    assert len(sources) > 100 and holders == [HEADER]

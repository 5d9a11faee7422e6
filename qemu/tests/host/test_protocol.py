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


def test_what_is_missing_is_named_with_its_header(tmp_path: Path) -> None:
    """A blank at the end of a text belongs to it; a guard has no value, and a sum is no number."""
    header = tmp_path / "words.h"
    with pytest.raises(LabError, match=r"words\.h: No such file or directory"):
        protocol.Protocol(header)
    header.write_text('#define GUARD\n#define TEXT\t"a b "\n#define NUMBER\t4\n#define SUM\t(1)\n')
    words = protocol.Protocol(header)
    assert words.text("TEXT") == "a b " and words.number("NUMBER") == 4
    for read, names in ((words.text, ("NUMBER", "GUARD", "X")), (words.number, ("TEXT", "SUM"))):
        for name in names:
            with pytest.raises(LabError, match=rf"words\.h: no (string|number) {name} in it"):
                read(name)


def test_each_word_is_read_and_repeated_nowhere() -> None:
    defines = dict(re.findall(r"^#define (\w+)\t(.+)$", HEADER.read_text(), re.MULTILINE))
    assert len(defines) > 10
    for name, value in defines.items():
        assert str(getattr(protocol, name)) == value.strip().strip('"')
    sources = [*TOP.glob("userland/**/*.[ch]"), *TOP.glob("qemu/lab/**/*.py")]
    texts = {path: path.read_text().replace("'", '"') for path in sources}
    for name in ("RESULTS_DONE", "COMMAND_EXIT", "GAVE_UP", "RESULT_PORT"):
        word = getattr(protocol, name)
        assert [path for path, text in texts.items() if f'{word}"' in text] == [HEADER]

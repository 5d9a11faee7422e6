# SPDX-License-Identifier: GPL-2.0
"""What the tests inside a guest read of small files, strictly, and what a write comes to."""

from errno import EINVAL, ENOENT
from pathlib import Path

import pytest

from inside import calls, wrais


def test_counters() -> None:
    assert wrais.parse("version 1\none 1\ntwo 18446744073709551615\n") == {
        "one": 1,
        "two": 2**64 - 1,
    }


@pytest.mark.parametrize("text", ["", "version 2\n", "version 1", "one 1\nversion 1\n"])
def test_counters_begin_with_their_version(text: str) -> None:
    with pytest.raises(ValueError, match="not 'version 1'"):
        wrais.parse(text)


@pytest.mark.parametrize(
    "line", ["", "one", "one ", " 1", "one -1", "one 1 2", "one  1", "one 0x1"]
)
def test_a_counter_is_a_name_and_a_number(line: str) -> None:
    with pytest.raises(ValueError, match="not a name and a value"):
        wrais.parse(f"version 1\n{line}\ntwo 2\n")


@pytest.mark.parametrize("text", ["", "x\n", "-1\n", "1\n\n", "1 1\n", "0x1\n"])
def test_a_number_is_decimal_and_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "value"
    file.write_text(text)
    assert calls.fails(calls.number, str(file)) == EINVAL


def test_a_write_makes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "value"
    assert calls.fails(calls.write, str(file), "1") == ENOENT and not file.exists()
    file.touch()
    calls.write(str(file), "12\n")
    assert calls.number(str(file)) == 12

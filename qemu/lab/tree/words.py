# SPDX-License-Identifier: GPL-2.0
"""Words that Documentation/style.rst replaces, counted."""

import re
from pathlib import Path

MOST = Path(__file__).with_name("words.toml")
EXEMPT = ("words.py", "style.rst", "irq.txt", "console.py")
PHRASES = (
    *("nobody", "somebody", "anybody", "everybody", "whoever", "is none", "not any more"),
    *("as ever", "for ever", "of late", "by and by", "all the same"),
)
# A clause that begins with "who"; the name of the project is no such clause.
HEADLESS = (
    r"\bWho\b(?! waits for whom)",
    r"\b(?:and|as|beside|but|by|for|from|of|than|to|until|while|with) who\b",
)
# The first letter may be a capital. The rest may not: None is a word of Python.
PATTERN = re.compile(
    "|".join((*(rf"\b[{one[0]}{one[0].upper()}]{one[1:]}\b" for one in PHRASES), *HEADLESS))
)


def words_in(file: Path) -> int:
    """How many of the words a file has, but for those that have to name them."""
    return 0 if file.name in EXEMPT else len(PATTERN.findall(file.read_text(errors="replace")))

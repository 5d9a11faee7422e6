# SPDX-License-Identifier: GPL-2.0
"""The host side of the lab: set-up, build, boot, measurement, report."""

from collections.abc import Iterable


class LabError(Exception):
    """Something that a person has to know about: one clear line.

    exit_code is 2 when what was asked for is wrong (and nothing was changed),
    1 when the work itself failed.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def one_of(what: str, value: str, allowed: Iterable[str]) -> None:
    """Raises LabError for a value that is not among those allowed, with their names."""
    names = [*allowed]
    if value not in names:
        raise LabError(f"{what} '{value}': allowed are {', '.join(names)}")


def within(what: str, value: int, least: int, most: int) -> None:
    """Raises LabError for a number out of range."""
    if not least <= value <= most:
        raise LabError(f"{what} {value}: allowed are {least} to {most}")

# SPDX-License-Identifier: GPL-2.0
"""The host side of the lab: set-up, build, boot, measurement, report."""


class LabError(Exception):
    """Something that a person has to know about: one clear line.

    exit_code is 2 when what was asked for is wrong (and nothing was changed),
    1 when the work itself failed.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code

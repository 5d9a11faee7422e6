# SPDX-License-Identifier: GPL-2.0
"""A runner whose boots come from thin air: what the fakes of the experiments share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lab.experiments.boots import Boot, Job, Outputs

Rows = list[dict[str, Any]]
Subject = TypeVar("Subject")
"""What a job measures: a cell, a curve."""
Change = Callable[[Subject, Rows], Rows]


def unchanged(_subject: object, rows: Rows) -> Rows:
    """Rows as they are."""
    return rows


@dataclass
class CannedRunner(Generic[Subject]):
    """Prints what `canned` gives; `change` may falsify the rows of a subject."""

    change: Change[Subject] = unchanged
    booted: list[Boot] = field(default_factory=list)

    def canned(self, job: Job) -> tuple[Subject, Rows] | None:
        """A job's subject and rows, None for a job that prints nothing."""
        raise NotImplementedError

    def __call__(self, boot: Boot) -> Outputs:
        self.booted.append(boot)
        outputs = {}
        for job in boot.jobs:
            found = self.canned(job)
            if found:
                outputs[job.name] = [json.dumps(row) for row in self.change(*found)]
        return outputs

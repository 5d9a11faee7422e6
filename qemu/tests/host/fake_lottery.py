# SPDX-License-Identifier: GPL-2.0
"""Canned output of the lottery tools: a runner for experiments without a guest.

The numbers follow simple laws (a list's draw grows with n, a tree's with its
logarithm) and depend on nothing but the boot's seed.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.experiments.boots import Boot, Job, Outputs

from tests.host.canned import Rows

Change = Callable[[Boot, Job, Rows], Rows]


def unchanged(_boot: Boot, _job: Job, rows: Rows) -> Rows:
    """Rows as they are."""
    return rows


def scale_row(pool: str, tasks: int, dice: random.Random) -> dict[str, Any]:
    """Counters of lottery-scale: mean enqueue, dequeue and draw times by pool and size."""
    log = math.log2(tasks)
    enqueue, dequeue, draw = (
        (100.0, 90.0, 80.0 + 8 * tasks) if pool == "list" else (120 + 8 * log, 100 + 8 * log, 120.0)
    )
    count, draws = 2 * tasks, 11 * tasks
    noise = dice.uniform(0.99, 1.01)
    return {
        "tool": "lottery-scale",
        "pool": pool,
        "tasks": tasks,
        "enqueue_count": count,
        "enqueue_ns": round(enqueue * count * noise),
        "dequeue_count": count,
        "dequeue_ns": round(dequeue * count * noise),
        "draw_count": draws,
        "draw_ns": round(draw * draws * noise),
        "elapsed_ns": tasks * 2_180_000,
    }


def share_rows(case: str, seconds: int, dice: random.Random) -> Rows:
    """Wins of lottery-share, one standard deviation off at the most."""
    tickets = [int(word) for word in case.split(":")]
    total, lotteries = sum(tickets), seconds * 1000
    rows = []
    for held in tickets:
        chance = held / total
        sigma = math.sqrt(lotteries * chance * (1 - chance))
        error = dice.uniform(-1, 1)
        rows.append(
            {
                "tool": "lottery-share",
                "case": case,
                "tickets": held,
                "total": total,
                "lotteries": lotteries,
                "wins": round(lotteries * chance + error * sigma, 3),
                "expected": round(lotteries * chance, 3),
                "sigma_error": round(error, 4),
            }
        )
    return rows


def fair_rows(tasks: int, dice: random.Random) -> Rows:
    """Completions of lottery-fair: more tickets finish earlier, with some noise."""
    held = [100 * (1 + number % 10) for number in range(tasks)]
    finish = sorted((1e9 / math.sqrt(t) * dice.uniform(0.7, 1.3), i, t) for i, t in enumerate(held))
    return [
        {
            "tool": "lottery-fair",
            "order": order,
            "id": number,
            "tickets": tickets,
            "work": 100,
            "finish_ns": round(time),
        }
        for order, (time, number, tickets) in enumerate(finish, 1)
    ]


def pipe_rows(policy: str, repeats: int, dice: random.Random) -> Rows:
    """Round trips of lottery-pipe, 1 % dearer in the lottery class."""
    base = 9090.0 if policy == "lottery" else 9000.0
    return [
        {
            "tool": "lottery-pipe",
            "policy": policy,
            "rounds": 100,
            "repeat": number,
            "ns_per_round": base + dice.uniform(-5, 5),
        }
        for number in range(1, repeats + 1)
    ]


def rows_of(boot: Boot, job: Job, dice: random.Random) -> Rows:
    """What the job's tool would print, by its arguments."""
    words = job.argv
    if words[0] == "lottery-scale":
        pool = boot.append[0].removeprefix("lottery_pool=")
        return [scale_row(pool, int(words[1]), dice)]
    if words[0] == "lottery-share":
        return share_rows(words[1], int(words[words.index("--seconds") + 1]), dice)
    if words[0] == "lottery-fair":
        return fair_rows(int(words[words.index("--tasks") + 1]), dice)
    if words[0] == "lottery-pipe":
        policy = words[words.index("--policy") + 1]
        return pipe_rows(policy, int(words[words.index("--repeats") + 1]), dice)
    return [{"tool": "lottery-floor", "fair_pct": dice.uniform(4.8, 5.2), "seconds": 20}]


@dataclass
class FakeRunner:
    """Runs boots from thin air; `change` may falsify the rows of a job."""

    change: Change = unchanged
    booted: list[Boot] = field(default_factory=list)

    def __call__(self, boot: Boot) -> Outputs:
        self.booted.append(boot)
        dice = random.Random(f"{boot.name} {boot.seed}")
        outputs: Mapping[str, list[str]] = {
            job.name: [json.dumps(row) for row in self.change(boot, job, rows_of(boot, job, dice))]
            for job in boot.jobs
        }
        return outputs

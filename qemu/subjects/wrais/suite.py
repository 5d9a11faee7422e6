# SPDX-License-Identifier: GPL-2.0
"""The suites of privileged I/O: plan.toml, and starts on other disks, as in the experiment."""

from dataclasses import replace

from lab import plan
from lab.guest import places, slowdisk
from lab.guest.boot import Boot
from lab.guest.places import Place
from subjects.wrais import experiment, variants

# LProbe takes 7.7 s alone there, and under a reader and a writer 8.6 s and more where one of
# the parts for it is missing.
BELOW_S = 8
# Of a disk that takes 64 requests: this takes 1.7 s alone and no more than 1.9 under load,
# but 2.1 to 4 where one of the parts for that is missing, or one read waits for long [ms].
DEEP_S = 2
DEEP_STARTS = 3
DEEP = ("--pages", "48000", "--longest", "100")


def _soon(rows: experiment.Rows, limit_s: int, *more: str) -> Boot:
    """Starts that must end soon, in virtual time; on a kernel full of checks those on dm-crypt."""
    boot = experiment.boot(list(rows.cells()))
    all_of = (replace(p, debug=rows.place == places.CRYPT, short=p.argv) for p in boot.programs)
    programs = tuple(
        replace(p, argv=(*p.argv, "--limit", str(limit_s), *more)) if p.what else p for p in all_of
    )
    return replace(boot, name=f"wrais-{rows.place.name}", programs=programs)


def _below(place: Place) -> Boot:
    """Where something lies between the file system and the disk."""
    (rows,) = experiment.elsewhere((variants.WRAIS,), ("1r1w",), 1, place)
    return _soon(rows, BELOW_S)


def _deep() -> Boot:
    """Where the others' requests could be in the disk for long, and have all tags."""
    # The first start in a minute is the idle one.
    beside = ("idle", *experiment.HARD)
    (rows,) = experiment.elsewhere((variants.MEMBER,), beside, DEEP_STARTS, places.CLOUD)
    return _soon(rows, DEEP_S, *DEEP)


def boots() -> tuple[Boot, ...]:
    """All of them."""
    planned = plan.boots("wrais", slowdisk=" ".join(slowdisk.words(2)))
    return (*planned, _deep(), *map(_below, places.CARRIERS))

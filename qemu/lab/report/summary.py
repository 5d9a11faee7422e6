# SPDX-License-Identifier: GPL-2.0
"""From samples to records: one for all samples that share a key."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lab.report.records import Record, Sample
from lab.report.stats import spread

Statistic = Callable[[Sequence[float]], float]
"""One number that stands for at least one."""

NOTHING: Mapping[str, Statistic] = MappingProxyType({})


def summarise(
    samples: Sequence[Sample],
    value_of: Callable[[str], Statistic],
    beside: Mapping[str, Statistic] = NOTHING,
) -> list[Record]:
    """Records in the order of their first samples.

    `value_of` tells the statistic of a metric that is the record's value, `beside`
    names more of them that stand in its spread.
    """
    groups: dict[object, tuple[Sample, list[float]]] = {}
    for sample in samples:
        groups.setdefault(sample.key(), (sample, []))[1].append(sample.value)
    return [
        Record(
            *(first.experiment, first.metric, first.variant, first.params),
            value_of(first.metric)(values),
            first.unit,
            len(values),
            {**spread(values), **{name: other(values) for name, other in beside.items()}},
        )
        for first, values in groups.values()
    ]

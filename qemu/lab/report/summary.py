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
    groups: dict[object, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.key(), []).append(sample)
    return [_record(group, value_of(group[0].metric), beside) for group in groups.values()]


def _record(
    samples: Sequence[Sample], value_of: Statistic, beside: Mapping[str, Statistic]
) -> Record:
    first = samples[0]
    values = [sample.value for sample in samples]
    return Record(
        experiment=first.experiment,
        metric=first.metric,
        variant=first.variant,
        params=first.params,
        value=value_of(values),
        unit=first.unit,
        n=len(values),
        spread={**spread(values), **{name: other(values) for name, other in beside.items()}},
    )

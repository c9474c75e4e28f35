"""Agreement of a judge with people: counts, and coefficients that correct for chance; pure.

Sources: [Cohen 1960] (kappa), [Gwet 2008] (AC1). Each is 1 for full agreement and 0 for agreement
by chance. Kappa falls if nearly all answers are the same; AC1 does not.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tracegrade_scoring.statistics.intervals import (
    LEVEL,
    MIN_TASKS,
    middle,
    resampled_sums,
    wilson,
)

MIN_LABELS: Final = 50
MIN_OF_EACH: Final = 10
MIN_KAPPA: Final = 0.4
"""Least lower end of its interval: below, agreement is fair at best."""

Floats = npt.NDArray[np.float64]


class Agreement(NamedTuple):
    """Counts of the yes and no of a judge and of people on the same verdicts."""

    both_yes: int = 0
    only_judge_yes: int = 0
    only_people_yes: int = 0
    both_no: int = 0

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Self:
        """Count pairs of what the judge and what people say."""
        return cls(
            pairs.count((True, True)),
            pairs.count((True, False)),
            pairs.count((False, True)),
            pairs.count((False, False)),
        )

    @property
    def labels(self) -> int:
        """The number of pairs."""
        return sum(self)


class Measure(NamedTuple):
    """A value with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


def share(part: int, of: int) -> Measure:
    """Return a share with Wilson's interval; of nothing it is not known."""
    return Measure(part / of, *wilson(part, of)[:2]) if of else Measure(None)


def kappa(counts: Agreement) -> float | None:
    """Return Cohen's kappa; None where both always say the same."""
    return _known(_kappas(*_as_arrays(counts)))


def ac1(counts: Agreement) -> float | None:
    """Return Gwet's AC1; None without labels."""
    return _known(_ac1s(*_as_arrays(counts)))


def measured(by_cluster: Mapping[str, Agreement], labels: Agreement) -> tuple[Measure, Measure]:
    """Return kappa and AC1 with intervals by a bootstrap over clusters.

    Args:
        by_cluster: The counts of each task, or run; fewer than 5 give no interval.
        labels: The counts of all.
    """
    columns = [
        np.array([counts[i] for _, counts in sorted(by_cluster.items())], float) for i in range(4)
    ]
    if len(by_cluster) < MIN_TASKS:
        return Measure(kappa(labels)), Measure(ac1(labels))
    sums = [resampled_sums(column.tolist()) for column in columns]
    return (
        Measure(kappa(labels), *_middle(_kappas(*sums))),
        Measure(ac1(labels), *_middle(_ac1s(*sums))),
    )


def why_uncalibrated(counts: Agreement, found: Measure) -> str | None:
    """Return the code for why a judge is not calibrated by these labels; None if it is."""
    yes = counts.both_yes + counts.only_people_yes
    if counts.labels < MIN_LABELS:
        return "too_few_labels"
    if min(yes, counts.labels - yes) < MIN_OF_EACH:
        return "too_few_of_one_answer"
    if found.low is None:
        return "no_interval"
    return "low_agreement" if found.low < MIN_KAPPA else None


def _as_arrays(counts: Agreement) -> list[Floats]:
    return [np.array([float(count)]) for count in counts]


def _kappas(both: Floats, judge: Floats, people: Floats, neither: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        total = both + judge + people + neither
        agreed = (both + neither) / total
        judge_yes, people_yes = (both + judge) / total, (both + people) / total
        chance = judge_yes * people_yes + (1 - judge_yes) * (1 - people_yes)
        return np.asarray((agreed - chance) / (1 - chance))


def _ac1s(both: Floats, judge: Floats, people: Floats, neither: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        total = both + judge + people + neither
        agreed = (both + neither) / total
        yes = (2 * both + judge + people) / (2 * total)
        chance = 2 * yes * (1 - yes)
        return np.asarray((agreed - chance) / (1 - chance))


def _known(values: Floats) -> float | None:
    value = float(values[0])
    return value if np.isfinite(value) else None


def _middle(values: Floats) -> tuple[float | None, float | None]:
    """Return the interval of resamples; of those in which all said the same there is no value."""
    known = np.sort(values[np.isfinite(values)])
    return middle(known.tolist(), LEVEL) if len(known) else (None, None)

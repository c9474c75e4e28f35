"""The tests of rules agree with their definitions, computed one number at a time."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tracegrade_watch.statistics.cells import Cells
from tracegrade_watch.statistics.drift import RESERVE, STAKES, detect_drift
from tracegrade_watch.statistics.mixture import compare_sides, log_evidence


class Group(NamedTuple):
    """The runs of one side, task and day."""

    side: int
    task: int
    day: int
    values: Sequence[float]


VALUES = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=6)


def groups(sides: int, days: int) -> st.SearchStrategy[list[Group]]:
    """Return strategies of groups that leave out none of the days of a side."""
    places = [(side, day) for side in range(sides) for day in range(days)]
    return st.tuples(
        *(st.dictionaries(st.integers(0, 2), VALUES, min_size=1, max_size=3) for _ in places)
    ).map(
        lambda found: [
            Group(side, task, day, values)
            for (side, day), tasks in zip(places, found, strict=True)
            for task, values in tasks.items()
        ]
    )


def cells_of(found: Iterable[Group], days: int) -> Cells:
    """Return groups as cells of weight 1."""
    rows = [*found]
    counts = np.array([float(len(row.values)) for row in rows])
    return Cells(
        np.array([row.task for row in rows]),
        np.array([row.side * days + row.day for row in rows]),
        np.array([row.side for row in rows]),
        counts,
        counts,
        counts,
        np.array([sum(row.values) for row in rows]),
        np.array([sum(value**2 for value in row.values) for row in rows]),
    )


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def by(found: Iterable[Group], key: Callable[[Group], object]) -> dict[object, list[float]]:
    """Return all values by a key of their groups."""
    values: defaultdict[object, list[float]] = defaultdict(list)
    for group in found:
        values[key(group)] += group.values
    return dict(values)


def variances(found: Sequence[Group]) -> dict[int, float]:
    """Return the variance of one observation of each task."""
    tasks = by(found, lambda group: group.task)
    squares = {
        task: sum((value - mean(values)) ** 2 for value in values)
        for task, values in tasks.items()
    }
    free = sum(len(values) - 1 for values in tasks.values())
    of_all = sum(squares.values()) / free if free else 0.0
    return {
        int(str(task)): (squares[task] + of_all) / len(values) for task, values in tasks.items()
    }


def overdispersion(found: Sequence[Group]) -> float:
    """Return how much more day totals vary than chance explains."""
    spread = variances(found)
    sides = by(found, lambda group: (group.side, group.task))
    excess, free = 0.0, 0.0
    for side, day in {(group.side, group.day) for group in found}:
        rows = [group for group in found if (group.side, group.day) == (side, day)]
        chance = sum(len(row.values) * spread[row.task] for row in rows)
        if chance:
            expected = sum(len(row.values) * mean(sides[side, row.task]) for row in rows)
            excess += (sum(sum(row.values) for row in rows) - expected) ** 2 / chance
            free += sum(
                len(row.values)
                * spread[row.task]
                * (1 - len(row.values) / len(sides[side, row.task]))
                / chance
                for row in rows
            )
    return max(1.0, excess / free) if free else 1.0


def evidence(difference: float, error: float, smallest: float) -> float:
    """Return the likelihood ratio by summing over the mixture of decreases."""
    steps = 8_000
    widest = 8 * (smallest + error) + abs(difference)
    total = 0.0
    for step in range(steps):
        root = (step + 0.5) / steps  # more points near 0
        true = -(root**2) * widest
        weight = 2 * math.exp(-(true**2) / (2 * smallest**2)) / (smallest * math.sqrt(2 * math.pi))
        ratio = math.exp((difference**2 - (difference - true) ** 2) / (2 * error**2))
        total += weight * ratio * 2 * root
    return total * widest / steps


@given(
    difference=st.floats(-0.3, 0.3),
    error=st.floats(0.01, 0.3),
    smallest=st.sampled_from([0.02, 0.05, 0.2]),
)
def test_evidence_is_the_mean_over_the_mixture(
    difference: float, error: float, smallest: float
) -> None:
    """The formula is the integral of the likelihood ratio over all decreases."""
    found = float(log_evidence(np.array(difference), np.array(error**2), smallest))
    assert found == pytest.approx(math.log(evidence(difference, error, smallest)), abs=1e-3)


def test_evidence_has_no_limit_of_numbers() -> None:
    """The greatest improvements and declines give finite logarithms, of the right sign."""
    for difference in (-1.0, 1.0):
        found = float(log_evidence(np.array(difference), np.array(1e-8), 0.05))
        assert math.isfinite(found)
        assert (found > 0) == (difference < 0)


@given(groups(2, 3))
def test_a_comparison_agrees_with_its_definition(found: list[Group]) -> None:
    """Difference, variance and overdispersion, task by task and day by day."""
    tasks = [{group.task for group in found if group.side == side} for side in (0, 1)]
    rows = [group for group in found if group.task in tasks[0] & tasks[1]]
    numbers = {task: place for place, task in enumerate(sorted({row.task for row in rows}))}
    rows = [row._replace(task=numbers[row.task]) for row in rows]
    assume(rows)
    result = compare_sides(cells_of(rows, 3), smallest=0.05, better=1, is_share=True)
    sides = by(rows, lambda group: (group.side, group.task))
    counts = {task: (len(sides[0, task]), len(sides[1, task])) for task in numbers.values()}
    weights = {task: b * c / (b + c) for task, (b, c) in counts.items()}
    shares = {task: weight / sum(weights.values()) for task, weight in weights.items()}
    difference = sum(
        share * (mean(sides[1, task]) - mean(sides[0, task])) for task, share in shares.items()
    )
    spread, excess = variances(rows), overdispersion(rows)
    variance = excess * sum(
        shares[task] ** 2 * spread[task] * (1 / b + 1 / c) for task, (b, c) in counts.items()
    )

    assert float(result.difference) == pytest.approx(difference, abs=1e-12)
    assert float(result.overdispersion) == pytest.approx(excess)
    if variance > 1e-12:
        expected = log_evidence(np.array(difference), np.array(variance), 0.05)
        assert float(result.log_ratio) == pytest.approx(float(expected), abs=1e-6)


@given(groups(2, 3))
def test_less_is_better_is_the_mirror_image(found: list[Group]) -> None:
    """A metric of which less is better falls as its complement rises."""
    assume({row.task for row in found if row.side == 0} == {0, 1, 2})
    assume({row.task for row in found if row.side == 1} == {0, 1, 2})
    mirrored = [row._replace(values=[1 - value for value in row.values]) for row in found]
    more = compare_sides(cells_of(found, 3), smallest=0.05, better=1, is_share=True)
    less = compare_sides(cells_of(mirrored, 3), smallest=0.05, better=-1, is_share=True)

    assert float(less.log_ratio) == pytest.approx(float(more.log_ratio), abs=1e-6)
    assert less.enough == more.enough


@given(groups(1, 3), st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=4))
def test_drift_agrees_with_its_definition(
    first: list[Group], later: list[list[list[float]]]
) -> None:
    """Bets of each day on runs of three tasks, and the restarted product of their gains."""
    assume({group.task for group in first} == {0, 1, 2})
    last = [
        Group(0, task, day, values)
        for day, tasks in enumerate(later)
        for task, values in enumerate(tasks)
    ]
    reference = by(first, lambda group: group.task)
    spread = variances(first)
    assume(all(0 < mean([*reference[task]]) < 1 for task in range(3)))
    excess = max(overdispersion(first), RESERVE * successive(first, last, reference, spread))
    total = 0.0
    for day in range(len(later)):
        rows = [group for group in last if group.day == day]
        size = sum(len(row.values) for row in rows)
        expected = sum(len(row.values) * mean(reference[row.task]) for row in rows) / size
        error = sum(
            (len(row.values) / size) ** 2 * spread[row.task] / len(reference[row.task])
            for row in rows
        )
        lowered = min(max(expected - math.sqrt(error * excess), 0), 1)
        got = mean([value for row in rows for value in row.values])
        gains = [
            (1 - stake) ** (got * size / excess)
            * (1 + stake * lowered / (1 - lowered)) ** ((1 - got) * size / excess)
            for stake in STAKES
        ]
        total = (total + 1) * mean(gains)
    found = detect_drift(cells_of(first, 3), cells_of(last, len(later)), better=1)

    assert float(found.overdispersion) == pytest.approx(excess)
    assert float(found.log_ratio) == pytest.approx(math.log(total), abs=1e-6)


def successive(
    first: Sequence[Group],
    last: Sequence[Group],
    reference: dict[object, list[float]],
    spread: dict[int, float],
) -> float:
    """Return half the mean squared difference of successive days, in relation to chance."""
    moved, chance = [], []
    for part in (first, last):
        for day in sorted({group.day for group in part}):
            rows = [group for group in part if group.day == day]
            size = sum(len(row.values) for row in rows)
            apart = sum(
                sum(row.values) - len(row.values) * mean(reference[row.task]) for row in rows
            )
            moved.append(apart / size)
            chance.append(sum(len(row.values) * spread[row.task] for row in rows) / size**2)
    return mean([
        (moved[day + 1] - moved[day]) ** 2 / (chance[day + 1] + chance[day])
        for day in range(len(moved) - 1)
    ])  # fmt: skip


@given(st.integers(2, 4), st.integers(0, 3))
def test_repetitions_do_not_touch_each_other(repetitions: int, chosen: int) -> None:
    """An axis of repetitions gives what each gives alone: what is simulated is the product."""
    assume(chosen < repetitions)
    random = np.random.default_rng(repetitions)
    runs = random.integers(1, 9, (repetitions, 12)).astype(np.float64)
    successes = np.floor(runs * random.random((repetitions, 12)))
    day = np.arange(12) // 2
    task = np.arange(12) % 2
    side = (day > 2).astype(np.int64)
    together = Cells(task, day, side, runs, runs, runs, successes, successes)
    alone = Cells(task, day, side, *(each[chosen] for each in together[3:]))
    found, one = (
        compare_sides(cells, smallest=0.05, better=1, is_share=True) for cells in (together, alone)
    )
    assert float(found.log_ratio[chosen]) == pytest.approx(float(one.log_ratio))
    parts = [[cells.where(side == number) for number in (0, 1)] for cells in (together, alone)]
    drifts = [
        detect_drift(first._replace(side=first.side * 0), last._replace(
            side=last.side * 0, day=last.day - 3), better=-1)
        for first, last in parts
    ]  # fmt: skip
    assert float(drifts[0].log_ratio[chosen]) == pytest.approx(float(drifts[1].log_ratio))


def test_a_release_that_always_fails_need_not_wait() -> None:
    """Next to ten thousand runs without a failure, few failures are expected of fifty."""
    scored = np.array([2000.0] * 5 + [10.0] * 5)
    values = np.array([2000.0] * 5 + [0.0] * 5)
    sides = np.repeat([0, 1], 5)
    cells = Cells(np.zeros(10, int), np.arange(10), sides, scored, scored, scored, values, values)
    mirrored = cells._replace(value_sum=scored - values, square_sum=scored - values)

    for each, better in ((cells, 1), (mirrored, -1)):
        found = compare_sides(each, smallest=0.05, better=better, is_share=True)
        assert found.enough
        assert found.log_ratio > 20

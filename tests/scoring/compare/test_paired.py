"""Differences between releases and their certainty are those of the definitions."""

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.statistics.pcg64 import pcg64

from tracegrade_scoring.compare.paired import TaskPair, difference, holm, t_score_difference
from tracegrade_scoring.statistics.intervals import percentile

TASKS = [
    TaskPair((0.0, 5.0), (1.0, 4.0)),
    TaskPair((3.0, 6.0), (5.0, 6.0)),
    TaskPair((1.0, 5.0), (0.0, 5.0)),
    TaskPair((5.0, 5.0), (5.0, 8.0)),
    TaskPair((2.0, 9.0), (7.0, 9.0)),
    TaskPair((2.5, 7.0), (4.0, 5.0)),
]


def test_interval_is_the_plain_loop_over_both_sides() -> None:
    """Each resample draws the same tasks for base and candidate: docs/metrics.md, section 0.6."""
    outputs, found = pcg64(0), []
    for _ in range(2_000):
        drawn = [TASKS[next(outputs) % 6] for _ in range(6)]
        rates = [
            sum(side[0] for side in sides) / sum(side[1] for side in sides)
            for sides in ([pair.base for pair in drawn], [pair.candidate for pair in drawn])
        ]
        found.append(rates[1] - rates[0])

    result = difference(TASKS)
    assert (result.low, result.high) == pytest.approx(
        (percentile(sorted(found), 0.025), percentile(sorted(found), 0.975)), abs=1e-12
    )
    assert result.difference == pytest.approx(22 / 37 - 13.5 / 37)


def test_equal_releases_do_not_differ() -> None:
    """The same runs on both sides give no change, an interval of one point, and no surprise."""
    result = difference([TaskPair(pair.base, pair.base) for pair in TASKS])

    assert (result.difference, result.low, result.high) == (0.0, 0.0, 0.0)
    assert result.p_value == 1.0


def plain_sign_flips(pairs: list[TaskPair]) -> float:
    """Return the p-value by its definition: every exchange, one after the other."""

    def change(flips: tuple[int, ...]) -> float:
        sides = [
            [pair[side ^ flip] for pair, flip in zip(pairs, flips, strict=True)] for side in (0, 1)
        ]
        base, candidate = (
            sum(top for top, _ in side) / sum(bottom for _, bottom in side) for side in sides
        )
        return abs(candidate - base)

    observed = change((0,) * len(pairs))
    found = [change(flips) for flips in product((0, 1), repeat=len(pairs))]
    return sum(one >= observed - 1e-12 for one in found) / len(found)


sides = st.tuples(st.integers(0, 9).map(float), st.integers(1, 4).map(float))


@settings(max_examples=100)
@given(st.lists(st.builds(TaskPair, sides, sides), min_size=1, max_size=7))
def test_p_value_is_that_of_every_exchange(pairs: list[TaskPair]) -> None:
    """As if the sides of each task were exchanged or not, in every way; the same every time."""
    found = difference(pairs)

    assert found.p_value == pytest.approx(plain_sign_flips(pairs))
    assert difference(pairs) == found
    rates = [pair.candidate[0] / pair.candidate[1] - pair.base[0] / pair.base[1] for pair in pairs]
    assert (found.rose, found.fell) == (sum(r > 0 for r in rates), sum(r < 0 for r in rates))


def test_p_value_of_many_tasks_is_drawn_close_to_the_exact_one() -> None:
    """20 tasks of two sizes of change: within three standard errors of all 2^20 exchanges."""
    changes = [3.0, -1.0, 1.0, 3.0, 1.0] * 4
    pairs = [TaskPair((5.0, 10.0), (5.0 + change, 10.0)) for change in changes]
    sums = Counter({0.0: 1})
    for change in changes:
        sums = Counter[float]() + Counter(
            {
                s: sums[s - change] + sums[s + change]
                for s in {*map(change.__add__, sums), *map((-change).__add__, sums)}
            }
        )
    exact = sum(ways for total, ways in sums.items() if abs(total) >= sum(changes)) / 2**20

    found = difference(pairs).p_value
    assert found == pytest.approx(exact, abs=3 * (exact / 10_000) ** 0.5)


def test_four_tasks_give_no_interval() -> None:
    """A bootstrap over fewer than five tasks says nothing; exchanges say how little is known."""
    result = difference(TASKS[:4])

    assert (result.low, result.high, result.tasks) == (None, None, 4)
    assert (result.p_value or 0) >= 2 / 2**4
    assert difference([]).base is None


def test_t_score_is_composed_anew_in_each_resample() -> None:
    """Three axes of each draw give one T-Score for either side; a task may lack an axis."""
    plans = [(5.0, 8.0), (2.0, 2.0), None, (9.0, 4.0), (6.0, 6.5), (7.0, 10.0)]
    kills = [(10.0, 10.0), None, (7.0, 3.0), (3.0, 10.0), (7.0, 7.0), (10.0, 7.0)]
    tasks = [
        [tsa, *(axis and TaskPair((axis[0], 1.0), (axis[1], 1.0)) for axis in (plan, kill))]
        for tsa, plan, kill in zip(TASKS, plans, kills, strict=True)
    ]

    def composed(drawn: list[int], side: int) -> float:
        top, bottom = (sum(TASKS[task][side][part] for task in drawn) for part in (0, 1))
        plan, kill = (
            [axis[side] for task in drawn if (axis := axes[task])] for axes in (plans, kills)
        )
        axes = (10 * top / bottom, sum(plan) / len(plan), sum(kill) / len(kill))
        return 3 / (1.2 / axes[0] + 1 / axes[1] + 0.8 / axes[2])

    outputs, found = pcg64(0), []
    for _ in range(2_000):
        drawn = [next(outputs) % 6 for _ in range(6)]
        found.append(composed(drawn, 1) - composed(drawn, 0))
    found.sort()

    result = t_score_difference(tasks)
    assert result.base == pytest.approx(composed(list(range(6)), 0))
    assert (result.low, result.high) == pytest.approx(
        (percentile(found, 0.025), percentile(found, 0.975)), abs=1e-9
    )


def attempts(both: int, fell: int, rose: int, neither: int) -> list[TaskPair]:
    """Return tasks with one attempt on each side, so many of each kind."""
    kinds = [((1, 1), both), ((1, 0), fell), ((0, 1), rose), ((0, 0), neither)]
    return [
        TaskPair((float(base), 1.0), (float(candidate), 1.0))
        for (base, candidate), count in kinds
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("fell", "rose", "p"),
    [(1, 1, 1.0), (0, 5, 0.0625), (5, 0, 0.0625), (2, 8, 0.109375), (6, 16, 0.052479)],
)
def test_single_attempts_are_tested_exactly(fell: int, rose: int, p: float) -> None:
    """Two-sided exact binomial tails of 1/2: 112/1024 for 2 of 10, R's binom.test for the last."""
    result = difference(attempts(7, fell, rose, 3))

    assert result.p_method == "sign_flips"
    assert result.p_value == pytest.approx(p, abs=1e-6)


def test_ties_are_ties_whatever_they_are_a_share_of(shared_data: Path) -> None:
    """Success as a share of attempts and as the mean of shares are as surprising as each other.

    A third of each of three attempts is not an exact double; differences that cancel leave a rest.
    """
    runs = json.loads((shared_data / "faults" / "paired_p_ties.json").read_text())
    counts = Counter((run["task"], run["release"]) for run in runs if run["success"])
    tasks = sorted({run["task"] for run in runs})
    of_attempts = [
        TaskPair((counts[task, "base"], 3.0), (counts[task, "cand"], 3.0)) for task in tasks
    ]
    of_shares = [
        TaskPair((counts[task, "base"] / 3, 1.0), (counts[task, "cand"] / 3, 1.0))
        for task in tasks
    ]

    assert difference(of_attempts).p_value == difference(of_shares).p_value
    assert difference(of_attempts).p_value == plain_sign_flips(of_attempts)


@pytest.mark.parametrize(
    ("base", "candidate", "p_value"),
    [((0, 1, 1, 2), (1, 2, 3, 1), 8 / 16), ((3, 1, 0, 1, 2), (0, 3, 3, 2, 3), 18 / 32)],
)
def test_exchanges_that_differ_as_much_are_as_surprising(
    base: tuple[int, ...], candidate: tuple[int, ...], p_value: float
) -> None:
    """Changes of 1, 1, 2 and -1 thirds are 3 in all, as those of 1, 1, -1 and 2 are.

    By hand, in thirds: of 16 exchanges 2 differ by 5 and 6 by 3; of 32, 10 by more than 4 and 8
    by 4. As doubles, some of those that are equal would come out smaller; docs/metrics.md, section
    10.1.
    """
    thirds = [
        TaskPair((before / 3, 1.0), (after / 3, 1.0))
        for before, after in zip(base, candidate, strict=True)
    ]
    whole = [
        TaskPair((float(before), 3.0), (float(after), 3.0))
        for before, after in zip(base, candidate, strict=True)
    ]

    assert difference(thirds).p_value == difference(whole).p_value == p_value


def test_holm_agrees_with_a_published_example() -> None:
    """Four tests: .01, .04, .03, .005 become .03, .06, .06, .02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@settings(max_examples=200)
@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_nothing_and_bonferroni(p_values: list[float]) -> None:
    """Adjusted values keep the order of the given ones, and lie between these and n p."""
    adjusted = holm(p_values)

    assert all(
        p <= a <= min(1.0, p * len(p_values)) + 1e-12
        for p, a in zip(p_values, adjusted, strict=True)
    )
    ordered = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert all(one <= other for one, other in pairwise(ordered))

"""Differences between independent runs are those of the published methods."""

from random import Random

import pytest

from tracegrade_scoring.compare.composite import AxesOfSide, unpaired_composite
from tracegrade_scoring.compare.unpaired import Side, unpaired_difference
from tracegrade_scoring.statistics.t_score import Axes, t_score


def side(attempts: list[tuple[float, float]]) -> Side:
    """Return the sums of attempts, each a numerator and a denominator."""
    tops, bottoms = zip(*attempts, strict=True)
    return Side(
        len(attempts),
        sum(tops),
        sum(bottoms),
        sum(top * top for top in tops),
        sum(top * bottom for top, bottom in attempts),
        sum(bottom * bottom for bottom in bottoms),
        all(bottom == 1 and top in {0, 1} for top, bottom in attempts),
    )


def shares(successes: int, trials: int) -> Side:
    """Return a side with this number of attempts and of successes among them."""
    return side([(float(i < successes), 1.0) for i in range(trials)])


def test_interval_of_shares_is_that_of_newcombe() -> None:
    """[Newcombe 1998b], table II, method 10: 56/70 and 48/80 give .0524 to .3339."""
    found = unpaired_difference(shares(48, 80), shares(56, 70))

    assert found.difference == pytest.approx(0.2)
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (0.0524, 0.3339)
    assert found.interval_method == "newcombe"


def test_shares_at_their_ends_are_not_certain() -> None:
    """10/10 and 20/20: the same paper gives -.1611 to .2775."""
    found = unpaired_difference(shares(20, 20), shares(10, 10))

    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (-0.2775, 0.1611)
    assert found.p_value == 1.0


def test_ratios_of_independent_runs_hold_the_truth_as_often_as_said() -> None:
    """Of 400 pairs of samples with a known difference, about 95 % of the intervals hold it."""
    random = Random(0)  # noqa: S311 - no secret hangs on it

    def sample(rate: float) -> Side:
        sizes = [random.randint(1, 6) for _ in range(60)]
        return side([(float(sum(random.random() < rate for _ in range(n))), n) for n in sizes])

    held = 0
    for _ in range(400):
        found = unpaired_difference(sample(0.4), sample(0.6))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.2 <= found.high

    assert 0.92 <= held / 400 <= 0.98


def test_few_attempts_have_no_interval() -> None:
    """Four say nothing; five without any spread say that there is none."""
    four, five = ([(0.5, 2.0)] * count for count in (4, 5))

    assert unpaired_difference(side(four), side(five)).low is None
    assert unpaired_difference(side(five), side(five)).low == 0.0


def axes(attempts: list[tuple[float, float, float]], pq_errors: int = 0) -> AxesOfSide:
    """Return the axes of attempts: right picks and picks made, and a rollback-ability."""
    points = sum(made for _, made, _ in attempts)
    tsa = 10 * sum(right for right, _, _ in attempts) / points
    ra = sum(back for _, _, back in attempts) / len(attempts)
    residuals = [
        ((10 * right - tsa * made) / points, (back - ra) / len(attempts))
        for right, made, back in attempts
    ]
    own, both, back = (sum(of[i] * of[j] for of in residuals) for i, j in ((0, 0), (0, 1), (1, 1)))
    count = len(attempts)
    return AxesOfSide(count, tsa, None, ra, points, count, 0, count, pq_errors,
                      own, 0.0, both, 0.0, 0.0, back)  # fmt: skip


def test_t_scores_of_independent_runs_hold_the_truth_as_often_as_said() -> None:
    """Axes go together within a run, and about 95 % of 400 intervals hold the known difference."""
    random = Random(0)  # noqa: S311 - no secret hangs on it

    def sample(skill: float) -> AxesOfSide:
        attempts = []
        for _ in range(60):
            good, made = random.random() < skill, random.randint(1, 6)
            right = sum(random.random() < (0.9 if good else 0.5) for _ in range(made))
            attempts.append((float(right), float(made), 10.0 if good else 3.0))
        return axes(attempts)

    def truth(skill: float) -> float:
        found = Axes(9 * skill + 5 * (1 - skill), 10.0, 10 * skill + 3 * (1 - skill))
        return t_score(found).value or 0.0

    held, known = 0, truth(0.7) - truth(0.5)
    for _ in range(400):
        compared = unpaired_composite(sample(0.5), sample(0.7)).compared
        assert compared is not None
        low, high = compared.found.low, compared.found.high
        assert low is not None
        assert high is not None
        held += low <= known <= high

    assert 0.92 <= held / 400 <= 0.98


def test_planning_that_could_not_be_measured_is_no_planning_of_10() -> None:
    """Without any planning quality it counts as 10; a run in error is in the way of that."""
    good, bad = axes([(3.0, 4.0, 7.0)] * 6), axes([(3.0, 4.0, 7.0)] * 6, pq_errors=1)

    assert unpaired_composite(good, good).pq_defaulted
    assert unpaired_composite(good, bad) == (None, ("pq",), False)


def test_axis_of_0_makes_a_t_score_of_0_without_dividing() -> None:
    """No pick was right: the T-Score is 0, and its own spread is."""
    none, some = axes([(0.0, 4.0, 7.0)] * 6), axes([(3.0, 4.0, 7.0)] * 6)
    compared = unpaired_composite(none, some).compared

    assert compared is not None
    assert compared.found.base == 0
    assert compared.found.low == compared.found.high == compared.found.candidate

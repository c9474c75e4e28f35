"""Differences between independent runs are those of the published methods."""

from random import Random

import pytest

from tracegrade_scoring.compare.unpaired import Side, unpaired_difference


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
    """Return a side of so many attempts, of which so many succeeded."""
    return side([(float(i < successes), 1.0) for i in range(trials)])


def test_interval_of_shares_is_that_of_newcombe() -> None:
    """Newcombe (1998), table II, method 10: 56/70 and 48/80 give .0524 to .3339."""
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

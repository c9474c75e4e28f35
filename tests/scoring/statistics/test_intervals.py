"""Intervals and their random numbers are those of the definition."""

from itertools import islice

import pytest

from tracegrade_scoring.statistics.intervals import bootstrap, normal_quantile, percentile, wilson

from .pcg64 import pcg64


def test_random_numbers_are_those_of_numpy() -> None:
    """The stream of PCG64(seed 0), as `default_rng(0).random()` gives it to 53 bits."""
    doubles = [(output >> 11) * 2.0**-53 for output in islice(pcg64(0), 5)]

    assert doubles == [
        0.6369616873214543,
        0.2697867137638703,
        0.04097352393619469,
        0.016527635528529094,
        0.8132702392002724,
    ]


def test_another_seed_gives_the_stream_of_that_seed() -> None:
    """The first double of `default_rng(42)`."""
    assert (next(pcg64(42)) >> 11) * 2.0**-53 == 0.7739560485559633


def test_wilson_agrees_with_a_published_example() -> None:
    """81 of 263: [Newcombe 1998a], table I, gives .2553 to .3662 without continuity correction."""
    interval = wilson(81, 263)

    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_level_is_the_share_of_the_normal_distribution() -> None:
    """1.645 and 2.576 standard deviations hold 90 % and 99 %; a wider level, a wider interval."""
    assert [round(normal_quantile(level), 3) for level in (0.9, 0.95, 0.99)] == [
        1.645,
        1.96,
        2.576,
    ]
    assert wilson(81, 263, 0.9).low > wilson(81, 263).low > wilson(81, 263, 0.99).low


@pytest.mark.parametrize(("successes", "low", "high"), [(0, 0.0, 0.2775), (10, 0.7225, 1.0)])
def test_wilson_stays_inside_at_the_ends(successes: int, low: float, high: float) -> None:
    """All or none of ten gives an interval within [0, 1] that is not a point."""
    interval = wilson(successes, 10)

    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert 0 <= interval.low <= interval.high <= 1


@pytest.mark.parametrize("trials", range(1, 200))
def test_wilson_s_interval_of_none_begins_at_nothing(trials: int) -> None:
    """And that of all ends at all: rounding is not an end that has to be distinguished from 0."""
    assert wilson(0, trials).low == 0
    assert wilson(trials, trials).high == 1


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_bootstrap_is_the_plain_loop(level: float) -> None:
    """2,000 resamples of tasks, each draw the next output modulo their number."""
    tops = [0.0, 3.0, 1.0, 5.0, 2.0, 2.5, 4.0]
    bottoms = [5.0, 6.0, 5.0, 5.0, 9.0, 7.0, 8.0]
    outputs = pcg64(0)
    rates = []
    for _ in range(2_000):
        drawn = [next(outputs) % 7 for _ in range(7)]
        top = bottom = 0.0
        for task in drawn:
            top, bottom = top + tops[task], bottom + bottoms[task]
        rates.append(top / bottom)
    rates.sort()

    interval = bootstrap(tops, bottoms, level)
    tail = (1 - level) / 2
    assert interval is not None
    assert (interval.low, interval.high) == (percentile(rates, tail), percentile(rates, 1 - tail))


def test_bootstrap_needs_five_tasks() -> None:
    """Fewer tasks say nothing about the others."""
    assert bootstrap([1.0] * 4, [1.0] * 4) is None
    assert bootstrap([1.0] * 5, [1.0] * 5) is not None


def test_percentile_is_linear_between_neighbors() -> None:
    """A quarter of the way from 1 to 5 in steps of one is 2; a little further is between."""
    assert percentile([1.0, 2.0, 3.0, 4.0, 5.0], 0.25) == 2.0
    assert percentile([0.0, 10.0], 0.3) == 3.0

"""Sums of doubles are exact and rounded once: Python's own `sum` depends on its version."""

from typing import Any

from tracegrade_scoring.compare.paired import TaskPair, difference
from tracegrade_scoring.statistics.release import total
from tracegrade_scoring.statistics.t_score import AxisSums, pooled_axes

TENTHS = [0.1] * 10
"""Added one after the other they are 0.9999999999999999."""


def test_axes_are_pooled_exactly() -> None:
    """Ten tenths of ten are a tenth."""
    axes = pooled_axes([(None, AxisSums(part, 1.0), AxisSums(part, 1.0)) for part in TENTHS])

    assert axes == (None, 0.1, 0.1)


def test_rates_of_two_releases_are_exact() -> None:
    """Numerators and denominators are each rounded once."""
    found = difference([TaskPair((0.0, 1.0), (part, 1.0)) for part in TENTHS])

    assert (found.base, found.candidate) == (0.0, 0.1)


def test_total_of_a_release_is_exact() -> None:
    """So is what a release score is made of."""
    rows: list[dict[str, Any]] = [{"value_sum": part} for part in TENTHS]

    assert total(rows, "value_sum") == 1.0

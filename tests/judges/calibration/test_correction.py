"""Corrected rates equal their plain definition, and their intervals hold what they should."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.examples import examples

from tracegrade_judges.calibration.agreement import Agreement
from tracegrade_judges.calibration.correction import YesCounts, corrected_rate
from tracegrade_judges.calibration.prediction_powered import prediction_powered_rate
from tracegrade_scoring.statistics.beta import quantile
from tracegrade_scoring.statistics.posteriors import posterior

from . import plain
from .coverage import coverage

COUNTS = st.integers(0, 400)
SIMULATED = 400


def pairs_of(labels: Agreement) -> list[tuple[bool, bool]]:
    """Return what judge and people say of each label."""
    answers = [(True, True), (True, False), (False, True), (False, False)]
    return [each for each, count in zip(answers, labels, strict=True) for _ in range(count)]


@pytest.mark.parametrize(
    ("judged", "labels"),
    [
        (YesCounts(0, 1), Agreement()),
        (YesCounts(7, 10), Agreement(5, 1, 0, 4)),
        (YesCounts(300, 366), Agreement(40, 9, 3, 48)),
        (YesCounts(990, 1000), Agreement(80, 19, 1, 0)),
        (YesCounts(100_000, 200_000), Agreement(3000, 100, 200, 4000)),
    ],
)
def test_corrected_rate_is_as_defined(judged: YesCounts, labels: Agreement) -> None:
    """Value and both ends of the interval, to 1e-12."""
    found = corrected_rate(judged, labels)

    expected = plain.corrected(judged.yes, judged.of, pairs_of(labels))
    assert found == pytest.approx(expected, abs=1e-12)


@st.composite
def labeled(draw: st.DrawFn) -> tuple[YesCounts, Agreement]:
    """Draw how people and a judge label some of its verdicts, and how many others there are."""
    labels = Agreement(*(draw(st.integers(0, 40)) for _ in range(4)))
    yes, no = (draw(st.integers(0, 200)) for _ in range(2))
    judge_yes = labels.both_yes + labels.only_judge_yes
    return YesCounts(judge_yes + yes, labels.labels + yes + no), labels


@given(labeled().filter(lambda found: found[1].labels >= 2))
@example((YesCounts(1, 67), Agreement(1, 0, 0, 32)))  # variances that cancel each other
def test_ppi_is_as_defined(found: tuple[YesCounts, Agreement]) -> None:
    """Value and both ends agree to 1e-12 for any counts."""
    judged, labels = found

    rate = prediction_powered_rate(judged, labels)

    expected = plain.prediction_powered(judged.yes, judged.of, pairs_of(labels))
    assert rate == pytest.approx(expected, abs=1e-12)


def test_ppi_needs_labels() -> None:
    """One label has no variance; where every verdict has one, they are all that counts."""
    assert prediction_powered_rate(YesCounts(5, 10), Agreement(1)) == (None, None, None)
    whole = prediction_powered_rate(YesCounts(6, 10), Agreement(5, 1, 2, 2))
    assert whole.value == 7 / 10


@given(COUNTS, COUNTS)
def test_posterior_has_the_quantiles_of_a_beta_distribution(yes: int, no: int) -> None:
    """The grid is as good as the continued fraction, to a hundred thousandth."""
    points = posterior(yes, no)

    for place in (0, 100, 2048, 4095):
        exact = quantile(yes + 0.5, no + 0.5, (place + 0.5) / 4096)
        assert points[place] == pytest.approx(exact, abs=1e-5)


def test_a_judge_without_faults_is_not_corrected() -> None:
    """With many labels that all agree the rate stays."""
    found = corrected_rate(YesCounts(7_000, 10_000), Agreement(7_000, 0, 0, 3_000))

    assert found.value == pytest.approx(0.7, abs=1e-3)


@pytest.mark.parametrize("labels", [20, 50, 100, 300])
def test_intervals_hold_the_truth_as_often_as_they_say(labels: int) -> None:
    """Of simulated judges, of three rates and two qualities, 92 to 98 of 100."""
    simulations = max(SIMULATED, examples(SIMULATED))

    assert 0.92 <= coverage(labels, simulations, np.random.default_rng(labels)) <= 0.98

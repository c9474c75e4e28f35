"""Agreement with people, beside its plain definition and published examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_judges.calibration.agreement import (
    Agreement,
    ac1,
    kappa,
    measured,
    share,
    why_uncalibrated,
)

from . import plain

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


@given(PAIRS)
def test_agreement_is_as_defined(pairs: list[tuple[bool, bool]]) -> None:
    """Kappa, where chance leaves room for it, and AC1."""
    counts = Agreement.of(pairs)

    assert kappa(counts) == pytest.approx(plain.kappa(pairs), abs=1e-12)
    assert ac1(counts) == pytest.approx(plain.ac1(pairs), abs=1e-12)


def test_kappa_falls_where_nearly_all_say_the_same() -> None:
    """Two raters who agree on 118 of 125: AC1 stays high, kappa does not [Gwet 2008]."""
    counts = Agreement(118, 5, 2, 0)

    assert kappa(counts) == pytest.approx(-0.0234, abs=5e-5)
    assert ac1(counts) == pytest.approx(0.9408, abs=5e-5)


def test_intervals_are_over_clusters() -> None:
    """The same labels say less if they come from few tasks; from fewer than five, nothing."""
    whole = Agreement(40, 5, 5, 50)
    tasks = {str(i): Agreement(4, 0, 0, 5) for i in range(10)}
    unlike = {str(i): Agreement(8, i % 2, 0, 0) if i < 5 else Agreement(0, 1, 1, 10)
              for i in range(10)}  # fmt: skip

    alike, _ = measured(tasks, whole)
    spread, _ = measured(unlike, whole)
    few, _ = measured({"a": whole}, whole)

    assert (alike.low, alike.high) == (1.0, 1.0)
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low < kappa(whole) < spread.high  # type: ignore[operator]
    assert few == (kappa(whole), None, None)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (Agreement(20, 0, 0, 29), "too_few_labels"),
        (Agreement(91, 0, 0, 9), "too_few_of_one_answer"),
        (Agreement(9, 60, 0, 31), "too_few_of_one_answer"),
        (Agreement(30, 20, 20, 30), "low_agreement"),
        (Agreement(45, 5, 5, 45), None),
    ],
)
def test_calibrated_takes_enough_labels_and_agreement(
    counts: Agreement, reason: str | None
) -> None:
    """Fifty labels, ten of each answer, and kappa's lower end from 0.4 on."""
    tasks = {str(i): Agreement(*(count // 10 for count in counts)) for i in range(10)}
    found = measured(tasks, counts)[0]

    assert why_uncalibrated(counts, found) == reason


def test_share_of_nothing_is_not_known() -> None:
    """Without labels of an answer there is no rate."""
    assert share(0, 0) == (None, None, None)
    assert share(1, 1).high == 1.0

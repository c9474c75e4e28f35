"""pass@k and pass^k agree with their definitions and with the published numbers."""

import json
from collections import defaultdict
from itertools import combinations
from math import comb, isclose
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracegrade_scoring.statistics import beta
from tracegrade_scoring.statistics.reliability import (
    ESTIMATORS,
    Attempts,
    Pass,
    count_attempts,
    passes,
)
from tracegrade_scoring.statistics.tiers import classify, tier_of

outcomes = st.lists(st.booleans(), min_size=1, max_size=6)
counted = st.integers(1, 8).flatmap(
    lambda n: st.builds(Attempts, st.just(n), st.integers(0, n), st.integers(0, 2))
)
cohorts = st.lists(counted, min_size=1, max_size=6)


@pytest.fixture(scope="module")
def tau_bench(shared_data: Path) -> list[Attempts]:
    """200 airline runs of gpt-4o, 50 tasks x 4 trials."""
    runs = json.loads((shared_data / "tau-bench" / "gpt-4o-airline.json").read_text())
    rewards = defaultdict(list)
    for run in runs:
        rewards[run["task_id"]].append(run["reward"] == 1.0)
    return [Attempts(len(r), sum(r)) for _, r in sorted(rewards.items())]


@pytest.mark.parametrize(
    ("estimator", "k", "at", "hat"),
    [
        ("unbiased", 1, 0.420, 0.420),
        ("unbiased", 2, 0.567, 0.273),
        ("unbiased", 3, 0.660, 0.220),
        ("unbiased", 4, 0.720, 0.200),
        ("plug_in", 3, None, 0.2625),
        ("plug_in", 4, None, 0.2388),
        ("pooled", 3, None, 0.0741),
        ("pooled", 4, None, 0.0311),
    ],
)
def test_tau_bench_gives_the_published_numbers(
    tau_bench: list[Attempts], estimator: str, k: int, at: float | None, hat: float
) -> None:
    """Each estimator gives tau-bench's own table, or what the definition says of it."""
    found = passes(tau_bench, estimator)[k - 1]

    half = 0.00051 if estimator == "unbiased" else 0.000051
    assert found.pass_hat_k == pytest.approx(hat, abs=half)
    assert at is None or found.pass_at_k == pytest.approx(at, abs=half)


@given(st.lists(outcomes, min_size=1, max_size=5))
def test_equals_the_share_of_all_choices_of_k_attempts(tasks: list[list[bool]]) -> None:
    """The closed form is the share among all ways to choose k of a task's attempts."""
    found = passes([Attempts(len(task), sum(task)) for task in tasks])

    assert [p.k for p in found] == list(range(1, min(map(len, tasks)) + 1))
    for p in found:
        choices = [list(combinations(task, p.k)) for task in tasks]
        at_least_one = [sum(map(any, chosen)) / len(chosen) for chosen in choices]
        every_one = [sum(map(all, chosen)) / len(chosen) for chosen in choices]
        assert p.pass_at_k == pytest.approx(sum(at_least_one) / len(tasks), abs=1e-12)
        assert p.pass_hat_k == pytest.approx(sum(every_one) / len(tasks), abs=1e-12)


def test_many_attempts_make_the_estimators_agree() -> None:
    """For p of one half, pass@5 comes to .97 by both formulas [Agentic]."""
    (unbiased, formula) = (
        passes([Attempts(10_000, 5_000)], estimator)[4] for estimator in ("unbiased", "plug_in")
    )

    assert formula.pass_at_k == pytest.approx(1 - 0.5**5)
    assert formula.pass_hat_k == pytest.approx(0.5**5)
    assert unbiased.pass_at_k == pytest.approx(formula.pass_at_k, abs=1e-4)
    assert unbiased.pass_hat_k == pytest.approx(formula.pass_hat_k, abs=1e-4)


@given(cohorts, st.integers(1, 6))
@settings(max_examples=60)
def test_other_estimators_equal_their_definitions(tasks: list[Attempts], k: int) -> None:
    """Powers of each task's rate, of the pooled rate, and the mean over the pooled posterior."""
    c, n = sum(task.correct for task in tasks), sum(task.valid for task in tasks)
    grid = [(i + 0.5) / 2000 for i in range(2000)]
    weights = [p**c * (1 - p) ** (n - c) for p in grid]
    wanted = {
        "plug_in": [
            sum(1 - (1 - t.correct / t.valid) ** k for t in tasks) / len(tasks),
            sum((t.correct / t.valid) ** k for t in tasks) / len(tasks),
        ],
        "pooled": [1 - (1 - c / n) ** k, (c / n) ** k],
        "bayes_pooled": [
            sum(w * (1 - (1 - p) ** k) for w, p in zip(weights, grid, strict=True)) / sum(weights),
            sum(w * p**k for w, p in zip(weights, grid, strict=True)) / sum(weights),
        ],
    }

    for estimator, values in wanted.items():
        found = passes(tasks, estimator)[k - 1]
        assert [found.pass_at_k, found.pass_hat_k] == pytest.approx(values, abs=1e-5)
        assert found.extrapolated == (k > min(task.valid for task in tasks))
        assert found.small_sample == (n < 20)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.01, 0.99))
def test_beta_distribution_is_that_of_binomial_counts(a: int, b: int, p: float) -> None:
    """For whole a and b it is the chance of at least a hits in a + b - 1 tries."""
    n = a + b - 1
    tail = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(a, n + 1))

    assert beta.distribution(a, b, p) == pytest.approx(tail, abs=1e-12)
    assert isclose(beta.distribution(a, b, beta.quantile(a, b, p)), p, abs_tol=1e-9)


@given(cohorts)
@settings(max_examples=25)
def test_intervals_hold_their_value_and_chances_are_chances(tasks: list[Attempts]) -> None:
    """Every estimate lies in [0, 1]; pass^k falls and pass@k rises with k."""
    for estimator in ESTIMATORS:
        found = passes(tasks, estimator)
        for p in found:
            assert 0 <= p.pass_hat_k <= p.pass_at_k + 1e-12 <= 1 + 1e-9
            ends = (p.at_low, p.at_high, p.hat_low, p.hat_high)
            assert all(e is None or -1e-12 <= e <= 1 + 1e-12 for e in ends)
            assert (None in ends) == (set(ends) == {None})
        hats, ats = [p.pass_hat_k for p in found], [p.pass_at_k for p in found]
        assert hats == pytest.approx(sorted(hats, reverse=True), abs=1e-12)
        assert ats == pytest.approx(sorted(ats), abs=1e-12)


def test_task_without_a_valid_attempt_is_left_out() -> None:
    """It neither counts as a failure nor lowers the largest k."""
    (once,) = passes([Attempts(0, 0, 3), Attempts(1, 1)])

    assert once[:7] == (1, 1.0, 1.0, "unbiased", 1, False, True)


def test_nothing_tried_gives_no_pass() -> None:
    """Without attempts there is no k to speak of."""
    assert [passes([], estimator) for estimator in ESTIMATORS] == [[]] * 4


def test_single_attempts_have_wilson_s_interval() -> None:
    """With one attempt for each task the tasks are independent observations."""
    (found,) = passes([Attempts(1, i % 2) for i in range(10)])

    assert (found.hat_low, found.hat_high) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_min_trials_and_missing_attempts_are_counted() -> None:
    """Tasks tried too rarely are dropped for every k; missing attempts may be failures."""
    tasks = [Attempts(3, 3), Attempts(2, 1, 1), Attempts(1, 1)]

    assert count_attempts(tasks, min_trials=3) == ([Attempts(3, 3)], 2)
    failures = count_attempts(tasks, missing="as-failure", trials=4)
    assert failures.tasks == [Attempts(4, 3), Attempts(4, 1), Attempts(4, 1)]


RUNS = st.lists(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=4), min_size=1
)
"""For each task four attempts: whether each succeeds, and whether it crashes instead."""


@given(RUNS)
def test_crashes_never_make_a_release_look_better(runs: list[list[tuple[bool, bool]]]) -> None:
    """What is missing counts as failed: no pass@k, pass^k or tier's number rises with crashes."""
    whole = [Attempts(4, sum(right for right, _ in task)) for task in runs]
    crashed = [
        Attempts(
            sum(not crash for _, crash in task),
            sum(right and not crash for right, crash in task),
        )
        for task in runs
    ]

    before, after = (
        count_attempts(tasks, min_trials=None, missing="as-failure", trials=4).tasks
        for tasks in (whole, crashed)
    )

    assert len(after) == len(before) == len(runs)
    for old, new in zip(passes(before), passes(after), strict=True):
        assert new.pass_at_k <= old.pass_at_k
        assert new.pass_hat_k <= old.pass_hat_k
    assert (classify(after).pass_at_1 or 0) <= (classify(before).pass_at_1 or 0)


def test_tasks_of_three_attempts_count_unless_others_are_asked_for() -> None:
    """So tables stand on the tasks that tiers go by; without any such task all count."""
    often = [Attempts(3, 3), Attempts(2, 1), Attempts(1, 1)]

    assert count_attempts(often, min_trials=None) == ([Attempts(3, 3)], 2)
    assert count_attempts(often[1:], min_trials=None) == (often[1:], 0)


@pytest.mark.parametrize(
    ("once", "thrice", "tier"),
    [
        (0.95, 0.75, "Production-ready"),
        (0.95, 0.70, "Functional but inconsistent"),
        (0.95, 0.30, "Functional but inconsistent"),
        (0.95, 0.29, "Needs improvement"),
        (0.95, None, None),
        (0.9 + 1e-12, None, "Needs improvement"),
        (0.90, 0.90, "Needs improvement"),
        (0.70, 0.10, "Needs improvement"),
        (2 / 3, 0.296, "Not ready"),
    ],
)
def test_tier(once: float, thrice: float | None, tier: str | None) -> None:
    """The table of [Agentic], bounds as it writes them; 2 of 3 is its own example."""
    assert tier_of(once, thrice) == tier


def test_tier_goes_by_tasks_of_three_attempts() -> None:
    """Others say nothing of pass^3; without any, pass@1 alone can still be too low."""
    ready = [Attempts(3, 3)] * 9

    assert classify([*ready, Attempts(1, 0)]).tier == "Production-ready"
    assert classify([Attempts(2, 2)] * 9).reason == "too_few_attempts"
    assert classify([Attempts(2, 1)] * 9).tier == "Not ready"
    assert classify([]).reason == "no_attempts"


@pytest.mark.parametrize(
    ("tasks", "flags"),
    [
        (9, ("insufficient_sample",)),
        (10, ()),
        (6, ("insufficient_sample", "small_sample")),
    ],
)
def test_tier_of_a_small_sample_is_flagged(tasks: int, flags: tuple[str, ...]) -> None:
    """Fewer than 10 tasks, fewer than 20 attempts: as of any other score."""
    found = classify([Attempts(3, 3)] * tasks)

    assert (found.attempts, found.flags) == (3 * tasks, flags)


def test_tier_is_said_as_far_as_the_lower_ends_carry_it() -> None:
    """Ten perfect tasks leave room for one of four that fails, 35 for less than one of ten."""
    ten, many = (classify([Attempts(3, 3)] * tasks) for tasks in (10, 35))

    assert (ten.tier, many.tier) == ("Production-ready", "Production-ready")
    assert ten.pass_at_1_least == pytest.approx(0.7225, abs=1e-4)
    assert ten.carried == ("Needs improvement", True, None)
    assert many.carried == ("Production-ready", False, None)


def test_one_more_failure_never_raises_the_tier() -> None:
    """Equal tasks have no spread to resample, and yet say less than tasks without a failure."""
    ranks = ["Not ready", "Needs improvement", "Functional but inconsistent", "Production-ready"]
    for tasks in (10, 20, 40, 80):
        said = [
            classify([Attempts(3, 3)] * (tasks - failing) + [Attempts(3, 2)] * failing).carried
            for failing in range(tasks + 1)
        ]
        places = [ranks.index(found.label) if found.label else 0 for found in said]
        assert places == sorted(places, reverse=True)


def test_lower_ends_reach_the_second_row() -> None:
    """Of 60 tasks 12 fail one of ten attempts: nearly always right, not three times in a row."""
    found = classify([Attempts(10, 10)] * 48 + [Attempts(10, 9)] * 12)

    assert found.carried.label == "Production-ready"
    assert tier_of(0.91, 0.5) == "Functional but inconsistent"
    uneven = classify([Attempts(30, 30)] * 450 + [Attempts(30, 18)] * 100)
    assert (uneven.tier, uneven.carried.label) == ("Production-ready", "Production-ready")


def test_no_tier_is_said_of_a_small_sample_or_by_doubt_alone() -> None:
    """Thirteen runs of five tasks carry none; of ten, three of four may be as bad as the worst."""
    small = classify([Attempts(3, 3)] * 3 + [Attempts(2, 2)] * 2)
    doubtful = classify([Attempts(4, 3)] * 12)
    failing = classify([Attempts(4, 1)] * 12)

    assert small.carried == (None, False, "insufficient_sample")
    assert (doubtful.tier, doubtful.carried) == ("Needs improvement", (None, False, "left_open"))
    assert failing.carried == ("Not ready", False, None)
    assert classify([]).carried == (None, False, "no_attempts")
    assert classify([Attempts(2, 2)] * 50).carried == (None, False, "too_few_attempts")


def test_pass_names_what_a_report_writes() -> None:
    """Each k has the two numbers of docs/metrics.md, section 8.4, and what bounds them."""
    assert {"k", "pass_at_k", "pass_hat_k", "estimator"} <= set(Pass._fields)

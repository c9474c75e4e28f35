"""pass@k and pass^k agree with their definition and with the published numbers."""

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.reliability import Attempts, unbiased_passes

outcomes = st.lists(st.booleans(), min_size=1, max_size=6)


def test_tau_bench_gives_the_published_numbers(shared_data: Path) -> None:
    """200 airline runs of gpt-4o, 50 tasks x 4 trials, give tau-bench's own table."""
    runs = json.loads((shared_data / "tau-bench" / "gpt-4o-airline.json").read_text())
    rewards = defaultdict(list)
    for run in runs:
        rewards[run["task_id"]].append(run["reward"] == 1.0)

    passes = unbiased_passes([Attempts(len(r), sum(r)) for r in rewards.values()])

    assert [round(p.pass_hat_k, 3) for p in passes] == [0.420, 0.273, 0.220, 0.200]
    assert [round(p.pass_at_k, 3) for p in passes] == [0.420, 0.567, 0.660, 0.720]


@given(st.lists(outcomes, min_size=1, max_size=5))
def test_equals_the_share_of_all_choices_of_k_attempts(tasks: list[list[bool]]) -> None:
    """The closed form is the share among all ways to choose k of a task's attempts."""
    passes = unbiased_passes([Attempts(len(task), sum(task)) for task in tasks])

    assert [p.k for p in passes] == list(range(1, min(map(len, tasks)) + 1))
    for p in passes:
        choices = [list(combinations(task, p.k)) for task in tasks]
        at_least_one = [sum(map(any, chosen)) / len(chosen) for chosen in choices]
        every_one = [sum(map(all, chosen)) / len(chosen) for chosen in choices]
        assert p.pass_at_k == pytest.approx(sum(at_least_one) / len(tasks), abs=1e-12)
        assert p.pass_hat_k == pytest.approx(sum(every_one) / len(tasks), abs=1e-12)


def test_task_without_a_valid_attempt_is_left_out() -> None:
    """It neither counts as a failure nor lowers the largest k."""
    (once,) = unbiased_passes([Attempts(0, 0), Attempts(1, 1)])

    assert once == (1, 1.0, 1.0, "unbiased", 1)


def test_nothing_tried_gives_no_pass() -> None:
    """Without attempts there is no k to speak of."""
    assert unbiased_passes([]) == []

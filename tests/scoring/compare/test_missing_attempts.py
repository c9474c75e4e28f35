"""Attempts that lack count as failures on both sides of a comparison, against the definition.

Source: docs/metrics.md, section 8.5.
"""

from collections import defaultdict
from contextlib import closing
from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.scoring.report.build import Tables

from tracegrade_scoring.compare.attempts import AttemptCounting, DeclaredTask
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.compare.read import read_comparisons

AGENTS = ("clerk", "guide", "pilot")
MODES = ("live", "mock")
RELEASES = ("0", "1", "2")
"""The second and the third are compared."""
TASKS = "abcde"
DECLARED = [
    DeclaredTask("a", None, None),
    DeclaredTask("d", "pilot", None),
    DeclaredTask("x", None, None),
    DeclaredTask("y", "clerk", None),
    DeclaredTask("z", "somebody else", None),
]


class AttemptRuns(NamedTuple):
    """What was tried; each task some times, or never."""

    agent: str
    mode: str
    release: str
    task: str


Outcomes = dict[AttemptRuns, list[float | None]]
"""Of each attempt: whether it succeeded, None if that is unknown."""


def random_outcomes(random: Random) -> Outcomes:
    """Return attempts: all agents made one at `b` with each release, at others some or none."""
    found = {}
    for task, mode in product(TASKS, MODES):
        agents = AGENTS if task == "b" else random.sample(AGENTS, random.randint(0, 2))
        for agent, release in product(agents, RELEASES):
            count = 1 if task == "b" else random.choice((0, 0, 1, 2, 4))
            if outcomes := [random.choice((0.0, 1.0, None)) for _ in range(count)]:
                found[AttemptRuns(agent, mode, release, task)] = outcomes
    return found


def inserted(tables: Tables, outcomes: Outcomes) -> None:
    """Insert a run for each attempt."""
    for tried, values in outcomes.items():
        for trial, value in enumerate(values):
            run = tables.run(tried.release, tried.agent, run_mode=tried.mode, task_id=tried.task,
                             trial=trial)  # fmt: skip
            tables.scored(run, tried.task)
            of = None if value is None else 1.0
            tables.score(run, "success", value, numerator=value, denominator=of)


class Side(NamedTuple):
    """What counts of one release of an agent in a run mode."""

    success: float
    pass_at_1: float
    missing: int
    """Attempts that lack, or are of unknown success."""


def plain_side(outcomes: Outcomes, agent: str, mode: str, release: str, trials: int) -> Side:
    """Return what the definition says, task by task."""
    counts = []
    missing = 0
    for task in tasks_that_count(outcomes, agent, mode, trials):
        made = outcomes.get(AttemptRuns(agent, mode, release, task), [])
        attempts = max(len(made), trials)
        counts.append((made.count(1.0), attempts))
        missing += attempts - sum(value is not None for value in made)
    success = sum(correct for correct, _ in counts) / sum(attempts for _, attempts in counts)
    shares = [correct / attempts for correct, attempts in counts]
    return Side(success, sum(shares) / len(shares), missing)


def tasks_that_count(outcomes: Outcomes, agent: str, mode: str, trials: int) -> set[str]:
    """Return the tasks that each release should have tried, each with its number of attempts."""
    tried_by = defaultdict(set)
    by_release = defaultdict(set)
    for tried in outcomes:
        tried_by[tried.task].add(tried.agent)
        if (tried.agent, tried.mode) == (agent, mode):
            by_release[tried.release].add(tried.task)
    if not trials:
        return by_release["1"] & by_release["2"]
    declared = {
        task.task_id
        for task in DECLARED
        if task.agent_name == agent
        or (task.agent_name is None and not tried_by[task.task_id] - {agent})
    }
    return declared.union(*by_release.values())


def found_sides(comparison: Comparison) -> tuple[Side, Side]:
    """Return what a comparison says of both releases."""
    success, pass_at_1 = (comparison.metrics[name].found for name in ("success", "pass@1"))
    base, candidate = comparison.missing_attempts
    assert success.base is not None
    assert success.candidate is not None
    assert pass_at_1.base is not None
    assert pass_at_1.candidate is not None
    return (
        Side(success.base, pass_at_1.base, base),
        Side(success.candidate, pass_at_1.candidate, candidate),
    )


@settings(max_examples=many(2), phases=[Phase.generate])  # a lake is not made smaller
@given(st.randoms(use_true_random=True))
def test_attempts_that_lack_count_as_failures_by_the_definition(random: Random) -> None:
    """Tasks that either side, another release or no release tried, in each run mode by itself."""
    outcomes = random_outcomes(random)
    with closing(Tables()) as tables:
        inserted(tables, outcomes)
        for trials in (0, 3):
            counting = AttemptCounting("as-failure", trials, DECLARED)
            comparisons = read_comparisons(tables.con, "lake", "1", "2", counting=counting)
            assert len(comparisons.cohorts) == len(AGENTS) * len(MODES)
            for each in comparisons.cohorts:
                whose = (str(each.cohort.agent_name), str(each.cohort.run_mode))
                expected = [plain_side(outcomes, *whose, side, trials) for side in ("1", "2")]
                for found, plain in zip(found_sides(each), expected, strict=True):
                    assert found.success == pytest.approx(plain.success)
                    assert found.missing == plain.missing
                    if trials:  # else tasks with three attempts alone are in pass@1
                        assert found.pass_at_1 == pytest.approx(plain.pass_at_1)

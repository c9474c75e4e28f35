"""Tool selection and steps agree with their plain definitions on many random runs."""

import json
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.scoring.build import SCORES, connection, rows_of, score_rows, scored, specification

from . import plain, plain_conduct, plain_correctness

TASKS = 80
ATTEMPTS = 500
EXAMPLES = 3
"""With ATTEMPTS: 1,500 random attempts beside 500, which are 100,000 in `make chaos`."""

NAMES = ("t", "u", "v", "w", "x")
VALUES = (0, 1, 1.0, True, None, "1", [1], {"a": 1.0})
SCHEMA = {"type": "object", "required": ["k"], "properties": {"k": {"type": "integer"}}}


def random_tools(random: Random) -> dict[str, Any]:
    """Return a registry that knows more or less of each tool; one tool is in none."""
    tools: dict[str, Any] = {name: {} for name in NAMES[:4]}
    for name, tool in tools.items():
        if random.random() < 0.8:
            tool["effect"] = random.choice(("read", "write", "destructive"))
        if random.random() < 0.8:
            tool["cost"] = random.choice((1, 2.5))
        if random.random() < 0.4:
            others = [other for other in tools if other != name]
            tool["alternatives"] = random.sample(others, random.randint(1, 2))
        if random.random() < 0.3:
            tool["parameters"] = SCHEMA
    return tools


def random_arguments(random: Random) -> dict[str, Any]:
    """Return no, one or two arguments."""
    return {key: random.choice(VALUES) for key in ("k", "l") if random.random() < 0.5}


def random_wanted(random: Random) -> dict[str, Any]:
    """Return what a task may ask of arguments: some may be absent, some have alternatives."""

    def wanted() -> Any:
        kind = random.random()
        if kind < 0.2:
            return {"any_of": [random.choice(VALUES), random.choice(VALUES)]}
        return {"optional": random.choice(VALUES)} if kind < 0.4 else random.choice(VALUES)

    return {key: wanted() for key in ("k", "l") if random.random() < 0.5}


def random_expectation(random: Random, position: int) -> dict[str, Any]:
    """Return one decision point, most often with a tool."""
    point: dict[str, Any] = {}
    if random.random() < 0.85:
        point["tool"] = random.choice(NAMES[:4])
    if not point or random.random() < 0.1:
        point["effect"] = random.choice(("read", "write", "destructive"))
    if random.random() < 0.2:
        point["accept"] = random.sample(NAMES[:4], random.randint(1, 2))
    if random.random() < 0.4:
        point["arguments"] = random_wanted(random)
    if random.random() < 0.3:
        point["decision"] = f"d{position}"
    return point


def random_task(random: Random) -> dict[str, Any]:
    """Return a task of up to three decision points, with or without sub-goals."""
    task: dict[str, Any] = {"expected_complete": random.choice((True, True, "writes", False))}
    if random.random() < 0.3:
        task["sequence_matters"] = False
    if random.random() < 0.85:
        task["expected"] = [random_expectation(random, i) for i in range(random.randint(0, 3))]
    if random.random() < 0.3:
        task["sub_goals"] = {
            goal: {"serves": random.sample(NAMES[:4], random.randint(1, 2))} for goal in "gh"
        }
    if random.random() < 0.3:
        task["optimal_steps"] = random.randint(0, 4)
    return task


def random_call(random: Random) -> plain.Call:
    """Return a call; now and then it failed, names its purpose, or lost its arguments."""
    kind = random.random()
    return plain.Call(
        tool=random.choice(NAMES),
        arguments=None if kind < 0.03 else "{oops" if kind < 0.05 else random_arguments(random),
        failed=random.random() < 0.25,
        sub_goal=random.choice("gh") if random.random() < 0.1 else None,
        decision=f"d{random.randint(0, 3)}" if random.random() < 0.2 else None,
        offered=random.choice((None, None, True, False)),
    )


def random_attempt(random: Random, tasks: list[str]) -> plain.Attempt:
    """Return an attempt of up to five calls; a tenth have no task."""
    return plain.Attempt(
        task=random.choice(tasks) if random.random() < 0.9 else None,
        calls=[random_call(random) for _ in range(random.randint(0, 5))],
        offered=random.sample(NAMES, 3) if random.random() < 0.3 else None,
        outcome=random.choice((None, "success", "success", "failure", "invalid")),
    )


def plain_scores(
    attempt: plain.Attempt, tasks: dict[str, Any], tools: dict[str, Any]
) -> dict[str, plain.Value]:
    """Return every score of an attempt by its definition."""
    task = tasks.get(attempt.task or "", {})
    found = plain.decisions(attempt, task, tools)
    steps = plain.step_scores(attempt, task)
    return {
        **plain.tool_selection(found, task),
        **plain_correctness.scores(attempt, task, tools),
        **plain.call_scores(attempt, tools),
        **steps,
        **plain_conduct.scores(attempt, task, tools),
    }


def job_scores(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, plain.Value]]:
    """Return every score of the job, as exact fractions."""
    found: dict[str, dict[str, plain.Value]] = {}
    for trajectory_id, metric, score in score_rows(con, *SCORES):
        scored_value: plain.Value = score.status
        if score.numerator is not None and score.denominator is not None:
            scored_value = _fraction(score.numerator) / _fraction(score.denominator)
            assert score.value == score.numerator / score.denominator
        found.setdefault(trajectory_id, {})[metric] = scored_value
    return found


def _fraction(value: float) -> Fraction:
    """Return the sum of ratios of small numbers that a double stands for."""
    return Fraction(value).limit_denominator(10**6)


def job_decisions(con: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    """Return the decision points of each attempt, the missed ones last."""
    found: dict[str, list[Any]] = {}
    for trajectory_id, *decision in con.sql(
        "SELECT trajectory_id, picked_tool, expected_tool, correct, failed_criteria, counted, "
        "missed, calls, criteria FROM decision_rows ORDER BY trajectory_id, missed, decision_index"
    ).fetchall():
        found.setdefault(trajectory_id, []).append(plain.Decision(*decision))
    return found


@given(st.randoms(use_true_random=True))
@settings(max_examples=many(1))
def test_job_agrees_with_the_definition(random: Random) -> None:
    """Each score and decision of random attempts is what the definition says, in any order."""
    agrees(random)


@pytest.mark.slow
@given(st.randoms(use_true_random=True))
@settings(max_examples=EXAMPLES)
def test_job_agrees_on_more_attempts(random: Random) -> None:
    """The same holds for others; a share of them has combinations that are rare."""
    agrees(random)


def agrees(random: Random) -> None:
    """Check the scores of random attempts."""
    tools = random_tools(random)
    tasks = {f"task{i}": random_task(random) for i in range(TASKS)}
    attempts = [random_attempt(random, list(tasks)) for _ in range(ATTEMPTS)]
    steps, runs = rows_of(attempts)
    random.shuffle(steps)
    random.shuffle(runs)

    con = scored(
        connection(steps, runs),
        specification(json.dumps({"version": 1, "tools": tools, "tasks": tasks})),
    )
    scores, decisions = job_scores(con), job_decisions(con)
    for i, attempt in enumerate(attempts):
        task = tasks.get(attempt.task or "", {})
        assert decisions.get(f"t{i}", []) == plain.decisions(attempt, task, tools), attempt
        assert scores[f"t{i}"] == plain_scores(attempt, tasks, tools), attempt

"""Runs become attempts as in docs/metrics.md, section 8.2: turns, trials, what was superseded."""

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from typing import Any

import duckdb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import Row, arrow

from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.sql import query

NOON = datetime(2026, 11, 1, 12)  # noqa: DTZ001 - the lake's times are UTC without saying so
COHORT = ("release", "agent_name", "run_mode", "task_id")


def random_run(random: Random, number: int) -> dict[str, Any]:
    """Return one run of a few cohorts, tasks, trials and conversations."""
    return {
        "trajectory_id": f"t{number:03}",
        "parent_trajectory_id": "t000" if random.random() < 0.1 else None,
        "release": random.choice(("1", "2")),
        "agent_name": "a",
        "run_mode": random.choice((None, "live")),
        "task_id": random.choice(("x", "y", None)),
        "trial": random.choice((None, 1, 2)),
        "conversation_id": random.choice((None, None, "c", "d")),
        "start_time": NOON + timedelta(minutes=random.randint(0, 5)),
        "succeeded": random.choice((True, True, False, None)),
    }


def counts(runs: list[dict[str, Any]]) -> dict[tuple[Any, ...], Counter[str]]:
    """Return what becomes of the runs of each cohort and task, slowly and plainly."""
    attempts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        if run["task_id"] is None or run["parent_trajectory_id"] is not None:
            continue
        alone = run["trial"] is None and run["conversation_id"] is None
        own = (run["trial"], run["conversation_id"], run["trajectory_id"] if alone else None)
        attempts.setdefault((*(run[name] for name in COHORT), *own), []).append(run)
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for key, members in attempts.items():
        tally = found.setdefault(key[: len(COHORT)], Counter())
        if key[-2] is None:
            last = max(members, key=lambda run: (run["start_time"], run["trajectory_id"]))
            outcomes = {last["succeeded"]}
            tally["superseded"] += len(members) - 1
        else:
            outcomes = {run["succeeded"] for run in members}
        correct = False if False in outcomes else None if None in outcomes else True
        tally["valid_attempts"] += correct is not None
        tally["correct"] += correct is True
        tally["invalid"] += correct is None
    return found


def scored(run: dict[str, Any]) -> Row:
    """Return the row of scores of a run."""
    known, succeeded = run["succeeded"] is not None, run["succeeded"]
    success = {
        "value": float(succeeded) if known else None,
        "status": "scored" if known else "not_applicable",
    }
    kept = ("trajectory_id", "release", "agent_name", "run_mode", "task_id")
    return {**{name: run[name] for name in kept}, "success": success}


@settings(max_examples=20, phases=[Phase.generate])
@given(st.integers(min_value=0))
def test_attempts_are_those_of_the_definition(seed: int) -> None:
    """Turns make one attempt, a trial run twice counts by its later run, cohorts stay apart."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    runs = [random_run(random, i) for i in range(40)]
    trajectories = [{k: v for k, v in run.items() if k != "succeeded"} for run in runs]
    with duckdb.connect(config={"threads": 1}) as con:
        con.register("trajectories", arrow(TRAJECTORIES, trajectories))
        con.register("trajectory_scores", arrow(TRAJECTORY_SCORES, [scored(run) for run in runs]))
        con.execute(f"CREATE TEMP VIEW continued_runs AS {query('continued_runs')}")
        rows = con.sql(query("attempt_successes")).to_arrow_table().to_pylist()

    names = ("valid_attempts", "correct", "invalid", "superseded")
    found = {tuple(row[name] for name in COHORT): tuple(row[n] for n in names) for row in rows}
    assert found == {key: tuple(tally[n] for n in names) for key, tally in counts(runs).items()}

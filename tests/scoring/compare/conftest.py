"""Two releases of one agent, and of an agent in two run modes, as score tables."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.scoring.report.build import Tables

from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons

# success of two attempts, right first picks of 10, failure modes: base, then candidate
TASKS = {
    "t0": ((1, 1), (1, 1)),
    "t1": ((1, 0), (1, 1)),
    "t2": ((0, 0), (1, 0)),
    "t3": ((1, 1), (1, 1)),
    "t4": ((1, 1), (0, 0)),
    "t5": ((0, 1), (1, 1)),
}
RIGHT = {"1.0": (8, 7, 6, 9, 8, 7), "1.1": (9, 9, 7, 10, 8, 9)}
COMPLETED = {"1.0": (3, 2, 2, 3, 1, 2), "1.1": (3, 3, 2, 3, 3, 3)}


def fill(tables: Tables) -> None:
    """Insert what the tests of comparisons read."""
    for side, release in enumerate(("1.0", "1.1")):
        for place, (task, outcomes) in enumerate(TASKS.items()):
            for trial, success in enumerate(outcomes[side]):
                run = tables.run(release, task_id=task, trial=trial, step_count=10 + 5 * side,
                                 input_tokens=100, output_tokens=20 * side)  # fmt: skip
                tables.scored(run, task)
                _score(tables, run, release, place, success)
                if release == "1.1" and task == "t4":
                    tables.score(run, "loop_trap", 1.0, numerator=1.0, denominator=1.0)
                    tables.insert(
                        "failures", trajectory_id=run, mode="loop_trap", span_id=f"s{run}"
                    )
    alone = (("1.0", "gone"), ("1.1", "new"), ("1.1", None))
    for release, left_out in alone:
        tables.scored(tables.run(release, task_id=left_out), left_out)


def _score(tables: Tables, run: str, release: str, place: int, success: int) -> None:
    shares = {
        "success": (success, 1),
        "tsa": (RIGHT[release][place], 10),
        "sub_goal_completion": (COMPLETED[release][place], 3),
        "loop_trap": (0, 1),
    }
    for metric, (top, bottom) in shares.items():
        tables.score(run, metric, top / bottom, numerator=float(top), denominator=float(bottom))
    quality = {"1.0": 6.0, "1.1": 5.0}[release]
    tables.score(run, "pq", quality, numerator=quality, denominator=1.0)
    tables.con.execute(
        "UPDATE trajectory_scores SET sample_weight = 1, task_category = $category "
        "WHERE trajectory_id = $run",
        {"run": run, "category": "odd" if place % 2 else "even"},
    )


@pytest.fixture(scope="session")
def compared() -> Iterator[Tables]:
    """Releases 1.0 and 1.1 on six tasks with two attempts each; only read it."""
    with closing(Tables()) as tables:
        fill(tables)
        yield tables


@pytest.fixture(scope="session")
def found(compared: Tables) -> Comparisons:
    """Release 1.1 beside 1.0."""
    return read_comparisons(compared.con, "lake", "1.0", "1.1")


@pytest.fixture(scope="session")
def files(found: Comparisons) -> Comparison:
    """The only agent."""
    (comparison,) = found.cohorts
    return comparison


@pytest.fixture
def tables() -> Iterator[Tables]:
    """Empty tables."""
    with closing(Tables()) as tables:
        yield tables

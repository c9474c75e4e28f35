"""Release scores are the sums and means of the definition, for random runs of several cohorts."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import arrow, without_scores

from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import UNIT, add_scores, start_sums, total_sums


class Run(NamedTuple):
    """One run's score of a metric, with what it is added up by."""

    agent: str | None
    release: str
    mode: str | None
    category: str | None
    task: str | None
    weight: int
    metric: str
    status: str
    numerator: float
    denominator: float

    @property
    def cohort(self) -> tuple[str | None, ...]:
        """What is never pooled."""
        return self.agent, self.release, self.mode


METRICS = ("tsa", "pq", "ra_after_recovery", "success")


def random_run(random: Random) -> Run:
    """Return one run; numbers have few bits, so that any sum of them is exact."""
    metric = random.choice(METRICS)
    denominator = random.choice((1, 2, 4)) if metric == "tsa" else 1
    of = {"tsa": denominator, "success": 1}.get(metric, 10)
    return Run(
        random.choice(("a", None)),
        random.choice("12"),
        random.choice(("live", "mocked", None)),
        random.choice(("x", "y", None)),
        random.choice((*"pqrstuvw", None)),
        random.choice((1, 1, 1, 4)),
        metric,
        random.choice(("scored", "scored", "scored", "not_applicable", "error")),
        float(random.randint(0, of)),
        float(denominator),
    )


def row(number: int, run: Run) -> dict[str, Any]:
    """Return the run as a row of `trajectory_scores`; other metrics have no score there."""
    scored = run.status == "scored"
    score = {
        "value": run.numerator / run.denominator if scored else None,
        "numerator": run.numerator if scored else None,
        "denominator": run.denominator if scored else None,
        "status": run.status,
    }
    return {
        "trajectory_id": f"t{number}-1",
        "release": run.release,
        "agent_name": run.agent,
        "run_mode": run.mode,
        "task_id": run.task,
        "task_category": run.category,
        "sample_weight": float(run.weight),
        run.metric: score,
    }


def plain_value(metric: str, runs: Sequence[Run]) -> float | None:
    """Return the value by its definition: pooled, or the mean of tasks' means.

    Source: docs/metrics.md, section 7.4.
    """
    scored = [run for run in runs if run.status == "scored"]
    if not scored:
        return None
    if metric in {"tsa", "success"}:
        top = sum(Fraction(run.numerator) * run.weight for run in scored)
        return float(top / sum(Fraction(run.denominator) * run.weight for run in scored))
    tasks = sorted({run.task for run in scored}, key=lambda task: (task is None, task or ""))
    means = []
    for task in tasks:
        own = [run for run in scored if run.task == task]
        weights = sum(run.weight for run in own)
        means.append(sum(run.numerator * run.weight for run in own) / weights)
    return sum(means) / len(means)


def plain(runs: Sequence[Run]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Yield each cohort, category ('' for all) and metric with its value and counts."""
    keys: set[tuple[Any, ...]] = {
        (*run.cohort, category, run.metric)
        for run in runs
        for category in ("", run.category or "")
    }
    for *cohort, category, metric in keys:
        own = [
            run
            for run in runs
            if run.cohort == tuple(cohort) and run.metric == metric
            and category in {"", run.category}
        ]  # fmt: skip
        statuses = [run.status for run in own]
        counts = (statuses.count(s) for s in ("scored", "not_applicable", "error"))
        tasks = {run.task for run in own if run.status == "scored"} - {None}
        value = plain_value(metric, own)
        yield (*cohort, category, metric), (value, *counts, len(own), len(tasks))


def wide_run(random: Random) -> Run:
    """Return one run whose numbers have all bits of a double, some below those that are kept."""
    numerator, denominator = (random.random() * 2.0 ** random.randint(-20, 10) for _ in "ab")
    run = random_run(random)._replace(metric="tsa", weight=random.choice((1, 10**9)))
    return run._replace(numerator=numerator, denominator=denominator)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection on which nothing was scored before."""
    with without_scores() as con:
        yield con


@settings(max_examples=4, phases=[Phase.generate])
@given(seed=st.integers(min_value=0))
def test_release_scores_are_those_of_the_definition(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    """Cohorts stay apart, ratios are pooled, PQ and RA are means over tasks; runs are weighted."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    runs = [random_run(random) for _ in range(120)]
    start_sums(con, are_whole=True)
    made = arrow(TRAJECTORY_SCORES, [row(i, run) for i, run in enumerate(runs)])
    add_scores(con, made.to_batches(50))
    total_sums(con)

    names = ("value", "scored", "not_applicable", "error", "trajectories", "tasks")
    key = ("agent_name", "release", "run_mode", "task_category", "metric")
    found = {
        tuple(row[name] for name in key): tuple(row[name] for name in names)
        for row in release_scores(con).to_pylist()
    }
    assert found == dict(plain(runs))


def numbered(rows: pa.Table, random: Random) -> pa.Table:
    """Return the rows with scores as dictionaries, in any order, one of them twice."""
    places = [*range(len(rows)), random.randrange(len(rows))]
    random.shuffle(places)
    indices = pa.array([places.index(at) for at in range(len(rows))], pa.int32())
    for at, name in enumerate(rows.column_names):
        if pa.types.is_struct(rows[name].type):
            scores = rows[name].combine_chunks().take(pa.array(places))
            column = pa.DictionaryArray.from_arrays(indices, scores)
            rows = rows.set_column(at, name, column)
    return rows


@settings(max_examples=4, phases=[Phase.generate])
@given(seed=st.integers(min_value=0))
def test_sums_are_exact(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Split in any way, doubles add up as multiples of 2**-60; taken off, they leave nothing."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    runs = [wide_run(random) for _ in range(60)]
    made = arrow(TRAJECTORY_SCORES, [row(i, run) for i, run in enumerate(runs)])
    start_sums(con, are_whole=True)
    add_scores(con, numbered(made, random).to_batches(random.randint(1, 60)))
    total_sums(con)

    found = con.sql("SELECT sum(numerator), sum(value_sum), sum(observations) FROM current_sums")
    scored = [run for run in runs if run.status == "scored"]
    numbers = [
        (
            run.weight * run.numerator,
            run.weight * (run.numerator / run.denominator),
            run.denominator,
        )
        for run in scored
    ]
    assert [int(total) for total in found.fetchall()[0]] == [
        sum(round(Fraction(number) * UNIT) for number in column)
        for column in zip(*numbers, strict=True)
    ]

    add_scores(con, made.to_batches(), sign=-1)
    total_sums(con)
    assert con.sql("FROM current_sums").fetchall() == []

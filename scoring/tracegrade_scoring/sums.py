"""Adds scores up by cohort, category, task and metric, exactly, so that sums can be kept.

Doubles are added as whole multiples of 2**-60: no order of rows, no splitting into buckets and no
earlier run changes a bit of the result, and what is no longer so can be taken off again. That is
how release scores follow a small change without reading the whole lake.
"""

from typing import Final

import duckdb

from tracegrade_queries.connection import duckdb_type
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE_SUMS

UNIT: Final = 2**60
"""Sums hold whole multiples of 1 / UNIT, up to 10**38 of them."""

_KEYS: Final = ("release", "agent_name", "run_mode", "task_category", "task_id", "metric")
_ADDED: Final = [column.name for column in SCORE_SUMS.columns if column.name not in _KEYS]


def start_sums(con: duckdb.DuckDBPyConnection) -> None:
    """Create `sum_parts`: the sums of the lake, less those of the scores that are made anew.

    If the lake's sums are not of all scores (some were erased since), they are added up afresh.
    """
    con.execute("CREATE OR REPLACE TABLE sum_parts AS FROM score_sums")
    if not sums_are_whole(con):
        con.execute("DELETE FROM sum_parts")
        add_scores(con, f"SELECT * FROM trajectory_scores WHERE NOT {_OF_TRACES}")
        return
    dates = con.sql(
        "SELECT DISTINCT scored_date FROM traces_to_score WHERE scored_date IS NOT NULL"
    ).fetchall()
    if dates:  # as constants they keep the engine from all other files
        listed = ", ".join(f"'{day}'" for (day,) in dates)
        old = f"SELECT * FROM trajectory_scores WHERE date IN ({listed}) AND {_OF_TRACES}"
        add_scores(con, old, sign=-1)


_OF_TRACES: Final = "split_part(trajectory_id, '-', 1) IN (SELECT trace_id FROM traces_to_score)"


def add_scores(con: duckdb.DuckDBPyConnection, scores: str, sign: int = 1) -> None:
    """Add scores, a query with the columns of `trajectory_scores`; a sign of -1 takes them off."""
    added = ", ".join(f"{sign} * cell.{name} AS {name}" for name in _ADDED)
    con.execute(
        "INSERT INTO sum_parts BY NAME "
        "SELECT release, agent_name, run_mode, task_category, task_id, cell.metric AS metric, "
        f"{added} FROM (SELECT * EXCLUDE (cells), unnest(cells) AS cell FROM ({_cells(scores)}))"
    )


def _cells(scores: str) -> str:
    """Return the query of the sums of every metric for each cohort, category and task."""
    cells = ", ".join(_cell(metric) for metric in METRICS)
    return (
        "SELECT release, agent_name, run_mode, coalesce(task_category, '') AS task_category, "
        f"task_id, [{cells}] AS cells FROM ({scores}) GROUP BY ALL"
    )


def _cell(metric: str) -> str:
    """Return the sums of one metric as a struct."""
    scored = f"{metric}.status = 'scored'"
    single = f"{metric}.denominator = 1 AND {metric}.numerator IN (0, 1) AND sample_weight = 1"
    counts = {
        "scored": f"count_if({scored})",
        "not_applicable": f"count_if({metric}.status = 'not_applicable')",
        "error": f"count_if({metric}.status = 'error')",
        "not_single": f"count_if({scored} AND NOT ({single}))",
    }
    sums = {
        "numerator": f"sample_weight * {metric}.numerator",
        "denominator": f"sample_weight * {metric}.denominator",
        "value_sum": f"sample_weight * {metric}.value",
        "weight": f"if({scored}, sample_weight, 0)",
        "observations": f"{metric}.denominator",
    }
    exact = {name: f"coalesce(sum(({of} * {UNIT}.0)::HUGEINT), 0)" for name, of in sums.items()}
    fields = ", ".join(f"'{name}': {sql}" for name, sql in {**counts, **exact}.items())
    return f"{{'metric': '{metric}', {fields}}}"


def total_sums(con: duckdb.DuckDBPyConnection) -> None:
    """Create `current_sums` of all parts, without sums of nothing."""
    sums = ", ".join(
        f"sum({column.name})::{duckdb_type(column.type)} AS {column.name}"
        for column in SCORE_SUMS.columns
        if column.name in _ADDED
    )
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE current_sums AS SELECT {', '.join(_KEYS)}, {sums} "
        "FROM sum_parts GROUP BY ALL "
        "HAVING sum(scored + not_applicable + error) > 0"
    )


def sums_are_whole(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the lake's sums are of all its scores: some may have been erased since."""
    scored, summed = con.execute(
        "SELECT (FROM trajectory_scores SELECT count(*)), "
        "(FROM score_sums SELECT sum(scored + not_applicable + error) WHERE metric = $one)",
        {"one": next(iter(METRICS))},
    ).fetchall()[0]
    return bool((summed or 0) == scored)

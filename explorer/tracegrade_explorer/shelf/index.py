"""The index of runs: one narrow row for each, in memory, so that a list needs no file.

Makes:
    run_facts (from failures, superseded_runs, trajectories, trajectory_scores): what is known of
        each beside scores
    observed_scores (from scores): the two metrics that are worked out as they are read
    kept_optima (from observed_optima): the same rows, read once
    run_index (from run_facts, observed_scores, trajectory_scores): both, with the value of each
        metric under its name, NULL unless scored, and in `<metric>_reason` why there is none
"""

from collections.abc import Iterator
from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.conditions import ENUMS
from tracegrade_explorer.sql import QUERIES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.relations import materialise
from tracegrade_scoring.rendering.reasons import REASONS

OBSERVED: Final = ("step_efficiency", "step_ratio")
OTHER_REASON: Final = "other"
"""Of a score that was not made for a reason this version does not know."""
NAMES_OF_METRICS: Final = tuple(METRICS)


def build_index(con: DuckDBPyConnection, max_runs: int) -> None:
    """Create `run_index`, the newest run first, and `kept_optima`.

    They are no temporary tables, which only one cursor would see.

    Args:
        con: Holds the tables of a lake.
        max_runs: Runs to keep, the newest.
    """
    materialise(con, "superseded_runs")
    for name in ("run_facts", "observed_scores"):
        text = QUERIES.unordered(name)
        given = {"max_runs": max_runs} if name == "run_facts" else {}
        con.execute(f"CREATE TEMP TABLE {name} AS {text}", given)
    con.execute("CREATE TABLE kept_optima AS FROM observed_optima")
    for column in ENUMS:
        con.execute(
            f"CREATE TYPE {column}_name AS ENUM (SELECT DISTINCT {column} FROM run_facts "
            f"WHERE {column} IS NOT NULL ORDER BY {column})"
        )
    con.execute(f"CREATE TYPE reason AS ENUM ({_literals((*REASONS, OTHER_REASON))})")
    facts = ", ".join(f"run_facts.{column}::{column}_name AS {column}" for column in ENUMS)
    metrics = ", ".join([*_metrics()])
    con.execute(
        f"CREATE TABLE run_index AS SELECT run_facts.* REPLACE ({facts}), {metrics} "
        "FROM run_facts LEFT JOIN trajectory_scores USING (trajectory_id) "
        "LEFT JOIN observed_scores USING (trajectory_id) ORDER BY run_facts.seq"
    )
    con.execute("DROP TABLE run_facts; DROP TABLE observed_scores; DROP TABLE superseded_runs")


def _metrics() -> Iterator[str]:
    """Yield the value of each metric, and why it has none."""
    for name in NAMES_OF_METRICS:
        value = f"trajectory_scores.{name}.value"
        if name in OBSERVED:
            value = f"coalesce({value}, observed_scores.{name})"
        code = f"split_part(trajectory_scores.{name}.reason, ':', 1)"
        known = f"coalesce(try_cast({code} AS reason), '{OTHER_REASON}')"
        missing = f"trajectory_scores.{name}.reason IS NOT NULL AND {value} IS NULL"
        yield f"{value} AS {name}"
        yield f"CASE WHEN {missing} THEN {known} END::reason AS {name}_reason"


def _literals(codes: tuple[str, ...]) -> str:
    return ", ".join(f"'{code}'" for code in codes)

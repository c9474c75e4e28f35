"""The index of runs: one narrow row for each, in memory, so that a list reads no files.

It is made some dates at a time, since sorting doubles the memory.

Makes:
    run_positions (from trajectories): the runs of the index, and their order
    kept_optima (from observed_optima): the same rows, read once
    kept_continued (from continued_runs): the same rows, read once
    counted_release_scores (from release_scores, score_sums, superseded_runs, trajectory_scores):
        the scores of releases without superseded runs, as in reports
    open_runs (from steps, trajectories): until when runs without an end count as running
    run_totals (from run_members, trajectories): tokens and cost of runs with sub-agents
    sub_agent_names (from run_members, steps, trajectories): models and tools of sub-agents
    run_index (from custom_scores, decisions, failed_calls, failures, observed_step_scores,
        open_runs, run_positions, run_reasons, run_totals, steps, sub_agent_names,
        superseded_runs, trajectories, trajectory_scores):
        `run_facts`, with the value of each metric under its name, NULL unless scored, and the
        reason for NULL in `<metric>_reason`; users' own metrics as in `own_scores`
    request_texts (from run_index): seq, and the beginning of the request in small letters
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.conditions import ENUM_LISTS, ENUMS
from tracegrade_explorer.sql import QUERIES, query
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering.reasons import REASONS
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.report.counted import counted_release_scores
from tracegrade_scoring.run_states import LIMITS
from tracegrade_scoring.sql import RELATIONS

PART_RUNS: Final = 50_000
"""Runs of whole dates that are read at a time; more only if one date has more."""
OBSERVED: Final = ("step_efficiency", "step_ratio")
"""Metrics that are worked out as they are read."""
OF_SUB_AGENTS: Final = ("run_totals", "sub_agent_names")
"""Relations of runs with sub-agents."""
OUTCOMES: Final = ("failed", "succeeded")
SCORED_NAMES: Final = ("task_id", "task_category")
"""Columns in which scoring's names replace the trace's."""
OTHER_REASON: Final = "other"
"""Reason for a missing score that this version does not know."""
NAMES_OF_METRICS: Final = tuple(METRICS)


class DateSpan(NamedTuple):
    """From one date to another, both included."""

    first_date: date
    last_date: date


def build_index(con: DuckDBPyConnection, max_runs: int) -> None:
    """Create `run_index`, the newest run first, `request_texts`, and the stored relations.

    They are not temporary tables, since only one cursor would see those.

    Args:
        con: Holds the tables of a lake.
        max_runs: Runs to keep, the newest.
    """
    con.execute("CREATE TABLE kept_continued AS FROM continued_runs")
    con.execute("CREATE TEMP VIEW continued_runs AS FROM kept_continued")
    RELATIONS.make(con, "superseded_runs")
    with counted_release_scores(con):
        con.execute("CREATE TABLE counted_release_scores AS FROM release_scores")
    con.execute(
        f"CREATE TEMP TABLE run_positions AS {QUERIES.unordered('run_positions')}",
        {"max_runs": max_runs},
    )
    con.execute(
        f"CREATE TEMP TABLE open_runs AS {QUERIES.unordered('open_runs')}",
        {"now": utc_now(), **LIMITS},
    )
    RELATIONS.make(con, "run_members")
    for name in OF_SUB_AGENTS:
        con.execute(f"CREATE TEMP TABLE {name} AS {QUERIES.unordered(name)}")
    con.execute("CREATE TABLE kept_optima AS FROM observed_optima")
    con.execute("CREATE TEMP VIEW observed_optima AS FROM kept_optima")
    _create_types(con)
    _create_table(con)
    for part in _parts(con.execute(query("index_dates")).fetchall()):
        con.execute(f"INSERT INTO run_index {_rows()} ORDER BY run_facts.seq", part._asdict())
    con.execute("CREATE UNIQUE INDEX run_by_position ON run_index (seq)")
    _keep_texts(con)
    con.execute("DROP VIEW temp.observed_optima; DROP VIEW temp.continued_runs")
    con.execute("DROP TABLE run_positions; DROP TABLE temp.superseded_runs")
    con.execute("DROP TABLE open_runs; DROP VIEW run_members")
    for name in OF_SUB_AGENTS:
        con.execute(f"DROP TABLE {name}")


def _keep_texts(con: DuckDBPyConnection) -> None:
    """Create `request_texts`: changing letters each time takes as long as searching."""
    con.execute("CREATE TABLE request_texts AS SELECT seq, lower(request) AS text FROM run_index")


def _create_types(con: DuckDBPyConnection) -> None:
    """Create a type for each column of names, which has those of the lake."""
    for column in (*ENUMS, *ENUM_LISTS):
        con.execute(
            f"CREATE TYPE {column}_name AS ENUM (SELECT name FROM ({_names(column)}) AS named "
            "WHERE name IS NOT NULL ORDER BY name)"
        )
    con.execute(f"CREATE TYPE reason AS ENUM ({_literals((*REASONS, OTHER_REASON))})")


def _names(column: str) -> str:
    """Return the query of the names that a column of `run_facts` may have, and of NULL."""
    if column == "outcome":
        return f"SELECT unnest([{_literals(OUTCOMES)}]) AS name"
    if column == "models":
        return "SELECT DISTINCT unnest(model_usage).model AS name FROM trajectories"
    if column == "tools":
        return "SELECT DISTINCT tool_name AS name FROM steps WHERE kind = 'tool_call'"
    scored = f" UNION SELECT {column} FROM trajectory_scores" if column in SCORED_NAMES else ""
    return f"SELECT DISTINCT {column} AS name FROM trajectories{scored}"


def _parts(counts: Iterable[tuple[date, int]]) -> Iterator[DateSpan]:
    """Yield dates that are read together, the newest first."""
    together: list[date] = []
    runs = 0
    for received, runs_then in counts:
        if together and runs + runs_then > PART_RUNS:
            yield DateSpan(together[-1], together[0])
            together, runs = [], 0
        together.append(received)
        runs += runs_then
    if together:
        yield DateSpan(together[-1], together[0])


def _create_table(con: DuckDBPyConnection) -> None:
    nothing = DateSpan(date.min, date.min)
    con.execute(f"CREATE TABLE run_index AS {_rows()} LIMIT 0", nothing._asdict())


def _rows() -> str:
    """Return the query of the rows of some dates."""
    types = {
        **{column: f"{column}_name" for column in ENUMS},
        **{column: f"{column}_name[]" for column in ENUM_LISTS},
    }
    facts = ", ".join(
        f"run_facts.{column}::{of_column} AS {column}" for column, of_column in types.items()
    )
    joins = " ".join(
        f"LEFT JOIN (FROM {table} WHERE date BETWEEN $first_date AND $last_date) AS {table} "
        f"ON run_facts.trajectory_id = {table}.trajectory_id"
        for table in ("trajectory_scores", "observed_step_scores")
    )
    return (
        f"SELECT run_facts.* REPLACE ({facts}), {', '.join(_metrics())}, "
        "own_scores.own_values, own_scores.own_reasons "
        f"FROM ({QUERIES.unordered('run_facts')}) AS run_facts {joins} "
        f"LEFT JOIN ({QUERIES.unordered('own_scores')}) AS own_scores "
        "ON run_facts.trajectory_id = own_scores.trajectory_id"
    )


def _metrics() -> Iterator[str]:
    """Yield the value of each metric, and why it has none."""
    for name in NAMES_OF_METRICS:
        table = "observed_step_scores" if name in OBSERVED else "trajectory_scores"
        value, reason = f"{table}.{name}.value", f"{table}.{name}.reason"
        known = f"coalesce(try_cast(split_part({reason}, ':', 1) AS reason), '{OTHER_REASON}')"
        missing = f"{reason} IS NOT NULL AND {value} IS NULL"
        yield f"{value} AS {name}"
        yield f"CASE WHEN {missing} THEN {known} END::reason AS {name}_reason"


def _literals(codes: tuple[str, ...]) -> str:
    return ", ".join(f"'{code}'" for code in codes)

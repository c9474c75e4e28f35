"""Small lakes in memory: steps and trajectories with the declared columns, the rest left NULL."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from tests.scoring.scorers.plain import Attempt

from tracegrade_lake import VERDICTS, Table
from tracegrade_queries.build.canonical import canonical_json
from tracegrade_queries.files.yaml_source import read
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.schema import SCORE_SUMS, TRAJECTORY_SCORES
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.tasks import Specification

Row = Mapping[str, Any]


FIRST_TURNS = "first_turns (trajectory_id VARCHAR, first_turn BIGINT, end_turn BIGINT)"
"""What turns runs have of their conversations; none, unless a test says so."""


def specification(text: str) -> Specification:
    """Return a specification from the YAML of a task file, unchecked."""
    values = read("tasks.yaml", text).values
    return Specification.model_validate({k: v for k, v in values.items() if k != "version"})


def connection(
    steps: Sequence[Row] = (), trajectories: Sequence[Row] = (), verdicts: Sequence[Row] = ()
) -> duckdb.DuckDBPyConnection:
    """Return a connection in which the three built tables hold the given rows."""
    con = duckdb.connect(config={"threads": 1})  # small tables: threads cost more than they save
    for table, rows in ((STEPS, steps), (TRAJECTORIES, trajectories), (VERDICTS, verdicts)):
        con.register("_rows", arrow(table, rows))
        con.execute(f"CREATE TEMP TABLE {table.name} AS FROM _rows")
        con.unregister("_rows")
    con.execute(f"CREATE TEMP TABLE {FIRST_TURNS}")
    return con


@contextmanager
def without_scores() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection on which nothing was scored before."""
    with duckdb.connect(config={"threads": 1}) as con:
        for scores in (SCORE_SUMS, TRAJECTORY_SCORES):
            con.register(scores.name, arrow(scores, []))
        con.execute("CREATE TABLE traces_to_score (trace_id TEXT, scored_date DATE)")
        yield con


def arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Return the rows as a table of the declared schema."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=table.arrow())


ATTEMPTS = RELATIONS.named_below("attempts", "tasks/relations.py")
"""What metrics read."""

GIVEN = ("bucket_steps", "endings", "first_turns", "trajectories", "verdicts")
"""What is made for a test."""


def prepared(
    con: duckdb.DuckDBPyConnection, spec: Specification, *scorers: str
) -> duckdb.DuckDBPyConnection:
    """Return the connection with the relations that metrics read, and those of scorers.

    Args:
        con: As `connection` returns it. No run ended early, unless its `endings` says so.
        spec: What to score against.
        scorers: Folders of `scorers`.
    """
    con.execute(f"CREATE TEMP TABLE IF NOT EXISTS {FIRST_TURNS}")
    con.execute("CREATE TEMP TABLE IF NOT EXISTS endings (trajectory_id TEXT, ending TEXT)")
    con.execute("ALTER TABLE temp.steps RENAME TO bucket_steps")
    own = RELATIONS.named_below(*(f"scorers/{name}" for name in scorers))
    options = {"compat": spec.tool_correctness.compat}
    RELATIONS.run(con, {*ATTEMPTS, *own}, GIVEN, options=options, context=spec)
    return con


SCORERS = (
    "step_efficiency",
    "tool_selection",
    "tool_correctness",
    "plan_graph",
    "conduct",
    "failure_modes",
    "run_reasons",
)
"""In the order of the job; each may read what those before it made."""

LAST_OF_METRICS = "failure_modes"
"""Behind which no scorer makes a score."""


def scored(
    con: duckdb.DuckDBPyConnection, spec: Specification, *, until: str = LAST_OF_METRICS
) -> duckdb.DuckDBPyConnection:
    """Return the connection after these scorers did their work.

    Args:
        con: As for `prepared`.
        spec: Likewise.
        until: The last of SCORERS; a test of one of them saves the time of those after it.
    """
    return prepared(con, spec, *SCORERS[: SCORERS.index(until) + 1])


class Score(NamedTuple):
    """One score."""

    value: float | None
    numerator: float | None
    denominator: float | None
    status: str
    label: str | None
    reason: str | None
    source: str | None


SCORES = (
    "call_scores",
    "conduct_scores",
    "failure_scores",
    "step_scores",
    "tool_correctness_scores",
    "tool_selection_scores",
)


def scores(con: duckdb.DuckDBPyConnection, trajectory_id: str = "t1") -> dict[str, Score]:
    """Return the scores of one trajectory by metric, of those scorers that did their work."""
    return all_scores(con).get(trajectory_id, {})


def all_scores(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Score]]:
    """Return the scores of each trajectory by metric, of those scorers that did their work."""
    made = {name for (name,) in con.sql("SELECT table_name FROM duckdb_tables()").fetchall()}
    found: defaultdict[str, dict[str, Score]] = defaultdict(dict)
    for trajectory_id, metric, score in score_rows(con, *(n for n in SCORES if n in made)):
        assert metric not in found[trajectory_id]
        found[trajectory_id][metric] = score
    return found


class Case(NamedTuple):
    """One attempt of many that are scored at once, which is as good as one by one and faster."""

    steps: Sequence[Row]
    """Those of the only trajectory, whose id is given to it."""

    task: Row | None = None
    """What it is held against; None for an attempt without a task."""

    columns: Row = {}  # noqa: RUF012 - it is never changed
    """Of its trajectory."""

    ended: str | None = None
    """How it was cut off, if it was."""


def scored_at_once(
    cases: Sequence[Case], spec: str = "", *, until: str = LAST_OF_METRICS
) -> list[dict[str, Score]]:
    """Return the scores of each case's attempt by metric; arguments as for `all_scored`."""
    with all_scored(cases, spec, until=until) as con:
        found = all_scores(con)
    return [found[f"t{i}"] for i in range(len(cases))]


def all_scored(
    cases: Sequence[Case], spec: str = "", *, until: str = LAST_OF_METRICS
) -> duckdb.DuckDBPyConnection:
    """Return the connection after the attempts of all cases were scored, as t0, t1 and so on.

    Args:
        cases: The attempts, each with a task of its own.
        spec: The YAML of what they share: `tools`.
        until: As for `scored`.
    """
    ids = [f"t{i}" for i in range(len(cases))]
    tasks = {
        name: case.task for name, case in zip(ids, cases, strict=True) if case.task is not None
    }
    steps = [
        {**step, "trajectory_id": name}
        for name, case in zip(ids, cases, strict=True)
        for step in case.steps
    ]
    runs = [
        trajectory(name, **{"task_id": name if case.task is not None else None, **case.columns})
        for name, case in zip(ids, cases, strict=True)
    ]
    con = connection(steps, runs)
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    for name, case in zip(ids, cases, strict=True):
        if case.ended:
            con.execute("INSERT INTO endings VALUES ($i, $e)", {"i": name, "e": case.ended})
    return scored(con, specification(f"{spec}\ntasks: {json.dumps(tasks)}"), until=until)


def score_rows(con: duckdb.DuckDBPyConnection, *scorers: str) -> list[tuple[str, str, Score]]:
    """Return (trajectory_id, metric, score) of every score that these scorers gave."""
    return [
        (trajectory_id, metric, Score(**score))
        for scorer in scorers
        for row in con.table(scorer).to_arrow_table().to_pylist()
        for trajectory_id in row.pop("trajectory_ids")
        for metric, score in row.items()
    ]


def trajectory(trajectory_id: str = "t1", **columns: Any) -> Row:
    """Return one complete root trajectory."""
    given = {"trace_id": trajectory_id, "complete": True, "sample_weight": 1.0, **columns}
    return {"trajectory_id": trajectory_id, **given}


def call(trajectory_id: str, step_index: int, tool_name: str, **columns: Any) -> Row:
    """Return one tool call that went well, without arguments."""
    given = {
        "status": "ok",
        "arguments": "{}",
        "span_id": f"s{step_index}",
        "flags": [],
        **columns,
    }
    return {
        "trajectory_id": trajectory_id,
        "step_index": step_index,
        "kind": "tool_call",
        "tool_name": tool_name,
        **given,
    }


def rows_of(attempts: Sequence[Attempt]) -> tuple[list[Row], list[Row]]:
    """Return the attempts as steps and trajectories."""
    steps = [
        call(
            f"t{i}", j, made.tool,
            arguments=_written(made.arguments),
            status="error" if made.failed else "ok",
            result=made.result, offered=made.offered,
            sub_goal=made.sub_goal, decision=made.decision,
        )
        for i, attempt in enumerate(attempts)
        for j, made in enumerate(attempt.calls)
    ]  # fmt: skip
    steps += [
        {
            "trajectory_id": f"t{i}",
            "step_index": len(attempt.calls),
            "kind": "answer",
            "content": attempt.answer or None,
        }
        for i, attempt in enumerate(attempts)
        if attempt.answer is not None
    ]
    runs = [
        trajectory(
            f"t{i}",
            task_id=attempt.task,
            outcome=attempt.outcome,
            offered_tools=attempt.offered and json.dumps([{"name": n} for n in attempt.offered]),
        )
        for i, attempt in enumerate(attempts)
    ]
    return steps, runs


def _written(arguments: Any) -> str | None:
    return (
        arguments if isinstance(arguments, str | None) else canonical_json(json.dumps(arguments))
    )

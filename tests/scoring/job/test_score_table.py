"""What scorers say of runs that are alike stands beside each of them, by date."""

from collections.abc import Iterator, Mapping, Sequence

import duckdb
import pyarrow as pa
import pytest

from tracegrade_queries.engine.relations import put
from tracegrade_queries.engine.staged import typed
from tracegrade_scoring.job.score_table import BESIDE, CHILD, KILLED, SCORERS, score_table
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE, TRAJECTORY_SCORES

KNOWN = """
  SELECT run AS trajectory_id, run < 4 AS is_root, FALSE AS killed, FALSE AS is_extra_run,
         run - 1 AS content_lost, FALSE AS calls_unrecorded, FALSE AS own_unrecorded,
         NULL AS task_id, NULL AS task_category,
         NULL::MAP(VARCHAR, VARCHAR) AS dimensions,
         '1.0' AS release, 'a' AS agent_name, 'live' AS run_mode, 1.0::DOUBLE AS sample_weight,
         NULL AS task_hash, NULL AS specification_hash, 'h' AS input_hash,
         DATE '2026-11-22' - run::INTEGER AS date
  FROM range(1, 5) AS runs (run)
"""


def say(
    con: duckdb.DuckDBPyConnection, scorer: str, values: Mapping[float, Sequence[int]]
) -> None:
    """Let a scorer say that these runs have these values, in every metric that is left to it."""
    metrics = METRICS if scorer == "step_scores" else ()
    scores = pa.array([{"value": value, "status": "scored"} for value in values], SCORE)
    runs = pa.array(list(values.values()), pa.list_(pa.int64()))
    put(con, scorer, pa.table({"trajectory_ids": runs, **dict.fromkeys(metrics, scores)}))


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Three attempts and the run of a sub-agent, each a day before the last; all are alike."""
    with duckdb.connect() as con:
        con.execute(f"CREATE TEMP TABLE scored_trajectories AS {KNOWN}")
        con.execute(
            "CREATE TEMP TABLE trajectory_ids AS "
            "SELECT trajectory_id, 't' || trajectory_id AS id FROM scored_trajectories"
        )
        for scorer in SCORERS:
            say(con, scorer, {1.0: [3, 1, 2]})
        yield con


def test_each_run_has_its_scores(con: duckdb.DuckDBPyConnection) -> None:
    """Rows come by date; equal scores stand once, and a sub-agent's run says that it is one."""
    say(con, "step_scores", {0.5: [2], 0.25: [3, 1]})

    found = score_table(con)

    rows = typed(TRAJECTORY_SCORES, found).to_pylist()
    values = {row["trajectory_id"]: row["success"]["value"] for row in rows}
    assert list(values.items()) == [("t4", None), ("t3", 0.25), ("t2", 0.5), ("t1", 0.25)]
    assert {name: rows[0]["success"][name] for name in CHILD} == CHILD
    assert len(found["success"].chunk(0).dictionary) == 2 + len((CHILD, KILLED, BESIDE))


def test_runs_that_are_no_attempts_say_why(con: duckdb.DuckDBPyConnection) -> None:
    """A killed one, and one beside a trial's; the attempt among them has its score."""
    con.execute(
        "UPDATE scored_trajectories SET killed = TRUE, is_root = FALSE, "
        "is_extra_run = trajectory_id = 2 WHERE trajectory_id IN (1, 2)"
    )
    for scorer in SCORERS:
        say(con, scorer, {1.0: [3]})

    rows = typed(TRAJECTORY_SCORES, score_table(con)).to_pylist()

    reasons = {row["trajectory_id"]: row["success"]["reason"] for row in rows}
    assert reasons == {
        "t1": "killed_run",
        "t2": "several_runs",
        "t3": None,
        "t4": "child_trajectory",
    }


def test_attempt_without_scores_is_an_error(con: duckdb.DuckDBPyConnection) -> None:
    """A scorer that leaves out an attempt is named; nothing is taken for a sub-agent's run."""
    say(con, "plan_scores", {1.0: [1, 3]})

    with pytest.raises(KeyError, match="plan_scores has no row of 1 of the attempts"):
        score_table(con)


def test_missing_content_is_told_by_what_was_lost(con: duckdb.DuckDBPyConnection) -> None:
    """Of runs that are alike, one was not captured, one was redacted and one was cut."""
    missing = {"status": "error", "reason": "content_missing"}
    scored = {"value": 1.0, "status": "scored"}
    cases = pa.array([missing, scored], SCORE)
    runs = pa.array([[1, 2, 3], []], pa.list_(pa.int64()))
    put(con, "step_scores", pa.table({"trajectory_ids": runs, **dict.fromkeys(METRICS, cases)}))

    rows = typed(TRAJECTORY_SCORES, score_table(con)).to_pylist()

    assert {row["trajectory_id"]: row["success"]["reason"] for row in rows} == {
        "t1": "content_missing",
        "t2": "content_redacted",
        "t3": "content_truncated",
        "t4": "child_trajectory",
    }

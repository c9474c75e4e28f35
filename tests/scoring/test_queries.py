"""The headers of the queries for calls, tool selection, steps and the job are true."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.needs import kept_without

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import make_table, put
from tracegrade_queries.engine.sql import needs
from tracegrade_queries.engine.staged import typed
from tracegrade_queries.graph.headers import macros_made, taken
from tracegrade_scoring.job import score_bucket
from tracegrade_scoring.job.bucket_rows import divide, steps_read, take_bucket
from tracegrade_scoring.job.discovery import find_traces, newest_receipt
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.own_metrics.answers import COLUMNS
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.sql import QUERIES as ALL
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.statistics.sums import add_scores, start_sums, total_sums
from tracegrade_scoring.tasks import load

from ..queries.traces import Row, agent, land, message, request_of, span, tool

FOLDERS = {"attempts", "job", "own_metrics", "scorers", "statistics", "tasks"}
PLAN_GRAPH = (
    "sub_goal_",
    "ambiguous_call",
    "served_",
    "plan_",
    "replan",
)  # tested beside their own metrics
QUERIES = sorted(
    path
    for path in ALL.paths.values()
    if FOLDERS.intersection(path.relative_to(ALL.root).parts)
    and not path.stem.startswith(PLAN_GRAPH)
    and not macros_made(ALL.text(path.stem))
    and not taken(ALL.text(path.stem))
)
PARAMETERS = {
    "agent_name": None,
    "any_outcome": False,
    "by_turn": True,
    "everything": True,
    "fragments": False,
    "scorer_version": "1",
    "bucket_steps": 10,
    "high": None,
    "low": None,
    "match_hash": "y",
    "now_ns": 1,
    "quiet_ns": 1,
    "release": None,
    "runs": None,
    "since": None,
    "tools_hash": "x",
    "until": None,
}


def refund(trace: int, error: str | None) -> list[Row]:
    """Return the spans of one run that plans, looks for an order in vain, and refunds it."""
    offered = [{"name": "scan_orders"}, {"name": "issue_refund", "parameters": {"type": "object"}}]
    told: dict[str, Any] = {
        "gen_ai__input__messages": json.dumps([message("user", "refund c-7")]),
        "gen_ai__tool__definitions": json.dumps(offered),
    }
    plan: dict[str, Any] = {"tracegrade__step__kind": "plan", "tracegrade__plan": '[{"id": "a"}]'}
    found: dict[str, Any] = {"gen_ai__tool__call__arguments": '{"customer": "c-7"}'}
    refunded: dict[str, Any] = {"gen_ai__tool__call__result": '{"state": "refunded"}'}
    order: dict[str, Any] = {"gen_ai__tool__call__result": "order 7781"}
    nothing: dict[str, Any] = {"gen_ai__tool__call__result": "no such order"}
    return [
        agent(1, trace=trace, agent_name="support", error=error, **told),
        span(2, 1, trace=trace, **plan),
        *(
            tool(3 + i, 1, tool_name="scan_orders", trace=trace, at=1 + i, **found, **nothing)
            for i in range(3)
        ),
        tool(6, 1, tool_name="issue_refund", trace=trace, at=5, **found, **refunded),
        tool(7, 1, tool_name="send_message", trace=trace, at=6),
        tool(8, 1, tool_name="send_message", trace=trace, at=7),
        tool(9, 1, tool_name="search_orders", trace=trace, at=8, **found, **order),
    ]


IN_BUCKETS = [
    name
    for name in RELATIONS.named_below(
        "attempts", "own_metrics/readable", "scorers", "tasks/relations.py"
    )
    if not (name in ALL.paths and taken(ALL.text(name)))
]
"""All relations that are made of a bucket, but for those that change others in place."""

SPECIFICATION = load([Path(__file__).with_name("tasks") / "tasks.yaml"]).specification


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with two runs."""
    lake = Lake.create(tmp_path_factory.mktemp("lake"))
    for trace in (1, 2):
        land(lake, request_of(refund(trace, error="boom" if trace == 2 else None)), seq=trace)
    build(lake)
    return lake


@pytest.fixture(scope="module")
def whole(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose tables are the lake's, with the traces that are to be scored."""
    with connect(lake, layers=(SCORES,)) as con:
        find_traces(con, SPECIFICATION, now_ns=newest_receipt(lake))
        RELATIONS.make(con, "attempt_members")
        make_table(
            con, "called_agents", "SELECT trajectory_id, step_index, tool_name FROM steps LIMIT 0"
        )
        RELATIONS.make(con, "attempt_order")
        yield con


@pytest.fixture(scope="module")
def con(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that holds everything that scoring two runs leaves behind."""
    with connect(lake, layers=(SCORES,)) as con:
        find_traces(con, SPECIFICATION, now_ns=newest_receipt(lake))
        (traces,) = divide(con, 1_000)
        put(con, "bucket_traces", traces)
        take_bucket(con, steps_read(SPECIFICATION))
        with patch.object(score_bucket, "WANTED", {*score_bucket.WANTED, *IN_BUCKETS}):
            rows = score_bucket.score_traces(con, SPECIFICATION)
        put(con, "own_metric_rows", pa.schema(COLUMNS).empty_table())
        for name in ("bucket_steps", "declared_steps"):
            con.execute(f"CREATE TEMP VIEW {name} AS FROM steps")
        start_sums(con, are_whole=True)
        add_scores(con, rows[TRAJECTORY_SCORES].to_batches())
        total_sums(con)
        put(con, "trajectory_scores", typed(TRAJECTORY_SCORES, rows[TRAJECTORY_SCORES]))
        yield con


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(
    con: duckdb.DuckDBPyConnection, whole: duckdb.DuckDBPyConnection, path: Path
) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = path.read_text(encoding="utf-8")
    said, used = header(sql), parameters_used(sql)
    given = {name[1:]: PARAMETERS[name[1:]] for name in used}
    asked = whole if path.stem in OF_THE_LAKE else con
    result = asked.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == used
    assert said.reads == relations_read(sql)
    if said.order == ["none"]:
        assert result.fetchall() or path.stem in EMPTY
        return
    key = [result.columns.index(name) for name in said.order]
    keys = [tuple(row[i] for i in key) for row in result.fetchall()]
    assert len(set(keys)) == len(keys)
    assert [tuple(map(_sortable, key)) for key in keys] == sorted(
        tuple(map(_sortable, key)) for key in keys
    )
    assert keys or path.stem in EMPTY


@pytest.mark.parametrize(
    "name",
    [name for name in ALL.paths if needs(ALL.text(name)) and not taken(ALL.text(name))],
)
def test_relation_has_no_rows_without_those_it_needs(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    """What is not planned, since rows under `Needs:` are missing, would have had none."""
    assert kept_without(con, ALL.text(name)) == {}


def _sortable(value: object) -> tuple[bool, str | float]:
    """Return what sorts as DuckDB sorts: NULL last."""
    return (value is None, value if isinstance(value, (int, float)) else str(value))


OF_THE_LAKE = {
    "continued_runs",
    "conversation_turns",
    "successful_paths",
    "unscored_traces",
    "waiting_reasons",
    "waiting_runs",
}
"""Queries that read the lake's tables, in which runs have their ids; others read a bucket's."""

EMPTY = {
    "traces_with_other_metrics",
    *("pattern_answers", "cascades", "observed_results"),
    *("attempt_graph_faults", "judged_sub_goals", "redacted_values"),
    *("conversation_turns", "own_expectations"),
    *("observed_optima", "rollback_scores", "successful_paths", "verdict_opinions"),
    *(
        "repeated_results",
        "waiting_reasons",
        "waiting_runs",
        "called_agents",
        "attempts_with_unrecorded_answers",
        "attempts_with_unrecorded_calls",
    ),
    *("server_tools", "continued_runs", "verdict_readings", "verdict_reasons"),
    *("wrong_arguments", "wrong_values"),
    *("reworded_loops", "answer_claims", "claim_names", "claimable_sub_goals"),
    "step_label_reasons",
    *("off_plan_destructions", "planning_verdicts"),
}
"""Queries that find nothing in these two runs.

Both runs ended, and no error led to others. They answered nothing, saw only the tools' own
results, and made no unrecorded call. They have no verdict or other statement of success, and their
graphs have no fault. A repeated call returned the same result, no argument differs from an
expected one, and no call asked again in other words. No answer could claim something that was not
done, and nothing was destroyed off the plan.
"""

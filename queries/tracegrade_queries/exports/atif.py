"""Runs of a lake → ATIF 1.7 (Harbor's Agent Trajectory Interchange Format), one a line.

A run that another called as a tool is embedded in it, and the call's result refers to it. Task,
trial and outcome are in `extra`. Prompts of the system are not in a lake's steps.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TextIO

import duckdb

from tracegrade_lake import Lake
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.engine.connection import NO_LIMITS, connect
from tracegrade_queries.engine.sql import Queries
from tracegrade_queries.exports.atif_steps import Row, atif_steps

VERSION: Final = "ATIF-v1.7"
UNKNOWN: Final = "unknown"
BATCH_ROWS: Final = 1000

QUERIES: Final = Queries(Path(__file__).parent)

_FACTS: Final = ("task_id", "task_category", "trial", "outcome")


def write_atif(
    lake: Lake, trace_id: str | None, out: TextIO, note: Callable[[str], object]
) -> int:
    """Write the runs of a lake, or of one trace, in the order of their ids; return their number.

    Args:
        lake: The lake.
        trace_id: 32 hex digits; None for all runs.
        out: Gets a line of JSON for each run that no other run called.
        note: Gets a line about spans that are not built into runs, and about runs without steps.
    """
    if unbuilt := unbuilt_spans(lake, NO_LIMITS):
        note(f"spans not in runs yet, which are left out: {unbuilt}; run `tracegrade score`")
    count = empty = 0
    with connect(lake) as con:
        params = {"trace_id": trace_id and trace_id.lower()}
        steps = _Steps(_rows(con, "exported_steps", params))
        runs = _rows(con.cursor(), "exported_runs", params)
        for _, group in groupby(runs, key=lambda run: run["trace_id"]):
            found = [(run, steps.of(run["trajectory_id"])) for run in group]
            together = [each for each in found if each[1] or each[0]["user_input"] is not None]
            count += len(together)
            empty += len(found) - len(together)
            for document in _documents(together):
                out.write(json.dumps(document, ensure_ascii=False) + "\n")
    if empty:
        note(f"runs without any step, which ATIF cannot hold, are left out: {empty}")
    return count


class _Steps:
    """Rows of steps, taken run by run in the order of their ids."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._groups = groupby(rows, key=lambda row: row["trajectory_id"])
        self._next: tuple[str, list[Row]] | None = None

    def of(self, run: str) -> list[Row]:
        """Return the rows of a run; all runs are asked for, in order."""
        while self._next is None or self._next[0] < run:
            found = next(self._groups, None)
            if found is None:
                return []
            self._next = (found[0], list(found[1]))
        return self._next[1] if self._next[0] == run else []


def _rows(
    con: duckdb.DuckDBPyConnection, name: str, params: Mapping[str, str | None]
) -> Iterator[Row]:
    for batch in con.sql(QUERIES.text(name), params=dict(params)).to_arrow_reader(BATCH_ROWS):
        yield from batch.to_pylist()


def _documents(runs: Sequence[tuple[Row, Sequence[Row]]]) -> Iterator[dict[str, Any]]:
    """Yield the runs of a trace that no other called, with those that they called inside."""
    known = {run["trajectory_id"] for run, _ in runs}
    called: defaultdict[str | None, list[tuple[Row, Sequence[Row]]]] = defaultdict(list)
    for run, rows in runs:
        parent = run["parent_trajectory_id"]
        called[parent if parent in known else None].append((run, rows))
    for run, rows in called[None]:
        yield _document(run, rows, called)


def _document(
    run: Row,
    rows: Sequence[Row],
    called: Mapping[str | None, Sequence[tuple[Row, Sequence[Row]]]],
) -> dict[str, Any]:
    inner = called.get(run["trajectory_id"], ())
    sub_agents: defaultdict[int, list[str]] = defaultdict(list)
    for each, _ in inner:
        if each["parent_step"] is not None:
            sub_agents[each["parent_step"]].append(each["trajectory_id"])
    facts = {key: run[key] for key in _FACTS if run[key] is not None}
    document = {
        "schema_version": VERSION,
        "session_id": run["conversation_id"] or run["trajectory_id"],
        "trajectory_id": run["trajectory_id"],
        "agent": _agent(run),
        "steps": atif_steps(run, rows, sub_agents),
        "final_metrics": _totals(run),
        "extra": {"tracegrade": facts} if facts else None,
        "subagent_trajectories": [_document(*each, called) for each in inner] or None,
    }
    return {key: value for key, value in document.items() if value is not None}


def _agent(run: Row) -> dict[str, Any]:
    agent = {"name": run["agent_name"] or UNKNOWN, "version": run["release"] or UNKNOWN}
    found = agent | {"model_name": run["model"], "tool_definitions": _tools(run["offered_tools"])}
    return {key: value for key, value in found.items() if value is not None}


def _tools(offered: str | None) -> list[dict[str, Any]] | None:
    tools = json.loads(offered) if offered else []
    return [{"type": "function", "function": tool} for tool in tools] or None


def _totals(run: Row) -> dict[str, Any] | None:
    totals = {
        "total_prompt_tokens": run["input_tokens"],
        "total_completion_tokens": run["output_tokens"],
        "total_cost_usd": run["cost_usd"],
    }
    return {key: value for key, value in totals.items() if value is not None} or None

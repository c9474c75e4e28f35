"""Finds the task of each attempt and binds the values that the task's pattern names.

One query per task rather than one join: RE2 then compiles each pattern once.
"""

import duckdb
import re2

from tracegrade_scoring.relations import materialise, start, unordered
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.model import Match


def match_tasks(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create `matched_tasks`, `task_matches` and `attempt_bindings`.

    `matched_tasks` has one row for each attempt and task whose `match` fits it;
    `attempt_bindings` (attempt_id, name, value) one for each value bound in an attempt whose task
    is known, whether by span or by match.
    """
    start(con, "matched_tasks", "SELECT attempt_id, '' AS task_id FROM attempt_members")
    start(
        con, "attempt_bindings", "SELECT attempt_id, '' AS name, '' AS value FROM attempt_members"
    )
    matches = {name: task.match for name, task in specification.tasks.items() if task.match}
    materialise(con, "untold_attempts")
    for task_id, match in matches.items():
        _add_matches(con, task_id, match)
    materialise(con, "task_matches")
    materialise(con, "asked_attempts")
    for task_id, match in matches.items():
        if match.user_input is not None:
            _add_bindings(con, task_id, match.user_input)


def _add_matches(con: duckdb.DuckDBPyConnection, task_id: str, match: Match) -> None:
    parameters = {"task_id": task_id, **match.model_dump()}
    con.execute(f"INSERT INTO matched_tasks {unordered('matched_attempts')}", parameters)


def _add_bindings(con: duckdb.DuckDBPyConnection, task_id: str, pattern: str) -> None:
    for name, number in re2.compile(pattern).groupindex.items():
        parameters = {"task_id": task_id, "user_input": pattern, "name": name, "number": number}
        con.execute(f"INSERT INTO attempt_bindings {unordered('bound_values')}", parameters)

"""A task file's own SQL sees its attempt's steps and nothing else, and cannot stall the scorer."""

import pytest

from tracegrade_scoring.criteria import expressions
from tracegrade_scoring.tasks.engine import expression_fault

from .build import call, connection, prepared, specification, trajectory

HOSTILE = {
    "(SELECT count(*) FROM trajectory_scores) > 0": "subquery",
    "EXISTS(FROM read_csv('/etc/passwd'))": "subquery",
    "tool_name IN (SELECT 'a')": "subquery",
    "count(*) OVER () > 1": "window function",
    "read_text('/etc/passwd') = ''": "read_text",
    "random() < 0.5": "random",
    "now() > '2020-01-01'::TIMESTAMP": "now",
    "current_date > '2020-01-01'": "current_date",
    "current_timestamp > '2020-01-01'": "current_timestamp",
    "getvariable('x') = 1": "getvariable",
    "current_setting('threads') = '1'": "current_setting",
    "uuid()::VARCHAR < 'a'": "uuid",
    "list(tool_name)[1] = 'a'": "ORDER BY",
    "any_value(tool_name) = 'a'": "ORDER BY",
    "approx_count_distinct(tool_name) > 1": "estimates",
    "list_sum(range(10000000000)) > 1": "range",
    "unnest([TRUE, FALSE])": "unnest",
    "COLUMNS(*) IS NULL": "star",
    "$attempts = 1": "parameter",
    "TRUE), (FALSE": "more than one expression",
    "TRUE; DROP TABLE steps": "Parser Error",
    "count(*) < 9 OR " + "TRUE OR " * 2000 + "TRUE": "characters",
}


@pytest.mark.parametrize("sql", HOSTILE)
def test_expression_that_reaches_beyond_its_steps_is_refused(sql: str) -> None:
    """Tables, files, settings, clocks, chance and free order are named as what is wrong."""
    assert HOSTILE[sql] in (expression_fault(sql) or "nothing is wrong")


@pytest.mark.parametrize(
    "sql",
    [
        "count(*) FILTER (WHERE kind = 'tool_call') < 9",
        "list(tool_name ORDER BY step_index)[1] = 'look'",
        "list_sum(list_transform(list(step_index ORDER BY step_index), lambda x: x + 1)) > 1",
        "bool_or(arguments ->> 'customer' = 'c-7') AND coalesce(max(cost), 0) < 5",
        "max(json_extract_string(result, '$.total')::DOUBLE) BETWEEN 1 AND 3",
    ],
)
def test_expression_over_steps_is_taken(sql: str) -> None:
    """Aggregates, JSON, lists and lambdas over the attempt's own columns are allowed."""
    assert expression_fault(sql) is None


def test_expression_that_takes_too_long_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up after its time; success is unknown then, and other tasks are judged."""
    monkeypatch.setattr(expressions, "MAX_SECS", 0.0)
    spec = specification(
        "tasks: {slow: {success: {sql: count(*) > 0}}, plain: {success: {answer: yes}}}"
    )
    con = connection(
        [call("t1", 0, "look")],
        [trajectory("t1", task_id="slow"), trajectory("t2", task_id="plain", final_answer="yes")],
    )
    prepared(con, spec)

    assert con.sql("SELECT attempt_id, success FROM successes ORDER BY 1").fetchall() == [
        ("t1", None),
        ("t2", True),
    ]

"""A task file's own SQL sees its attempt's steps and nothing else, and cannot stall the scorer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scoring.build import call, connection, prepared, specification, trajectory

from tracegrade_queries.engine import bare_engine
from tracegrade_scoring.attempts.criteria import expressions
from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.engine import expression_fault

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
    "max(age(end_time)) > INTERVAL 1 DAY": "age",
    "current_localtimestamp() > '2020-01-01'": "current_localtimestamp",
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
    "1=1) or (1=1": "more than one expression",
    "FALSE)::BOOLEAN OR (TRUE": "more than one expression",
    "FALSE -- )\n) OR (TRUE": "more than one expression",
    "(SELECT 1) = 1) OR (TRUE": "more than one expression",
    "TRUE, FALSE": "more than one expression",
    "TRUE; DROP TABLE steps": "Parser Error",
    "TRUE FROM steps": "Parser Error",
    "TRUE; COPY (SELECT 1) TO 'x'": "Parser Error",
    "(WITH x AS (COPY (SELECT 1) TO 'x') FROM x) IS NULL": "subquery",
    "NOT " * 600 + "TRUE": "nested too deeply",
    "count(*) < 9 OR " + "TRUE OR " * 12_500 + "TRUE": "characters",
}


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: sql[:40])
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
        "max(end_time) - INTERVAL 5 MINUTES < min(end_time)",
        "max(date_part('hour', end_time)) < 18 AND max(age(end_time, end_time)) IS NOT NULL",
        "(count(*) = 1) OR (count(*) = 2)",
        "count(*) = 1 -- or none",
        "bool_or(result IN (" + ", ".join(f"'order {i}'" for i in range(7_000)) + "))",
    ],
    ids=lambda sql: sql[:40],
)
def test_expression_over_steps_is_taken(sql: str) -> None:
    """Aggregates, JSON, lists and lambdas over the attempt's own columns are allowed."""
    assert expression_fault(sql) is None


def test_expression_that_closes_our_brackets_is_an_error_with_its_line(tmp_path: Path) -> None:
    """It is refused where it stands, in a task and in a sub-goal."""
    file = tmp_path / "tasks.yaml"
    file.write_text(
        "version: 1\n"
        "tasks:\n"
        "  t:\n"
        "    success: {sql: '1=1) or (1=1'}\n"
        "    sub_goals:\n"
        "      g: {success: {any_of: [{sql: 'TRUE), (TRUE'}]}}\n"
    )

    assert [str(problem) for problem in load([file]).errors] == [
        f"{file}:{line}: {place}.sql cannot be run: it is more than one expression; "
        "give a boolean expression over steps, like count(*) < 9"
        for line, place in (
            (4, "tasks.t.success"),
            (6, "tasks.t.sub_goals.g.success.any_of[0]"),
        )
    ]


def test_time_zone_of_the_machine_is_no_part_of_an_expression() -> None:
    """Times are UTC, wherever the expression is asked."""
    asked = (
        "from tracegrade_scoring.tasks.engine import closed_engine\n"
        "at = \"'2026-11-01 12:00:00'::TIMESTAMP::TIMESTAMPTZ::VARCHAR\"\n"
        "print(closed_engine().sql(f'SELECT {at}').fetchall())"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "TZ": "Asia/Tokyo"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert done.stdout.strip() == "[('2026-11-01 12:00:00+00',)]"


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


def test_expression_that_takes_too_much_memory_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its engine has a small limit of its own; other attempts of its task are judged."""
    monkeypatch.setattr(bare_engine, "MEMORY_LIMIT", "20MB")
    spec = specification(
        "tasks: {t: {success: "
        "{sql: 'len(list(repeat(tool_name, 2000 * cost::INT) ORDER BY step_index)) > 1'}}}"
    )
    steps = [call(f"t{i}", j, "look", cost=(1.0, 100.0)[i]) for i in (0, 1) for j in range(200)]
    con = connection(steps, [trajectory(f"t{i}", task_id="t") for i in (0, 1)])
    prepared(con, spec)

    assert con.sql("SELECT attempt_id, success FROM successes ORDER BY 1").fetchall() == [
        ("t0", True),
        ("t1", None),
    ]


@pytest.mark.parametrize("sql", ["arg_max(tool_name, kind) = 'a'", "sum(cost) > 0.6"])
def test_expression_takes_steps_in_their_order(sql: str) -> None:
    """Which of equals an aggregate takes, and how doubles add up, is the same in any bucket."""
    spec = specification(f'tasks: {{t: {{success: {{sql: "{sql}"}}}}}}')
    calls = [call("t1", i, tool, cost=0.1 * (i + 1)) for i, tool in enumerate("abc")]
    answers = set()
    for steps in (calls, calls[::-1]):
        con = connection(steps, [trajectory("t1", task_id="t")])
        prepared(con, spec)
        answers |= set(con.sql("SELECT success FROM successes").fetchall())

    assert len(answers) == 1


def test_expression_sees_the_steps_of_its_attempt_alone() -> None:
    """Those of sub-agents are its own; before any step it is asked too, and NULL is false."""
    spec = specification(
        "tasks: {t: {sub_goals: {g: {success: {sql: count(*) = 3}}, "
        "n: {success: {sql: max(cost) > 1}}}}}"
    )
    steps = [call("a", 0, "x"), call("a", 1, "y"), call("c", 0, "z"), call("b", 0, "x")]
    runs = [
        trajectory("a", task_id="t"),
        trajectory("b", task_id="t"),
        trajectory("c", trace_id="a", parent_trajectory_id="a"),
    ]
    con = prepared(connection(steps, runs), spec)

    rows = con.sql("FROM expression_results ORDER BY attempt_id, sub_goal, at_end").fetchall()
    assert [(row[0], row[1], row[4]) for row in rows if row[3]] == [
        ("a", "g", True),
        ("a", "n", False),
        ("b", "g", False),
        ("b", "n", False),
    ]
    assert not any(row[4] for row in rows if not row[3])

"""Claude's agents call the tools of MCP servers `mcp__SERVER__NAME`: task files may name NAME."""

import json
from typing import Any, Final

import duckdb
import pytest
from tests.scoring.build import call, connection, scored, scores, specification, trajectory

EXPECTS: Final = """
{tools}
tasks:
  t:
    {more}
    expected: [{{tool: {tool}, arguments: {{a: 1}}}}]
"""
ONE: Final = '{"a":1}'
NAME: Final = "mcp__weather__get_weather"


def attempt(
    *made: str,
    offered: tuple[str, ...] = (),
    tool: str = "get_weather",
    tools: str = "",
    more: str = "category: c",
) -> duckdb.DuckDBPyConnection:
    """Return the scores of a run that called these tools, of a task that expects one."""
    schema = {"type": "object", "required": ["b"]}
    offers = json.dumps([{"name": name, "parameters": schema} for name in offered])
    steps: list[Any] = [call("t1", i, name, arguments=ONE) for i, name in enumerate(made)]
    run = trajectory("t1", task_id="t", offered_tools=offers if offered else None)
    spec = specification(EXPECTS.format(tool=tool, tools=tools, more=more))
    return scored(connection(steps, [run]), spec, until="tool_correctness")


def correctness(con: duckdb.DuckDBPyConnection) -> float | None:
    """Return the tool correctness of the run."""
    return scores(con)["tool_correctness"].value


def test_tool_of_a_server_is_the_expected_one() -> None:
    """And is called so in every score."""
    con = attempt(NAME)

    assert correctness(con) == 1
    assert con.sql("SELECT DISTINCT tool_name FROM calls").fetchall() == [("get_weather",)]


@pytest.mark.parametrize("other", ["mcp__forecast__get_weather", "get_weather"])
def test_several_tools_of_that_name(other: str) -> None:
    """What was called may be either, and is neither."""
    why = "the run or the file knows another tool of that name"
    con = attempt(NAME, offered=(NAME, other))
    assert correctness(con) == 0
    assert con.sql("SELECT reason FROM decision_rows WHERE NOT correct").fetchall()[0][0] == (
        f"picked {NAME}, expected get_weather: not the same, since {why}; "
        "arguments of mcp__weather__get_weather violate its schema: "
        '"b" is a required property'
    )

    con = attempt(NAME, offered=(NAME, other), more="expected_complete: false")
    assert con.sql("SELECT reason FROM decision_rows WHERE missed").fetchall()[0][0] == (
        f"no call was made where get_weather was expected; {NAME} may be meant, but {why}"
    )


def test_file_that_names_the_server() -> None:
    """It says which it means."""
    con = attempt(NAME, tool=NAME, tools="tools: {get_weather: {effect: read}}")

    assert correctness(con) == 1
    assert con.sql("SELECT DISTINCT tool_name FROM calls").fetchall() == [(NAME,)]


@pytest.mark.parametrize("name", ["get_weather", NAME])
def test_sql_that_names_the_tool(name: str) -> None:
    """It is true by the name that the file gives the tool."""
    con = attempt(NAME, more=f"success: {{sql: \"bool_or(tool_name = '{name}')\"}}")

    assert con.sql("SELECT success FROM attempts").fetchall() == [(True,)]


def test_another_tool_of_a_server_is_another() -> None:
    """A name that is only partly the same does not match."""
    assert correctness(attempt("mcp__weather__get_weather_now")) == 0
    assert correctness(attempt("weather__get_weather")) == 0


def test_what_a_file_declares_of_it() -> None:
    """Effect, kind and schema are those of the tool; the run's own declaration comes first."""
    con = attempt(NAME, tools="tools: {get_weather: {effect: read}}")
    assert con.sql("SELECT effect FROM calls").fetchall() == [("read",)]

    con = attempt(NAME, tools="tools: {get_weather: {kind: plan}}")
    assert con.sql("SELECT tool_name FROM calls").fetchall() == []

    assert scores(attempt(NAME, offered=(NAME,)))["parameter_validity"].value == 0
    assert (
        scores(attempt("get_weather", offered=("get_weather",)))["parameter_validity"].value == 0
    )

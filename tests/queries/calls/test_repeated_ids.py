"""Agents of one run that number their calls alike: each call has its own result."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import (
    Row,
    agent,
    built_apart,
    message,
    model,
    request,
    response,
    tool,
)

from tracegrade_queries.engine.connection import connect

ID = "call_1"
FOUND = {"researcher": "found A1", "analyst": "no such order"}
"""What came of the call of each agent."""


def called(name: str) -> Row:
    """Return what an agent's model asks for."""
    return message("assistant", request("lookup", ID, order=name))


def asking(number: int, parent: int, name: str, at: float, executed: str) -> list[Row]:
    """Return an agent that looks something up, hears of it and answers.

    Args:
        number: Of its span.
        parent: Of the span above.
        name: Of the agent.
        at: When it starts, in ms.
        executed: no | yes (a span executes the call) | told (and has its result).
    """
    given: dict[str, Any] = {
        "gen_ai__tool__call__id": ID,
        "gen_ai__tool__call__arguments": json.dumps({"order": name}),
    }
    if executed == "told":
        given["gen_ai__tool__call__result"] = FOUND[name]
    execution = tool(number + 2, number, at=at + 5, tool_name="lookup", **given)
    told = [message("user", name), called(name), message("tool", response(FOUND[name], ID))]
    return [
        agent(number, parent, agent_name=name, at=at, ms=50),
        model(number + 1, number, at=at + 1, said=[called(name)], heard=told[:1]),
        *([execution] if executed != "no" else []),
        model(number + 3, number, at=at + 10, said=[message("assistant", "done")], heard=told),
    ]


def results(folder: Path, *runs: list[Row]) -> list[list[tuple[str, str, str]]]:
    """Return agent, result, and what the agent saw of each call, by run."""
    lake = built_apart(folder, runs)
    with connect(lake) as con:
        rows = con.sql("""
          SELECT calls.trace_id, calls.agent_name, calls.result, seen.content
          FROM steps AS calls
          LEFT JOIN steps AS seen
            ON
              calls.trajectory_id = seen.trajectory_id
              AND calls.step_index = seen.call_step
          WHERE calls.kind = 'tool_call'
          ORDER BY ALL
        """).fetchall()
    return [[row[1:] for row in rows if int(row[0], 16) == run + 1] for run in range(len(runs))]


@pytest.mark.parametrize("executed", ["no", "yes", "told"])
def test_results_stay_with_the_agent_whose_call_it_was(tmp_path: Path, executed: str) -> None:
    """One after the other, at the same time, the last first, and one within the other."""
    lead = agent(1, agent_name="lead", ms=300)
    first = asking(10, 1, "researcher", 10, executed)
    found = results(
        tmp_path,
        [lead, *first, *asking(20, 1, "analyst", 100, executed)],
        [lead, *first, *asking(20, 1, "analyst", 12, executed)],
        [lead, *first, *asking(20, 1, "analyst", 8, executed)],
        [lead, *first, *asking(20, 10, "analyst", 13, executed)],
    )
    assert found == [[(name, FOUND[name], FOUND[name]) for name in sorted(FOUND)]] * 4


def test_an_agent_that_takes_over_hears_what_came_of_the_others_call(tmp_path: Path) -> None:
    """Who never used an id hears responses of others; a second round is the second call's."""
    lead = agent(1, agent_name="lead", ms=300)
    rounds = [
        [called("a"), message("tool", response("one", ID))],
        [called("b"), message("tool", response("two", ID))],
    ]
    asks = [
        agent(10, 1, agent_name="first", at=1, ms=20),
        model(11, 10, at=2, said=[called("a")], heard=[message("user", "go")]),
        model(12, 10, at=5, said=[called("b")], heard=rounds[0]),
        agent(20, 1, agent_name="second", at=30, ms=20),
        model(21, 20, at=31, said=[message("assistant", "done")], heard=rounds[0] + rounds[1]),
    ]
    assert results(tmp_path, [lead, *asks]) == [[("first", "one", "one"), ("first", "two", "two")]]


def test_turns_of_one_agent_have_spans_of_their_own(tmp_path: Path) -> None:
    """An agent's span for each turn is not another agent."""
    told = [called("a"), message("tool", response("one", ID))]
    again = [*told, called("b"), message("tool", response("two", ID))]
    turns = [[message("user", "go")], told, again]
    said = [called("a"), called("b"), message("assistant", "done")]
    spans = [agent(1, agent_name="lead", ms=300)]
    for place, (heard, answer) in enumerate(zip(turns, said, strict=True)):
        number, at = 10 * (place + 1), 10 * (place + 1)
        spans += [
            agent(number, 1, agent_name="worker", at=at, ms=5),
            model(number + 1, number, at=at + 1, said=[answer], heard=heard),
        ]
    assert results(tmp_path, spans) == [[("worker", "one", "one"), ("worker", "two", "two")]]

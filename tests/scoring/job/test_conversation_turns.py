"""A conversation of one trace per turn: expectations by turn are of the run that has the turn."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.queries.traces import (
    Row,
    agent,
    land,
    message,
    model,
    request,
    request_of,
    response,
    tool,
)
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from .lakes import tables, values

TASKS = """
tools: {add: {effect: read}, pay: {effect: write}}
tasks:
  sums:
    expected:
      - {tool: add, arguments: {e: "1"}, turn: 0}
      - {tool: add, arguments: {e: "2"}, turn: 1}
      - {tool: pay, turn: 2}
"""
FOUND = (
    "SELECT tsa.numerator, tsa.denominator, missed_decisions.value, tool_correctness.value, "
    "tool_correct.value FROM trajectory_scores ORDER BY trajectory_id"
)
RIGHT = (1.0, 1.0, 0.0, 1.0, 1.0)
CALLS = (("add", "1"), ("add", "2"), ("pay", "3"))


def turn(trace: int, *calls: tuple[str, str], **fields: Any) -> bytes:
    """Return a run of one turn of a conversation, which makes these calls."""
    named = {"tracegrade__task__id": "sums", "gen_ai__conversation__id": "c", **fields}
    spans = [agent(1, trace=trace, at=1000 * trace, **named)]
    spans += [
        tool(
            i,
            1,
            trace=trace,
            at=1000 * trace + i,
            tool_name=name,
            gen_ai__tool__call__arguments=json.dumps({"e": given}),
        )
        for i, (name, given) in enumerate(calls, start=2)
    ]
    return request_of(spans)


def conversation(*calls: Sequence[tuple[str, str]], first: int = 1, **fields: Any) -> list[bytes]:
    """Return the runs of a conversation, one for each turn, by numbers of their traces."""
    return [turn(trace, *made, **fields) for trace, made in enumerate(calls, start=first)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """What was found of each run, by number of its trace; all conversations are scored at once."""
    lake = Lake.create(tmp_path_factory.mktemp("turns") / "lake")
    runs = [
        *conversation(*([each] for each in CALLS), gen_ai__conversation__id="whole"),
        *conversation([CALLS[0]], [CALLS[0]], [], first=4, gen_ai__conversation__id="wrong"),
        *conversation([CALLS[0]], [CALLS[1]], first=7, gen_ai__conversation__id="ended"),
        turn(9, *CALLS[:1]),
        turn(10, *CALLS[:1], gen_ai__conversation__id="d"),
        turn(11, *CALLS[:1], tracegrade__trial=2),
    ]
    land(lake, *runs)
    score(lake, specification(TASKS))
    return [(), *values(lake, FOUND)]


def test_each_run_meets_the_expectations_of_its_turn(found: list[tuple[Any, ...]]) -> None:
    """Every expected call was made, each in its turn and trace."""
    assert found[1:4] == [RIGHT] * 3


def test_call_of_another_turn_is_wrong(found: list[tuple[Any, ...]]) -> None:
    """The second turn made the call of the first; the third made none."""
    first, second, third = found[4:7]
    assert first == RIGHT
    assert second[:3] == (0.0, 1.0, 0.0)
    assert third[:4] == (0.0, 1.0, 1.0, 0.0)


def test_last_run_answers_for_the_turns_that_never_came(found: list[tuple[Any, ...]]) -> None:
    """The conversation ended after its first turn of two."""
    assert [row[1:3] for row in found[7:9]] == [(1.0, 0.0), (2.0, 1.0)]


def test_other_trials_and_conversations_are_others(found: list[tuple[Any, ...]]) -> None:
    """Reverse: each of these is a conversation of one run, which has all turns."""
    assert [row[1:3] for row in found[9:]] == [(3.0, 2.0)] * 3


def test_order_of_arrival_changes_nothing(lake: Lake) -> None:
    """The later turns were scored before the first came, on another day."""
    first, *later = conversation(*([each] for each in CALLS))
    for seq, (sent, day) in enumerate([(later[1], 0), (later[0], 1), (first, 3)], start=1):
        land(lake, sent, seq=seq, day=day)
        score(lake, specification(TASKS))

    assert values(lake, FOUND) == [RIGHT] * 3
    before = tables(lake)
    score(lake, specification(TASKS), full=True)
    assert tables(lake)["decisions"] == before["decisions"]


def test_task_that_gives_no_turns(lake: Lake) -> None:
    """Reverse: each run is scored against all of its task, as before."""
    land(lake, *conversation(*([each] for each in CALLS)))
    score(
        lake,
        specification(
            TASKS.replace(", turn: 0", "").replace(", turn: 1", "").replace(", turn: 2", "")
        ),
    )

    assert [row[1] for row in values(lake, FOUND)] == [3.0] * 3


def test_run_that_goes_on_with_one_that_waited(lake: Lake) -> None:
    """It is in the same turn: both have what is expected there, and nothing is missed."""
    named: Row = {"tracegrade__task__id": "sums", "gen_ai__conversation__id": "c"}
    asked = [message("assistant", request("add", "c1", e="1"))]
    paused: Row = {"tool_name": "add", "error": "x", "error__type": "ApprovalRequired"}
    offered = json.dumps([{"name": "add"}, {"name": "pay"}])
    waiting = [
        agent(1, gen_ai__tool__definitions=offered, **named),
        model(2, 1, at=1, said=asked),
        tool(3, 1, at=2, gen_ai__tool__call__id="c1", **paused),
    ]
    heard = [message("user", "Add."), *asked, message("tool", response("1", "c1"))]
    done = [message("assistant", "It is 1.")]
    rest = [
        agent(1, trace=2, at=500, gen_ai__tool__definitions=offered, **named),
        model(2, 1, trace=2, at=501, heard=heard, said=done),
    ]
    land(lake, request_of(waiting), request_of(rest), turn(3, CALLS[1]))
    score(lake, specification(TASKS))

    found = values(lake, FOUND)
    assert [row[2] for row in found] == [0.0, 0.0, 1.0]
    assert found[1][:2] == (1.0, 1.0)

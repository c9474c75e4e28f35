"""The end of a run: its own root has ended, even if spans above it never arrive."""

from typing import Any

import pytest
from tests.scenes import built_together

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from ..together import Scene
from ..traces import Row, agent, land, message, model, request, request_of, rows, span, story, tool

REMOTE = 0x300
"""Flags of a span that says that its parent is in another process."""
LOCAL = 0x100
"""Flags of a span that says that it is not."""
SERVER = 2
"""A kind of span; its parent is in another process."""
ELSEWHERE = 99
"""A parent that never arrives."""


def complete(lake: Any) -> list[bool]:
    """Return which runs of the lake are complete, by their ids."""
    found = rows(lake, "SELECT complete FROM trajectories ORDER BY trajectory_id")
    return [row["complete"] for row in found]


def not_ended(row: Row) -> Row:
    """Return the span as some export it when it starts."""
    return row | {"endTimeUnixNano": "0"}


@built_together
def test_agent_below_a_browser_is_complete() -> Scene:
    """Its parent is in no lake, with or without the flag."""
    lake = yield [agent(1, ELSEWHERE), tool(2, 1, at=1)]
    assert complete(lake) == [True]


@built_together
def test_agent_below_a_filtered_span_is_complete() -> Scene:
    """Its parent was of its own process, and an exporter left it out."""
    lake = yield [agent(1, ELSEWHERE) | {"flags": LOCAL}, tool(2, 1, at=1)]
    assert complete(lake) == [True]


@built_together
def test_openinference_agent_below_a_server_is_complete() -> Scene:
    """The server's span is here, the client's is not."""
    kind: dict[str, Any] = {"openinference__span__kind": "AGENT"}
    lake = yield [
        span(1, ELSEWHERE, name="POST /chat", ms=110) | {"kind": SERVER},
        span(2, 1, ms=100, name="Agent", **kind),
        tool(3, 2, at=1),
    ]
    assert complete(lake) == [True]


@built_together
def test_model_call_below_a_server_is_complete() -> Scene:
    """No agent has a span: the server's kind says that its parent is elsewhere."""
    lake = yield [
        span(1, ELSEWHERE, name="POST /chat", ms=110) | {"kind": SERVER},
        model(2, 1, said=[message("assistant", "Hi.")]),
    ]
    assert complete(lake) == [True]


@built_together
def test_model_call_with_a_remote_parent_is_complete() -> Scene:
    """The flag of a remote parent says that nothing of its own process is above it."""
    lake = yield [model(1, ELSEWHERE, said=[message("assistant", "Hi.")]) | {"flags": REMOTE}]
    assert complete(lake) == [True]


@built_together
def test_model_call_that_langfuse_takes_for_the_root_is_complete() -> Scene:
    """Langfuse exports the spans of some scopes alone, and marks the first of them."""
    mark: dict[str, Any] = {"langfuse__internal__is_app_root": True}
    lake = yield [model(1, ELSEWHERE, said=[message("assistant", "Hi.")], **mark)]
    assert complete(lake) == [True]


@built_together
def test_model_call_below_a_lost_span_is_not_complete() -> Scene:
    """The agent may still be at work, or its process died."""
    lake = yield [model(1, ELSEWHERE, said=[message("assistant", "Hi.")]) | {"flags": LOCAL}]
    assert complete(lake) == [False]


@built_together
def test_agent_that_has_not_ended_is_not_complete() -> Scene:
    """Some send a span when it starts; nothing is known of how long it takes."""
    lake = yield [not_ended(agent(1)), tool(2, 1, at=1)]
    (run,) = rows(lake, "SELECT complete, end_time, duration_ms FROM trajectories")
    assert run == {"complete": False, "end_time": None, "duration_ms": None}


@built_together
def test_source_without_ends_tells_that_runs_answered() -> Scene:
    """No span has an end: durations are unknown, and what gave an answer is over."""
    answer: dict[str, Any] = {"openinference__span__kind": "AGENT", "output__value": "Done."}
    lake = yield [
        not_ended(span(1, name="Agent", **answer)),
        not_ended(tool(2, 1, at=1, gen_ai__tool__call__result="22C")),
    ]
    (run,) = rows(lake, "SELECT complete, end_time, duration_ms FROM trajectories")
    assert run == {"complete": True, "end_time": None, "duration_ms": None}
    assert story(lake) == ["tool_call t ok", "observation 22C", "answer Done."]
    times = rows(lake, "SELECT DISTINCT end_time, duration_ms FROM steps")
    assert times == [{"end_time": None, "duration_ms": None}]


@built_together
def test_call_that_was_running_when_its_process_died_is_unknown() -> Scene:
    """Its span began and never ended, and there is no result."""
    lake = yield [not_ended(agent(1)), not_ended(tool(2, 1, at=1))]
    assert story(lake) == ["tool_call t unknown"]


def noted(row: Row, number: int) -> Row:
    """Return Logfire's note that this span has begun, a span of no length below it."""
    parent = row["parentSpanId"] or f"{0:016x}"
    told = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": parent}
    return row | {
        "spanId": f"{number:016x}",
        "parentSpanId": row["spanId"],
        "endTimeUnixNano": row["startTimeUnixNano"],
        "attributes": row["attributes"]
        + [{"key": key, "value": {"stringValue": text}} for key, text in told.items()],
    }


@built_together
def test_note_that_a_span_began_stands_for_it() -> Scene:
    """The process died in the tool: neither it nor the agent ended, the model call did."""
    said = [message("assistant", request("t", "c1"))]
    ran = tool(3, 1, at=2, gen_ai__tool__call__id="c1")
    lake = yield [noted(agent(1), 11), model(2, 1, at=1, said=said), noted(ran, 13)]
    assert story(lake) == ["tool_call t {} unknown"]
    found = rows(lake, "SELECT complete, agent_name, duration_ms, root_span_id FROM trajectories")
    assert found == [
        {"complete": False, "agent_name": "a", "duration_ms": None, "root_span_id": f"{1:016x}"}
    ]


@built_together
def test_note_of_a_span_that_came_is_one_too_many() -> Scene:
    """Equal calls in parallel stay two, and each model call is one."""
    said = [message("assistant", request("t", "c1"), request("t", "c2"))]
    whole = [
        agent(1),
        model(2, 1, at=1, said=said),
        tool(3, 1, at=2, gen_ai__tool__call__id="c1"),
        tool(4, 1, at=2, gen_ai__tool__call__id="c2"),
    ]
    lake = yield [*whole, *(noted(row, number) for number, row in enumerate(whole, 11))]
    assert story(lake) == 2 * ["tool_call t {} ok"]
    assert rows(lake, "SELECT complete, llm_call_count FROM trajectories") == [
        {"complete": True, "llm_call_count": 1}
    ]


@pytest.mark.parametrize("late", [{"endTimeUnixNano": "0"}, {}], ids=["no end", "end at start"])
def test_start_of_a_span_that_comes_late_changes_nothing(lake: Lake, late: Row) -> None:
    """An exporter that tries again sends what began after what ended: the whole span counts."""
    said = [message("assistant", request("t", "c1"))]
    whole = [agent(1), model(2, 1, at=1, said=said), tool(3, 1, at=2, gen_ai__tool__call__id="c1")]
    begun = [
        each | {"endTimeUnixNano": each["startTimeUnixNano"]} | late | {"attributes": []}
        for each in whole
    ]
    land(lake, request_of(whole))
    land(lake, request_of(begun), seq=2, day=1)
    build(lake)

    assert story(lake) == ["tool_call t {} ok"]
    assert complete(lake) == [True]

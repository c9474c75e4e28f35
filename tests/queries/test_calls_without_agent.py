"""Model calls that no agent's span holds: each is in a run, or counted by reason."""

import pytest
from tests.scenes import built_together

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .together import Scene
from .traces import (
    Row,
    agent,
    apart,
    built_apart,
    capture,
    land,
    message,
    model,
    request,
    request_of,
    response,
    rows,
    span,
    story,
    story_apart,
)

ASKED = message("user", "Is it warm?")
CALLED = message("assistant", request("find_tram", "c1"))


def test_calls_without_a_parent_are_a_run_each_and_are_counted(lake: Lake) -> None:
    """Each is alone in its trace: it has its question, and its request's fate is not known."""
    heard = [ASKED, CALLED, message("tool", response("9:40", "c1"))]
    land(
        lake,
        request_of(
            [
                model(1, trace=1, heard=[ASKED], said=[CALLED]),
                model(2, trace=2, heard=heard, said=[message("assistant", "Yes.")]),
            ]
        ),
    )
    summary = build(lake)

    found = rows(lake, "SELECT user_input, final_answer FROM trajectories ORDER BY trace_id")
    assert found == [
        {"user_input": "Is it warm?", "final_answer": None},
        {"user_input": "Is it warm?", "final_answer": "Yes."},
    ]
    assert story(lake) == ["tool_call find_tram {} unknown", "answer Yes."]
    assert summary.apart == {"alone": 2}
    assert summary.unread == {}


def test_what_a_server_did_for_an_unknown_client_is_no_run(lake: Lake) -> None:
    """An MCP server without a trace context begins a trace for each call; it is counted."""
    land(lake, capture("mcp_server"))
    summary = build(lake)

    assert summary.trajectories == 0
    assert summary.unread == {"mcp-python-sdk": 3}


@built_together
def test_calls_of_one_trace_are_one_run() -> Scene:
    """A span around them that is not an agent's is enough."""
    said = [message("assistant", "Yes.")]
    lake = yield [span(1, ms=9), *(model(n, 1, at=n, said=said) for n in (2, 3))]

    assert rows(lake, "SELECT llm_call_count FROM trajectories") == [{"llm_call_count": 2}]


def test_calls_in_no_trajectory_are_counted_by_reason(lake: Lake) -> None:
    """One beside two agents, with nothing around them, and what an evaluator asked."""
    said = [message("assistant", "Yes.")]
    judging: Row = {"openinference__span__kind": "EVALUATOR"}
    spans = [
        agent(1, ms=5),
        model(2, 1, at=1, said=said),
        agent(3, at=10, ms=5),
        model(4, at=20, said=said),
        span(5, 1, at=3, **judging),
        model(6, 5, at=3, said=said),
        span(7, trace=2, ms=9, **judging),
        model(8, 7, trace=2, at=1, said=said),
    ]
    land(lake, request_of(spans))

    assert build(lake).apart == {"outside": 1, "evaluator": 2}


@built_together
def test_message_without_content_is_not_the_one_before() -> Scene:
    """The user's text in a message without recorded content is not known."""
    said = [message("assistant", "No.")]
    last = [message("user", "And in Rome?"), message("user")]
    heard = [[ASKED, message("assistant", "Yes."), each] for each in last]
    lake = yield apart([model(1, heard=each, said=said)] for each in heard)

    found = rows(lake, "SELECT user_input FROM trajectories ORDER BY trace_id")
    assert found == [{"user_input": "And in Rome?"}, {"user_input": None}]


REFUSALS = {
    "Error: there is no tool find_tram": "not_executed",
    "No such tool: find_tram.": "not_executed",
    "Error: unknown function find_tram": "not_executed",
    "Tool 'find_tram' does not exist.": "not_executed",
    "Tool find_tram not found.": "not_executed",
    "Error: find_tram has no tool for that": "error",
    "There is no tram.": "ok",
}


@pytest.fixture(scope="module")
def first_steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The first step of a run whose model got this result of its call."""
    heard = [[ASKED, CALLED, message("tool", response(told, "c1"))] for told in REFUSALS]
    runs = [
        [agent(1), model(2, 1, at=1, said=[CALLED]), model(3, 1, at=5, heard=each)]
        for each in heard
    ]
    found = story_apart(built_apart(tmp_path_factory.mktemp("refused"), runs), len(runs))
    return dict(zip(REFUSALS, (steps[0] for steps in found), strict=True))


@pytest.mark.parametrize("told", REFUSALS)
def test_refusal_in_words_is_no_execution(first_steps: dict[str, str], told: str) -> None:
    """An agent written by hand tells its model in words that there is no such tool."""
    assert first_steps[told] == f"tool_call find_tram {{}} {REFUSALS[told]}"

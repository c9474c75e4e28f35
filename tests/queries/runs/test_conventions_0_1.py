"""The first own release of the GenAI conventions, 0.1, and names that it replaced.

The changes are those that https://github.com/open-telemetry/semantic-conventions-genai lists.
"""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, rows, span, story, tool

ASKED = [message("user", "Weather in Paris?")]
ANSWERED = [message("assistant", "It is 22C.")]
ID: dict[str, Any] = {"gen_ai__response__id": "r1"}


def _fetch(number: int, at: float, sent: list[Row] | None, response_id: str = "r1") -> Row:
    """Return the span of a request for a response that the provider kept."""
    texts: Row = {} if sent is None else {"gen_ai__output__messages": json.dumps(sent)}
    named: Row = {"gen_ai__operation__name": "fetch_response", "gen_ai__response__id": response_id}
    model_name: Row = {"gen_ai__response__model": "m", "gen_ai__provider__name": "openai"}
    return span(number, 1, at=at, name="fetch_response", **named, **model_name, **texts)


@built_together
def test_fetched_response_is_the_output_of_its_call() -> Scene:
    """A call in the background has none of its own; it is fetched until it is complete."""
    called = [message("assistant", request("w", "c1", city="Paris"))]
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=ASKED, **ID),
        _fetch(3, 5, None),
        _fetch(4, 9, called),
        tool(5, 1, at=12, tool_name="w", gen_ai__tool__call__id="c1"),
        model(6, 1, at=20, heard=[*ASKED, *called], said=ANSWERED, gen_ai__response__id="r2"),
        _fetch(7, 30, ANSWERED, "r2"),
    ]

    assert story(lake) == ['tool_call w {"city":"Paris"} ok', "answer It is 22C."]
    (run,) = rows(lake, "SELECT llm_call_count, final_answer FROM trajectories")
    assert run == {"llm_call_count": 2, "final_answer": "It is 22C."}


@built_together
def test_operations_around_calls_are_not_steps() -> Scene:
    """Retrieval and memory are not steps; a skill is loaded by a call; a command may fail."""
    skill: dict[str, Any] = {"gen_ai__skill__name": "tests", "gen_ai__tool__call__id": "c1"}
    exits: dict[str, Any] = {"process__exit__code": 2, "process__executable__name": "sh"}
    lake = yield [
        agent(1),
        span(2, 1, at=1, gen_ai__operation__name="search_memory", gen_ai__memory__store__id="s"),
        span(3, 1, at=2, gen_ai__operation__name="retrieval", gen_ai__retrieval__top_k=3),
        tool(4, 1, at=3, tool_name="load_skill", **skill),
        tool(5, 1, at=5, tool_name="shell", **exits),
        model(6, 1, at=9, said=ANSWERED, gen_ai__conversation__compacted=True),
    ]

    assert story(lake) == ["tool_call load_skill ok", "tool_call shell error", "answer It is 22C."]
    (run,) = rows(lake, "SELECT flags FROM trajectories")
    assert run["flags"][0] == "compacted"


@built_together
def test_workflow_names_its_run_before_and_since() -> Scene:
    """The default of OpenAI Agents does not count, and an agent that is named counts first."""
    workflow: dict[str, Any] = {"gen_ai__operation__name": "invoke_workflow"}
    named: dict[str, Any] = {"gen_ai__workflow__name": "triage"}
    lake = yield [
        span(1, trace=1, **workflow, **named),
        model(2, 1, at=1, said=ANSWERED, trace=1),
        span(1, trace=2, **workflow, gen_ai__agent__name="triage"),
        model(2, 1, at=1, said=ANSWERED, trace=2),
        span(1, trace=3, **workflow, gen_ai__workflow__name="Agent workflow"),
        model(2, 1, at=1, said=ANSWERED, trace=3),
        span(1, trace=4, **workflow, **named),
        agent(2, 1, at=1, trace=4, agent_name="clerk"),
    ]

    found = rows(lake, "SELECT agent_name FROM trajectories ORDER BY trace_id")
    assert [row["agent_name"] for row in found] == ["triage", "triage", None, "clerk"]


@built_together
def test_workflow_with_nothing_below_it_is_not_a_run() -> Scene:
    """Another instrumentation may have recorded what it did, in a trace of its own."""
    workflow: dict[str, Any] = {"gen_ai__operation__name": "invoke_workflow"}
    lake = yield [
        span(1, trace=1, **workflow, gen_ai__workflow__name="triage"),
        agent(1, trace=2, agent_name="clerk"),
    ]

    assert rows(lake, "SELECT agent_name FROM trajectories") == [{"agent_name": "clerk"}]


@built_together
def test_references_to_uploaded_messages_flag_the_run() -> Scene:
    """The hook for uploads replaces messages with the addresses of files."""
    uploaded: dict[str, Any] = {
        "gen_ai__input__messages_ref": "gs://b/1_inputs.json",
        "gen_ai__output__messages_ref": "gs://b/1_outputs.json",
    }
    lake = yield [agent(1), model(2, 1, at=1, gen_ai__request__model="m", **uploaded)]

    (run,) = rows(lake, "SELECT flags, final_answer, llm_call_count FROM trajectories")
    assert "content_elsewhere" in run["flags"]
    assert run["final_answer"] is None
    assert run["llm_call_count"] == 1

"""Agents that call agents, what is done beside them, and runs whose root never arrived."""

import json

from tests.scenes import built_together

from .together import Scene
from .traces import (
    Row,
    agent,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    tool,
)

TRACE = f"{1:032x}"


def _run(number: int) -> str:
    return f"{TRACE}-{number:016x}"


def _helper(parent: int | None) -> list[Row]:
    """Return a helper that calls a tool of its own and answers."""
    return [
        agent(3, parent, at=5, ms=20, agent_name="helper"),
        model(4, 3, at=6, said=[message("assistant", request("final_answer", answer="Mine."))]),
        tool(5, 3, at=7, tool_name="final_answer"),
    ]


@built_together
def test_agent_that_is_called_without_a_tool_span_is_a_run_of_its_own() -> Scene:
    """Its call succeeded, is the step that it hangs from, and its answer is not its caller's."""
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("helper", "c1"))]),
        *_helper(1),
        model(6, 1, at=30, said=[message("assistant", "Done.")]),
    ]
    lake = yield spans

    assert story(lake, _run(1)) == ["tool_call helper {} ok", "answer Done."]
    assert story(lake, _run(3)) == ['answer final_answer {"answer":"Mine."} Mine.']
    assert rows(
        lake,
        "SELECT parent_trajectory_id, parent_step, agent_name FROM trajectories "
        "WHERE parent_trajectory_id IS NOT NULL",
    ) == [{"parent_trajectory_id": _run(1), "parent_step": 0, "agent_name": "helper"}]
    assert rows(lake, "SELECT offered FROM steps WHERE tool_name = 'helper'") == [
        {"offered": True}
    ]


@built_together
def test_agent_that_no_model_requested_by_name_stays_inside() -> Scene:
    """One that another agent runs without its model asking for it wraps it, or goes on for it."""
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("other", "c1"))]),
        *_helper(1),
    ]
    lake = yield spans

    assert rows(lake, "SELECT trajectory_id FROM trajectories") == [{"trajectory_id": _run(1)}]


@built_together
def test_agent_around_one_of_its_name_is_one_run_with_it() -> Scene:
    """Mastra has two spans for an agent; only the outer one is below the tool."""
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("helper"))]),
        tool(7, 1, at=3, ms=30, tool_name="helper"),
        agent(8, 7, at=4, ms=28, agent_name="helper"),
        *_helper(8),
    ]
    lake = yield spans

    runs = rows(lake, "SELECT trajectory_id FROM trajectories ORDER BY start_time")
    assert [run["trajectory_id"] for run in runs] == [_run(1), _run(8)]
    assert story(lake, _run(8)) == ['answer final_answer {"answer":"Mine."} Mine.']


@built_together
def test_executions_of_one_agent_match_no_request_of_another() -> Scene:
    """The same tool, requested by both: each request has the execution of its own agent."""
    ask = message("assistant", request("look", city="Paris"))
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("helper"), request("look"))]),
        agent(3, 1, at=5, ms=20, agent_name="helper"),
        model(4, 3, at=6, said=[ask]),
        tool(5, 3, at=7, tool_name="look", gen_ai__tool__call__result="helper's"),
        tool(6, 1, at=30, tool_name="look", gen_ai__tool__call__result="manager's"),
    ]
    lake = yield spans

    results = "SELECT result FROM steps WHERE tool_name = 'look' AND kind = 'tool_call' "
    assert rows(lake, f"{results} AND trajectory_id = '{_run(1)}'") == [{"result": "manager's"}]
    assert rows(lake, f"{results} AND trajectory_id = '{_run(3)}'") == [{"result": "helper's"}]


@built_together
def test_run_whose_root_is_lost_is_not_its_helpers() -> Scene:
    """The process died in its second call: that one may have been made, and no agent is named."""
    asked = [message("user", "Is it warm?")]
    spans = [
        model(2, 1, at=1, heard=asked, said=[message("assistant", request("helper", "c1"))]),
        *_helper(1),
        model(6, 1, at=30, heard=asked, said=[message("assistant", request("jump", "c2"))]),
    ]
    lake = yield spans

    assert story(lake, _run(0)) == ["tool_call helper {} ok", "tool_call jump {} unknown"]
    assert rows(
        lake,
        "SELECT agent_name, user_input, parent_trajectory_id AS parent FROM trajectories "
        "ORDER BY agent_name NULLS FIRST",
    ) == [
        {"agent_name": None, "user_input": "Is it warm?", "parent": None},
        {"agent_name": "helper", "user_input": None, "parent": _run(0)},
    ]


@built_together
def test_run_whose_root_is_lost_has_the_name_that_its_other_spans_tell() -> Scene:
    """Model calls and tools may name the agent that they are of."""
    said = [message("assistant", "Done.")]
    lake = yield [model(2, 1, said=said, gen_ai__agent__name="manager")]

    assert rows(lake, "SELECT agent_name FROM trajectories") == [{"agent_name": "manager"}]


@built_together
def test_call_that_answers_have_followed_ran_though_the_root_is_lost() -> Scene:
    """Of a run that was cut only the last calls are not known: before, none ran without a span."""
    spans = [
        model(2, 1, at=1, said=[message("assistant", request("look", city="Oslo"))]),
        model(3, 1, at=5, said=[message("assistant", request("look", city="Rome"))]),
        tool(4, 1, at=6, tool_name="look"),
    ]
    lake = yield spans

    assert story(lake) == [
        'tool_call look {"city":"Oslo"} not_executed',
        'tool_call look {"city":"Rome"} ok',
    ]


@built_together
def test_model_calls_beside_the_agent_are_of_its_run() -> Scene:
    """Below one span with it, before and after: their tokens count, the agent's answer stays."""
    used: Row = {"gen_ai__usage__input_tokens": 7, "gen_ai__usage__output_tokens": 3}
    summary = [message("user", "Sum it up."), message("user", "Shortly.")]
    spans = [
        span(1, ms=200),
        model(2, 1, at=1, said=[message("assistant", "A better question.")], **used),
        agent(3, 1, at=10, ms=50, agent_name="manager"),
        model(
            4, 3, at=11, heard=[message("user", "Q?")], said=[message("assistant", "A.")], **used
        ),
        model(5, 1, at=90, heard=summary, said=[message("assistant", "In short: A.")], **used),
    ]
    lake = yield spans

    assert story(lake) == ["message A better question.", "answer A.", "message In short: A."]
    assert rows(
        lake, "SELECT agent_name, user_input, llm_call_count, input_tokens FROM trajectories"
    ) == [{"agent_name": "manager", "user_input": "Q?", "llm_call_count": 3, "input_tokens": 21}]


@built_together
def test_one_response_to_several_requests_is_seen_once() -> Scene:
    """What joins the results is the last call's as little as the first's."""
    both = [request("look", city="Paris"), request("look", city="Rome")]
    joined = message("tool", response("22C in Paris\n22C in Rome"))
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", *both)]),
        model(
            3, 1, at=9, heard=[message("user", "Q?"), joined], said=[message("assistant", "A.")]
        ),
    ]
    lake = yield spans

    assert story(lake) == [
        'tool_call look {"city":"Paris"} ok',
        'tool_call look {"city":"Rome"} ok',
        "observation 22C in Paris\n22C in Rome",
        "answer A.",
    ]


@built_together
def test_message_of_the_user_in_parts_is_one_question() -> Scene:
    """All its parts were asked, not the last alone."""
    heard = [message("user", "Hello."), message("user", "And in Rome?", "In one word.")]
    lake = yield [agent(1), model(2, 1, heard=heard, said=[message("assistant", "A")])]

    assert rows(lake, "SELECT user_input FROM trajectories") == [
        {"user_input": "And in Rome?\nIn one word."}
    ]


@built_together
def test_thought_that_only_the_agent_tells_is_of_the_call_that_said_its_answer() -> Scene:
    """The span of the model call has the text, the agent's span has the thought before it."""
    thought = {"type": "reasoning", "content": "It is hot."}
    answered = [message("assistant", thought, "Yes.")]
    spans = [
        agent(1, gen_ai__output__messages=json.dumps(answered)),
        agent(2, 1, at=1, ms=50, gen_ai__output__messages=json.dumps(answered)),
        model(3, 2, at=2, said=[message("assistant", request("look"))]),
        tool(4, 2, at=4, tool_name="look"),
        model(5, 2, at=6, said=[message("assistant", "Yes.")]),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call look {} ok", "thought It is hot.", "answer Yes."]


@built_together
def test_tool_for_all_hand_overs_hands_over() -> Scene:
    """LlamaIndex has one, which names the other agent in its arguments."""
    said = [message("assistant", request("handoff", to_agent="helper", reason="It knows."))]
    lake = yield [agent(1), model(2, 1, at=1, said=said)]

    assert rows(lake, "SELECT kind, tool_name FROM steps") == [
        {"kind": "handoff", "tool_name": "handoff"}
    ]

"""Spans of gateways to models: OpenRouter, Cloudflare, LiteLLM, Kong, and any below an agent.

OpenRouter's are written as its Broadcast sent them in September 2026, after recordings of four
coding agents in `test-fixtures/otel/openrouter` of https://github.com/empathic/toolpath.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, tool

QUESTION: Final = "What is the weather in Paris?"
ASKED: Final[list[Row]] = [
    {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
    {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
]
CALL: Final[Row] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
TOLD: Final[list[Row]] = [
    *ASKED,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "22C"},
]
CALLED: Final = ['tool_call get_weather {"city":"Paris"} ok', "observation 22C"]
USED: Final[Row] = {
    "gen_ai__request__model": "m",
    "gen_ai__usage__input_tokens": 100,
    "gen_ai__usage__output_tokens": 20,
}
RUNS: Final = (
    "SELECT conversation_id, user_input, final_answer, llm_call_count, input_tokens, cost_usd, "
    "flags FROM trajectories ORDER BY start_time"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _routed(
    number: int, at: float, asked: list[Row] | None, answered: Row | None, **more: Any
) -> list[Row]:
    """Return OpenRouter's spans of a request: the whole, a provider's try and its generation."""
    given: Row = {
        "span__type": "generation",
        "gen_ai__operation__name": "chat",
        "gen_ai__response__id": f"gen-{number}",
        "gen_ai__usage__total_cost": 0.25,
        "gen_ai__usage__input_tokens__cached": 30,
        "trace__metadata__openrouter__source": "openrouter",
        "session__id": "s-1",
        **USED,
    }
    if asked is not None:
        given["gen_ai__prompt"] = json.dumps({"messages": asked})
    if answered is not None:
        given["gen_ai__completion"] = json.dumps({**answered, "rawRequest": {"stream": True}})
    name, trace = more.pop("name", "LLM Generation"), more.get("trace", 1)
    inner: Row = {"scope": "openrouter", "trace": trace, "span__type": "span"}
    inner |= {"gen_ai__operation__name": "chat", "ms": 5}
    attempt, generation = f"gen-{number}:attempt-0", f"gen-{number}:generation"
    return [
        span(number, at=at, ms=20, name=name, scope="openrouter", **{**given, **more}),
        span(
            number + 1,
            number,
            at=at,
            name="provider attempt 1: Acme",
            **inner,
            gen_ai__response__id=attempt,
            trace__metadata__openrouter__provider_name="Acme",
        ),
        span(
            number + 2,
            number,
            at=at + 9,
            name="generation",
            **inner,
            gen_ai__response__id=generation,
        ),
    ]


def _answer(text: str, *calls: Row, thought: str | None = None) -> Row:
    return {"completion": text, "reasoning": thought, "toolCalls": list(calls)}


@built_together
def test_requests_through_openrouter_in_one_trace_are_a_run() -> Scene:
    """The program gave both requests one `trace_id`; tries are not calls of their own."""
    lake = yield [
        *_routed(1, 0, ASKED, _answer("", CALL, thought="Look it up.")),
        *_routed(4, 100, TOLD, _answer("It is 22C."), name="named by the program"),
    ]

    assert story(lake) == ["thought Look it up.", *CALLED, "answer It is 22C."]
    assert _runs(lake) == [["s-1", QUESTION, "It is 22C.", 2, 200, 0.5, []]]
    read = "SELECT model_usage[1].cache_read_tokens AS tokens FROM trajectories"
    assert rows(lake, read) == [{"tokens": 60}]


@built_together
def test_each_trace_through_openrouter_is_a_run() -> Scene:
    """How the call ended is in the next trace, so that its status is not known."""
    lake = yield [
        *_routed(1, 0, ASKED, _answer("", CALL), trace=1),
        *_routed(4, 100, TOLD, _answer("It is 22C."), trace=2),
    ]

    assert story(lake) == ['tool_call get_weather {"city":"Paris"} unknown', "answer It is 22C."]
    assert [run[:5] for run in _runs(lake)] == [
        ["s-1", QUESTION, None, 1, 100],
        ["s-1", QUESTION, "It is 22C.", 1, 100],
    ]


@built_together
def test_openrouter_without_content_has_tokens_and_costs() -> Scene:
    """In privacy mode, neither prompt nor completion is sent."""
    lake = yield _routed(1, 0, None, None)

    assert story(lake) == []
    assert [run[:6] for run in _runs(lake)] == [["s-1", None, None, 1, 100, 0.25]]
    assert "unrecorded_answer" in _runs(lake)[0][6]


@built_together
def test_request_through_openrouter_that_broke_off() -> Scene:
    """The client gave up; that there is no answer does not make it an empty one."""
    lake = yield _routed(1, 0, ASKED, None, error="The client has disconnected")

    assert story(lake) == []
    assert [run[:4] for run in _runs(lake)] == [["s-1", QUESTION, None, 1]]


@built_together
def test_cloudflare_keeps_a_whole_request_and_answer() -> Scene:
    """They are what the provider got and sent."""
    requested = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    answers = [
        {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": requested}]},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "It is 22C."}}]},
    ]
    lake = yield [
        span(
            number,
            at=number * 50,
            name="chat",
            scope="ai-gateway",
            gen_ai__prompt_json=json.dumps({"model": "m", "messages": asked}),
            gen_ai__completion_json=json.dumps(answer),
            gen_ai__usage__cost=0.25,
            **USED,
        )
        for number, (asked, answer) in enumerate(zip((ASKED, TOLD), answers, strict=True), 1)
    ]

    assert story(lake) == [*CALLED, "answer It is 22C."]
    assert [run[1:6] for run in _runs(lake)] == [[QUESTION, "It is 22C.", 2, 200, 0.5]]


def _asking(number: int, parent: int, at: float, **more: Any) -> Row:
    said = [message("assistant", "It is 22C.")]
    heard = [message("user", QUESTION)]
    return model(number, parent, at=at, ms=50, said=said, heard=heard, **{**USED, **more})


@built_together
def test_gateway_below_an_agents_model_call_is_no_other_call() -> Scene:
    """The gateway continued the trace of the client, and counted the same tokens."""
    lake = yield [
        agent(1),
        _asking(2, 1, 1),
        span(3, 2, at=2, ms=40, name="POST", scope="http", http__request__method="POST"),
        model(4, 3, at=3, ms=30, scope="gateway", **USED),
    ]

    assert [run[2:5] for run in _runs(lake)] == [["It is 22C.", 1, 100]]


@built_together
def test_tries_of_a_gateway_are_one_call() -> Scene:
    """Another model answered than the first one that was tried, and its tokens count."""
    lake = yield [
        agent(1),
        _asking(2, 1, 1, gen_ai__request__model="first"),
        model(3, 2, at=2, ms=5, error="429", gen_ai__request__model="first"),
        model(4, 2, at=9, ms=30, **{**USED, "gen_ai__request__model": "second"}),
    ]

    assert [run[2:5] for run in _runs(lake)] == [["It is 22C.", 1, 100]]
    assert rows(lake, "SELECT DISTINCT model FROM steps") == [{"model": "second"}]


@built_together
def test_span_around_two_calls_with_tokens_is_no_call() -> Scene:
    """Each call has tokens of its own."""
    lake = yield [agent(1), _asking(2, 1, 1), model(3, 2, at=2, **USED), model(4, 2, at=9, **USED)]

    assert [run[3:5] for run in _runs(lake)] == [[2, 200]]


@built_together
def test_span_that_litellm_overwrote_holds_one_of_two_calls() -> Scene:
    """LiteLLM 1.110 writes on the open span; only `raw_gen_ai_request` shows each request."""
    raw: Row = {"scope": "litellm", "name": "raw_gen_ai_request"}
    said = [message("assistant", "It is 22C.")]
    written = {"llm__request__type": "completion", "gen_ai__operation__name": "chat", **USED}
    lake = yield [
        span(
            1,
            ms=99,
            name="invoke_agent a",
            scope="app",
            gen_ai__agent__name="a",
            gen_ai__output__messages=json.dumps(said),
            **written,
        ),
        span(2, 1, at=1, **raw, llm__openai__stringified_raw_response="…"),
        span(3, 1, at=9, **raw, llm__openai__stringified_raw_response="…"),
    ]

    assert [run[3] for run in _runs(lake)] == [2]
    assert {"unrecorded_answer", "unrecorded_calls"} <= set(_runs(lake)[0][6])


@built_together
def test_litellms_own_span_and_its_raw_request_are_one_call() -> Scene:
    """Its cost is stated."""
    raw: Row = {"scope": "litellm", "name": "raw_gen_ai_request"}
    lake = yield [
        agent(1),
        _asking(2, 1, 1, scope="litellm", name="litellm_request", gen_ai__cost__total_cost=0.25),
        span(3, 2, at=2, ms=30, **raw, llm__openai__stringified_raw_response="…"),
    ]

    assert [run[2:6] for run in _runs(lake)] == [["It is 22C.", 1, 100, 0.25]]


@built_together
def test_tool_under_the_names_of_clients() -> Scene:
    """Axiom's, Sentry's and Latitude's names of arguments and results."""
    paris = '{"city": "Paris"}'
    lake = yield [
        agent(1),
        tool(2, 1, at=1, gen_ai__tool__arguments=paris, gen_ai__tool__message="22C"),
        tool(3, 1, at=3, gen_ai__tool__input=paris, gen_ai__tool__output="23C"),
        tool(
            4,
            1,
            at=5,
            gen_ai__tool__call__arguments=paris,
            gen_ai__tool__call__result__value="no such city",
            gen_ai__tool__call__result__is_error=True,
        ),
    ]

    assert story(lake) == [
        'tool_call t {"city":"Paris"} ok',
        "observation 22C",
        'tool_call t {"city":"Paris"} ok',
        "observation 23C",
        'tool_call t {"city":"Paris"} error',
        "observation no such city",
    ]


@built_together
def test_openinference_tool_written_by_hand() -> Scene:
    """`tool.parameters` may hold arguments or describe them."""
    kind: Row = {"openinference__span__kind": "TOOL", "tool__name": "t"}
    described = '{"city": {"type": "string", "description": "A city."}}'
    lake = yield [
        span(1, ms=99, openinference__span__kind="AGENT"),
        span(2, 1, at=1, **kind, tool__parameters='{"city": "Paris"}', tool__output="22C"),
        span(3, 1, at=3, **kind, tool__arguments='{"city": "Rome"}', tool__output="23C"),
        span(4, 1, at=5, **kind, tool__parameters=described, tool__output="24C"),
    ]

    assert story(lake) == [
        'tool_call t {"city":"Paris"} ok',
        "observation 22C",
        'tool_call t {"city":"Rome"} ok',
        "observation 23C",
        "tool_call t ok",
        "observation 24C",
    ]


@built_together
def test_gateway_with_the_requested_tool_on_its_span() -> Scene:
    """Kong's AI Gateway names the tool that the model asked for."""
    said = [message("assistant", request("get_weather", "c1", city="Paris"))]
    heard = [message("user", QUESTION)]
    named: Row = {"gen_ai__tool__name": "get_weather", "gen_ai__tool__call__id": "c1"}
    told = [*heard, *said, message("tool", response("22C", "c1"))]
    answered = [message("assistant", "It is 22C.")]
    lake = yield [
        model(1, at=1, said=said, heard=heard, scope="kong-internal", **named, **USED),
        model(2, at=9, said=answered, heard=told, scope="kong-internal", **USED),
    ]

    assert story(lake) == [*CALLED, "answer It is 22C."]


def _through_bifrost(number: int, parent: int | None, **more: Any) -> Row:
    """Return Bifrost's span of a request, after `plugins/otel` of its repository in 2026."""
    given: Row = {"gen_ai__provider__name": "openai", "gen_ai__chat__id": f"chatcmpl-{number}"}
    given |= {"gen_ai__chat__object": "chat.completion", "gen_ai__chat__model": "m", **USED}
    return span(number, parent, name="gen_ai.chat", scope="bifrost-otel-plugin", **given, **more)


@built_together
def test_the_id_of_a_completion_is_no_conversation() -> Scene:
    """Bifrost calls it `gen_ai.chat.id`; a program's own name of a conversation is read."""
    lake = yield [
        agent(1),
        _through_bifrost(2, 1, at=10),
        _through_bifrost(3, 1, at=20),
        _through_bifrost(4, None, trace=2, at=200, session__id="s-1"),
    ]

    assert [run[0] for run in _runs(lake)] == [None, "s-1"]

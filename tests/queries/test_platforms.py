"""SDKs of tracing platforms, written as their attributes are documented, tell one story."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.scenes import built_together

from .together import Scene
from .traces import Row, agent, apart, message, model, request, rows, span, story

QUESTION = "What is the weather in Paris?"
ANSWER = "It is 22C in Paris."
PARIS = {"city": "Paris"}
TOOLS = [{"type": "function", "function": {"name": "w"}}]
ASKED = {"role": "user", "content": QUESTION}
CALL = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": json.dumps(PARIS)}}
REQUESTED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "c1", "content": "22C"}
ANSWERED = {"role": "assistant", "content": ANSWER}
STORY = ['tool_call w {"city":"Paris"} ok', "observation 22C", f"answer {ANSWER}"]


def _mlflow(kind: str, heard: object, said: object) -> Row:
    usage = {"input_tokens": 50, "output_tokens": 10}
    return {
        "mlflow.spanType": json.dumps(kind),
        "mlflow.spanInputs": json.dumps(heard),
        "mlflow.spanOutputs": json.dumps(said),
    } | ({"mlflow.chat.tokenUsage": json.dumps(usage)} if kind == "CHAT_MODEL" else {})


def _mlflow_model(heard: list[Row], said: Row) -> Row:
    choice = {"index": 0, "message": said}
    return _mlflow("CHAT_MODEL", {"messages": heard, "tools": TOOLS}, {"choices": [choice]})


def _braintrust(kind: str, heard: object, said: object) -> Row:
    return {
        "braintrust.span_attributes": json.dumps({"type": kind}),
        "braintrust.input_json": json.dumps(heard),
        "braintrust.output_json": json.dumps(said),
        "braintrust.metadata": json.dumps({"tools": TOOLS}),
        "braintrust.metrics": json.dumps({"prompt_tokens": 50, "completion_tokens": 10}),
    }


def _braintrust_model(heard: list[Row], said: Row) -> Row:
    return _braintrust("llm", heard, [{"index": 0, "message": said}])


def _genkit(kind: str, heard: object, said: object) -> Row:
    return {
        "genkit:type": "action",
        "genkit:metadata:subtype": kind,
        "genkit:name": "w",
        "genkit:input": json.dumps(heard),
        "genkit:output": json.dumps(said),
    }


def _genkit_message(told: Row) -> Row:
    """One of OpenAI's messages as Genkit has it."""
    if told["role"] == "tool":
        block = {"toolResponse": {"name": "w", "ref": "c1", "output": told["content"]}}
    elif "tool_calls" in told:
        block = {"toolRequest": {"name": "w", "ref": "c1", "input": PARIS}}
    else:
        block = {"text": told["content"]}
    return {"role": told["role"].replace("assistant", "model"), "content": [block]}


def _genkit_model(heard: list[Row], said: Row) -> Row:
    return _genkit(
        "model",
        {"messages": [_genkit_message(each) for each in heard], "tools": [{"name": "w"}]},
        {"message": _genkit_message(said), "usage": {"inputTokens": 50, "outputTokens": 10}},
    )


PLATFORMS: dict[str, tuple[Any, Any, tuple[str, str]]] = {
    "mlflow": (_mlflow, _mlflow_model, ("AGENT", "TOOL")),
    "braintrust": (_braintrust, _braintrust_model, ("task", "tool")),
    "genkit": (_genkit, _genkit_model, ("flow", "tool")),
}


def _told_by(platform: str) -> list[Row]:
    tell, tell_model, (agent_kind, tool_kind) = PLATFORMS[platform]
    heard = [ASKED, REQUESTED, SEEN]
    return [
        span(1, ms=100, name="a", **tell(agent_kind, {"question": QUESTION}, ANSWER)),
        span(2, 1, at=1, name="m", **tell_model([ASKED], REQUESTED)),
        span(3, 1, at=3, name="w", **tell(tool_kind, PARIS, "22C")),
        span(4, 1, at=5, name="m", **tell_model(heard, ANSWERED)),
    ]


@built_together
def test_platform_tells_its_story() -> Scene:
    """A question, a call that the model requested, its result and the answer, with the tokens."""
    lake = yield apart(map(_told_by, PLATFORMS))

    told = {name: story(lake, f"{trace:032x}") for trace, name in enumerate(PLATFORMS, 1)}
    assert told == dict.fromkeys(PLATFORMS, STORY)
    columns = "user_input, final_answer, input_tokens, output_tokens"
    run: Row = {"user_input": QUESTION, "final_answer": ANSWER}
    run |= {"input_tokens": 100, "output_tokens": 20}
    assert rows(lake, f"SELECT {columns} FROM trajectories") == [run] * len(PLATFORMS)
    calls = rows(lake, "SELECT tool_call_id, offered FROM steps WHERE kind = 'tool_call'")
    assert calls == [{"tool_call_id": "c1", "offered": True}] * len(PLATFORMS)


@built_together
def test_spring_ai_tells_its_tools() -> Scene:
    """What its models say it logs; its tools have their arguments and results on their spans."""
    told: Row = {
        "spring.ai.kind": "tool_call",
        "gen_ai.operation.name": "framework",
        "spring.ai.tool.definition.name": "w",
        "spring.ai.tool.call.arguments": json.dumps(PARIS),
        "spring.ai.tool.call.result": json.dumps("22C"),
    }
    client: Row = {"spring.ai.kind": "chat_client", "gen_ai.operation.name": "framework"}
    lake = yield [span(1, ms=9, **client), span(2, 1, at=1, **told)]
    assert story(lake) == STORY[:2]


@built_together
def test_kind_of_span_stands_for_the_operation() -> Scene:
    """`gen_ai.span.kind` alone says what a span with the conventions' other attributes is."""
    told: Row = {
        "gen_ai.span.kind": "TOOL",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.arguments": json.dumps(PARIS),
        "gen_ai.tool.call.result": "22C",
    }
    root = span(1, ms=9, gen_ai__span__kind="AGENT")
    lake = yield [root, span(2, 1, at=1, **told)]
    assert story(lake) == STORY[:2]


@built_together
def test_output_tool_of_pydantic_ai_is_the_answer() -> Scene:
    """A structured output is requested as a tool that nothing executes: no failed call."""
    said = [message("assistant", request("final_result", "c1", celsius=22))]
    lake = yield [agent(1), model(2, 1, heard=[message("user", "?")], said=said)]
    assert story(lake) == ['answer final_result {"celsius":22} {"celsius":22}']
    assert rows(lake, "SELECT error_count FROM trajectories") == [{"error_count": 0}]


@built_together
def test_output_of_null_says_nothing() -> Scene:
    """An answer tool that is given null, or an object whose only value is, answers no text."""
    said = [message("assistant", request("final_result", "c1", response=None))]
    own: Row = {"agent_name": "a", "final_result": "null"}
    lake = yield [
        span(1, ms=9, scope="pydantic-ai", **own),
        model(2, 1, at=1, heard=[message("user", "?")], said=said),
    ]
    assert rows(lake, "SELECT kind, content FROM steps") == [{"kind": "answer", "content": None}]


def agentops_calls(cities: Sequence[str]) -> Iterator[Row]:
    """Yield the spans of calls as AgentOps writes them: requested by span 2, made by span 1."""
    for number, city in enumerate(cities, start=1):
        yield span(
            2 + number,
            2,
            at=4 + number,
            scope="agentops.instrumentation.providers.openai.wrappers.chat",
            agentops__span__kind="AgentOpsSpanKindValues.TOOL",
            tool__name="w",
            tool__call__id=f"c{number}",
            tool__parameters=json.dumps({"city": city}),
        )
        yield span(
            5 + number,
            1,
            at=20 + number,
            name="w.tool",
            agentops__span__kind="tool",
            agentops__tool__input=json.dumps({"args": [], "kwargs": {"city": city}}),
            agentops__tool__output="22C",
        )


@built_together
def test_agentops_tells_each_call_once() -> Scene:
    """It writes what a model requests as spans below the model's, beside those of the tools."""
    told: Row = {
        "gen_ai__request__functions__0__name": "w",
        "gen_ai__request__functions__0__parameters": "{}",
        "gen_ai__completion__0__role": "assistant",
        "gen_ai__completion__0__content": "Hm.",
    }
    lake = yield [
        span(1, ms=100, name="a.agent", agentops__span__kind="agent"),
        span(2, 1, at=1, ms=9, **told),
        *agentops_calls(["Paris", "Rome"]),
    ]

    assert story(lake) == [
        "message Hm.",
        *STORY[:2],
        'tool_call w {"city":"Rome"} ok',
        "observation 22C",
    ]
    columns = "tool_call_id, offered"
    calls = rows(lake, f"SELECT {columns} FROM steps WHERE kind = 'tool_call' ORDER BY step_index")
    assert calls == [{"tool_call_id": f"c{number}", "offered": True} for number in (1, 2)]


@built_together
def test_streamed_call_that_logfire_tells_twice_is_one() -> Scene:
    """As the request of a stream and at its end; one that failed or was not streamed stays one."""
    asked: Row = {"gen_ai__operation__name": "chat", "logfire__span_type": "span"}
    usage: Row = {"gen_ai__usage__input_tokens": 50, "gen_ai__usage__output_tokens": 10}
    heard, said = message("user", QUESTION), message("assistant", ANSWER)
    latest: Row = asked | {"gen_ai__input__messages": json.dumps([heard])}
    first: Row = asked | {"request_data": json.dumps({"messages": [ASKED]})}
    told = [
        (latest, usage | {"gen_ai__output__messages": json.dumps([said])}),
        (first, {"response_data": json.dumps({"message": ANSWERED})}),
    ]
    runs = []
    for request_of_it, came in told:
        ended = request_of_it | came | {"logfire__span_type": "log"}
        runs += [
            [
                agent(1),
                span(2, 1, at=1, scope="logfire.openai", **request_of_it),
                span(3, 1, at=5, ms=0, scope="logfire.openai", **ended),
            ],
            [agent(1), span(2, 1, at=1, scope="logfire.openai", **request_of_it, **came)],
        ]
    refused = span(2, 1, at=1, scope="logfire.openai", error="no quota", **latest)
    lake = yield apart([*runs, [agent(1), refused]])

    calls = "SELECT llm_call_count AS calls FROM trajectories ORDER BY trace_id"
    assert rows(lake, calls) == [{"calls": 1}] * 5
    answers = "SELECT final_answer FROM trajectories ORDER BY trace_id LIMIT 4"
    assert rows(lake, answers) == [{"final_answer": ANSWER}] * 4

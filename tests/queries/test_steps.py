"""What spans say becomes steps: calls and results, messages, plans, and flags of lost texts."""

import pytest
from tests.scenes import built_together

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .together import Scene
from .traces import (
    Row,
    agent,
    land,
    land_redacted,
    message,
    model,
    request,
    request_of,
    response,
    rows,
    span,
    story,
    tool,
)


@built_together
def test_nested_tool_spans_are_one_call() -> Scene:
    """A call seen by two layers is one step, with what either of them knows."""
    outer = {"gen_ai__tool__call__id": "c1"}
    inner = {
        "gen_ai__tool__call__arguments": '{"b": 1.0, "a": 2}',
        "gen_ai__tool__call__result": "r",
    }
    lake = yield [agent(1), tool(2, 1, at=1, **outer), tool(3, 2, at=2, **inner)]

    assert rows(lake, "SELECT span_id, tool_call_id, arguments, result FROM steps LIMIT 1") == [
        {"span_id": f"{2:016x}", "tool_call_id": "c1", "arguments": '{"a":2,"b":1}', "result": "r"}
    ]
    assert story(lake) == ['tool_call t {"a":2,"b":1} ok', "observation r"]


@built_together
def test_tool_within_another_call_is_a_call() -> Scene:
    """The same tool inside itself with other arguments is a call of its own."""
    first = {"gen_ai__tool__call__arguments": '{"n": 2}'}
    second = {"gen_ai__tool__call__arguments": '{"n": 1}'}
    lake = yield [agent(1), tool(2, 1, at=1, **first), tool(3, 2, at=2, **second)]

    assert story(lake) == ['tool_call t {"n":2} ok', 'tool_call t {"n":1} ok']


@built_together
def test_reused_call_ids_match_in_order() -> Scene:
    """A call id that every model call uses again leads each request to its own execution."""
    told = [message("user", "Go.")]
    spans = [agent(1)]
    for turn in range(3):
        said = [message("assistant", request("t", "same", n=turn))]
        executed = {"gen_ai__tool__call__id": "same", "gen_ai__tool__call__result": f"r{turn}"}
        spans.append(model(10 + turn, 1, at=10 * turn, said=said, heard=told))
        spans.append(tool(20 + turn, 1, at=10 * turn + 5, **executed))
        told = [*told, *said, message("tool", response(f"seen {turn}", "same"))]
    spans.append(model(30, 1, at=40, said=[message("assistant", "Done.")], heard=told))
    lake = yield spans

    assert story(lake) == [
        'tool_call t {"n":0} ok',
        "observation seen 0",
        'tool_call t {"n":1} ok',
        "observation seen 1",
        'tool_call t {"n":2} ok',
        "observation seen 2",
        "answer Done.",
    ]


@built_together
def test_calls_without_ids_match_by_arguments() -> Scene:
    """Executions that finish in another order than requested find their requests."""
    said = [message("assistant", request("t", n=1), request("t", n=2))]
    spans = [
        agent(1),
        model(2, 1, at=1, said=said),
        tool(
            3, 1, at=5, gen_ai__tool__call__arguments='{"n":2}', gen_ai__tool__call__result="two"
        ),
        tool(
            4, 1, at=6, gen_ai__tool__call__arguments='{"n":1}', gen_ai__tool__call__result="one"
        ),
    ]
    lake = yield spans

    assert story(lake) == [
        'tool_call t {"n":1} ok',
        "observation one",
        'tool_call t {"n":2} ok',
        "observation two",
    ]


RESULTS = [
    ("Error: no such order", "error"),
    ("  exception in x", "error"),
    ('{"isError": true}', "error"),
    ('{"error": {"code": 1}}', "error"),
    ('{"error": null, "rows": 3}', "ok"),
    ('{"error": ""}', "ok"),
    ('{"error": 0.0}', "ok"),
    ('{"error": "0"}', "error"),
    ('{"isError": "true"}', "ok"),
    ('"error_code","message"\n0,"fine"', "ok"),
    ("no error", "ok"),
]
"""What a tool returned, and what that says of the call."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """The status of a call with each of RESULTS."""
    lake = Lake.create(tmp_path_factory.mktemp("judged") / "lake")
    calls = [
        [agent(1, trace=trace), tool(2, 1, trace=trace, at=1, gen_ai__tool__call__result=result)]
        for trace, (result, _) in enumerate(RESULTS, 1)
    ]
    land(lake, *map(request_of, calls))
    build(lake)
    return rows(
        lake,
        "SELECT status, status_source FROM steps WHERE kind = 'tool_call' ORDER BY trajectory_id",
    )


@pytest.mark.parametrize("case", range(len(RESULTS)), ids=lambda i: RESULTS[i][0])
def test_result_that_says_error_is_one(judged: list[Row], case: int) -> None:
    """A call whose span is fine failed if its result says so (docs/metrics.md, section 0.7)."""
    status = RESULTS[case][1]

    source = "text" if status == "error" else "span"
    assert judged[case] == {"status": status, "status_source": source}


@built_together
def test_calls_of_a_client_alone_are_judged_by_the_response() -> Scene:
    """Where no tool is instrumented, a call the model got a response to was executed."""
    said = [message("assistant", request("t", "c1"), request("u", "c2"), request("v", "c3"))]
    heard = [
        message("user", "Go."),
        *said,
        message("tool", response("fine", "c1")),
        message("tool", response("Error: down", "c2")),
    ]
    lake = yield [model(1, said=said), model(2, at=5, said=[], heard=heard)]

    assert story(lake) == [
        "tool_call t {} ok",
        "observation fine",
        "tool_call u {} error",
        "observation Error: down",
        "tool_call v {} unknown",
    ]


@built_together
def test_react_text_is_thought_call_and_answer() -> Scene:
    """A model that writes its calls as text makes the same steps as one that requests tools."""
    action = 'Thought: I need it.\nAction: search\nAction Input: {"q": "x"}\nObservation: made up'
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", action)]),
        tool(3, 1, at=5, tool_name="search", gen_ai__tool__call__arguments='{"q":"x"}'),
        model(4, 1, at=9, said=[message("assistant", "Thought: I know.\nFinal Answer: 42")]),
    ]
    lake = yield spans

    assert story(lake) == [
        "thought I need it.",
        'tool_call search {"q":"x"} ok',
        "thought I know.",
        "answer 42",
    ]


@built_together
def test_plan_tool_is_a_plan() -> Scene:
    """A todo tool's arguments are the plan; the call is none."""
    said = [message("assistant", request("TodoWrite", "c1", todos=[{"content": "look"}]))]
    lake = yield [agent(1), model(2, 1, at=1, said=said), tool(3, 1, at=5)]

    assert rows(lake, "SELECT kind, tool_name, plan FROM steps ORDER BY step_index") == [
        {"kind": "plan", "tool_name": "TodoWrite", "plan": '[{"content":"look"}]'},
        {"kind": "tool_call", "tool_name": "t", "plan": None},
    ]


@built_together
def test_later_user_messages_open_turns() -> Scene:
    """What the user says after the first model call is a message, and turns are counted."""
    first = [message("user", "Hello.")]
    later = [*first, message("assistant", "Hi."), message("user", "And now?")]
    spans = [
        agent(1),
        model(2, 1, at=1, heard=first, said=[message("assistant", "Hi.")]),
        model(3, 1, at=5, heard=later, said=[message("assistant", "Bye.")]),
    ]
    lake = yield spans

    assert rows(lake, "SELECT turn, role, kind, content FROM steps ORDER BY step_index") == [
        {"turn": 0, "role": "assistant", "kind": "answer", "content": "Hi."},
        {"turn": 1, "role": "user", "kind": "message", "content": "And now?"},
        {"turn": 1, "role": "assistant", "kind": "answer", "content": "Bye."},
    ]
    assert rows(lake, "SELECT user_input, final_answer FROM trajectories") == [
        {"user_input": "Hello.", "final_answer": "Bye."}
    ]


@built_together
def test_hybrid_span_has_the_fields_of_both_dialects() -> Scene:
    """A span that an OpenInference processor rewrote in place is read once, with all it says."""
    both = {
        "openinference__span__kind": "TOOL",
        "tool__name": "t",
        "gen_ai__tool__call__id": "c1",
        "input__value": '{"a":1}',
        "gen_ai__tool__call__result": "r",
    }
    lake = yield [agent(1), tool(2, 1, at=1, **both)]

    columns = "tool_call_id, arguments, result, dialect"
    assert rows(lake, f"SELECT {columns} FROM steps WHERE kind = 'tool_call'") == [
        {"tool_call_id": "c1", "arguments": '{"a":1}', "result": "r", "dialect": "openinference"}
    ]


@built_together
def test_text_stands_before_calls_of_its_message() -> Scene:
    """The OpenAI client's instrumentation writes calls first; the model said the text first."""
    said = [message("assistant", request("t", "c1"), "One moment.")]
    client = "opentelemetry.instrumentation.genai.openai"
    lake = yield [agent(1), model(2, 1, said=said, scope=client)]

    assert story(lake) == ["message One moment.", "tool_call t {} unknown"]


REPLACED: list[tuple[Row, list[str]]] = [
    ({"gen_ai__tool__call__arguments": '{"password": "hunter2"}'}, ["redacted"]),
    ({"gen_ai__tool__call__result": "a " * 2000}, ["result_truncated"]),
    (
        {"input__value": "a " * 2000, "output__value": "sk-" + "a" * 20},
        ["result_redacted", "truncated"],
    ),
    ({"http__request__header__authorization": "Basic"}, []),
]
"""Attributes of a call, and its flags after the collector took secrets and length away."""


def test_what_the_collector_replaced_is_flagged(lake: Lake) -> None:
    """Arguments and results that are not what was sent; other attributes say nothing of them."""
    calls = [tool(number, 1, at=number, **texts) for number, (texts, _) in enumerate(REPLACED, 2)]
    land_redacted(lake, request_of([agent(1), *calls, tool(99, 1, at=99)]))
    build(lake)

    found = rows(lake, "SELECT flags FROM steps WHERE kind = 'tool_call' ORDER BY step_index")
    assert [row["flags"] for row in found] == [*(flags for _, flags in REPLACED), []]


UNREADABLE: list[tuple[Row, list[str]]] = [
    ({"gen_ai__tool__call__arguments": '{"q": "BAD"}'}, ["invalid_unicode"]),
    ({"gen_ai__tool__call__result": "BAD"}, ["invalid_unicode"]),
    ({"output__value": 1 << 64}, ["large_integer"]),
    (
        {
            "gen_ai__tool__call__arguments": '{"password": "hunter2"}',
            "gen_ai__tool__call__result": "BAD",
        },
        ["invalid_unicode", "redacted"],
    ),
    ({"http__route": "BAD"}, []),
]
"""Attributes of a call with half a surrogate pair, or too large a number, and its flags."""


def test_values_that_could_not_be_read_are_flagged_and_not_redacted(lake: Lake) -> None:
    """A character that was replaced when a request was read is not a removed secret."""
    calls = [
        tool(number, 1, at=number, **texts) for number, (texts, _) in enumerate(UNREADABLE, 2)
    ]
    body = request_of([agent(1), *calls, tool(99, 1, at=99)])
    land_redacted(lake, body.replace(b"BAD", rb"abc\ud83d"), is_repaired=True)
    build(lake)

    found = rows(lake, "SELECT flags FROM steps WHERE kind = 'tool_call' ORDER BY step_index")
    assert [row["flags"] for row in found] == [*(flags for _, flags in UNREADABLE), []]


def test_invalid_utf8_in_protobuf_is_flagged_alike(lake: Lake) -> None:
    """The bytes of half a surrogate pair, in a result that is read as the rest of it is."""
    body = request_of([agent(1), tool(2, 1, gen_ai__tool__call__result="found BAD.")])
    protobuf = decode(body, Signal.TRACES, Encoding.JSON).SerializeToString()
    land_redacted(
        lake,
        protobuf.replace(b"BAD", b"\xed\xa0\x80"),
        encoding=Encoding.PROTOBUF,
        is_repaired=True,
    )
    build(lake)

    (call,) = rows(lake, "SELECT result, flags FROM steps WHERE kind = 'tool_call'")
    assert call["flags"] == ["invalid_unicode"]
    assert call["result"].startswith("found \ufffd")


MARKED: list[tuple[str | None, str, str, list[str]]] = [
    ("thought", "truncated", '["tracegrade.thought.content"]', ["truncated"]),
    ("plan", "redacted", '["tracegrade.plan"]', ["redacted"]),
    ("tool_call", "truncated", '["gen_ai.tool.call.arguments"]', ["truncated"]),
    ("tool_call", "redacted", '["gen_ai.tool.call.result"]', ["result_redacted"]),
    (None, "redacted", '["input.value","output.value"]', ["redacted", "result_redacted"]),
]
"""Kind of a step, what the agent did to its texts and to which, and the flags that it gets."""


@built_together
def test_cut_and_cleaned_texts_are_flagged() -> Scene:
    """A step says which of its texts are not what the agent saw; also another's tool span."""
    texts: Row = {"tracegrade__thought__content": "…", "tracegrade__plan": '[{"id": "a"}]'}
    steps = []
    for number, (step, mark, keys, _) in enumerate(MARKED, 2):
        marked: Row = {
            f"tracegrade__{mark}": keys,
            **({"tracegrade__step__kind": step} if step else {}),
        }
        make = tool if step in (None, "tool_call") else span
        steps.append(make(number, 1, at=number, **texts, **marked))
    lake = yield [agent(1), *steps, tool(99, 1, at=99)]

    found = rows(lake, "SELECT flags FROM steps WHERE kind <> 'observation' ORDER BY step_index")
    assert [row["flags"] for row in found] == [*(flags for *_, flags in MARKED), []]


@built_together
def test_mcp_spans_of_a_tool_call_are_that_call() -> Scene:
    """A GenAI tool span, the MCP client's below it and the server's below that are one call."""
    asked: Row = {
        "gen_ai__tool__call__id": "c1",
        "gen_ai__tool__call__arguments": '{"city": "Paris"}',
    }
    mcp: Row = {"mcp__method__name": "tools/call", "tool_name": "get_weather", "ms": 5}
    said = message("assistant", request("get_weather", "c1", city="Paris"))
    lake = yield [
        agent(1),
        model(2, 1, at=1, said=[said]),
        tool(3, 1, at=5, ms=9, tool_name="get_weather", **asked),
        tool(4, 3, at=6, scope="mcp.client", name="tools/call get_weather", **mcp),
        tool(5, 4, at=6.5, scope="mcp.server", name="tools/call get_weather", **mcp),
    ]

    assert story(lake) == ['tool_call get_weather {"city":"Paris"} ok']


@built_together
def test_output_that_was_not_told_is_read_from_the_next_input() -> Scene:
    """What a silent model call said stands in the next input, after its own input."""
    asked = [message("user", "Go.")]
    said = [message("assistant", "Let me see.", request("t", "c1", n=1), request("u", "c2"))]
    told = [*asked, *said, message("tool", response("one", "c1"), response("no u", "c2"))]
    spans = [
        agent(1),
        model(2, 1, at=1, heard=asked),
        tool(3, 1, at=5),
        model(4, 1, at=6, heard=told),
        model(5, 1, at=8, heard=told, said=[message("assistant", "Done.")]),
    ]
    lake = yield spans

    assert story(lake) == [
        "message Let me see.",
        'tool_call t {"n":1} ok',
        "observation one",
        "tool_call u {} ok",
        "observation no u",
        "answer Done.",
    ]


def _kind(kind: str) -> Row:
    return {"openinference__span__kind": kind}


def _searching(number: int, parent: int, *, at: float, ms: float, scope: str = "koog") -> Row:
    told: Row = {"gen_ai__tool__call__arguments": '{"q": "a"}', "gen_ai__tool__call__result": "r"}
    return tool(number, parent, at=at, ms=ms, scope=scope, **told)


@built_together
def test_nested_equal_calls_are_two_if_they_were_requested_twice() -> Scene:
    """Two calls at once in a context that leaks; there are no ids."""
    asked = message("assistant", request("t", q="a"), request("t", q="a"))
    lake = yield [
        agent(1),
        model(2, 1, said=[asked]),
        _searching(3, 1, at=5, ms=20),
        _searching(4, 3, at=6, ms=18),
    ]
    assert story(lake) == ['tool_call t {"q":"a"} ok', "observation r"] * 2


@built_together
def test_nested_equal_calls_are_two_if_the_outer_goes_on_for_long() -> Scene:
    """No model call is recorded; a layer around a call adds little time."""
    lake = yield [
        agent(1, ms=9000),
        _searching(2, 1, at=5, ms=2000),
        _searching(3, 2, at=105, ms=1000),
    ]
    assert story(lake) == ['tool_call t {"q":"a"} ok', "observation r"] * 2


@built_together
def test_openinference_nested_equal_calls_are_two_if_they_were_requested_twice() -> Scene:
    """Indexed keys of the request, without ids."""
    prefix = "llm__output_messages__0__message__tool_calls__"
    said: Row = {
        f"{prefix}{number}__tool_call__function__{key}": value
        for number in (0, 1)
        for key, value in (("name", "t"), ("arguments", '{"q": "a"}'))
    }
    told: Row = {"tool__name": "t", "input__value": '{"q": "a"}', "output__value": "r"}
    lake = yield [
        agent(1),
        span(2, 1, scope="oi", **_kind("LLM"), **said),
        span(3, 1, at=5, ms=20, scope="oi", **_kind("TOOL"), **told),
        span(4, 3, at=6, ms=18, scope="oi", **_kind("TOOL"), **told),
    ]
    assert story(lake) == ['tool_call t {"q":"a"} ok', "observation r"] * 2


@built_together
def test_layers_around_equal_calls_are_no_calls() -> Scene:
    """Two requests, each seen by an outer and an inner layer of one scope, are two calls."""
    asked = message("assistant", request("t", q="a"), request("t", q="a"))
    layers = [_searching(3, 1, at=5, ms=20), _searching(4, 3, at=6, ms=18)]
    more = [_searching(5, 1, at=30, ms=20), _searching(6, 5, at=31, ms=18)]
    lake = yield [agent(1), model(2, 1, said=[asked]), *layers, *more]
    assert story(lake) == ['tool_call t {"q":"a"} ok', "observation r"] * 2

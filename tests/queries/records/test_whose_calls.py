"""Calls that hang below another agent than the one that made them, and texts that are none."""

from tests.queries.together import Scene
from tests.queries.traces import (
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
from tests.scenes import built_together

TRACE = f"{1:032x}"
SUB = f"{TRACE}-{4:016x}"


def _caller(*below: Row) -> list[Row]:
    """Return an agent that calls a helper by a tool, with what else hangs below it."""
    called = message("assistant", request("task", "t1"))
    asked = message("user", "all")
    return [
        agent(1),
        model(2, 1, at=1, said=[called], heard=[asked]),
        tool(3, 1, at=2, ms=60, tool_name="task", gen_ai__tool__call__id="t1"),
        agent(4, 3, at=3, ms=50, agent_name="helper"),
        *below,
        model(
            9,
            1,
            at=70,
            said=[message("assistant", "All done.")],
            heard=[asked, called, message("tool", response("listed", "t1"))],
        ),
    ]


def _ls(number: int, parent: int, at: float, call_id: str) -> Row:
    told = {"gen_ai__tool__call__id": call_id, "gen_ai__tool__call__result": "a b"}
    return tool(number, parent, at=at, tool_name="ls", **told)


@built_together
def test_model_calls_are_of_the_agent_that_executed_what_they_request() -> Scene:
    """They hang below the main agent; what it says itself stays its own."""
    first = message("assistant", request("ls", "s1"))
    heard = [first, message("tool", response("a b", "s1"))]
    lake = yield _caller(
        model(5, 1, at=5, said=[first]),
        _ls(6, 4, 10, "s1"),
        model(7, 1, at=20, said=[message("assistant", "Listed.")], heard=heard),
    )

    assert story(lake, SUB) == ["tool_call ls {} ok", "observation a b", "answer Listed."]
    assert story(lake, f"{TRACE}-{1:016x}") == [
        "tool_call task {} ok",
        "observation listed",
        "answer All done.",
    ]


@built_together
def test_executions_are_of_the_agent_whose_model_requested_them() -> Scene:
    """They hang below the main agent, with what they did themselves."""
    lake = yield _caller(
        model(5, 4, at=5, said=[message("assistant", request("ls", "s1"))]),
        _ls(6, 1, 10, "s1"),
        tool(7, 6, at=10, tool_name="stat"),
    )

    assert story(lake, SUB) == [
        "tool_call ls {} ok",
        "observation a b",
        "tool_call stat ok",
    ]
    assert "ls" not in str(story(lake, f"{TRACE}-{1:016x}"))


def _of_openinference(number: int, parent: int | None, kind: str, **told: object) -> Row:
    at = {"at": number * 2.0, "ms": 100.0 if kind == "AGENT" else 1.0}
    fields: Row = {"openinference__span__kind": kind, "name": "n", **at, **told}
    return span(number, parent, **fields)


@built_together
def test_executions_are_of_their_agent_in_openinference() -> Scene:
    """As Claude's Agent SDK hangs them."""
    call = "llm__output_messages__0__message__tool_calls__0__tool_call__"
    requested = {f"{call}id": "b1", f"{call}function__name": "ls"}
    lake = yield [
        _of_openinference(1, None, "AGENT", agent__name="a"),
        _of_openinference(2, 1, "TOOL", ms=80.0, tool__name="task"),
        _of_openinference(4, 2, "AGENT", ms=50.0, agent__name="helper"),
        _of_openinference(5, 4, "LLM", **requested),
        _of_openinference(6, 1, "TOOL", tool__name="ls", tool_call__id="b1", output__value="x"),
    ]

    assert rows(lake, "SELECT tool_name, status FROM steps WHERE tool_name = 'ls'") == [
        {"tool_name": "ls", "status": "ok"},
        {"tool_name": "ls", "status": None},
    ]
    assert story(lake, SUB)[0].startswith("tool_call ls")


@built_together
def test_executions_inside_one_another_with_other_results_are_two() -> Scene:
    """One scope wrote both."""
    told = {"tool_name": "find", "gen_ai__tool__call__arguments": '{"q": "a"}'}
    lake = yield [
        agent(1),
        tool(2, 1, at=1, ms=5, gen_ai__tool__call__result="ra", **told),
        tool(3, 2, at=2, gen_ai__tool__call__result="rb", **told),
    ]

    assert rows(lake, "SELECT result FROM steps WHERE kind = 'tool_call'") == [
        {"result": "ra"},
        {"result": "rb"},
    ]


@built_together
def test_printed_object_is_no_text() -> Scene:
    """Where a stream was not read, what another span of the call recorded counts."""
    printed = [
        "<coroutine object AsyncAPIResponse.parse at 0x7f252ade31f0>",
        "<openai.Stream object at 0x7f252ade31f0>",
        "<generator object stream at 0x7f252ade31f0>",
        "ChatCompletion(id='chatcmpl-1', choices=[])",
    ]
    spans = [agent(1)]
    for number, text in enumerate(printed):
        outer, at = 2 * number + 2, 4 * number + 1
        spans += [
            model(outer, 1, at=at, ms=3, said=[message("assistant", f"Said {number}.")]),
            model(outer + 1, outer, at=at + 1, said=[message("assistant", text, text)]),
        ]
    lake = yield spans

    assert story(lake) == [
        "message Said 0.",
        "message Said 1.",
        "message Said 2.",
        "answer Said 3.",
    ]


@built_together
def test_text_that_speaks_of_an_object_is_a_text() -> Scene:
    """It is more than what Python prints."""
    said = "It printed <openai.Stream object at 0x7f252ade31f0>"
    lake = yield [agent(1), model(2, 1, at=1, said=[message("assistant", said)])]

    assert story(lake) == [f"answer {said}"]


def _kind(kind: str) -> Row:
    return {"openinference__span__kind": kind}


def _rm(number: int, parent: int, at: float, path: str) -> Row:
    told: Row = {"gen_ai__tool__call__arguments": f'{{"path": "{path}"}}'}
    return tool(number, parent, at=at, tool_name="rm", **told)


@built_together
def test_executions_without_ids_are_of_the_agent_that_requested_them() -> Scene:
    """Spans of tools hang below the main agent, and only arguments say whose they are."""
    asked = [message("assistant", request("rm", path=path)) for path in ("a", "b")]
    lake = yield _caller(
        model(5, 4, at=5, said=[asked[0]]),
        _rm(6, 1, 10, "a"),
        model(7, 4, at=20, said=[asked[1]]),
        _rm(8, 1, 25, "b"),
    )

    assert story(lake, SUB) == [
        'tool_call rm {"path":"a"} ok',
        'tool_call rm {"path":"b"} ok',
    ]
    assert story(lake, f"{TRACE}-{1:016x}") == [
        "tool_call task {} ok",
        "observation listed",
        "answer All done.",
    ]


@built_together
def test_model_calls_without_ids_are_of_the_agent_that_executed_their_calls() -> Scene:
    """The model calls hang below the main agent instead."""
    first = message("assistant", request("rm", path="a"))
    lake = yield _caller(model(5, 1, at=5, said=[first]), _rm(6, 4, 10, "a"))

    assert story(lake, SUB) == ['tool_call rm {"path":"a"} ok']
    assert story(lake, f"{TRACE}-{1:016x}") == [
        "tool_call task {} ok",
        "observation listed",
        "answer All done.",
    ]


@built_together
def test_openinference_executions_without_ids_are_of_the_agent_that_requested_them() -> Scene:
    """An id that the model gave and the tool does not tell says nothing."""
    call = "llm__output_messages__0__message__tool_calls__0__tool_call__"
    said: Row = {
        f"{call}id": "x1",
        f"{call}function__name": "rm",
        f"{call}function__arguments": '{"path":"a"}',
    }
    told: Row = {"tool__name": "rm", "input__value": '{"path": "a"}'}
    lake = yield _caller(
        span(5, 4, at=5, scope="openinference", **_kind("LLM"), **said),
        span(6, 1, at=10, scope="openinference", **_kind("TOOL"), **told),
    )

    assert story(lake, SUB) == ['tool_call rm {"path":"a"} ok']


@built_together
def test_what_both_agents_request_stays_where_it_is() -> Scene:
    """Nothing says whose the execution is."""
    asked = message("assistant", request("rm", path="a"))
    lake = yield _caller(
        model(5, 4, at=5, said=[asked]),
        model(6, 1, at=65, said=[asked]),
        _rm(7, 1, 67, "a"),
    )

    assert 'tool_call rm {"path":"a"} ok' in story(lake, f"{TRACE}-{1:016x}")
    assert story(lake, SUB) == ['tool_call rm {"path":"a"} unknown']

"""Only the input of the next call may record the tools that a provider ran for a model call."""

import json
from typing import Any, Final

from tests.queries.calls.test_approvals import APPROVES, ASKS
from tests.queries.calls.test_provider_calls import ANTHROPIC, BY_PROVIDER, EXECUTED_BY
from tests.queries.together import Scene
from tests.queries.traces import Row, agent, message, model, request, response, rows, span, story
from tests.scenes import built_together

SEARCHED: Final = 'tool_call web_search {"query":"x"} ok'
ASKED: Final = message("user", "Find x.")
SEARCH: Final[list[Row]] = [
    {
        "type": "server_tool_call",
        "id": "s1",
        "name": "web_search",
        "server_tool_call": {"type": "web_search", "query": "x"},
    },
    {
        "type": "server_tool_call_response",
        "id": "s1",
        "server_tool_call_response": {"type": "web_search", "response": "1 hit"},
    },
]


def platform(number: int, at: float, heard: object, said: object) -> Row:
    """Return a model call as Langfuse tells it."""
    told: Row = {
        "langfuse__observation__type": "generation",
        "langfuse__observation__input": json.dumps(heard),
        "langfuse__observation__output": json.dumps(said),
    }
    return span(number, 1, at=at, **told)


@built_together
def test_parts_of_the_conventions() -> Scene:
    """The second call's input shows a search of the first, before its request of the tool."""
    asks = message("assistant", *SEARCH, request("save", "c1", n=2))
    lake = yield [
        agent(1),
        model(2, 1, heard=[ASKED], said=[message("assistant", request("save", "c1", n=2))]),
        model(
            *(3, 1),
            at=20,
            heard=[ASKED, asks, message("tool", response("saved", "c1"))],
            said=[message("assistant", "Saved.")],
        ),
        model(
            *(4, 1),
            at=40,
            heard=[
                ASKED, asks, message("tool", response("saved", "c1")),
                message("assistant", "Saved."), message("user", "Thanks."),
            ],
            said=[message("assistant", "Welcome.")],
        ),
    ]  # fmt: skip

    assert story(lake)[:4] == [
        SEARCHED,
        "observation 1 hit",
        'tool_call save {"n":2} ok',
        "observation saved",
    ]
    assert rows(lake, EXECUTED_BY + " AND tool_name = 'web_search'") == BY_PROVIDER


@built_together
def test_builtin_tool_of_pydantic_ai() -> Scene:
    """It marks parts that are like those of any call, in inputs as well."""
    call = {"type": "tool_call", "id": "s1", "name": "web_search", "builtin": True}
    parts: list[Row] = [
        call | {"arguments": {"query": "x"}},
        {"type": "tool_call_response", "id": "s1", "builtin": True, "result": "1 hit"},
    ]
    lake = yield [
        agent(1),
        model(2, 1, heard=[ASKED], said=[message("assistant", "Found it.")]),
        model(
            *(3, 1),
            at=20,
            heard=[ASKED, message("assistant", *parts, "Found it."), message("user", "Sure?")],
            said=[message("assistant", "Yes.")],
        ),
    ]

    assert story(lake)[:3] == [SEARCHED, "observation 1 hit", "answer Found it."]


@built_together
def test_blocks_of_anthropic_on_a_platform() -> Scene:
    """Its output is kept as text, its next input as it was sent."""
    heard = [{"role": "user", "content": "Find x."}]
    more = [{"role": "assistant", "content": ANTHROPIC}, {"role": "user", "content": "Sure?"}]
    lake = yield [
        agent(1),
        platform(2, 0, heard, {"role": "assistant", "content": "Found it."}),
        platform(3, 20, heard + more, {"role": "assistant", "content": "Yes."}),
    ]

    assert story(lake)[:3] == [SEARCHED, "observation 1 hit", "answer Found it."]
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_items_of_responses_on_a_platform() -> Scene:
    """Items stand beside one another."""
    heard: list[Row] = [{"role": "user", "content": "Find x."}]
    call: Row = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    text: Row = {"type": "message", "role": "assistant", "content": "Found it."}
    more = [call | {"action": {"query": "x"}}, text, {"role": "user", "content": "Sure?"}]
    lake = yield [
        agent(1),
        platform(2, 0, heard, [text]),
        platform(3, 20, heard + more, [text | {"content": "Yes."}]),
    ]

    assert story(lake)[:2] == [SEARCHED, "answer Found it."]


@built_together
def test_indexed_keys_of_openinference() -> Scene:
    """The id of a call says that the provider ran it, also where only an input names it."""
    key = "llm__input_messages"
    said = "llm__output_messages__0__message"
    call = f"{key}__1__message__tool_calls__0__tool_call"
    asked: Row = {f"{key}__0__message__role": "user", f"{key}__0__message__content": "Find x."}
    more: Row = {
        f"{key}__1__message__role": "assistant",
        f"{key}__1__message__content": "Found it.",
        f"{call}__id": "srvtoolu_1",
        f"{call}__function__name": "web_search",
        f"{call}__function__arguments": '{"query": "x"}',
        f"{key}__2__message__role": "user",
        f"{key}__2__message__content": "Sure?",
    }
    kind: Row = {"openinference__span__kind": "LLM", f"{said}__role": "assistant", **asked}
    found: Row = {f"{said}__content": "Found it."}
    more |= {f"{said}__content": "Yes."}
    lake = yield [agent(1), span(2, 1, **kind, **found), span(3, 1, at=20, **kind, **more)]

    assert story(lake)[:2] == [SEARCHED.replace("ok", "unknown"), "answer Found it."]


@built_together
def test_what_an_output_told_is_repeated_by_inputs() -> Scene:
    """It is one call, of the call whose output tells it."""
    found = message("assistant", *SEARCH, "Found it.")
    lake = yield [
        agent(1),
        model(2, 1, heard=[ASKED], said=[found]),
        model(
            *(3, 1),
            at=20,
            heard=[ASKED, found, message("user", "Sure?")],
            said=[message("assistant", "Yes.")],
        ),
    ]

    assert [line for line in story(lake) if line.startswith("tool_call")] == [SEARCHED]


@built_together
def test_what_the_first_call_heard_is_of_another_run() -> Scene:
    """A conversation that goes on begins with what was done before."""
    found = message("assistant", *SEARCH, "Found it.")
    lake = yield [
        agent(1),
        model(
            *(2, 1),
            heard=[ASKED, found, message("user", "Sure?")],
            said=[message("assistant", "Yes.")],
        ),
        model(
            *(3, 1),
            at=20,
            heard=[ASKED, found, message("user", "Sure?"), message("assistant", "Yes.")],
            said=[message("assistant", "Very.")],
        ),
    ]

    assert not [line for line in story(lake) if line.startswith("tool_call")]


def denied(*heard: Any, **fields: Any) -> list[Row]:
    """Return a run in which a user does not approve a call of OpenAI's MCP tool."""
    return [
        agent(1),
        model(2, 1, at=1, heard=[ASKED], said=[message("assistant", ASKS)]),
        model(
            *(3, 1),
            at=20,
            heard=[ASKED, message("assistant", ASKS), *heard],
            said=[message("assistant", "As you wish.")],
            **fields,
        ),
    ]


DENIES: Final = APPROVES | {"approve": False}
NOT_ROLLED: Final = [
    'tool_call roll {"sides":6} not_executed',
    "observation denied",
    "answer As you wish.",
]


@built_together
def test_a_denied_call_was_not_executed() -> Scene:
    """The user's answer denies it, in the next input."""
    lake = yield denied(message("user", DENIES))

    assert story(lake) == NOT_ROLLED
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER
    assert rows(lake, "SELECT interrupted FROM trajectories") == [{"interrupted": False}]


@built_together
def test_a_denied_call_and_why() -> Scene:
    """The user's reason is the model's observation."""
    lake = yield denied(message("user", DENIES | {"reason": "No dice."}))

    assert story(lake)[1] == "observation No dice."


@built_together
def test_a_denied_call_on_a_platform() -> Scene:
    """Items of Responses are read alike."""
    heard = [{"role": "user", "content": "Roll."}]
    text = {"type": "message", "role": "assistant", "content": "As you wish."}
    lake = yield [
        agent(1),
        platform(2, 0, heard, [ASKS]),
        platform(3, 20, [*heard, ASKS, DENIES], [text]),
    ]

    assert story(lake) == NOT_ROLLED

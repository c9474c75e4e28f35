"""LangChain's older form of OpenAI's Responses keeps what the provider ran beside the message."""

import json
from typing import Final

from tests.queries.calls.test_provider_calls import BY_PROVIDER, EXECUTED_BY, told_by
from tests.queries.together import Scene
from tests.queries.traces import Row, agent, rows, span, story
from tests.scenes import built_together

RAN: Final[list[Row]] = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}},
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "dice", "tools": []},
    {"type": "code_interpreter_call", "id": "ci_1", "status": "failed", "code": "1/0"},
]
MESSAGE: Final[Row] = {
    "type": "ai",
    "content": [{"type": "text", "text": "Found it.", "annotations": []}],
    "additional_kwargs": {"tool_outputs": RAN},
}
CALLS: Final = [
    'tool_call web_search {"query":"x"} ok',
    'tool_call code_interpreter {"code":"1/0"} error',
]
STORY: Final = [*CALLS, "answer Found it."]


@built_together
def test_message_on_a_platform() -> Scene:
    """A platform keeps the message."""
    lake = yield told_by("langfuse", MESSAGE)

    assert story(lake) == STORY
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_message_with_openinference() -> Scene:
    """The keys tell the text alone, the whole output the message."""
    key = "llm__output_messages__0__message"
    keys: Row = {f"{key}__role": "assistant", f"{key}__content": "Found it."}
    output = {"generations": [[{"text": "Found it.", "message": {"lc": 1, "kwargs": MESSAGE}}]]}
    lake = yield told_by("openinference", output, **keys)

    assert story(lake) == STORY
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_message_in_langsmith() -> Scene:
    """LangSmith exports the output as LangChain serializes it."""
    output = {"generations": [[{"message": {"lc": 1, "kwargs": MESSAGE}}]]}
    asked = {"messages": [[{"type": "human", "content": "Find x."}]]}
    lake = yield [
        span(1, name="a", langsmith__span__kind="chain", langsmith__trace__name="a"),
        span(
            2,
            1,
            langsmith__span__kind="llm",
            gen_ai__prompt=json.dumps(asked),
            gen_ai__completion=json.dumps(output),
        ),
    ]

    assert story(lake) == STORY


@built_together
def test_message_that_only_the_next_call_heard() -> Scene:
    """The call before it searched."""
    asked: Row = {"type": "human", "content": "Find x."}
    again: Row = {"type": "human", "content": "Sure?"}
    calls = [([asked], "Found it."), ([asked, MESSAGE, again], "Yes.")]
    lake = yield [
        agent(1),
        *(
            span(
                *(2 + number, 1),
                at=20 * number,
                langfuse__observation__type="generation",
                langfuse__observation__input=json.dumps(heard),
                langfuse__observation__output=json.dumps({"type": "ai", "content": text}),
            )
            for number, (heard, text) in enumerate(calls)
        ),
    ]

    assert story(lake)[:3] == STORY


@built_together
def test_results_that_are_of_another_framework() -> Scene:
    """Results next to a message that are not items of Responses are not calls."""
    other = MESSAGE | {"additional_kwargs": {"tool_outputs": ["22C"]}}
    lake = yield told_by("langfuse", other)

    assert story(lake) == ["answer Found it."]

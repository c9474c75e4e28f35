"""Of JSON that an exporter cut, what is whole is read."""

import json
from typing import Any

import pytest
from tests.scenes import built_together

from tracegrade_queries.build.salvage import ends_in_arguments, whole_prefix

from .together import Scene
from .traces import (
    Row,
    agent,
    apart,
    message,
    model,
    request,
    response,
    rows,
    story,
    tool,
    with_events,
)


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ('{"city": "Paris", "days": 1', '{"city": "Paris"}'),
        ('[{"a": 1}, {"b": [2, 3], "c": "x\\", ', '[{"a": 1}, {"b": [2, 3]}]'),
        ('[{"role": "user"}, {"ro', '[{"role": "user"}, {}]'),
        ('[{"role": "assistant', "[]"),
        ('{"city": "Par', None),
        ("[", None),
        ("[INFO] started", None),
        ("{not json, at all", None),
        ("no JSON", None),
    ],
)
def test_prefix_ends_before_the_value_that_was_cut(cut: str, whole: str | None) -> None:
    """Whole values stay; a text without any stays as it is."""
    assert whole_prefix(cut) == whole


@pytest.mark.parametrize(
    ("cut", "within"),
    [
        ('[{"parts": [{"type": "tool_call", "arguments": {"city": "Paris", "no', True),
        ('[{"tool_calls": [{"args": {"city": {"name": "P', True),
        ('[{"parts": [{"arguments": {"city": "Paris"}}, {"content": "Look', False),
        ('[{"role": "user", "content": "input: {', False),
        ('[{"role": "arguments", "parts": [{"content": "a', False),
        ('{"input": [{"role": "user", "content": "How w', False),
        ('{"input": {"messages": [{"role": "user", "content": "How w', False),
    ],
)
def test_cut_lies_within_the_arguments_of_a_call(cut: str, within: bool) -> None:
    """A key counts, and no text that is like one."""
    assert ends_in_arguments(cut) is within


@pytest.mark.parametrize("length", range(0, 60, 7))
def test_every_prefix_is_json_or_nothing(length: int) -> None:
    """Wherever the cut lies, what is left can be read."""
    text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "a\\b"}]}])
    left = whole_prefix(text[:length])
    assert left is None or json.loads(left) is not None


@built_together
def test_cut_messages_and_arguments_become_steps_that_say_so() -> Scene:
    """A call in whole messages before the cut is a step, flagged as salvaged."""
    said = message("assistant", request("get_weather", "c1", city="Paris"), "Let me look, and")
    cut = json.dumps([said])[:-10]
    sent = '{"city": "Paris", "note": "a very long'
    lake = yield [
        agent(1),
        model(2, 1, at=1, gen_ai__output__messages=cut),
        tool(3, 1, at=5, tool_name="b", gen_ai__tool__call__arguments=sent),
    ]

    assert story(lake)[0] == 'tool_call get_weather {"city":"Paris"} unknown'
    assert 'tool_call b {"city":"Paris"} ok' in story(lake)
    flags = rows(lake, "SELECT tool_name, flags FROM steps ORDER BY tool_name")
    assert [list(row.values()) for row in flags] == [
        ["b", ["salvaged", "truncated"]],
        ["get_weather", ["salvaged"]],
    ]


@built_together
def test_arguments_that_a_message_tells_in_part_are_those_of_the_execution() -> Scene:
    """Whether the model's output was cut, or its copy in the next call's input."""
    said = message("assistant", request("w", "c1", city="Paris", days=3))
    ran = tool(
        3,
        1,
        at=5,
        tool_name="w",
        gen_ai__tool__call__id="c1",
        gen_ai__tool__call__arguments='{"city": "Paris", "days": 3, "units": "C"}',
    )
    said_in_part = json.dumps([said]).partition('"days"')[0]
    heard = json.dumps([message("user", "?"), said, message("tool", response("22C", "c1"))])
    lake = yield apart(
        [
            [agent(1), model(2, 1, at=1, gen_ai__output__messages=said_in_part), ran],
            [agent(1), model(2, 1, at=1), ran, model(4, 1, at=9, gen_ai__input__messages=heard)],
            [
                agent(1),
                model(2, 1, at=1),
                ran,
                model(4, 1, at=9, gen_ai__input__messages=heard.partition('"days"')[0]),
            ],
        ]
    )

    whole = '{"city":"Paris","days":3,"units":"C"}'
    told = [story(lake, f"{trace:032x}")[0] for trace in (1, 2, 3)]
    # What a request tells whole is what the model requested.
    asked = '{"city":"Paris","days":3}'
    assert told == [f"tool_call w {arguments} ok" for arguments in (whole, asked, whole)]


SAID = [message("assistant", request("w", "c1", city="Paris", days=3))]
HEARD = [message("user", "?"), *SAID]


def _up_to_days(messages: list[Row]) -> str:
    """Return messages as an exporter cut them, within the arguments of the call."""
    return json.dumps(messages).partition('"days"')[0]


def _flat_calls(*arguments: str) -> Row:
    """Return the attributes of calls in OpenInference's form."""
    form = "llm__output_messages__0__message__tool_calls__{}__tool_call__function__{}"
    calls = [
        {form.format(number, "name"): "w", form.format(number, "arguments"): each}
        for number, each in enumerate(arguments)
    ]
    return {"openinference__span__kind": "LLM"} | {k: v for call in calls for k, v in call.items()}


def _told(lake: Any) -> list[tuple[str, str, bool]]:
    """Return trace, arguments and whether they are truncated of each call."""
    found = rows(
        lake,
        "SELECT trace_id[-1:] AS trace, arguments, list_contains(flags, 'truncated') AS cut "
        "FROM steps WHERE kind = 'tool_call' ORDER BY trace, arguments",
    )
    return [(row["trace"], row["arguments"], row["cut"]) for row in found]


@built_together
def test_arguments_that_were_cut_and_are_told_nowhere_else_are_truncated() -> Scene:
    """So that no score takes what is left of them for all that was sent."""
    flat = _flat_calls('{"city": "Paris", "days": 3, "un', '{"city": "Rome"}')
    lake = yield apart(
        [
            [agent(1), model(2, 1, at=1, gen_ai__output__messages=_up_to_days(SAID))],
            [
                agent(1),
                model(2, 1, at=1),
                model(4, 1, at=9, gen_ai__input__messages=_up_to_days(HEARD)),
            ],
            [agent(1), model(2, 1, at=1, **flat)],
        ]
    )

    assert _told(lake) == [
        ("1", '{"city":"Paris"}', True),
        ("2", '{"city":"Paris"}', True),
        ("3", '{"city":"Paris","days":3}', True),
        ("3", '{"city":"Rome"}', False),
    ]


@built_together
def test_arguments_are_whole_where_the_cut_is_elsewhere() -> Scene:
    """In what the model heard, or in the definitions of tools, which have parameters."""
    definitions = '[{"name": "w", "parameters": {"type": "object", "properties": {"ci'
    said: Row = {"gen_ai__output__messages": json.dumps(SAID)}
    lake = yield apart(
        [
            [agent(1), model(2, 1, gen_ai__input__messages=_up_to_days(HEARD), **said)],
            [agent(1), model(2, 1, gen_ai__tool__definitions=definitions, **said)],
        ]
    )

    whole = '{"city":"Paris","days":3}'
    assert _told(lake) == [("1", whole, False), ("2", whole, False)]


@built_together
def test_cut_events_become_steps_that_say_so() -> Scene:
    """Messages in span events, as Strands and the current conventions write them."""
    details = "gen_ai.client.inference.operation.details"
    said = json.dumps([message("assistant", request("get_weather", "c1", city="Paris"), "So ")])
    blocks = json.dumps(
        [{"toolUse": {"toolUseId": "c2", "name": "b", "input": {}}}, {"text": "x"}]
    )
    result = json.dumps([{"text": "22C"}, {"text": "and sunny"}])[:-4]
    lake = yield [
        agent(1),
        with_events(model(2, 1, at=1), (details, {"gen_ai.output.messages": said[:-10]})),
        with_events(model(3, 1, at=5), ("gen_ai.choice", {"message": blocks[:-4]})),
        with_events(tool(4, 1, at=9, tool_name="b"), ("gen_ai.choice", {"message": result})),
    ]

    assert story(lake) == [
        'tool_call get_weather {"city":"Paris"} unknown',
        "tool_call b {} ok",
        f"observation {result}",
    ]
    flags = rows(lake, "SELECT step_index, flags FROM steps WHERE kind = 'tool_call' ORDER BY ALL")
    assert flags[0]["flags"] == ["salvaged"]


@built_together
def test_span_with_a_cut_attribute_keeps_its_events() -> Scene:
    """What was cut is another attribute's matter."""
    said = json.dumps({"role": "assistant", "content": "22C"})
    heard = json.dumps([message("user", "How warm is it?"), message("user", "In Paris")])[:-9]
    lake = yield [
        agent(1),
        with_events(
            model(2, 1, at=1, gen_ai__input__messages=heard), ("gen_ai.choice", {"message": said})
        ),
    ]

    assert story(lake) == ["answer 22C"]

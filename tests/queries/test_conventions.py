"""An agent instrumented by hand, after each version of the GenAI conventions, tells one story."""

import json
from collections.abc import Callable

import pytest

from tracegrade_collector.lake import Lake
from tracegrade_queries.build import build

from .traces import (
    Row,
    agent,
    land,
    message,
    model,
    request,
    request_of,
    response,
    story,
    tool,
    with_events,
)

QUESTION = "What is the weather in Paris?"
ANSWER = "It is 22C in Paris."
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "w", "arguments": '{"city": "Paris"}'},
}
STORY = ['tool_call w {"city":"Paris"} ok', "observation 22C", f"answer {ANSWER}"]

ASKED = {"role": "user", "content": QUESTION}
REQUESTED = {"role": "assistant", "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "22C"}
ANSWERED = {"role": "assistant", "content": ANSWER}


def content_events(span: Row, heard: list[Row], said: Row) -> Row:
    """Until 1.27: all messages of a direction in one event."""
    return with_events(
        span,
        ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(heard)}),
        ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([said])}),
    )


def text_events(span: Row, heard: list[Row], said: Row) -> Row:
    """Until 1.27, by those who write just the text: what is requested, no event tells."""
    if "content" not in said:
        return with_events(span, ("gen_ai.content.prompt", {"gen_ai.prompt": QUESTION}))
    return content_events(span, heard, said)


def message_events(span: Row, heard: list[Row], said: Row) -> Row:
    """Until 1.36: an event for each message; that of a choice holds the message as JSON."""
    texts = [
        {key: each if isinstance(each, str) else json.dumps(each) for key, each in row.items()}
        for row in heard
    ]
    events = [
        (f"gen_ai.{row['role']}.message", row | {"id": row.get("tool_call_id", "")})
        for row in texts
    ]
    return with_events(span, *events, ("gen_ai.choice", {"message": json.dumps(said)}))


def body_events(span: Row, heard: list[Row], said: Row) -> Row:
    """Until 1.36, by clients of Azure: the body of a log record in one attribute."""
    events = [
        (f"gen_ai.{row['role']}.message", {"gen_ai.event.content": json.dumps(row)})
        for row in heard
    ]
    choice = {"gen_ai.event.content": json.dumps({"message": said, "finish_reason": "stop"})}
    return with_events(span, *events, ("gen_ai.choice", choice))


@pytest.mark.parametrize("form", [content_events, text_events, message_events, body_events])
def test_events_of_earlier_conventions_tell_the_messages(
    lake: Lake, form: Callable[[Row, list[Row], Row], Row]
) -> None:
    """Messages are read from span events in every form that the conventions had."""
    arguments = {"gen_ai__tool__call__arguments": '{"city": "Paris"}'}
    spans = [
        agent(1),
        form(model(2, 1, at=1), [ASKED], REQUESTED),
        tool(3, 1, at=5, tool_name="w", gen_ai__tool__call__id="c1", **arguments),
        form(model(4, 1, at=9), [ASKED, REQUESTED, TOLD], ANSWERED),
    ]
    land(lake, request_of(spans))
    build(lake)

    told = story(lake)
    assert [each for each in told if not each.startswith("observation")] == [STORY[0], STORY[2]]
    assert told == STORY or form is text_events


def test_reasoning_written_last_stands_before_what_it_led_to(lake: Lake) -> None:
    """A thought that ends a message comes before its text and its calls."""
    thought = {"type": "reasoning", "content": "Hm."}
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", request("w", "c1", city="Paris"), thought)]),
        model(3, 1, at=9, heard=[message("tool", response("22C", "c1"))]),
        model(4, 1, at=12, said=[message("assistant", ANSWER, thought)]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == ["thought Hm.", *STORY[:2], "thought Hm.", STORY[2]]

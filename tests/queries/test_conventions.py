"""An agent instrumented by hand, after each version of the GenAI conventions, tells one story."""

import json
from collections.abc import Callable

import pytest
from tests.scenes import built_together

from .together import Scene
from .traces import (
    Row,
    agent,
    apart,
    built_apart,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    story_apart,
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


FORMS: dict[str, Callable[[Row, list[Row], Row], Row]] = {
    "content": content_events,
    "text": text_events,
    "message": message_events,
    "body": body_events,
}


def told_in(form: Callable[[Row, list[Row], Row], Row]) -> list[Row]:
    """Return a run whose messages are in this form."""
    arguments = {"gen_ai__tool__call__arguments": '{"city": "Paris"}'}
    return [
        agent(1),
        form(model(2, 1, at=1), [ASKED], REQUESTED),
        tool(3, 1, at=5, tool_name="w", gen_ai__tool__call__id="c1", **arguments),
        form(model(4, 1, at=9), [ASKED, REQUESTED, TOLD], ANSWERED),
    ]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The story that each form tells."""
    runs = [told_in(form) for form in FORMS.values()]
    lake = built_apart(tmp_path_factory.mktemp("forms"), runs)
    return dict(zip(FORMS, story_apart(lake, len(FORMS)), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_events_of_earlier_conventions_tell_the_messages(
    told: dict[str, list[str]], form: str
) -> None:
    """Messages are read from span events in every form that the conventions had."""
    seen = [each for each in told[form] if not each.startswith("observation")]

    assert seen == [STORY[0], STORY[2]]
    assert told[form] == STORY or form == "text"


@built_together
def test_lists_of_texts_are_what_was_said() -> Scene:
    """Spring AI writes the texts alone; the client's span tells the question."""
    client: Row = {
        "spring__ai__kind": "chat_client",
        "spring__ai__chat__client__user__text": QUESTION,
    }
    spans = [
        span(1, ms=50, gen_ai__operation__name="framework", **client),
        with_events(
            model(2, 1, at=1),
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(["You help.", QUESTION])}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([ANSWER])}),
        ),
    ]
    lake = yield spans

    assert story(lake) == [STORY[2]]
    asked = "SELECT user_input, final_answer FROM trajectories"
    assert rows(lake, asked) == [{"user_input": QUESTION, "final_answer": ANSWER}]


@built_together
def test_parameters_of_a_function_are_its_arguments() -> Scene:
    """Google's instrumentation told each by itself, in attributes or in the JSON of one."""
    parameters = {
        "code.function.parameters.city.type": "str",
        "code.function.parameters.city.value": "75",
        "code.function.parameters.days.type": "int",
        "code.function.parameters.days.value": 3,
    }
    apiece: Row = {"code__function__return__value": "22C", "code__args__keyword__count": 2}
    apiece |= {key.replace(".", "__"): value for key, value in parameters.items()}
    in_json: Row = {"gen_ai__tool__call__arguments": json.dumps(parameters)}
    runs = [[agent(1), tool(2, 1, at=1, tool_name="w", **told)] for told in (apiece, in_json)]
    lake = yield apart(runs)

    call = 'tool_call w {"city":"75","days":3} ok'
    assert [told[0] for told in story_apart(lake, len(runs))] == [call, call]


@built_together
def test_span_that_names_a_tool_alone_executed_it() -> Scene:
    """Whether no operation is named, or one that the conventions do not have."""
    named: Row = {"gen_ai__tool__name": "w", "gen_ai__tool__call__arguments": '{"city": "Paris"}'}
    spans = [
        agent(1),
        span(2, 1, at=1, **named),
        span(3, 1, at=5, gen_ai__operation__name="run_it", **named),
        span(4, 1, at=9, gen_ai__operation__name="choose", gen_ai__tool__name="w"),
    ]
    lake = yield spans

    assert story(lake) == [STORY[0]] * 2


@built_together
def test_reasoning_written_last_stands_before_what_it_led_to() -> Scene:
    """A thought that ends a message comes before its text and its calls."""
    thought = {"type": "reasoning", "content": "Hm."}
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", request("w", "c1", city="Paris"), thought)]),
        model(3, 1, at=9, heard=[message("tool", response("22C", "c1"))]),
        model(4, 1, at=12, said=[message("assistant", ANSWER, thought)]),
    ]
    lake = yield spans

    assert story(lake) == ["thought Hm.", *STORY[:2], "thought Hm.", STORY[2]]


@built_together
def test_text_parts_of_a_result_are_its_text() -> Scene:
    """A result in parts of the conventions, as Logfire writes Anthropic's blocks."""
    parts = [{"type": "text", "content": "22C"}, {"type": "text", "content": "sunny"}]
    image = [{"type": "text", "content": "22C"}, {"type": "image", "content": "aGk="}]
    runs = [
        [
            agent(1),
            model(2, 1, at=1, said=[message("assistant", request("w", "c1", city="Paris"))]),
            model(3, 1, at=9, heard=[message("tool", response(result, "c1"))]),
        ]
        for result in (parts, parts[:1], image)
    ]
    lake = yield apart(runs)

    seen = [told[1] for told in story_apart(lake, len(runs))]
    assert seen[:2] == ["observation 22C\nsunny", "observation 22C"]
    assert '"image"' in seen[2]

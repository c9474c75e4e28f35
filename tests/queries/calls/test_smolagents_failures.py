"""Failures that smolagents tells its models of, where nothing tells of the tools themselves."""

import json
from typing import Final

from tests.queries.together import Scene
from tests.queries.traces import Row, TraceRows, agent, message, model, rows, span, story
from tests.scenes import built_together

RETRY: Final = (
    "\nNow let's retry: take care not to repeat previous errors! If you have retried several "
    "times, try a completely different approach.\n"
)
TASK: Final = message("user", "New task:\nWeather in Paris?")
CODE: Final = "Thought: I look.\n<code>\nprint('looking')\nget_weather(city=\"Paris\")\n</code>"
SCOPE: Final = "opentelemetry.instrumentation.genai.smolagents"
OFFERED: Final = json.dumps([{"type": "function", "name": "get_weather"}])


def told(*heard: str, said: str = CODE, separate: bool = False) -> list[Row]:
    """Return a run of a code agent whose second model call got these texts after its code."""
    texts = [message("user", text) for text in heard] if separate else [message("user", *heard)]
    before = [TASK, message("assistant", said)]
    return [
        agent(1, scope=SCOPE, gen_ai__tool__definitions=OFFERED),
        model(2, 1, scope=SCOPE, heard=[TASK], said=[message("assistant", said)]),
        model(
            *(3, 1),
            at=20,
            scope=SCOPE,
            heard=[*before, *texts],
            said=[message("assistant", "Thought: Over.\n<code>\nfinal_answer('No.')\n</code>")],
        ),
    ]


DOWN: Final = "ValueError: backend down"
CALLED: Final = f"Call id: call_1\nError:\nCode execution failed at line 'x' due to: {DOWN}{RETRY}"
LOGS: Final = "Observation:\nExecution logs:\nlooking\n"


def statuses(lake: TraceRows) -> list[str]:
    """Return the status of each call of the tool."""
    found = "SELECT status FROM steps WHERE tool_name = 'get_weather' AND kind = 'tool_call'"
    return [row["status"] for row in rows(lake, found)]


@built_together
def test_error_alone() -> Scene:
    """It is what the code came to."""
    lake = yield told(CALLED)

    assert statuses(lake) == ["error"]


@built_together
def test_error_after_what_was_printed() -> Scene:
    """Both are recorded, in messages of their own."""
    lake = yield told(LOGS, CALLED, separate=True)

    assert statuses(lake) == ["error"]


@built_together
def test_error_in_one_message_with_what_was_printed() -> Scene:
    """Clients join messages of one role: the error stands at the end."""
    lake = yield told(f"{LOGS}\n{CALLED}")

    assert statuses(lake) == ["error"]


@built_together
def test_error_in_one_message_as_openinference_tells_it() -> Scene:
    """Its role is that of a tool."""
    heard = "llm__input_messages"
    said = "llm__output_messages__0__message"
    kind: Row = {"openinference__span__kind": "LLM", f"{said}__role": "assistant"}
    asked: Row = {f"{heard}__0__message__role": "user", f"{heard}__0__message__content": "Rain?"}
    more: Row = {
        f"{heard}__1__message__role": "tool-response",
        f"{heard}__1__message__content": f"{LOGS}\n{CALLED}",
        f"{said}__content": "Over.",
    }
    scope = "openinference.instrumentation.smolagents"
    coded: Row = {f"{said}__content": CODE}
    lake = yield [
        agent(1, scope=scope),
        span(2, 1, scope=scope, **kind, **asked, **coded),
        span(3, 1, scope=scope, at=20, **kind, **asked, **more),
    ]

    assert statuses(lake) == ["error"]


@built_together
def test_printed_words_about_errors() -> Scene:
    """Code that ended well may print of them."""
    lake = yield told(f"{LOGS}Error: none found\nLast output from code snippet:\n22C")

    assert statuses(lake) == ["ok"]


@built_together
def test_refusal_of_the_interpreter_in_older_versions() -> Scene:
    """A function that is not a tool was not executed."""
    why = (
        "It is not permitted to evaluate other functions than the provided tools or functions "
        "defined in previous code (tried to execute get_weather)."
    )
    lake = yield told(CALLED.replace(DOWN, why))

    assert statuses(lake) == ["not_executed"]


ACTION: Final = (
    'I look.\nAction:\n{\n  "name": "get_weather",\n  "arguments": {"city": "Paris"}\n}'
)


@built_together
def test_call_in_the_text_of_a_model_that_runs_in_the_process() -> Scene:
    """It writes its calls as JSON; OpenTelemetry's instrumentation keeps the text."""
    lake = yield told("Observation:\n22C", said=ACTION)

    assert story(lake)[:3] == [
        "thought I look.",
        'tool_call get_weather {"city":"Paris"} ok',
        "observation 22C",
    ]


@built_together
def test_failed_call_in_such_a_text() -> Scene:
    """The error is recorded like that of any step."""
    failed = f"Call id: x1\nError:\nError executing tool 'get_weather' with arguments: {DOWN}"
    lake = yield told(failed + RETRY, said=ACTION)

    assert statuses(lake) == ["error"]


@built_together
def test_unknown_tool_in_such_a_text() -> Scene:
    """Older versions say so in words of their own."""
    unknown = "Unknown tool get_weather, should be instead one of ['find_tram']."
    lake = yield told(f"Call id: x1\nError:\n{unknown}{RETRY}", said=ACTION)

    assert statuses(lake) == ["not_executed"]

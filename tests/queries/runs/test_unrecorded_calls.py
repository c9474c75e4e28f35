"""What a trace does not hold is not nothing: runs whose calls were not recorded are flagged."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, rows, span, tool

USED: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}
UNRECORDED = ["unrecorded_calls"]
DROPPED = ["dropped_attributes", "unrecorded_calls"]


def stopped(number: int, parent: int | None, why: str, **fields: Any) -> Row:
    """Return a model call that tells its tokens and why it stopped, and not what it said."""
    return model(number, parent, gen_ai__response__finish_reasons=[why], **USED, **fields)


def flags(lake: Any) -> list[list[str]]:
    """Return the flags of each run, but for what is said of its thoughts and its answer."""
    found = rows(lake, "SELECT flags FROM trajectories ORDER BY trajectory_id")
    others = {"unrecorded_answer", "unrecorded_thoughts"}
    return [[flag for flag in row["flags"] if flag not in others] for row in found]


@built_together
def test_model_that_stopped_for_tools_of_which_there_are_none() -> Scene:
    """Its words are off, and nothing follows: a call was made, and is not here."""
    lake = yield [agent(1), stopped(2, 1, "tool_calls", at=1), stopped(3, 1, "stop", at=5)]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_message_of_text_that_stopped_for_tools() -> Scene:
    """The text was recorded and the call beside it was not."""
    said = [message("assistant", "I look.") | {"finish_reason": "tool_call"}]
    lake = yield [agent(1), model(2, 1, at=1, said=said), stopped(3, 1, "stop", at=5)]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_only_the_second_call_is_missing() -> Scene:
    """One round has its execution, the next has none."""
    lake = yield [
        agent(1),
        stopped(2, 1, "tool_use", at=1),
        tool(3, 1, at=3),
        stopped(4, 1, "tool_use", at=5),
        stopped(5, 1, "end_turn", at=9),
    ]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_claude_code_without_its_tools() -> Scene:
    """Its requests alone tell why they stopped, in an attribute of their own."""
    told: Row = {"span__type": "llm_request", "input_tokens": 10, "output_tokens": 5}
    scope = "com.anthropic.claude_code.tracing"
    lake = yield [
        span(1, at=0, scope=scope, stop_reason="tool_use", **told),
        span(2, at=5, scope=scope, stop_reason="end_turn", **told),
    ]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_claude_code_that_called_nothing() -> Scene:
    """A turn that ended by itself called no tool."""
    told: Row = {"span__type": "llm_request", "input_tokens": 10, "output_tokens": 5}
    scope = "com.anthropic.claude_code.tracing"
    lake = yield [span(1, scope=scope, stop_reason="end_turn", **told)]

    assert flags(lake) == [[]]


@built_together
def test_vercel_calls_without_content() -> Scene:
    """The reason is the AI SDK's, with a hyphen."""
    fields: Row = {"scope": "ai", "name": "ai.streamText.doStream"}
    told: Row = {"operation__name": "ai.streamText.doStream", "ai__operationId": fields["name"]}
    used: Row = {"ai__usage__promptTokens": 10, "ai__usage__completionTokens": 5}
    lake = yield [
        span(1, at=0, **fields, **told, **used, ai__response__finishReason="tool-calls"),
        span(2, at=5, **fields, **told, **used, ai__response__finishReason="stop"),
    ]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_tokens_without_messages() -> Scene:
    """Neither what was said nor why it stopped is there, and no tool either."""
    lake = yield [agent(1), model(2, 1, **USED)]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_openinference_span_that_lost_its_output() -> Scene:
    """The exporter keeps 128 attributes; model, tokens and output were not among them."""
    kind: Row = {"openinference__span__kind": "LLM"}
    heard: Row = {"llm__input_messages__0__message__role": "user"}
    lost = span(2, 1, **kind, **heard, llm__input_messages__0__message__content="m")
    lake = yield [
        span(1, ms=100, openinference__span__kind="AGENT", output__value="a"),
        lost | {"droppedAttributesCount": 19},
    ]

    assert flags(lake) == [DROPPED]


@built_together
def test_events_that_were_dropped() -> Scene:
    """Messages may have been in them."""
    lake = yield [agent(1), model(2, 1, **USED) | {"droppedEventsCount": 2}]

    assert flags(lake) == [DROPPED]


@built_together
def test_tool_that_lost_attributes() -> Scene:
    """The call itself is there: the run is flagged, and its calls are known."""
    lake = yield [agent(1), tool(2, 1) | {"droppedAttributesCount": 1}]

    assert flags(lake) == [["dropped_attributes"]]


@built_together
def test_executions_tell_what_messages_do_not() -> Scene:
    """Content is off, the spans of tools are on."""
    lake = yield [
        agent(1),
        model(2, 1, at=1, **USED),
        tool(3, 1, at=3),
        model(4, 1, at=5, **USED),
    ]

    assert flags(lake) == [[]]


@built_together
def test_agent_that_was_called_is_the_call() -> Scene:
    """A model stopped for tools, and what it called is an agent."""
    lake = yield [
        agent(1),
        stopped(2, 1, "tool_calls", at=1),
        tool(3, 1, at=3, ms=10, tool_name="helper"),
        agent(4, 3, at=4, ms=5, agent_name="helper"),
        stopped(5, 4, "stop", at=5),
        stopped(6, 1, "stop", at=20),
    ]

    assert flags(lake) == [[], []]


@built_together
def test_run_that_called_nothing() -> Scene:
    """It says why it stopped, or what it said."""
    lake = yield [agent(1), stopped(2, 1, "stop"), model(3, 1, said=[message("assistant", "Hi.")])]

    assert flags(lake) == [[]]


@built_together
def test_gemini_stops_where_it_calls_tools_too() -> Scene:
    """Its `STOP` says nothing of calls; another reason does."""
    google: Row = {"gen_ai__provider__name": "gcp.gemini"}
    lake = yield [
        agent(1, trace=1),
        stopped(2, 1, "stop", trace=1, **google),
        agent(3, trace=2),
        stopped(4, 3, "max_tokens", trace=2, **google),
        agent(5, trace=3),
        stopped(6, 5, "FinishReason.STOP", trace=3, **google),
        tool(7, 5, trace=3),
    ]

    assert flags(lake) == [UNRECORDED, [], []]


@built_together
def test_ollama_stops_where_it_calls_tools_too() -> Scene:
    """The scope names it, where nothing else does."""
    lake = yield [agent(1), stopped(2, 1, "stop", scope="opentelemetry.instrumentation.ollama")]

    assert flags(lake) == [UNRECORDED]


@built_together
def test_gemini_call_that_could_not_be_read() -> Scene:
    """`MALFORMED_FUNCTION_CALL` is not a call."""
    lake = yield [agent(1), stopped(2, 1, "MALFORMED_FUNCTION_CALL")]

    assert flags(lake) == [[]]


@built_together
def test_failed_model_call_says_nothing() -> Scene:
    """It was cut off by its error, and called nothing."""
    lake = yield [agent(1), model(2, 1, error="boom", **USED)]

    assert flags(lake) == [[]]


@built_together
def test_requests_are_calls() -> Scene:
    """What a message requests is recorded."""
    said = [message("assistant", request("t", "c1"))]
    lake = yield [agent(1), stopped(2, 1, "tool_calls", said=said)]

    assert flags(lake) == [[]]

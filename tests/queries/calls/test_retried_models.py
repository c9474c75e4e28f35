"""A model call that broke and was made again asked for its tools once."""

import json
from typing import Any, Final

from tests.queries.together import Scene
from tests.queries.traces import Row, agent, message, model, request, response, rows, span, story
from tests.queries.traces import tool as genai_tool
from tests.scenes import built_together

USER: Final = message("user", "Save 2.")
SAVED: Final = ['tool_call save {"n":2} ok', "observation saved", "answer Done."]
DEFINED: Final = json.dumps([{"type": "function", "name": "save"}])


def attempt(number: int, at: float, call_id: str | None, error: str | None = None) -> Row:
    """Return a model call that asks to save 2; it may have failed in the middle."""
    asked = [message("assistant", request("save", call_id, n=2))]
    told = {"gen_ai__tool__definitions": DEFINED}
    return model(number, 1, at=at, ms=2, said=asked, heard=[USER], error=error, **told)


def saved(number: int, at: float, call_id: str | None = None) -> Row:
    """Return the execution of the call."""
    told: Row = {
        "gen_ai__tool__call__arguments": '{"n": 2}',
        "gen_ai__tool__call__result": "saved",
    }
    if call_id:
        told["gen_ai__tool__call__id"] = call_id
    return genai_tool(number, 1, at=at, tool_name="save", **told)


def done(number: int, at: float, call_id: str | None) -> Row:
    """Return the last model call, whose input has the result."""
    heard = [
        USER,
        message("assistant", request("save", call_id, n=2)),
        message("tool", response("saved", call_id)),
    ]
    return model(number, 1, at=at, heard=heard, said=[message("assistant", "Done.")])


@built_together
def test_a_broken_stream_is_asked_again() -> Scene:
    """Its request came to nothing, and that of the second attempt is the call."""
    lake = yield [
        agent(1),
        attempt(2, 0, "c1", error="connection reset"),
        attempt(3, 10, "c2"),
        saved(4, 15, "c2"),
        done(5, 20, "c2"),
    ]

    assert story(lake) == SAVED
    assert rows(lake, "SELECT tool_call_count, error_count FROM trajectories") == [
        {"tool_call_count": 1, "error_count": 0}
    ]


@built_together
def test_ids_that_each_attempt_numbers_anew() -> Scene:
    """The execution is of the second attempt though both have its id."""
    lake = yield [
        agent(1),
        attempt(2, 0, "call_0", error="connection reset"),
        attempt(3, 10, "call_0"),
        saved(4, 15, "call_0"),
        done(5, 20, "call_0"),
    ]

    assert story(lake) == SAVED


@built_together
def test_calls_without_ids() -> Scene:
    """The execution is not of the attempt that failed, though its arguments are the same."""
    lake = yield [
        agent(1),
        attempt(2, 0, None, error="overloaded"),
        attempt(3, 10, None, error="overloaded"),
        attempt(4, 20, None),
        saved(5, 25),
        done(6, 30, None),
    ]

    assert story(lake) == SAVED


def openinference(number: int, at: float, said: Row, error: str | None = None) -> Row:
    """Return a model call as OpenInference writes it, in indexed keys."""
    key = "llm__output_messages__0__message"
    told: Row = {f"{key}{name}": value for name, value in said.items()}
    kind: Row = {"openinference__span__kind": "LLM", f"{key}__role": "assistant"}
    return span(number, 1, at=at, ms=2, error=error, **kind, **told)


@built_together
def test_indexed_keys_of_openinference() -> Scene:
    """Of a stream that broke it writes what had come; arguments may end in the middle."""
    call = "__tool_calls__0__tool_call"
    asks: Row = {f"{call}__id": "c1", f"{call}__function__name": "save"}
    lake = yield [
        agent(1),
        openinference(2, 0, asks | {f"{call}__function__arguments": '{"n"'}, error="reset"),
        openinference(
            3, 10, asks | {f"{call}__id": "c2", f"{call}__function__arguments": '{"n": 2}'}
        ),
        saved(4, 15),
        openinference(5, 20, {"__content": "Done."}),
    ]

    assert story(lake) == SAVED


def generation(number: int, at: float, said: Any, **more: Any) -> Row:
    """Return a model call as Langfuse writes it."""
    kind: Row = {
        "langfuse__observation__type": "generation",
        "langfuse__observation__output": json.dumps(said),
    }
    return span(number, 1, at=at, ms=2, **kind, **more)


@built_together
def test_generations_on_a_platform() -> Scene:
    """Its level says that the first one failed."""

    def asks(call_id: str) -> Row:
        function = {"name": "save", "arguments": '{"n": 2}'}
        return {"role": "assistant", "tool_calls": [{"id": call_id, "function": function}]}

    lake = yield [
        agent(1),
        generation(2, 0, asks("c1"), langfuse__observation__level="ERROR"),
        generation(3, 10, asks("c2")),
        saved(4, 15, "c2"),
        generation(5, 20, {"role": "assistant", "content": "Done."}),
    ]

    assert story(lake) == SAVED


@built_together
def test_a_call_that_ran_before_the_stream_broke() -> Scene:
    """An executed call, and a call in the next input, was requested."""
    lake = yield [
        agent(1),
        attempt(2, 0, "c1", error="connection reset"),
        saved(3, 5, "c1"),
        done(4, 10, "c1"),
    ]

    assert story(lake) == SAVED


@built_together
def test_a_failed_call_that_is_the_last() -> Scene:
    """It was not made again: what it asked for did not happen."""
    lake = yield [
        agent(1),
        attempt(2, 0, "c1"),
        saved(3, 5, "c1"),
        attempt(4, 10, "c2", error="x"),
    ]

    assert [line for line in story(lake) if line.startswith("tool_call")] == [
        'tool_call save {"n":2} ok',
        'tool_call save {"n":2} not_executed',
    ]


@built_together
def test_a_call_that_ended_well_and_was_not_executed() -> Scene:
    """A model that asks for a tool and goes on without it has missed it."""
    lake = yield [
        agent(1),
        attempt(2, 0, "c1"),
        attempt(3, 10, "c2"),
        saved(4, 15, "c2"),
        done(5, 20, "c2"),
    ]

    assert [line.rpartition(" ")[2] for line in story(lake) if line.startswith("tool_call")] == [
        "not_executed",
        "ok",
    ]

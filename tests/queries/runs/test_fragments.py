"""Traces of tools alone are parts of runs that are elsewhere, unless they say whose they are."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import agent, message, model, rows, span, tool


def fragments(lake: Any) -> list[bool]:
    """Return which runs of the lake are fragments, by their ids."""
    found = rows(lake, "SELECT is_fragment FROM trajectories ORDER BY trajectory_id")
    return [row["is_fragment"] for row in found]


@built_together
def test_tool_alone_is_a_fragment() -> Scene:
    """No agent, no model call, and nothing that is missing above it."""
    lake = yield [tool(1)]
    assert fragments(lake) == [True]


@built_together
def test_openinference_answer_tool_alone_is_a_fragment() -> Scene:
    """The answer tool of smolagents, started in a thread without its run's context."""
    kind: dict[str, Any] = {"openinference__span__kind": "TOOL", "tool__name": "final_answer"}
    lake = yield [span(1, name="FinalAnswerTool", **kind, output__value="noon")]
    assert fragments(lake) == [True]


@built_together
def test_own_tool_and_its_observation_alone_are_a_fragment() -> Scene:
    """Tools that were called outside of `agent_run`, below a span of a server."""
    own: dict[str, Any] = {"scope": "tracegrade", "tracegrade__step__kind": "tool_call"}
    seen: dict[str, Any] = {"scope": "tracegrade", "tracegrade__step__kind": "observation"}
    lake = yield [
        span(1, name="POST /tool", ms=9),
        tool(2, 1, at=1, **own),
        span(3, 1, at=3, links=[2], **seen),
    ]
    assert fragments(lake) == [True]


@built_together
def test_traceloop_tool_alone_is_a_fragment() -> Scene:
    """OpenLLMetry's."""
    kind: dict[str, Any] = {"traceloop__span__kind": "tool", "traceloop__entity__name": "look"}
    lake = yield [span(1, name="look.tool", **kind)]
    assert fragments(lake) == [True]


@built_together
def test_tool_below_a_lost_agent_is_none() -> Scene:
    """Its run was killed, and counts."""
    lake = yield [tool(2, 1)]
    assert fragments(lake) == [False]


@built_together
def test_tool_that_names_its_task_is_none() -> Scene:
    """An agent written by hand; only its tools are recorded."""
    lake = yield [tool(1, tracegrade__task__id="refund")]
    assert fragments(lake) == [False]


@built_together
def test_tools_beside_a_model_or_below_an_agent_are_none() -> Scene:
    """They are the run's."""
    below = [agent(1, trace=1), tool(2, 1, trace=1)]
    said = [message("assistant", "Done.")]
    beside = [model(1, trace=2, said=said), tool(2, trace=2, at=5)]
    lake = yield [*below, *beside]
    assert fragments(lake) == [False, False]


TITLE = "Generate a title of at most 5 words for this conversation."


@built_together
def test_title_alone_is_a_fragment() -> Scene:
    """A chat program asks for it in a trace of its own; what a user asks is a run."""
    heard = [message("system", TITLE), message("user", "fix login")]
    said = [message("assistant", "Fix login")]
    asked = [message("system", "Be brief."), message("user", "Generate a title of a book.")]
    lake = yield [
        model(1, trace=1, heard=heard, said=said),
        model(1, trace=2, heard=asked, said=said),
    ]
    assert fragments(lake) == [True, False]


@built_together
def test_openinference_title_alone_is_a_fragment() -> Scene:
    """Below a span of the program that asks for it."""
    told: dict[str, Any] = {"openinference__span__kind": "LLM"}
    prefix = "llm__input_messages__0__message__"
    told |= {f"{prefix}role": "system", f"{prefix}content": TITLE}
    told |= {"llm__output_messages__0__message__content": "Fix login"}
    lake = yield [span(1, openinference__span__kind="CHAIN", ms=9), span(2, 1, at=1, **told)]
    assert fragments(lake) == [True]


@built_together
def test_title_beside_an_answer_or_of_a_task_is_none() -> Scene:
    """The run that it names is there, or it is a task of its own."""
    heard = [message("system", TITLE), message("user", "fix login")]
    said = [message("assistant", "Fix login")]
    own = [message("assistant", "Done.")]
    lake = yield [
        model(1, trace=1, heard=[message("user", "fix login")], said=own, ms=9),
        model(2, trace=1, at=20, heard=heard, said=said),
        model(1, trace=2, heard=heard, said=said, tracegrade__task__id="title"),
    ]
    assert fragments(lake) == [False, False]

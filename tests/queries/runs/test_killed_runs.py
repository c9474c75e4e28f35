"""Runs whose process died: they go by their agent's name, and by what the user asked."""

from collections.abc import Iterable
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, tool


def told(lake: Any) -> list[tuple[str | None, str | None]]:
    """Return the agent's name and the user's words of each run."""
    found = rows(lake, "SELECT agent_name, user_input FROM trajectories ORDER BY trajectory_id")
    return [(row["agent_name"], row["user_input"]) for row in found]


@built_together
def test_own_spans_tell_whose_run_it_was() -> Scene:
    """The first of them that ended says what the user asked, all name the agent."""
    own: dict[str, Any] = {"scope": "tracegrade", "gen_ai__agent__name": "support"}
    asked: dict[str, Any] = {"tracegrade__run__user_input": "refund o-1"}
    lake = yield [
        span(2, 1, **own, **asked, tracegrade__step__kind="thought"),
        tool(3, 1, at=2, **own),
    ]
    assert told(lake) == [("support", "refund o-1")]


@built_together
def test_model_calls_tell_what_the_user_asked() -> Scene:
    """With other instrumentation, the first model call has it, and names the agent."""
    heard = [message("system", "Help."), message("user", "refund o-1")]
    lake = yield [
        model(
            2, 1, heard=heard, said=[message("assistant", "Hm.")], gen_ai__agent__name="support"
        ),
        tool(3, 1, at=2),
    ]
    assert told(lake) == [("support", "refund o-1")]


@built_together
def test_openinference_spans_name_the_agent() -> Scene:
    """Its model and tool spans may name the agent, too."""
    named: dict[str, Any] = {"agent__name": "support"}
    lake = yield [
        span(2, 1, name="look", openinference__span__kind="TOOL", tool__name="look", **named)
    ]
    assert told(lake) == [("support", None)]


@built_together
def test_run_that_names_no_agent_has_no_name() -> Scene:
    """A service may run several agents, so its name is not taken for one's."""
    lake = yield [tool(2, 1, trace=1), model(1, trace=2, said=[message("assistant", "Hi.")])]
    assert told(lake) == [(None, None), (None, None)]


REFUSALS = {
    'Error: Requested function "no_tool" not found.': "not_executed",
    "The tool call with name `no_tool` is not part of the provided tools, please try again with a "
    "supplied tool call name and make sure to validate the name.": "not_executed",
    "Error: Code execution failed at line 'no_tool()' due to: InterpreterError: Forbidden "
    "function evaluation: 'no_tool' is not among the explicitly allowed tools or "
    "defined/imported in the preceding code": "not_executed",
    # Of another tool, of a part of the name, and what a tool may well return.
    "Error: Code execution failed due to: InterpreterError: Forbidden function evaluation: "
    "'other' is not among the explicitly allowed tools": "error",
    'Requested function "other" not found.': "ok",
    "The ticket is not part of the provided tools list of no_tool.": "ok",
}


def told_a_model(result: str, trace: int) -> list[Row]:
    """Return the rest of a run whose model called a tool and got its result."""
    asked = message("user", "Do it.")
    called = message("assistant", request("no_tool", "c1"))
    return [
        model(2, 1, trace=trace, heard=[asked], said=[called]),
        model(
            3,
            1,
            at=5,
            trace=trace,
            heard=[asked, called, message("tool", response(result, "c1"))],
            said=[message("assistant", "Done.")],
        ),
    ]


@built_together
def test_frameworks_say_that_a_tool_does_not_exist() -> Scene:
    """Where the span that lists the tools was never sent, their own words are what tells it."""
    lake = yield [
        each for trace, result in enumerate(REFUSALS, 1) for each in told_a_model(result, trace)
    ]
    found = rows(lake, "SELECT status FROM steps WHERE kind = 'tool_call' ORDER BY trace_id")
    assert [row["status"] for row in found] == [*REFUSALS.values()]


def team(between: Iterable[Row] = (), *, last_above: int = 1, **last: Any) -> list[Row]:
    """Return two agents of a team whose own span was never sent, and what is between them."""
    return [
        agent(2, 1, agent_name="triage", ms=20),
        *between,
        agent(9, last_above, agent_name="the expert", at=30, **last),
        tool(10, 9, at=31),
    ]


def names(lake: Any) -> list[str]:
    """Return the agent's name of each run, sorted."""
    return sorted(row["agent_name"] for row in rows(lake, "SELECT agent_name FROM trajectories"))


@built_together
def test_an_agent_that_a_model_handed_over_to_is_of_the_run() -> Scene:
    """The tool that did it has no span."""
    asked = message("assistant", request("handoff_to_the_expert", "c1"))
    lake = yield team([model(3, 2, at=5, said=[asked])])
    assert names(lake) == ["triage"]


@built_together
def test_an_agent_that_is_named_in_the_arguments_of_a_hand_over_is_of_the_run() -> Scene:
    """LlamaIndex has one tool for all of them."""
    asked = message("assistant", request("handoff", "c1", to_agent="the expert"))
    lake = yield team([model(3, 2, at=5, said=[asked])])
    assert names(lake) == ["triage"]


@built_together
def test_an_agent_that_a_span_says_was_handed_over_to_is_of_the_run() -> Scene:
    """OpenInference calls such a span by the agent's name."""
    kind: Row = {"openinference__span__kind": "TOOL"}
    lake = yield team([span(3, 2, at=5, name="handoff to the expert", **kind)])
    assert names(lake) == ["triage"]


@built_together
def test_an_agent_that_says_whom_it_follows_is_of_the_run() -> Scene:
    """A crew's agents work one after the other, and OpenInference tells in which order."""
    follows: Row = {"openinference__span__kind": "AGENT", "graph__node__parent_id": "triage"}
    lake = yield team(name="expert.run", **follows)
    assert names(lake) == ["triage"]


@built_together
def test_agents_that_nothing_joins_are_runs_of_their_own() -> Scene:
    """A web server, whose span is not sent, may start one after the other."""
    lake = yield team()
    assert names(lake) == ["the expert", "triage"]


@built_together
def test_agents_below_other_spans_that_never_came_are_runs_of_their_own() -> Scene:
    """An agent of this name was started by another one."""
    asked = message("assistant", request("handoff_to_the_expert", "c1"))
    lake = yield team([model(3, 2, at=5, said=[asked])], last_above=77)
    assert names(lake) == ["the expert", "triage"]

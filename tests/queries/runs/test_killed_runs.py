"""Runs whose process died: they go by their agent's name, and by what the user asked."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import message, model, rows, span, tool


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
    """Of other instrumentation, the first model call heard it, and names the agent."""
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

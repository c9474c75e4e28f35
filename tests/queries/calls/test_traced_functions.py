"""Functions that a program traces under the names of the tools that a model requested.

Clients' instrumentations know model calls alone, and decorators of tracing libraries write a span
without a kind. The forms are those of OpenTelemetry by hand, Mirascope 2.8 and AgentOps 0.4.21.
"""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import (
    Row,
    agent,
    apart,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    story_apart,
    tool,
)

ASKED: Row = message("user", "Weather in Paris and Atlantis?")
REQUESTED: Row = message(
    "assistant",
    request("get_weather", "c1", city="Paris"),
    request("get_weather", "c2", city="Atlantis"),
)
GIVEN: Row = message("tool", response("22C", "c1"), response("no such city", "c2"))
FAILED = "no such city"
CALLED = [
    'tool_call get_weather {"city":"Paris"} ok',
    "observation 22C",
    'tool_call get_weather {"city":"Atlantis"} error',
    "observation no such city",
    "answer 22C.",
]


def _asking(*functions: Row) -> list[Row]:
    """Return a run whose model requests two calls, with these spans between its model calls."""
    answered = message("assistant", "22C.")
    return [
        agent(1),
        model(2, 1, at=1, heard=[ASKED], said=[REQUESTED]),
        *functions,
        model(9, 1, at=20, heard=[ASKED, REQUESTED, GIVEN], said=[answered]),
    ]


def _durations(lake: Any) -> list[float]:
    found = rows(
        lake, "SELECT duration_ms FROM steps WHERE kind = 'tool_call' ORDER BY step_index"
    )
    return [row["duration_ms"] for row in found]


@built_together
def test_spans_named_as_the_tool_are_its_executions() -> Scene:
    """By hand, with nothing but a name and a status: the second one failed."""
    lake = yield _asking(
        span(3, 1, at=5, ms=2, name="get_weather"),
        span(4, 1, at=8, ms=3, name="get_weather", error=FAILED),
    )

    assert story(lake) == CALLED
    assert _durations(lake) == [2, 3]


@built_together
def test_name_may_have_a_qualifier_and_a_kind() -> Scene:
    """A module before it, a kind after it, or the form of names in JavaScript."""
    lake = yield _asking(
        span(3, 1, at=5, name="shop.tools.getWeather"),
        span(4, 1, at=8, name="get_weather.task", error=FAILED),
    )

    assert story(lake) == CALLED


@built_together
def test_arguments_of_a_function_find_its_request() -> Scene:
    """Mirascope writes them as JSON; the calls ran in the other order."""
    lake = yield _asking(
        span(
            3,
            1,
            at=5,
            name="get_weather",
            mirascope__trace__arg_values='{"city": "Atlantis"}',
            error=FAILED,
        ),
        span(
            4,
            1,
            at=8,
            name="get_weather",
            mirascope__trace__arg_values='{"city": "Paris"}',
            mirascope__trace__output="22C",
        ),
    )

    assert story(lake) == CALLED


@built_together
def test_functions_before_their_request_are_others() -> Scene:
    """A program may call a function itself, before any model asks for it."""
    lake = yield [
        agent(1),
        span(2, 1, at=0.5, name="get_weather", error=FAILED),
        model(3, 1, at=1, heard=[ASKED], said=[REQUESTED]),
        model(4, 1, at=20, heard=[ASKED, REQUESTED, GIVEN], said=[message("assistant", "22C.")]),
    ]

    assert [each for each in story(lake) if "error" in each] == []
    assert len([each for each in story(lake) if each.startswith("tool_call")]) == 2


@built_together
def test_database_named_as_a_tool_is_none() -> Scene:
    """Spans of a database or of HTTP are not read by their names."""
    lake = yield _asking(span(3, 1, at=5, name="get_weather", db__system="redis", error=FAILED))

    assert [each for each in story(lake) if "error" in each] == []


@built_together
def test_tool_that_a_dialect_knows_is_not_looked_for() -> Scene:
    """The function below the tool's span is that execution, not another."""
    lake = yield _asking(
        tool(3, 1, at=5, ms=2, tool_name="get_weather", gen_ai__tool__call__id="c1"),
        span(4, 3, at=5, ms=1, name="get_weather"),
        tool(5, 1, at=8, ms=2, tool_name="get_weather", gen_ai__tool__call__id="c2", error=FAILED),
    )

    assert story(lake) == CALLED
    assert _durations(lake) == [2, 2]


@built_together
def test_type_of_error_states_a_failure_of_a_tool() -> Scene:
    """AgentOps writes it beside a status that is OK, for tools of OpenAI's Agents SDK."""
    told: Row = {"agentops__span__kind": "tool", "tool__name": "get_weather"}
    lake = yield _asking(
        span(3, 1, at=5, name="w", tool__parameters='{"city": "Paris"}', **told),
        span(
            4,
            1,
            at=8,
            name="w",
            tool__parameters='{"city": "Atlantis"}',
            error__type="AgentError",
            **told,
        )
        | {"status": {"code": 1}},
    )

    assert story(lake) == CALLED
    found = rows(lake, "SELECT error_type FROM steps WHERE status = 'error'")
    assert found == [{"error_type": "AgentError"}]


@built_together
def test_type_of_error_that_says_none_states_nothing() -> Scene:
    """Some write a word in place of an absent value."""
    lake = yield _asking(
        span(
            3, 1, at=5, name="w", agentops__span__kind="tool", tool__name="get_weather",
            tool__parameters='{"city": "Paris"}', error__type="none",
        )
    )  # fmt: skip

    assert story(lake)[0] == CALLED[0]


@built_together
def test_function_of_a_program_that_asks_a_model_is_the_run() -> Scene:
    """Semantic Kernel writes a prompt as the execution of a tool; no model called it."""
    lake = yield [
        tool(1, ms=100, tool_name="njCYEQmwLphPjWUo", gen_ai__tool__call__arguments="{}"),
        model(2, 1, at=1, heard=[ASKED], said=[REQUESTED]),
        tool(3, 1, at=5, tool_name="get_weather", gen_ai__tool__call__id="c1"),
        tool(4, 1, at=8, tool_name="get_weather", gen_ai__tool__call__id="c2", error=FAILED),
        model(9, 1, at=20, heard=[ASKED, REQUESTED, GIVEN], said=[message("assistant", "22C.")]),
    ]

    assert story(lake) == CALLED


@built_together
def test_root_tool_without_models_is_a_call() -> Scene:
    """A server of tools may trace nothing but its calls."""
    lake = yield [tool(1, tool_name="get_weather", gen_ai__tool__call__arguments="{}")]

    assert story(lake) == ["tool_call get_weather {} ok"]


@built_together
def test_calls_of_which_only_results_were_recorded() -> Scene:
    """Langtrace leaves out the calls: the second model call was given what the first was not."""
    said = [message("assistant", "Let me look.")]
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=[ASKED], said=said),
        model(3, 1, at=20, heard=[ASKED, GIVEN], said=[message("assistant", "22C.")]),
    ]

    assert rows(lake, "SELECT flags FROM trajectories")[0]["flags"] == ["unrecorded_calls"]


@built_together
def test_results_that_a_run_began_with_are_not_its_calls() -> Scene:
    """They may be those of an earlier run of the conversation."""
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=[GIVEN, ASKED], said=[message("assistant", "Hm.")]),
        model(3, 1, at=20, heard=[GIVEN, ASKED], said=[message("assistant", "22C.")]),
    ]

    assert rows(lake, "SELECT flags FROM trajectories")[0]["flags"] == []


DECORATED: dict[str, Row] = {
    "AgentOps": {"agentops__span__kind": "operation"},
    "Braintrust": {"braintrust__span_attributes": '{"type": "function"}'},
    "Laminar": {"lmnr__span__type": "DEFAULT", "lmnr__span__path": ["a", "get_weather"]},
    "LangSmith": {"langsmith__span__kind": "chain"},
    "Langfuse": {"langfuse__observation__type": "span"},
    "Logfire": {"logfire__msg": "Calling get_weather", "logfire__span_type": "span"},
    "MLflow": {"mlflow__spanType": '"UNKNOWN"'},
    "OpenLLMetry": {"traceloop__span__kind": "task", "traceloop__entity__name": "get_weather"},
}
"""What decorators write of a function by default."""


@built_together
def test_decorators_of_platforms_trace_functions() -> Scene:
    """Only the model's request says that the function is a tool."""
    lake = yield apart(
        _asking(
            span(3, 1, at=5, ms=2, name="get_weather", **told),
            span(4, 1, at=8, ms=3, name="get_weather", error=FAILED, **told),
        )
        for told in DECORATED.values()
    )

    stories = dict(zip(DECORATED, story_apart(lake, len(DECORATED)), strict=True))
    assert stories == dict.fromkeys(DECORATED, CALLED)

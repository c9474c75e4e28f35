"""Langfuse's observations become spans: what OpenTelemetry told it, and what it knows itself."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.langfuse import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

TRACE = "1b72c51fabed12ae7df83bfd4a09f545"
STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "22C", "ok"),
    ("observation", "get_weather", None, "22C", None),
    ("answer", None, None, "It is 22C.", None),
]


def observation(number: int, type_: str, name: str, said: Any, answer: Any) -> dict[str, Any]:
    """Return an observation as the interface gives it; the first is the parent of the others."""
    return {
        "id": f"{number:016x}",
        "traceId": TRACE,
        "parentObservationId": f"{1:016x}" if number > 1 else None,
        "type": type_,
        "name": name,
        "startTime": f"2026-01-05T10:00:0{number}.000Z",
        "endTime": f"2026-01-05T10:00:0{number}.500Z",
        "level": "DEFAULT",
        "statusMessage": None,
        "input": said,
        "output": answer,
        "metadata": "{}",
        "usageDetails": {"input": 10, "output": 5},
    }


def observations() -> list[dict[str, Any]]:
    """Return a run with one call, the model's messages in Chat Completions' shape."""
    asked = [{"role": "user", "content": "Weather in Paris?"}]
    function = {"name": "get_weather", "arguments": '{"city":"Paris"}'}
    call = {"id": "c1", "type": "function", "function": function}
    requested = {"role": "assistant", "content": "", "tool_calls": [call]}
    heard = [*asked, requested, {"role": "tool", "tool_call_id": "c1", "content": "22C"}]
    answer = {"role": "assistant", "content": "It is 22C."}
    return [
        observation(1, "SPAN", "run", "Weather in Paris?", "It is 22C."),
        observation(2, "GENERATION", "chat", asked, requested),
        observation(3, "TOOL", "get_weather", {"city": "Paris"}, "22C"),
        observation(4, "GENERATION", "chat", json.dumps(heard), json.dumps(answer)),
    ]


@built_together
def test_trace_with_observations_gives_its_steps(folder: Path) -> Scene:
    """The session is the conversation; once more, it adds nothing."""
    trace = {"id": TRACE, "sessionId": "s1", "scores": ["a score's id"]}
    file = written(folder, {"trace": trace, "observations": observations()})
    outcome = imported(folder, file)
    assert outcome.imported.understood == {"spans": 4}
    assert outcome.imported.ignored == {"scores without a name, a source or a value": 1}
    assert outcome.again(file) == 0
    outcome = yield outcome
    assert {row["trace_id"] for row in outcome.spans()} == {TRACE}
    assert outcome.steps() == STEPS
    assert lake_counts(outcome) == raw_counts(file)
    found = outcome.rows("SELECT conversation_id, agent_name FROM trajectories")
    assert found == [("s1", None)]  # a run's name is not its agent's


AGENTS = {
    "invoke_agent weather": "weather",
    "agent_run [weather]": "weather",
    "weather": "weather",
    "Agent workflow": None,
    "invoke_agent 171105b7-59dd-49c0-9677-0b95395aa46a": None,
}


@built_together
def test_agent_is_called_as_its_observation(folder: Path) -> Scene:
    """An id is not a name, and the framework's name for every run is not, either."""
    lines = []
    for number, name in enumerate(AGENTS, 1):
        trace = f"{number:016x}" * 2
        first, *others = (each | {"traceId": trace} for each in observations())
        lines += [first | {"type": "AGENT", "name": name}, *others]
    outcome = yield imported(folder, written(folder, lines))
    found = outcome.rows("SELECT agent_name FROM trajectories ORDER BY trace_id")
    assert [agent for (agent,) in found] == [*AGENTS.values()]


@built_together
def test_observations_a_line_in_snake_case(folder: Path) -> Scene:
    """As the export to a bucket writes them, a tool of LangChain's as a span of no type."""
    lines = observations()
    lines[2]["type"] = "SPAN"
    lines[2]["input"] = "{'city': 'Paris'}"
    lines[2]["output"] = {"type": "tool", "content": "22C", "tool_call_id": "c1", "name": None}
    names = {"traceId": "trace_id", "parentObservationId": "parent_observation_id"}
    names |= {"startTime": "start_time", "endTime": "end_time"}
    rows = [{names.get(key, key): each[key] for key in each} for each in lines]
    outcome = yield imported(folder, written_lines(folder, rows))
    assert outcome.steps() == STEPS


def test_kept_attributes_and_errors_are_given_back(tmp_path: Path) -> None:
    """Scope, attributes and resource of the span that was sent; the level as its status."""
    found = observation(7, "TOOL", "execute_tool x", {}, None) | {"level": "ERROR"}
    found["statusMessage"] = "down"
    kept = {"gen_ai.tool.name": "x", "gen_ai.tool.call.id": "c9", "mine": 3}
    told = {"attributes": kept, "scope": {"name": "adk"}, "resourceAttributes": {"a.b": "c"}}
    found["metadata"] = json.dumps(told)
    outcome = imported(tmp_path, written(tmp_path, [found]))
    [row] = outcome.spans()
    attributes = dict(row["attributes"])
    assert (row["scope_name"], row["status_message"]) == ("adk", "down")
    assert (attributes["gen_ai.tool.name"], attributes["mine"]) == ("x", "3")


def test_what_is_no_observation_is_told(tmp_path: Path) -> None:
    """A trace that only names its observations, and a line that is neither."""
    whole = {"id": TRACE, "observations": [*observations()[:1], {"id": "x"}]}
    file = written_lines(tmp_path, [whole, {"id": TRACE, "observations": ["1"]}, {"a": 1}])
    outcome = imported(tmp_path, file)
    assert outcome.imported.added.total() == 1
    assert outcome.imported.ignored == {
        "observations without an id, a trace or a type": 2,
        "traces without their observations": 1,
    }
    lacks = "neither a trace, an observation nor a score of Langfuse"
    assert outcome.notes == [f"{file}:3: {lacks}"]


def score(name: str, value: Any = None, source: str = "API", **fields: Any) -> dict[str, Any]:
    """Return a score as the interface gives it."""
    return {"id": "s", "name": name, "value": value, "source": source, **fields}


def test_scores_of_success_are_verdicts(tmp_path: Path) -> None:
    """By name, or by the name that is given; on whole traces; an evaluator's is a judge's."""
    scores = [
        score("Correctness", 0.8, "EVAL", comment="nearly"),
        score("passed", 1, "ANNOTATION", dataType="BOOLEAN", stringValue="True"),
        score("correct", 0, dataType="CATEGORICAL", stringValue="yes"),
        score("correct", 7),
        score("toxicity", 1),
        score("success", 1, observationId=f"{2:016x}"),
    ]
    trace = {"id": TRACE, "scores": scores}
    whole = written(tmp_path, {"trace": trace, "observations": observations()})
    alone = {"trace_id": TRACE, "data_type": "NUMERIC"}
    lines = written_lines(tmp_path, [score("passed", 0, **alone), score("mine", 1, **alone)])
    outcome = imported(tmp_path, whole, lines)
    said = "SELECT trajectory_id, value, label, source, evidence FROM verdicts ORDER BY ALL"

    assert outcome.imported.ignored == {
        "scores named 'mine'": 1,
        "scores named 'toxicity'": 1,
        "scores of a session, or of one observation": 1,
        "scores that are not a number from 0 to 1": 1,
    }
    assert outcome.imported_rows(said) == [
        (TRACE, 0.0, None, "langfuse api passed", None),
        (TRACE, 0.8, None, "judge:langfuse Correctness", "nearly"),
        (TRACE, 1.0, "True", "langfuse annotation passed", None),
        (TRACE, 1.0, "yes", "langfuse api correct", None),
    ]
    named = imported(tmp_path / "named", lines, paths={"success": "mine"})
    assert named.imported_rows("SELECT source FROM verdicts") == [("langfuse api mine",)]


def test_costs_stand_on_their_model_calls(tmp_path: Path) -> None:
    """Reported costs precede those that Langfuse computed; older exports use other names."""
    lines = observations()
    lines[1] |= {"costDetails": {"total": 0.5}, "providedCostDetails": {"total": 0.25}}
    lines[3]["calculated_total_cost"] = 2
    cost = "attributes['gen_ai.usage.cost']"
    outcome = imported(tmp_path, written_lines(tmp_path, lines))
    told = f"SELECT {cost} FROM spans WHERE {cost} IS NOT NULL ORDER BY 1"
    assert outcome.imported_rows(told) == [("0.25",), ("2.0",)]


def test_framework_traces_give_their_calls(tmp_path: Path, shared_data: Path) -> None:
    """Fifteen real traces of twelve frameworks."""
    folder = shared_data / "otlp-fixtures" / "langfuse-framework-traces"
    outcome = imported(tmp_path, *sorted(folder.glob("*.trace.json")))
    assert outcome.imported.faults == 0
    found = outcome.rows(
        "SELECT tool_name, arguments, status FROM steps WHERE kind = 'tool_call' ORDER BY ALL"
    )
    assert [row for row in found if row[0] != "final_result"] == [
        ("Web-Search", '{"query":"example"}', "ok"),
        ("duckduckgo_search", '{"query":"currently trending on Twitter"}', "ok"),
        ("getWeather", '{"location":"San Francisco"}', "ok"),
        ("get_dad_joke_suggestion", '{"topic":"programming"}', "ok"),
        ("get_one_liner_suggestion", '{"topic":"programming"}', "ok"),
        ("get_pun_suggestion", '{"topic":"programming"}', "ok"),
        ("get_weather", '{"city":"San Francisco"}', "ok"),
        ("get_weather", '{"city":"Tokyo"}', "ok"),
        ("get_weather", '{"location":"Tokyo, Japan"}', "ok"),
        ("mcp__weather__get_weather", '{"city":"Berlin"}', "ok"),
        ("mcp__weather__get_weather", '{"city":"New York"}', "ok"),
        ("say_hello", "{}", "ok"),
    ]

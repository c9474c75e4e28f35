"""Sub-agents and hand-offs of real frameworks: agents, their parents, and the calls between."""

import json
from typing import Final, NamedTuple

import pytest
from tests.queries.traces import Row, land, land_logs, rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .comparison import Capture, captures

MAIN, HELPER = "travel_agent", "weather_helper"
SCENARIOS: Final = ("sub_agent", "hand_off")
APART: Final = {
    "claude_agent_openinference", "claude_agent_own", "haystack_agent_traceloop",
    "smolagents_code_otel",
}  # fmt: skip
"""Ways in which each agent has a trace of its own."""
NAMELESS: Final = {
    "dspy_agent_openinference", "dspy_agent_otel", "llama_index_agent_own",
    "haystack_agent_openinference",
}  # fmt: skip
"""Ways that name no agent, or name both by their class."""
WITHOUT_CALL: Final = {
    "smolagents_code_openinference", "dspy_agent_openinference", "dspy_agent_otel",
}  # fmt: skip
"""Ways that send no id of the call, since their calls are code or text."""
IN_A_TEAM: Final = {"langgraph_agent_langsmith", "langgraph_agent_openinference",
                    "langgraph_agent_traceloop"}  # fmt: skip
"""Ways that name the team around both agents in a hand-off."""


class Told(NamedTuple):
    """What the lake has of the captures."""

    agents: dict[str, list[Row]]
    """Of each capture, in the order of their starts."""
    steps: dict[tuple[str, int], Row]
    runs: dict[str, Row]


def chosen() -> list[Capture]:
    """Return the captures of agents that start others."""
    return [
        each
        for each in captures()
        if each.scenario in SCENARIOS and not each.way.calls_alone and str(each.way) not in APART
    ]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The captures, landed and built at once."""
    lake = Lake.create(tmp_path_factory.mktemp("agents") / "lake")
    land(lake, *(json.dumps(each.signals["traces"]).encode() for each in chosen()), seq=0)
    logs = [each.signals["logs"] for each in chosen() if "logs" in each.signals]
    land_logs(lake, *(json.dumps(each).encode() for each in logs))
    build(lake)
    sent = rows(lake, "SELECT wal_seq, list(DISTINCT trace_id) AS ids FROM spans GROUP BY 1")
    names = {trace: chosen()[row["wal_seq"]].name for row in sent for trace in row["ids"]}
    agents: dict[str, list[Row]] = {}
    for row in rows(lake, "FROM agents ORDER BY start_time, agent_span_id"):
        agents.setdefault(names[row["trace_id"]], []).append(row)
    steps = rows(lake, "FROM steps")
    runs = rows(lake, "FROM trajectories")
    return Told(
        agents,
        {(row["trajectory_id"], row["step_index"]): row for row in steps},
        {row["trajectory_id"]: row for row in runs},
    )


def of_agents() -> list[Capture]:
    """Return those that name their agents on spans."""
    return [each for each in chosen() if each.name != "llama_index_agent_own-hand_off"]


@pytest.mark.parametrize("capture", of_agents(), ids=lambda each: each.name)
def test_helper_was_started_by_the_main_agent(told: Told, capture: Capture) -> None:
    """Names and parent are those of the scenario; the call leads to a step of the parent."""
    *above, main, helper = told.agents[capture.name]
    way = str(capture.way)

    if way not in NAMELESS:
        assert (main["agent_name"], helper["agent_name"]) == (MAIN, HELPER)
    in_team = capture.scenario == "hand_off" and way in IN_A_TEAM
    assert [row["agent_name"] for row in above] == (["team"] if in_team else [])
    assert helper["parent_agent_span_id"] == main["agent_span_id"]
    assert helper["parent_trajectory_id"] == main["trajectory_id"]
    if way in WITHOUT_CALL:
        assert helper["tool_call_id"] is None
        return
    calling = [told.steps[main["trajectory_id"], index] for index in main["step_indexes"]]
    assert helper["tool_call_id"] in {step["tool_call_id"] for step in calling}


@pytest.mark.parametrize("capture", of_agents(), ids=lambda each: each.name)
def test_helper_made_its_own_call(told: Told, capture: Capture) -> None:
    """It looked up the weather; what all agents of a run did is what the run did."""
    agents = told.agents[capture.name]
    helper = agents[-1]
    own = [told.steps[helper["trajectory_id"], index] for index in helper["step_indexes"]]
    called = [step["tool_name"] for step in own if step["kind"] == "tool_call"]

    assert "get_weather" in called
    for run_id in {row["trajectory_id"] for row in agents}:
        of_run = [row for row in agents if row["trajectory_id"] == run_id]
        for column in ("step_count", "tool_call_count", "error_count", "llm_call_count"):
            assert sum(row[column] for row in of_run) == told.runs[run_id][column]


def test_ways_are_as_they_are_said(told: Told) -> None:
    """Each way in a list above is one, so that none stays when its reason is gone."""
    assert {str(each.way) for each in captures()} >= APART | NAMELESS | WITHOUT_CALL | IN_A_TEAM
    assert set(told.agents) == {each.name for each in of_agents()}

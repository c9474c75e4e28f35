"""Traces of real frameworks become the same steps under every instrumentation."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from . import stories
from .build.neighbors import by_trace, of_captures, rows_of
from .stories import ANSWER, CALL, THOUGHT
from .traces import Row, capture, land, land_logs, line, logs_of, rows

STORIES = {
    "agent-framework": stories.AGENT_FRAMEWORK,
    "agent-framework_handoff": {"": ["handoff handoff_to_weather_agent {}", *stories.HANDED_OVER]},
    "agno_openinference": stories.AGNO,
    "agno_openinference_0.1.8": {"": stories.AGNO[""]},  # outputs in the raw response alone
    "agno_traceloop": stories.AGNO_TRACELOOP,
    "anthropic-sdk_native": stories.ANTHROPIC,
    "autogen_native": stories.AUTOGEN,
    "autogen_openinference": stories.AUTOGEN_OPENAI,
    "autogen_swarm": {
        "": [
            "handoff transfer_to_weather_agent {}",
            *stories.FROM_TOOL,
            stories.LAST_THOUGHT,
            ANSWER,
        ]
    },
    "claude-code": stories.CLAUDE_CODE,
    "crewai_openinference": stories.CREWAI,
    "crewai_two-agents": {"": stories.TEAM},
    "dspy_openinference": stories.DSPY,
    "google-adk_content": stories.ADK,
    "google-adk_default": stories.ADK_BARE,
    "google-adk_legacy": stories.ADK_LEGACY,
    "google-adk_openinference": stories.ADK_OPENINFERENCE,
    "google-adk_parallel": {"": stories.ADK_PARALLEL},
    "google-adk_schema1": stories.ADK_LEGACY,
    "google-adk_stream": {"": [*stories.ADK_PARALLEL[:3], stories.ADK_PARALLEL[5], ANSWER]},
    "haystack_2.19": stories.HAYSTACK_2,
    "haystack_3.4": stories.HAYSTACK,
    "langfuse-sdk": stories.LANGFUSE_SDK,
    "langgraph_openinference": stories.LANGGRAPH,
    "langgraph_langsmith": stories.LANGGRAPH,
    "langgraph_otel": stories.LANGGRAPH,
    "langgraph_traceloop": stories.LANGGRAPH,
    "llama-index_function": stories.LLAMA_INDEX,
    "llama-index_react": stories.LLAMA_INDEX_REACT,
    "llama-index_traceloop": stories.LLAMA_INDEX_TRACELOOP,
    "logfire_openai": stories.LOGFIRE_OPENAI,
    "logfire_openai-agents": stories.LOGFIRE_AGENTS,
    "logfire_openai-agents_chat": {"": stories.LOGFIRE_AGENTS[""]},
    "logfire_openai-agents_handoff": {"": [THOUGHT, stories.HANDOFF, *stories.LOGFIRE_AGENTS[""]]},
    "laminar_0.8": {"": stories.ANTHROPIC_CLIENT[""]},
    "mastra_0.24": {"": stories.ANTHROPIC_CLIENT[""]},
    "mastra_1.71": stories.MASTRA,
    "mcp_fastmcp": stories.MCP_SERVER,
    "mcp_openai-agents": stories.MCP_OPENAI_AGENTS,
    "mcp_traceloop": stories.MCP_TRACELOOP,
    "openai-agents_openinference_responses": stories.OPENAI_AGENTS,
    "openai-agents_otel_responses": stories.OPENAI_AGENTS_OTEL,
    "otel-events_openai-v2": stories.OPENAI_OLD,
    "pydantic-ai_cut": {"": stories.PYDANTIC_AI[""]},  # attributes of 200 characters at most
    "pydantic-ai_hybrid": stories.PYDANTIC_AI,
    "pydantic-ai_v1": stories.PYDANTIC_AI_V1,
    "pydantic-ai_v2": stories.PYDANTIC_AI,
    "pydantic-ai_v3": {"": stories.PYDANTIC_AI[""]},
    "pydantic-ai_v4": {"": stories.PYDANTIC_AI[""]},
    "pydantic-ai_v5": stories.PYDANTIC_AI,
    "pydantic-ai_v6": {variant: stories.PYDANTIC_AI[variant] for variant in ("", "__halluc")},
    "semantic-kernel": stories.SEMANTIC_KERNEL,
    "smolagents_code": stories.SMOLAGENTS_CODE,
    "smolagents_plan": stories.SMOLAGENTS_PLAN,
    "smolagents_tool": stories.SMOLAGENTS,
    "strands_agentcore": stories.STRANDS,  # its messages moved into log records
    "strands_agentcore_latest": {"": stories.STRANDS[""]},
    "strands_default": stories.STRANDS,
    "strands_latest": stories.STRANDS,
    "strands_openinference": stories.STRANDS,
    "traceloop-openai_0.40_flattened": stories.OPENAI_OLD,
    "traceloop-sdk": stories.TRACELOOP_SDK,
    "vercel-ai_v6": stories.VERCEL_V6,
    "vercel-ai_v6_stream": {"": stories.VERCEL[""]},
    "vercel-ai_v7_legacy": stories.VERCEL,
    "vercel-ai_v7_otel": stories.VERCEL,
    "otel-v2_openai-agents": stories.OPENAI_AGENTS_V2,
    "traceloop_openai-agents_chat": stories.OPENAI_AGENTS_CHAT,
    "traceloop-anthropic_0.47": stories.ANTHROPIC_CLIENT,
    "traceloop-anthropic_0.62": stories.ANTHROPIC_CLIENT,
    "anthropic_openinference_0.1": stories.ANTHROPIC_CLIENT,  # thoughts in the raw response alone
    # one result in the raw request alone
    "anthropic_openinference_0.1_parallel": {"": stories.PARALLEL},
    "anthropic_openinference_stream": {"": stories.ANTHROPIC_CLIENT[""]},
    "google-genai_otel": {"": stories.GOOGLE_GENAI},
    "google-genai_0.4b0": stories.GOOGLE_GENAI_OLD,
    "openai_openinference_stream": {"": stories.ANTHROPIC_CLIENT[""]},
    "openinference_1.3_openai-agents": {"": stories.ANTHROPIC_CLIENT[""]},
    "traceloop_0.50_langgraph": {"": stories.LANGGRAPH[""]},
    "strands_1.0": stories.unthought(stories.STRANDS),
}
CASES = [(name, variant) for name, variants in STORIES.items() for variant in variants]
BOTH = ["nested", "siblings", "below_http"]


PAGE = Path(__file__).parents[2] / "docs" / "internals" / "framework-matrix.md"
TABLE_START = "<!-- what each way of writing spans gives: written by test_captures.py -->\n"
TABLE_END = "<!-- end -->\n"
GIVES = ("thought", "observation", "call ids", "offered tools", "answer", "tokens")


class CapturedRun(NamedTuple):
    """What became of one capture."""

    story: list[str]
    trajectories: int


class Built(NamedTuple):
    """What became of all captures: the rows of each table, and each capture's traces."""

    steps: list[Row]
    trajectories: list[Row]
    agents: list[Row]
    traces: dict[str, list[str]]

    def steps_of(self, name: str) -> list[Row]:
        """Return the steps of a capture, in their order."""
        return [step for step in self.steps if step["trace_id"] in self.traces[name]]

    def run_of(self, name: str) -> Row:
        """Return the only trajectory of a capture."""
        traces = self.traces[name]
        (run,) = [each for each in self.trajectories if each["trace_id"] in traces]
        return run


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """All captures, landed together and built at once."""
    lake = Lake.create(tmp_path_factory.mktemp("captures") / "lake")
    names = [name + variant for name, variant in CASES]
    names += [f"openai-agents_both_{placing}" for placing in BOTH]
    land(lake, *map(capture, names), seq=0)
    land_logs(lake, *(log for name in names for log in logs_of(name)))
    build(lake)
    ids = rows(lake, "SELECT wal_seq, list(DISTINCT trace_id) AS ids FROM spans GROUP BY 1")
    return Built(
        rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"),
        rows(lake, "SELECT * FROM trajectories ORDER BY trajectory_id"),
        rows(lake, "SELECT * FROM agents ORDER BY trajectory_id, agent_span_id"),
        {names[row["wal_seq"]]: row["ids"] for row in ids},
    )


@pytest.fixture(scope="module")
def told(built: Built) -> dict[str, CapturedRun]:
    """What each capture tells, by its name."""
    return {
        name: CapturedRun(
            [line(step) for step in built.steps_of(name)],
            sum(run["trace_id"] in ids for run in built.trajectories),
        )
        for name, ids in built.traces.items()
    }


def _gives(steps: list[Row], run: Row) -> list[bool]:
    """Return which of GIVES one run has."""
    calls = [step for step in steps if step["kind"] == "tool_call"]
    kinds = {step["kind"] for step in steps}
    return [
        "thought" in kinds,
        "observation" in kinds,
        any(call["tool_call_id"] for call in calls),
        bool(run["offered_tools"]),
        bool(run["final_answer"]),
        run["input_tokens"] is not None,
    ]


def _table(built: Built) -> str:
    lines = [f"| captured | {' | '.join(GIVES)} |", f"|---|{'---|' * len(GIVES)}"]
    for name in sorted(STORIES):
        given_by = _gives(built.steps_of(name), built.run_of(name))
        cells = ["yes" if given else "–" for given in given_by]  # noqa: RUF001
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_page_says_what_each_way_of_writing_spans_gives(built: Built) -> None:
    """The table of the page is the captures' own; WRITE_TABLE=1 writes it anew."""
    before, rest = PAGE.read_text("utf-8").split(TABLE_START)
    table, after = rest.split(TABLE_END, 1)
    if os.environ.get("WRITE_TABLE"):
        PAGE.write_text(before + TABLE_START + _table(built) + TABLE_END + after, "utf-8")
        return
    assert table == _table(built)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_capture_tells_its_story(told: dict[str, CapturedRun], name: str, variant: str) -> None:
    """Each captured trace is one trajectory with exactly these steps."""
    assert told[name + variant] == (STORIES[name][variant], 1)


COMPARED = (
    "kind",
    "role",
    "tool_name",
    "arguments",
    "result",
    "content",
    "status",
    "status_source",
    "offered",
)
"""What steps are compared by."""


@pytest.mark.parametrize("variant", ["", "__halluc", "__toolerror"])
@pytest.mark.parametrize("framework", ["langgraph", "openai-agents"])
def test_instrumentations_agree(built: Built, framework: str, variant: str) -> None:
    """All instrumentations of one program tell one story, but for thoughts that one cannot see."""
    names = [name + variant for name in STORIES if name.startswith(framework)]
    seen = [[step for step in built.steps_of(name) if step["kind"] != "thought"] for name in names]
    told = [[[step[key] for key in COMPARED] for step in steps] for steps in seen]

    assert len(told) > 1
    assert all(each == told[0] for each in told)
    said = ("agent_name", "user_input", "final_answer")
    assert len({tuple(built.run_of(name)[key] for key in said) for name in names}) == 1


@pytest.mark.parametrize("placing", BOTH)
def test_two_instrumentations_at_once_are_one_trajectory(built: Built, placing: str) -> None:
    """Parallel calls that two instrumentations recorded, nested or side by side, count once."""
    name = f"openai-agents_both_{placing}"

    assert [line(step) for step in built.steps_of(name)] == [
        THOUGHT,
        f"{CALL} ok",
        "observation 22C in Paris",
        'tool_call get_weather {"city":"Rome"} ok',
        "observation 22C in Rome",
        ANSWER,
    ]
    expected = {
        "agent_name": "WeatherAgent",
        "llm_call_count": 2,
        "tool_call_count": 2,
        "input_tokens": 100,
        "output_tokens": 20,
        "dialects": ["openinference", "otel_genai"],
    }
    run = built.run_of(name)
    assert {key: run[key] for key in expected} == expected


def test_tokens_stand_on_the_first_step_of_a_model_call(built: Built) -> None:
    """A model call's tokens are counted once, on its first step."""
    steps = built.steps_of("openai-agents_openinference_responses")

    assert [(step["kind"], step["input_tokens"], step["reasoning_tokens"]) for step in steps] == [
        ("thought", 50, 4),
        ("tool_call", None, None),
        ("observation", None, None),
        ("thought", 50, 4),
        ("answer", None, None),
    ]


def test_offered_tools_are_told_in_one_form(built: Built) -> None:
    """Both spellings of tool definitions become name, description and parameters."""
    names = ("langgraph_openinference", "langgraph_otel")
    (offered,) = {built.run_of(name)["offered_tools"] for name in names}

    assert [tool["name"] for tool in json.loads(offered)] == ["get_weather", "unused_tool"]


@pytest.mark.parametrize(
    "name",
    [
        *("google-adk_default__toolerror", "crewai_two-agents", "openai-agents_both_below_http"),
        *("autogen_swarm", "agent-framework_handoff"),
    ],
)
def test_rows_of_a_trace_do_not_depend_on_its_neighbors(
    built: Built, tmp_path: Path, name: str
) -> None:
    """Of bare spans, several agents, two instrumentations at once; of all in `build/`."""
    beside = by_trace(built.steps, built.trajectories, built.agents)
    alone = rows_of(tmp_path, of_captures([name]).values())
    assert alone == {trace: beside[trace] for trace in built.traces[name] if trace in beside}

"""Traces of real frameworks become the same steps under every instrumentation."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .traces import Row, capture, land, land_logs, line, logs_of, rows, story

CALL = 'tool_call get_weather {"city":"Paris"}'
MASKED = "An error occurred while running the tool. Please try again."
NOT_VALID = "Error: nope_tool is not a valid tool, try one of [get_weather, unused_tool]."
ANSWER = "answer It is 22C in Paris."
THOUGHT = "thought I should look this up."

# LangGraph drops the model's reasoning before any instrumentation can see it.
LANGGRAPH = {
    "": [f"{CALL} ok", "observation 22C in Paris", ANSWER],
    "__halluc": [
        'tool_call nope_tool {"city":"Paris"} not_executed',
        f"observation {NOT_VALID}",
        ANSWER,
    ],
    "__toolerror": [f"{CALL} error"],
}
LANGFUSE_SDK = {
    "": LANGGRAPH[""],
    "__halluc": [
        LANGGRAPH["__halluc"][0],
        "observation Error: nope_tool is not a valid tool, try one of [get_weather].",
        ANSWER,
    ],
    "__toolerror": [f"{CALL} error", "observation Error: weather backend down", ANSWER],
}
OPENAI_AGENTS = {
    "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", THOUGHT, ANSWER],
    "__halluc": [THOUGHT, 'tool_call nope_tool {"city":"Paris"} not_executed'],
    "__toolerror": [THOUGHT, f"{CALL} error", f"observation {MASKED}", THOUGHT, ANSWER],
}
# Here a thought is told by the input of the next model call alone: what no call follows is lost.
OPENAI_AGENTS_OTEL = {
    "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", ANSWER],
    "__halluc": ['tool_call nope_tool {"city":"Paris"} not_executed'],
    "__toolerror": [THOUGHT, f"{CALL} error", f"observation {MASKED}", ANSWER],
}
LAST_THOUGHT = "thought I have the answer now."
# Python's print of the items of a response, of which the last one counts alone if it is a text.
OPENAI_AGENTS_V2 = OPENAI_AGENTS_OTEL | {
    "__halluc": [THOUGHT, *OPENAI_AGENTS_OTEL["__halluc"]],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        f"observation {MASKED} Error: weather backend down",
        ANSWER,
    ],
}
# No output of a model is recorded: what the next input repeats is known of it.
OPENAI_AGENTS_CHAT = {
    "": [f"{CALL} ok", "observation 22C in Paris"],
    "__toolerror": [f"{CALL} error", f"observation {MASKED}"],
}
STRANDS = {
    "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", LAST_THOUGHT, ANSWER],
    "__halluc": [
        THOUGHT,
        'tool_call nope_tool {"city":"Paris"} error',
        "observation Unknown tool: nope_tool",
        LAST_THOUGHT,
        ANSWER,
    ],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        "observation Error: weather backend down",
        LAST_THOUGHT,
        ANSWER,
    ],
}
UNKNOWN_NAME = "Unknown tool name: 'nope_tool'. Available tools: 'get_weather', 'unused_tool'"
PYDANTIC_AI = {
    "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", LAST_THOUGHT, ANSWER],
    "__halluc": [
        THOUGHT,
        'tool_call nope_tool {"city":"Paris"} not_executed',
        f"observation {UNKNOWN_NAME}",
        LAST_THOUGHT,
        ANSWER,
    ],
    "__toolerror": [THOUGHT, f"{CALL} error"],
}
NO_SUCH_TOOL = (
    "AI_NoSuchToolError: Model tried to call unavailable tool 'nope_tool'. "
    "Available tools: get_weather."
)
VERCEL = STRANDS | {
    "__halluc": [
        THOUGHT,
        'tool_call nope_tool {"city":"Paris"} not_executed',
        f"observation {NO_SUCH_TOOL}",
        LAST_THOUGHT,
        ANSWER,
    ],
}
READ = 'tool_call Read {"file_path":"app"}'
SAID = "message I should look this up."
# ADK tells a thought as text, which nothing sets apart.
ADK = {
    "": [SAID, f"{CALL} ok", 'observation {"report":"22C in Paris"}', ANSWER],
    "__toolerror": [SAID, f"{CALL} error"],
}
# What an unknown tool's span says is what the model gets to see, and a long text.
NOT_AVAILABLE = (
    "Invoking `nope_tool()` failed as no tool with that name is available. The tools you can call "
    "are: get_weather. You could retry, but it is IMPORTANT that you only call a tool from "
    "that list."
)
ADK_LEGACY = {
    "": [THOUGHT, f"{CALL} ok", 'observation {"result":"22C in Paris"}', LAST_THOUGHT, ANSWER],
    "__halluc": [
        THOUGHT,
        'tool_call nope_tool {"city":"Paris"} error',
        f'observation {{"error":"{NOT_AVAILABLE}"}}',
        LAST_THOUGHT,
        ANSWER,
    ],
    "__toolerror": [THOUGHT, f"{CALL} error"],
}
# Without content: names and ends of tools.
ADK_BARE = {
    "": ["tool_call get_weather ok"],
    "__halluc": ["tool_call nope_tool error"],
    "__toolerror": ["tool_call get_weather error"],
}
VERCEL_V6 = VERCEL | {
    "__halluc": [
        THOUGHT,
        'tool_call nope_tool {"city":"Paris"} not_executed',
        f"observation {NO_SUCH_TOOL.removeprefix('AI_NoSuchToolError: ')}",
        LAST_THOUGHT,
        ANSWER,
    ],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        "observation weather backend down",
        LAST_THOUGHT,
        ANSWER,
    ],
}
# Its own file tools; what the model asked for is told by nothing but the tools that ran.
CLAUDE_CODE = {
    "": [SAID, f"{READ} ok", "observation Paris: 22C\n", ANSWER],
    "__halluc": [SAID, ANSWER],
    "__toolerror": [SAID, f"{READ} error", ANSWER],
}
# Forms of old: messages as log records or in indexed keys, and nothing records tools.
OPENAI_OLD = {"": [f"{CALL} ok", "observation 22C in Paris", ANSWER]}


# The model's own reasoning, its call and its answer, and what became of the call in between.
def _told(halluc: list[str], toolerror: list[str]) -> dict[str, list[str]]:
    end = [LAST_THOUGHT, ANSWER]
    return {
        "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", *end],
        "__halluc": [THOUGHT, *halluc, *end],
        "__toolerror": [THOUGHT, *toolerror, *end],
    }


def _unthought(stories: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return stories without thoughts, as instrumentations tell them that drop reasoning."""
    return {
        variant: [step for step in steps if not step.startswith("thought")]
        for variant, steps in stories.items()
    }


NOPE = 'tool_call nope_tool {"city":"Paris"}'
# Pydantic AI 1 had a span for a tool that does not exist.
PYDANTIC_AI_V1 = PYDANTIC_AI | {
    "__halluc": [
        THOUGHT,
        f"{NOPE} error",
        f"observation {UNKNOWN_NAME}\n\nFix the errors and try again.",
        LAST_THOUGHT,
        ANSWER,
    ]
}
LOGFIRE_OPENAI = _told(
    [f"{NOPE} not_executed", "observation Error: no such tool"],
    [f"{CALL} error", "observation Error: weather backend down"],
)
AGENT_FRAMEWORK = _unthought(
    _told(
        [f"{NOPE} not_executed", 'observation Error: Requested function "nope_tool" not found.'],
        [f"{CALL} error", "observation Error: Function failed."],
    )
)
ANTHROPIC = _told(
    [f"{NOPE} not_executed", "observation Error: Tool 'nope_tool' not found"],
    [f"{CALL} error", "observation ValueError('weather backend down')"],
)
# AutoGen's own spans hold names alone.
AUTOGEN = {
    "": ["tool_call get_weather ok"],
    "__halluc": [],
    "__toolerror": ["tool_call get_weather error"],
}
AUTOGEN_OPENAI = _told(
    [f"{NOPE} not_executed", "observation Error: tool 'nope_tool' not found in any workbench"],
    [f"{CALL} error", "observation weather backend down"],
)
CREWAI = _told(
    [f"{NOPE} not_executed", "observation Tool not found"],
    [f"{CALL} error", "observation Error executing tool: weather backend down"],
)
LLAMA_INDEX = _unthought(
    _told(
        [
            f"{NOPE} not_executed",
            "observation Tool nope_tool not found. Please select a tool that is available.",
        ],
        [f"{CALL} error", "observation weather backend down"],
    )
)
# Here the call of a tool that does not exist has a span.
LLAMA_INDEX_TRACELOOP = LLAMA_INDEX | {"__halluc": [f"{NOPE} error", *LLAMA_INDEX["__halluc"][1:]]}
# ReAct: the thought before the answer is text of LlamaIndex's own prompt.
LLAMA_INDEX_REACT = {
    variant: [
        THOUGHT,
        *steps[:-1],
        "thought I can answer without using any more tools. I'll use the user's language to "
        "answer",
        ANSWER,
    ]
    for variant, steps in LLAMA_INDEX.items()
}
ANSWER_TOOL = 'answer final_answer {"answer":"It is 22C in Paris."} It is 22C in Paris.'
# After its last step smolagents asks for an answer in words of its own.
GIVING_UP = [
    "message Based on the above, please provide an answer to the following user task:\n"
    "What is the weather in Paris?",
    THOUGHT,
    ANSWER,
]
RETRY = (
    "\nNow let's retry: take care not to repeat previous errors! If you have retried several "
    "times, try a completely different approach.\n"
)
FROM_TOOL = [f"{CALL} ok", "observation 22C in Paris"]
SMOLAGENTS = {
    "": [THOUGHT, *FROM_TOOL, LAST_THOUGHT, ANSWER_TOOL],
    "__halluc": [
        THOUGHT,
        f"{NOPE} not_executed",
        "observation Error:\nUnknown tool nope_tool, should be one of: get_weather, final_answer."
        + RETRY,
        *GIVING_UP,
    ],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        "observation Error:\nError executing tool 'get_weather' with arguments {'city': 'Paris'}: "
        "ValueError: weather backend down\nPlease try again or use another tool" + RETRY,
        *GIVING_UP,
    ],
}
# The model of a code agent sees what its code printed.
SMOLAGENTS_CODE = {
    "": [
        THOUGHT,
        f"{CALL} ok",
        "observation Execution logs:\n22C in Paris\nLast output from code snippet:\nNone",
        LAST_THOUGHT,
        ANSWER_TOOL,
    ],
    "__halluc": [
        THOUGHT,
        f"{NOPE} not_executed",
        "observation Error:\nCode execution failed at line 'report = nope_tool(city=\"Paris\")' "
        "due to: InterpreterError: Forbidden function evaluation: 'nope_tool' is not among the "
        "explicitly allowed tools or defined/imported in the preceding code" + RETRY,
        *GIVING_UP,
    ],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        "observation Error:\nCode execution failed at line 'report = get_weather(city=\"Paris\")' "
        "due to: ValueError: weather backend down" + RETRY,
        *GIVING_UP,
    ],
}
SMOLAGENTS_PLAN = {
    "": [
        THOUGHT,
        "plan 1. Call get_weather for Paris.\n2. Tell the answer.",
        "message Now proceed and carry out this plan.",
        *SMOLAGENTS[""],
    ]
}
# A server alone sees which tool was called, and whether that went well.
MCP_SERVER = {
    "": ["tool_call get_weather ok"],
    "__halluc": ["tool_call nope_tool error"],
    "__toolerror": ["tool_call get_weather error"],
}
# Traceloop's MCP spans hold what was called with what, and what it returned.
MCP_TRACELOOP = {
    "": FROM_TOOL,
    "__halluc": [f"{NOPE} error", "observation Unknown tool: nope_tool"],
    "__toolerror": [
        f"{CALL} error",
        "observation Error executing tool get_weather: weather backend down",
    ],
}
# That the tool failed, only the spans of MCP below the SDK's own say.
MCP_OPENAI_AGENTS = {
    "": [THOUGHT, *FROM_TOOL, LAST_THOUGHT, ANSWER],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        "observation Error calling tool 'get_weather': weather backend down",
        LAST_THOUGHT,
        ANSWER,
    ],
}
# The name that a model is offered is that of a plugin and its function.
SEMANTIC_KERNEL = _unthought(
    _told(
        [
            f"{NOPE} not_executed",
            "observation The tool call with name `nope_tool` is not part of the provided tools, "
            "please try again with a supplied tool call name and make sure to validate the name.",
        ],
        [
            f"{CALL} error",
            "observation An error occurred while invoking the function Weather-get_weather: "
            "weather backend down",
        ],
    )
)
SEMANTIC_KERNEL = {
    variant: [step.replace("call get_", "call Weather-get_") for step in steps]
    for variant, steps in SEMANTIC_KERNEL.items()
}
TRACELOOP_SDK = _told(
    [f"{NOPE} not_executed", "observation Error: no tool nope_tool"],
    [f"{CALL} error", "observation Error: weather backend down"],
)
# OpenInference's instrumentor takes ADK's own spans of model calls away.
ADK_OPENINFERENCE = {
    "": [f"{CALL} ok", 'observation {"result":"22C in Paris"}', ANSWER],
    "__halluc": [f"{NOPE} error", f'observation {{"error":"{NOT_AVAILABLE}"}}', ANSWER],
    "__toolerror": [f"{CALL} error"],
}
ADK_PARALLEL = [
    SAID,
    f"{CALL} ok",
    'observation {"result":"22C in Paris"}',
    'tool_call get_weather {"city":"Rome"} ok',
    'observation {"result":"22C in Rome"}',
    "message I have the answer now.",
    "answer It is 22C in Paris and 22C in Rome.",
]
AGNO = _told(
    [
        f"{NOPE} not_executed",
        "observation Error: The requested tool does not exist or is not available.",
    ],
    [f"{CALL} error", "observation weather backend down"],
)
# What the agents of one team say and do is one run.
HANDED_OVER = [*FROM_TOOL, ANSWER]
TEAM = [
    THOUGHT,
    *FROM_TOOL,
    LAST_THOUGHT,
    "message It is 22C in Paris.",
    LAST_THOUGHT,
    ANSWER,
]
ADOPTED = "message Transferred to weather_agent, adopting the role of weather_agent immediately."
# Its loop ended, a model call of its own answers, with a reason once more.
DSPY = {
    "": [THOUGHT, *FROM_TOOL, LAST_THOUGHT, LAST_THOUGHT, ANSWER],
    "__toolerror": [THOUGHT, f"{CALL} error", LAST_THOUGHT, LAST_THOUGHT, ANSWER],
}
# A loop written by hand: content blocks in indexed keys, results in the user's messages.
ANTHROPIC_CLIENT = _told(
    [f"{NOPE} not_executed", "observation Error: no tool nope_tool"],
    [f"{CALL} error", "observation Error: weather backend down"],
)
# Its responses have other ids than the calls, and parallel ones each other's.
GOOGLE_GENAI = [
    THOUGHT,
    f"{CALL} ok",
    'observation {"result":"22C in Paris"}',
    'tool_call get_weather {"city":"Rome"} ok',
    'observation {"result":"22C in Rome"}',
    LAST_THOUGHT,
    ANSWER,
]
# Its spans of tools and of the agent are all that there is.
AGNO_TRACELOOP = {
    "": [*FROM_TOOL, ANSWER],
    "__toolerror": [f"{CALL} error", "observation weather backend down", ANSWER],
}
LOGFIRE_AGENTS = {
    "": ANTHROPIC_CLIENT[""],
    "__halluc": [THOUGHT, f"{NOPE} not_executed"],
    "__toolerror": [THOUGHT, f"{CALL} error", f"observation {MASKED}", LAST_THOUGHT, ANSWER],
}
HANDOFF = "handoff transfer_to_weather_agent {}"
# Two calls at once.
PARALLEL = [
    THOUGHT,
    *FROM_TOOL,
    'tool_call get_weather {"city":"Rome"} ok',
    "observation 22C in Rome",
    LAST_THOUGHT,
    ANSWER,
]
# It runs tools by itself within one span, which tells the last answer alone.
GOOGLE_GENAI_OLD = {
    "": [*FROM_TOOL, LAST_THOUGHT, ANSWER],
    "__toolerror": [f"{CALL} error", LAST_THOUGHT, ANSWER],
}
# Before version 3 one span ran whatever a message requested, tools that do not exist too.
NOT_FOUND = "observation Tool 'nope_tool' not found. Available tools: get_weather"
HAYSTACK = _unthought(
    _told(
        [f"{NOPE} not_executed", NOT_FOUND],
        [
            f"{CALL} error",
            "observation Failed to invoke Tool `get_weather` with parameters {'city': 'Paris'}. "
            "Error: weather backend down",
        ],
    )
)
HAYSTACK_2 = HAYSTACK | {"__halluc": [f"{NOPE} error", NOT_FOUND, ANSWER]}
# A step's input tells the names of tools alone, so what the model saw is known of spans.
MASTRA = _told([f"{NOPE} not_executed"], [f"{CALL} error"])
STORIES = {
    "agent-framework": AGENT_FRAMEWORK,
    "agent-framework_handoff": {"": ["handoff handoff_to_weather_agent {}", *HANDED_OVER]},
    "agno_openinference": AGNO,
    "agno_openinference_0.1.8": {"": AGNO[""]},  # outputs of models in the raw response alone
    "agno_traceloop": AGNO_TRACELOOP,
    "anthropic-sdk_native": ANTHROPIC,
    "autogen_native": AUTOGEN,
    "autogen_openinference": AUTOGEN_OPENAI,
    "autogen_swarm": {"": ["handoff transfer_to_weather_agent {}", ADOPTED, *HANDED_OVER]},
    "claude-code": CLAUDE_CODE,
    "crewai_openinference": CREWAI,
    "crewai_two-agents": {"": TEAM},
    "dspy_openinference": DSPY,
    "google-adk_content": ADK,
    "google-adk_default": ADK_BARE,
    "google-adk_legacy": ADK_LEGACY,
    "google-adk_openinference": ADK_OPENINFERENCE,
    "google-adk_parallel": {"": ADK_PARALLEL},
    "google-adk_schema1": ADK_LEGACY,
    "google-adk_stream": {"": [*ADK_PARALLEL[:3], ADK_PARALLEL[5], ANSWER]},
    "haystack_2.19": HAYSTACK_2,
    "haystack_3.4": HAYSTACK,
    "langfuse-sdk": LANGFUSE_SDK,
    "langgraph_openinference": LANGGRAPH,
    "langgraph_langsmith": LANGGRAPH,
    "langgraph_otel": LANGGRAPH,
    "langgraph_traceloop": LANGGRAPH,
    "llama-index_function": LLAMA_INDEX,
    "llama-index_react": LLAMA_INDEX_REACT,
    "llama-index_traceloop": LLAMA_INDEX_TRACELOOP,
    "logfire_openai": LOGFIRE_OPENAI,
    "logfire_openai-agents": LOGFIRE_AGENTS,
    "logfire_openai-agents_chat": {"": LOGFIRE_AGENTS[""]},
    "logfire_openai-agents_handoff": {"": [THOUGHT, HANDOFF, *LOGFIRE_AGENTS[""]]},
    "laminar_0.8": {"": ANTHROPIC_CLIENT[""]},  # read as an unknown framework
    "mastra_0.24": {"": ANTHROPIC_CLIENT[""]},
    "mastra_1.71": MASTRA,
    "mcp_fastmcp": MCP_SERVER,
    "mcp_openai-agents": MCP_OPENAI_AGENTS,
    "mcp_server": MCP_SERVER,
    "mcp_traceloop": MCP_TRACELOOP,
    "openai-agents_openinference_responses": OPENAI_AGENTS,
    "openai-agents_otel_responses": OPENAI_AGENTS_OTEL,
    "otel-events_openai-v2": OPENAI_OLD,
    "pydantic-ai_cut": {"": PYDANTIC_AI[""]},  # attributes of 200 characters at most
    "pydantic-ai_hybrid": PYDANTIC_AI,
    "pydantic-ai_v1": PYDANTIC_AI_V1,
    "pydantic-ai_v2": PYDANTIC_AI,
    "pydantic-ai_v3": {"": PYDANTIC_AI[""]},
    "pydantic-ai_v4": {"": PYDANTIC_AI[""]},
    "pydantic-ai_v5": PYDANTIC_AI,
    "pydantic-ai_v6": {variant: PYDANTIC_AI[variant] for variant in ("", "__halluc")},
    "semantic-kernel": SEMANTIC_KERNEL,
    "smolagents_code": SMOLAGENTS_CODE,
    "smolagents_plan": SMOLAGENTS_PLAN,
    "smolagents_tool": SMOLAGENTS,
    "strands_agentcore": STRANDS,  # its messages moved into log records
    "strands_agentcore_latest": {"": STRANDS[""]},
    "strands_default": STRANDS,
    "strands_latest": STRANDS,
    "strands_openinference": STRANDS,
    "traceloop-openai_0.40_flattened": OPENAI_OLD,
    "traceloop-sdk": TRACELOOP_SDK,
    "vercel-ai_v6": VERCEL_V6,
    "vercel-ai_v6_stream": {"": VERCEL[""]},
    "vercel-ai_v7_legacy": VERCEL,
    "vercel-ai_v7_otel": VERCEL,
    "otel-v2_openai-agents": OPENAI_AGENTS_V2,
    "traceloop_openai-agents_chat": OPENAI_AGENTS_CHAT,
    "traceloop-anthropic_0.47": ANTHROPIC_CLIENT,
    "traceloop-anthropic_0.62": ANTHROPIC_CLIENT,
    "anthropic_openinference_0.1": ANTHROPIC_CLIENT,  # thoughts in the raw response alone
    "anthropic_openinference_0.1_parallel": {"": PARALLEL},  # one result in the raw request alone
    "anthropic_openinference_stream": {"": ANTHROPIC_CLIENT[""]},
    "google-genai_otel": {"": GOOGLE_GENAI},
    "google-genai_0.4b0": GOOGLE_GENAI_OLD,
    "openai_openinference_stream": {"": ANTHROPIC_CLIENT[""]},
    "openinference_1.3_openai-agents": {"": ANTHROPIC_CLIENT[""]},
    "traceloop_0.50_langgraph": {"": LANGGRAPH[""]},
    "strands_1.0": _unthought(STRANDS),
}
CASES = [(name, variant) for name, variants in STORIES.items() for variant in variants]
BOTH = ["nested", "siblings", "below_http"]


README = Path(__file__).parents[2] / "queries" / "README.md"
TABLE_START = "<!-- what each way of writing spans gives: written by test_captures.py -->\n"
TABLE_END = "<!-- end -->\n"
GIVES = ("thought", "observation", "call ids", "offered tools", "answer", "tokens")


class Told(NamedTuple):
    """What became of one capture."""

    story: list[str]
    trajectories: int


class Built(NamedTuple):
    """What became of all captures: the rows of both tables, and each capture's traces."""

    steps: list[Row]
    trajectories: list[Row]
    traces: dict[str, list[str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """All captures, landed together and built at once."""
    lake = Lake.create(tmp_path_factory.mktemp("captures") / "lake")
    names = [name + variant for name, variant in CASES]
    land(lake, *map(capture, names), seq=0)
    land_logs(lake, *(log for name in names for log in logs_of(name)))
    build(lake)
    ids = rows(lake, "SELECT wal_seq, list(DISTINCT trace_id) AS ids FROM spans GROUP BY 1")
    return Built(
        rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"),
        rows(lake, "SELECT * FROM trajectories"),
        {names[row["wal_seq"]]: row["ids"] for row in ids},
    )


@pytest.fixture(scope="module")
def told(built: Built) -> dict[str, Told]:
    """What each capture tells, by its name."""
    return {
        name: Told(
            [line(step) for step in built.steps if step["trace_id"] in ids],
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
        (run,) = [each for each in built.trajectories if each["trace_id"] in built.traces[name]]
        steps = [step for step in built.steps if step["trace_id"] in built.traces[name]]
        cells = ["yes" if given else "–" for given in _gives(steps, run)]  # noqa: RUF001
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_readme_says_what_each_way_of_writing_spans_gives(built: Built) -> None:
    """The table of the README is the captures' own; WRITE_TABLE=1 writes it anew."""
    before, rest = README.read_text("utf-8").split(TABLE_START)
    table, after = rest.split(TABLE_END, 1)
    if os.environ.get("WRITE_TABLE"):
        README.write_text(before + TABLE_START + _table(built) + TABLE_END + after, "utf-8")
        return
    assert table == _table(built)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_capture_tells_its_story(told: dict[str, Told], name: str, variant: str) -> None:
    """Each captured trace is one trajectory with exactly these steps."""
    assert told[name + variant] == (STORIES[name][variant], 1)


@pytest.mark.parametrize("variant", ["", "__halluc", "__toolerror"])
@pytest.mark.parametrize("framework", ["langgraph", "openai-agents"])
def test_instrumentations_agree(lake: Lake, framework: str, variant: str) -> None:
    """All instrumentations of one program tell one story, but for thoughts that one cannot see."""
    names = [name for name in STORIES if name.startswith(framework)]
    land(lake, *(capture(name + variant) for name in names))
    build(lake)

    columns = "kind, role, tool_name, arguments, result, content, status, status_source, offered"
    trajectories = rows(
        lake,
        f"SELECT list(({columns}) ORDER BY step_index) FILTER (WHERE kind <> 'thought') AS steps "
        "FROM steps GROUP BY trajectory_id",
    )
    assert len(trajectories) == len(names)
    assert all(each == trajectories[0] for each in trajectories)
    said = "SELECT DISTINCT agent_name, user_input, final_answer FROM trajectories"
    assert len(rows(lake, said)) == 1


@pytest.mark.parametrize("placing", BOTH)
def test_two_instrumentations_at_once_are_one_trajectory(lake: Lake, placing: str) -> None:
    """Parallel calls that two instrumentations recorded, nested or side by side, count once."""
    land(lake, capture(f"openai-agents_both_{placing}"))
    build(lake)

    assert story(lake) == [
        THOUGHT,
        f"{CALL} ok",
        "observation 22C in Paris",
        'tool_call get_weather {"city":"Rome"} ok',
        "observation 22C in Rome",
        ANSWER,
    ]
    assert rows(
        lake,
        "SELECT agent_name, llm_call_count, tool_call_count, input_tokens, output_tokens, "
        "dialects FROM trajectories",
    ) == [
        {
            "agent_name": "WeatherAgent",
            "llm_call_count": 2,
            "tool_call_count": 2,
            "input_tokens": 100,
            "output_tokens": 20,
            "dialects": ["openinference", "otel_genai"],
        }
    ]


def test_tokens_stand_on_the_first_step_of_a_model_call(lake: Lake) -> None:
    """A model call's tokens are counted once, on its first step."""
    land(lake, capture("openai-agents_openinference_responses"))
    build(lake)

    assert rows(lake, "SELECT kind, input_tokens, reasoning_tokens FROM steps ORDER BY ALL") == [
        {"kind": "answer", "input_tokens": None, "reasoning_tokens": None},
        {"kind": "observation", "input_tokens": None, "reasoning_tokens": None},
        {"kind": "thought", "input_tokens": 50, "reasoning_tokens": 4},
        {"kind": "thought", "input_tokens": 50, "reasoning_tokens": 4},
        {"kind": "tool_call", "input_tokens": None, "reasoning_tokens": None},
    ]


def test_offered_tools_are_told_in_one_form(lake: Lake) -> None:
    """Both spellings of tool definitions become name, description and parameters."""
    land(lake, capture("langgraph_openinference"), capture("langgraph_otel"))
    build(lake)

    offered = rows(lake, "SELECT DISTINCT offered_tools FROM trajectories")
    assert len(offered) == 1
    names = "SELECT DISTINCT offered_tools::JSON ->> '$[*].name' AS names FROM trajectories"
    assert rows(lake, names) == [{"names": ["get_weather", "unused_tool"]}]

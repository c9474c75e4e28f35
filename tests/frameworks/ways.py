"""The ways in which the scenarios are run: a program under an instrumentation."""

from collections.abc import Mapping
from typing import NamedTuple

from .fake_model import SCENARIOS


class Way(NamedTuple):
    """A program of a framework, under an instrumentation."""

    framework: str
    """Names the environment, and the file of its packages."""
    program: str
    instrumentation: str
    left_out: Mapping[str, str] = {}
    """Scenarios that the framework has no means for, and why."""
    settings: Mapping[str, str] = {}
    """What its users set in the environment."""
    silent: tuple[str, ...] = ()
    """Scenarios that export nothing at all."""
    server: str = ""
    """What stands before the names of tools: that of their MCP server."""
    calls_alone: bool = False
    """Nothing holds its model calls together: each is a trace, and so a run, of its own."""

    @property
    def scenarios(self) -> list[str]:
        """The scenarios that it runs, in order."""
        return [name for name in SCENARIOS if name not in self.left_out]

    def __str__(self) -> str:
        return f"{self.program}_{self.instrumentation}"


NO_CODE = {"code_state": "writes no code", "code_fence": "writes no code"}
NO_PLANNING = {"text_plan": "has no planning of its own"}
NO_HAND_OFF = {"hand_off": "has no hand-offs"}
IN_NETWORKS = {"hand_off": "hands over in networks of agents only"}
NO_LAST_WORD = {"out_of_steps": "ends with an error when it runs out of steps"}
NO_END = {"out_of_steps": "just stops when it runs out of steps"}
TOOL_PLANNING = {"text_plan": "writes no plans in words"}
PLAIN = NO_CODE | NO_PLANNING | NO_LAST_WORD
REACT = NO_HAND_OFF | {
    "parallel_calls": "calls one tool at a time",
    "unknown_tool": "refuses what is not offered, and asks again in another form",
}
BY_HAND = NO_CODE | NO_PLANNING
ON_NODE = NO_CODE | NO_PLANNING | NO_HAND_OFF | NO_END
IN_HAYSTACK = NO_CODE | NO_PLANNING | NO_HAND_OFF | NO_END
SCHEMA_1 = {"ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1"}
SETTINGS: dict[str, Mapping[str, str]] = {
    "langsmith": {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_API_KEY": "not-a-key",
    },
    "latest": {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental,gen_ai_tool_definitions"
    },
    "schema1": SCHEMA_1,
    "schema1_openinference": SCHEMA_1,
}
# Else it reports its use to its vendor, and asks whether to send traces there.
CREWAI = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

# Its own spans tell contents only if asked to; else it reports its use to its vendor.
HAYSTACK = {"HAYSTACK_CONTENT_TRACING_ENABLED": "true", "HAYSTACK_TELEMETRY_ENABLED": "false"}

# The older of OpenTelemetry's two instrumentations has the content of messages in either.
IN_SPANS = {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"}
IN_EVENTS = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
# Anthropic's client writes spans itself: beside another instrumentation, each call twice.
NOT_OF_ITS_OWN = {"ANTHROPIC_OPEN_TELEMETRY": "false"}
OF_ITS_OWN = {"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content"}


def _ways(
    program: str,
    instrumentations: str,
    left_out: Mapping[str, str],
    framework: str | None = None,
    settings: Mapping[str, str] = {},
) -> list[Way]:
    return [
        Way(
            framework or program,
            program,
            each,
            left_out,
            {**settings, **SETTINGS.get(each, {})},
            ("crash", "crash_after_helper") if each == "langsmith" else (),  # it exports last
        )
        for each in instrumentations.split()
    ]


def _by_hand(
    program: str,
    instrumentations: str,
    framework: str = "raw_clients",
    *,
    alone: Mapping[str, str] = {},
    inside: Mapping[str, str] = {},
) -> list[Way]:
    """Return the ways of an agent without a framework: as it is, and with runs that it writes.

    Args:
        program: The program.
        instrumentations: Of its client.
        framework: Names its environment.
        alone: What is set where nothing holds the model calls together.
        inside: What is set where they are in a run that the program writes.
    """
    names = instrumentations.split()
    inside = {**inside, "OTEL_TRACES_EXPORTER": "none"}  # the program has its own exporter
    return [
        *(Way(framework, program, name, BY_HAND, alone, calls_alone=True) for name in names),
        *(Way(framework, program, f"{name}_tracegrade", BY_HAND, inside) for name in names),
    ]


WAYS = [
    *_ways("smolagents_tool", "openinference otel", NO_CODE | NO_HAND_OFF, "smolagents"),
    *_ways("smolagents_code", "openinference otel", NO_HAND_OFF, "smolagents"),
    *_ways("openai_agents", "openinference otel traceloop", PLAIN),
    *_ways("langgraph_agent", "openinference otel traceloop langsmith", PLAIN, "langgraph"),
    *_ways("pydantic_ai_agent", "v2 v5 openinference", PLAIN | NO_HAND_OFF, "pydantic_ai"),
    *_ways(
        "google_adk_agent",
        "own otel traceloop openinference schema1 schema1_openinference",
        PLAIN,
        "google_adk",
    ),
    *_ways(
        "strands_agent",
        "own latest openinference",
        NO_CODE | NO_PLANNING | NO_END | {"hand_off": "asks on the agent that handed over"},
        "strands",
    ),
    *_ways(
        "agno_agent", "openinference otel traceloop", NO_CODE | NO_PLANNING | NO_HAND_OFF, "agno"
    ),
    *_ways("dspy_agent", "openinference otel", NO_CODE | NO_PLANNING | REACT, "dspy"),
    *_by_hand("openai_client", "otel openinference traceloop"),
    *_by_hand("openai_client", "contrib", "openai_contrib", alone=IN_SPANS, inside=IN_SPANS),
    *_by_hand("openai_client", "events", "openai_contrib", alone=IN_EVENTS, inside=IN_EVENTS),
    *_by_hand("anthropic_client", "otel openinference traceloop", alone=NOT_OF_ITS_OWN),
    *_by_hand("anthropic_client", "native", alone=OF_ITS_OWN, inside=OF_ITS_OWN),
    *_ways("vercel_ai_agent", "otel legacy openinference", ON_NODE, "vercel_ai"),
    *_ways("vercel_ai_agent", "v6 v6_openinference", ON_NODE, "vercel_ai_6"),
    *(
        way._replace(server="mcp__travel__")
        for way in _ways("claude_agent", "own openinference", PLAIN | NO_HAND_OFF)
    ),
    *_ways("haystack_agent", "own openinference", IN_HAYSTACK, "haystack", HAYSTACK),
    # OpenLLMetry's instrumentation of Haystack fails with version 3: that of the client is left.
    Way("haystack", "haystack_agent", "traceloop", IN_HAYSTACK, HAYSTACK, calls_alone=True),
    *_ways("mastra_agent", "otel openinference", ON_NODE, "mastra"),
    *_ways(
        "crewai_crew",
        "openinference events traceloop own",
        NO_CODE | TOOL_PLANNING | NO_HAND_OFF,
        "crewai",
        CREWAI,
    ),
    *_ways(
        "llama_index_agent",
        "openinference otel traceloop own",
        NO_CODE | NO_PLANNING,
        "llama_index",
    ),
    *_ways("autogen_agent", "own otel traceloop openinference", PLAIN, "autogen"),
    *_ways("agent_framework_agent", "own otel traceloop openinference", PLAIN, "agent_framework"),
    *_ways("ag2_agent", "own otel traceloop openinference", PLAIN | IN_NETWORKS, "ag2"),
    *_ways("deep_agent", "openinference", PLAIN | NO_HAND_OFF, "deepagents"),
]

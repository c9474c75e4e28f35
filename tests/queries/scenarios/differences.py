"""How captures of the scenarios may differ from their stories, and why.

A framework's own behavior is not a fault of its spans. The same is true of data that its source
does not send though the words stand elsewhere in the capture.
"""

from fnmatch import fnmatch
from typing import NamedTuple

# Programs whose model is asked again for the answer when it requests no more.
ASKED_AGAIN = {"dspy_agent"}
# Programs whose model sees what its code printed, in which results are.
PRINTING = {"smolagents_code"}


class Difference(NamedTuple):
    """A difference between what ways tell of scenarios and their stories."""

    ways: str
    """Pattern of names, several with blanks between."""
    scenarios: str
    why: str
    missing: tuple[str, ...] = ()
    """Patterns of facts of the story, with `…` for any text."""
    told: tuple[str, ...] = ()
    """Patterns of other or additional data."""
    is_not_sent: bool = False
    """The source does not send it; else the framework did it so."""

    def concerns(self, way: str, scenario: str) -> bool:
        """Return whether it is one of this way in this scenario."""
        return any(fnmatch(way, each) for each in self.ways.split()) and any(
            fnmatch(scenario, each) for each in self.scenarios.split()
        )


DIFFERENCES: list[Difference] = [
    Difference(
        "smolagents_tool_otel",
        "parallel_calls",
        "which of two results is whose",
        ("observation 22C in …",),
        ("observation 22C in Paris\n22C in Rome",),
        is_not_sent=True,
    ),
    Difference(
        "smolagents_code_*",
        "parallel_calls code_*",
        "what several calls printed is seen as one",
        told=("observation Execution logs:…Paris…Rome…",),
    ),
    Difference(
        "smolagents_code_otel",
        "parallel_calls",
        "the end of each call",
        ("tool_call …", "observation …"),
        ("tool_call … unknown",),
        is_not_sent=True,
    ),
    Difference(
        "smolagents_code_otel",
        "code_*",
        "calls whose arguments are computed",
        ("tool_call get_weather …",),
        ("tool_call get_weather None ok",),
        is_not_sent=True,
    ),
    Difference(
        "smolagents_code_otel",
        "sub_agent crash_after_helper",
        "who called the agent: its spans are a trace of their own",
        ("called by run 1",),
        is_not_sent=True,
    ),
    Difference(
        "openai_agents_*",
        "failing_tool",
        "tells the model nothing of the error",
        ("observation …timetable is down…",),
        ("observation An error occurred while running the tool. Please try again.",),
    ),
    Difference(
        "openai_agents_*",
        "unknown_tool",
        "ends the run",
        (
            "models 3",
            "tokens 150 30",
            "observation …find_tram…",
            "thought Trains do, too.",
            "thought A train it is.",
            'tool_call find_train {"city":"museum"} ok',
            "observation 9:40 to museum",
            "answer Take the train at 9:40.",
        ),
        ("models 1", "tokens 50 10"),
    ),
    Difference(
        "openai_agents_*",
        "sub_agent crash_after_helper",
        "names the argument `input`",
        ('tool_call weather_helper {"task":…} ok',),
        ('tool_call weather_helper {"input":…} ok',),
    ),
    Difference(
        "openai_agents_otel",
        "several_turns",
        "thoughts, but in the next turn's trace",
        ("thought I have Paris.",),
        is_not_sent=True,
    ),
    Difference(
        "langgraph_agent_*",
        "hand_off",
        "the graph around both is the agent",
        ("agent travel_agent",),
        ("agent team",),
    ),
    Difference(
        "google_adk_agent_*",
        "*",
        "tells the model each result in an object",
        ("observation…",),
        ('observation {"result":…}',),
    ),
    Difference(
        "google_adk_agent_*",
        "unknown_tool",
        "calls the tool, which fails",
        ("tool_call find_tram … not_executed",),
        ("tool_call find_tram … error",),
    ),
    Difference(
        "google_adk_agent_*",
        "hand_off",
        "has one tool for all hand-overs",
        ("handoff transfer_to_weather_helper",),
        ("handoff transfer_to_agent",),
    ),
    Difference(
        "google_adk_agent_*",
        "sub_agent crash_after_helper",
        "names the argument `request`",
        ('tool_call weather_helper {"task":…} ok',),
        ('tool_call weather_helper {"request":…} ok',),
    ),
    Difference(
        "google_adk_agent_own",
        "*",
        "that a text is a thought",
        ("thought …", "answer Oslo has 22C and a fine harbour."),
        ("message …", "answer Now I say it.Oslo has 22C and a fine harbour."),
        is_not_sent=True,
    ),
    Difference(
        "google_adk_agent_traceloop",
        "streaming",
        "that a streamed text is a thought",
        ("thought Now I say it.", "answer Oslo has 22C and a fine harbour."),
        ("message The weather first.", "answer Now I say it.Oslo has 22C and a fine harbour."),
        is_not_sent=True,
    ),
    Difference(
        "google_adk_agent_openinference",
        "*",
        "model calls: the span of the agent is written over with each",
        ("models …", "tokens …", "thought …", "tool_call leave_earth …"),
        ("models 0",),
        is_not_sent=True,
    ),
    Difference(
        "autogen_agent_own",
        "*",
        "model calls, arguments and results",
        ("models …", "tool_call …", "observation…"),
        ("models 0", "tool_call …", "plan None"),
        is_not_sent=True,
    ),
    Difference(
        "autogen_agent_own autogen_agent_otel autogen_agent_traceloop",
        "hand_off",
        "what only messages between agents tell",
        ("asked …", "thought …", "answer …"),
        is_not_sent=True,
    ),
    Difference(
        "autogen_agent_* agent_framework_agent_*",
        "crash crash_after_helper",
        "the agent's name, which only its span would tell",
        ("agent travel_agent",),
        is_not_sent=True,
    ),
    Difference(
        "ag2_agent_own",
        "several_turns",
        "tells each part as a message of its own",
        ("asked And in Rome?\nAnswer in one word.",),
        ("asked Answer in one word.",),
    ),
    Difference(
        "ag2_agent_own",
        "large_and_empty",
        "the end of a large result",
        ("observation Page 1 of the guide.…",),
        ("observation Page 1 of the guide.……[truncated]",),
        is_not_sent=True,
    ),
    Difference(
        "ag2_agent_*",
        "sub_agent crash_after_helper",
        "names the argument `objective`",
        ('tool_call weather_helper {"task":…} ok',),
        ('tool_call weather_helper {"objective":…} ok',),
    ),
    Difference(
        "agent_framework_agent_*",
        "failing_tool",
        "tells the model nothing of the error",
        ("observation …timetable is down…",),
        ("observation Error: Function failed.",),
    ),
    Difference(
        "agent_framework_agent_*",
        "hand_off",
        "names the tool `handoff_to_weather_helper`",
        ("handoff transfer_to_weather_helper",),
        ("handoff handoff_to_weather_helper",),
    ),
    Difference(
        "google_adk_agent_schema1*",
        "crash crash_after_helper",
        "the last model call",
        ("models 2", "tokens 100 20", "tool_call leave_earth …"),
        ("models 1", "tokens 50 10"),
        is_not_sent=True,
    ),
    Difference(
        "agno_agent_*",
        "unknown_tool",
        "tells the model that there is no such tool, not which",
        ("observation …find_tram…",),
        ("observation Error: The requested tool does not exist or is not available.",),
    ),
    Difference(
        "agno_agent_traceloop",
        "streaming",
        "which spans of a stream are one run",
        ("models …", "tokens …", "thought …", "tool_call …", "observation …", "answer …"),
        ("4 runs instead of 1", "models 0"),
        is_not_sent=True,
    ),
    Difference(
        "strands_agent_*",
        "unknown_tool",
        "calls the tool, which fails",
        ("tool_call find_tram … not_executed",),
        ("tool_call find_tram … error",),
    ),
    Difference(
        "strands_agent_*",
        "sub_agent crash_after_helper",
        "names the argument `input`",
        ('tool_call weather_helper {"task":…} ok',),
        ('tool_call weather_helper {"input":…} ok',),
    ),
    Difference(
        "strands_agent_openinference",
        "several_turns",
        "that a message had two parts",
        ("asked And in Rome?\nAnswer in one word.",),
        ("asked And in Rome? Answer in one word.",),
        is_not_sent=True,
    ),
    Difference(
        "dspy_agent_*",
        "*",
        "thinks again before it answers",
        told=("thought So I answer.",),
    ),
    Difference(
        "dspy_agent_*",
        "*",
        "calls each agent by its class",
        ("agent …",),
        ("agent ReAct", "agent dspy.ReAct"),
    ),
    Difference(
        "openai_client_contrib openai_client_events anthropic_client_native",
        "unknown_tool",
        "which tools were offered",
        ("tool_call find_tram … not_executed",),
        ("tool_call find_tram … unknown",),
        is_not_sent=True,
    ),
    Difference(
        "anthropic_client_traceloop*",
        "streaming",
        "counts what a stream's first event counts once more",
        ("tokens …",),
        ("tokens 50 11", "tokens 100 22"),
    ),
    Difference(
        "vercel_ai_agent_legacy",
        "crash crash_after_helper",
        "a model call whose tools have not ended",
        ("models 2", "tokens 100 20", "tool_call leave_earth … unknown"),
        ("models 1", "tokens 50 10"),
        is_not_sent=True,
    ),
    Difference(
        "mastra_agent_*",
        "crash crash_after_helper",
        "tokens of a model call that did not end, and which of its texts is a thought",
        ("tokens 100 20", "thought The pole is …"),
        ("tokens 50 10", "message The pole is …"),
        is_not_sent=True,
    ),
    Difference(
        "mastra_agent_*",
        "unknown_tool",
        "the message about a tool that does not exist",
        ("observation …find_tram…",),
        is_not_sent=True,
    ),
    Difference(
        "mastra_agent_openinference",
        "unknown_tool",
        "which tools are offered",
        ("tool_call find_tram … not_executed",),
        ("tool_call find_tram … unknown",),
        is_not_sent=True,
    ),
    Difference(
        "mastra_agent_openinference",
        "large_and_empty",
        "that a result was empty",
        ("observation",),
        is_not_sent=True,
    ),
    Difference(
        "crewai_*",
        "unknown_tool",
        "tells the model no name",
        ("observation …find_tram…",),
        ("observation Tool not found",),
    ),
    Difference(
        "crewai_*",
        "large_and_empty",
        "tells the model which file a large result is in",
        ("observation Page 1 …",),
        ("observation The result of `read_guide` …",),
    ),
    Difference(
        "claude_agent_*",
        "*",
        "Claude Code is the agent",
        ("agent …",),
        ("agent Claude Code",),
    ),
    Difference(
        "claude_agent_*",
        "sub_agent crash_after_helper",
        "who called the agent: its spans are a trace of their own",
        ("called by run 1",),
        is_not_sent=True,
    ),
    Difference(
        "claude_agent_own",
        "todo",
        "what a plan says: lists and objects in arguments",
        ("plan …",),
        ('plan ["<nested>","<nested>"]',),
    ),
    Difference(
        "claude_agent_openinference",
        "*",
        "model calls: the agent's span tells what all of them said, and few of their tokens",
        ("models …", "tokens …"),
        ("models 1", "models 0", "tokens …"),
        is_not_sent=True,
    ),
    Difference(
        "claude_agent_openinference",
        "unknown_tool",
        "writes a span of a tool that does not exist",
        ("tool_call mcp__travel__find_tram … not_executed",),
        ("tool_call mcp__travel__find_tram … error",),
    ),
    Difference(
        "llama_index_agent_*",
        "hand_off",
        "has one tool for all hand-overs",
        ("handoff transfer_to_weather_helper",),
        ("handoff handoff",),
    ),
    Difference(
        "llama_index_agent_*",
        "out_of_steps",
        "does not run what it asked for last",
        ('tool_call get_weather {"city":"Oslo"} ok', "observation 22C in Oslo"),
        ('tool_call get_weather {"city":"Oslo"} not_executed',),
    ),
    Difference(
        "llama_index_agent_otel llama_index_agent_traceloop",
        "unknown_tool",
        "calls the tool, which fails",
        ("tool_call find_tram … not_executed",),
        ("tool_call find_tram … error",),
    ),
    Difference(
        "llama_index_agent_openinference llama_index_agent_traceloop",
        "streaming",
        "thoughts, but in what steps of the workflow pass on",
        ("thought …",),
        is_not_sent=True,
    ),
    Difference(
        "llama_index_agent_own",
        "*",
        "the agent's name, but in texts that may be cut before it",
        ("agent …",),
        ("agent FunctionAgent", "agent AgentWorkflow"),
        is_not_sent=True,
    ),
    Difference(
        "llama_index_agent_own",
        "streaming",
        "what a model said, but in texts that are cut",
        ("thought Now I say it.", "answer …"),
        is_not_sent=True,
    ),
    Difference(
        "llama_index_agent_otel",
        "hand_off",
        "a thought, but in what the other agent is given",
        ("thought This is for the helper.",),
        is_not_sent=True,
    ),
    Difference(
        "haystack_agent_openinference",
        "*",
        "the agent's name: that of its component is not told with its span",
        ("agent travel_agent",),
        is_not_sent=True,
    ),
    Difference(
        "deep_agent_*",
        "sub_agent crash_after_helper",
        "has one tool for all helpers",
        ('tool_call weather_helper {"task":…} ok',),
        ('tool_call task {"description":…,"subagent_type":"weather_helper"} ok',),
    ),
]

"""The steps of one weather agent, as each framework lets them be seen.

There are three variants: the tool answers (''), it fails (`__toolerror`), or the model asks for
one that does not exist (`__halluc`).
"""

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
# Here only the input of the next model call has the thought: what no call follows is lost.
OPENAI_AGENTS_OTEL = {
    "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", ANSWER],
    "__halluc": ['tool_call nope_tool {"city":"Paris"} not_executed'],
    "__toolerror": [THOUGHT, f"{CALL} error", f"observation {MASKED}", ANSWER],
}
LAST_THOUGHT = "thought I have the answer now."
# Python's print of the items of a response, only the last one counts, if it is a text.
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
# Its own file tools; only the tools that ran show the model's requests.
CLAUDE_CODE = {
    "": [SAID, f"{READ} ok", "observation Paris: 22C\n", ANSWER],
    "__halluc": [SAID, ANSWER],
    "__toolerror": [
        SAID,
        f"{READ} error",
        "observation File does not exist. Note: your current working directory is app",
        ANSWER,
    ],
}
# Forms of old: messages as log records or in indexed keys, and nothing records tools.
OPENAI_OLD = {"": [f"{CALL} ok", "observation 22C in Paris", ANSWER]}


def told(halluc: list[str], toolerror: list[str]) -> dict[str, list[str]]:
    """Return the model's reasoning, its call and its answer, and between what became of it."""
    end = [LAST_THOUGHT, ANSWER]
    return {
        "": [THOUGHT, f"{CALL} ok", "observation 22C in Paris", *end],
        "__halluc": [THOUGHT, *halluc, *end],
        "__toolerror": [THOUGHT, *toolerror, *end],
    }


def unthought(stories: dict[str, list[str]]) -> dict[str, list[str]]:
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
LOGFIRE_OPENAI = told(
    [f"{NOPE} not_executed", "observation Error: no such tool"],
    [f"{CALL} error", "observation Error: weather backend down"],
)
AGENT_FRAMEWORK = unthought(
    told(
        [f"{NOPE} not_executed", 'observation Error: Requested function "nope_tool" not found.'],
        [f"{CALL} error", "observation Error: Function failed."],
    )
)
ANTHROPIC = told(
    [f"{NOPE} not_executed", "observation Error: Tool 'nope_tool' not found"],
    [f"{CALL} error", "observation ValueError('weather backend down')"],
)
# AutoGen's own spans hold names alone.
AUTOGEN = {
    "": ["tool_call get_weather ok"],
    "__halluc": [],
    "__toolerror": ["tool_call get_weather error"],
}
AUTOGEN_OPENAI = told(
    [f"{NOPE} not_executed", "observation Error: tool 'nope_tool' not found in any workbench"],
    [f"{CALL} error", "observation weather backend down"],
)
CREWAI = told(
    [f"{NOPE} not_executed", "observation Tool not found"],
    [f"{CALL} error", "observation Error executing tool: weather backend down"],
)
LLAMA_INDEX = unthought(
    told(
        [
            f"{NOPE} not_executed",
            "observation Tool nope_tool not found. Please select a tool that is available.",
        ],
        [f"{CALL} error", "observation weather backend down"],
    )
)
# Here the call of a tool that does not exist has a span, and the thought that led to it is
# recorded.
LLAMA_INDEX_TRACELOOP = {
    variant: [THOUGHT, *(step.replace("not_executed", "error") for step in steps)]
    for variant, steps in LLAMA_INDEX.items()
}
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
# After its last step smolagents asks for an answer, in words that are not the user's.
GIVING_UP = [
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
SEMANTIC_KERNEL = unthought(
    told(
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
TRACELOOP_SDK = told(
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
AGNO = told(
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
# Its loop ended, a model call of its own answers, with a reason once more.
# It tells its model where a tool failed, line by line.
DSPY_TRACEBACK = """Execution error in get_weather:\x20
Traceback (most recent call last):
  File "dspy/predict/react.py", line 113, in forward
    trajectory[f"observation_{idx}"] = self.tools[pred.next_tool_name](**pred.next_tool_args)
                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "openinference/instrumentation/dspy/__init__.py", line 841, in __call__
    response = wrapped(*args, **kwargs)
               ^^^^^^^^^^^^^^^^^^^^^^^^
  File "dspy/utils/callback.py", line 377, in sync_wrapper
    return fn(instance, *args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "dspy/adapters/types/tool.py", line 192, in __call__
    result = self.func(**parsed_kwargs)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "p_many.py", line 12, in get_weather
    return weather(city)
           ^^^^^^^^^^^^^
ValueError: weather backend down"""
DSPY = {
    "": [THOUGHT, *FROM_TOOL, LAST_THOUGHT, LAST_THOUGHT, ANSWER],
    "__toolerror": [
        THOUGHT,
        f"{CALL} error",
        f"observation {DSPY_TRACEBACK}",
        LAST_THOUGHT,
        LAST_THOUGHT,
        ANSWER,
    ],
}
# A loop written by hand: content blocks in indexed keys, results in the user's messages.
ANTHROPIC_CLIENT = told(
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
# Before version 3 one span ran everything that a message requested, tools that do not exist too.
NOT_FOUND = "observation Tool 'nope_tool' not found. Available tools: get_weather"
HAYSTACK = unthought(
    told(
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
MASTRA = told(
    [f"{NOPE} not_executed"],
    [f"{CALL} error", "observation weather backend down"],
)

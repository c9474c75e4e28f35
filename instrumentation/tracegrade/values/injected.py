"""What a framework gives to a tool beside the model's arguments: its own view of the run.

A model neither writes nor sees it, and it holds ids, clocks and whole conversations, so that no
two calls would be equal. It is told by the class of the value, or, where that is an everyday
dict or text, by the parameter's annotation.

The classes are those of OpenAI Agents, Pydantic AI, LangChain, Google ADK, Strands, AutoGen,
LlamaIndex workflows, the Agent Framework, LiveKit Agents and MCP, as their packages define them.
"""

import re
from typing import Any, Final, get_args

from tracegrade.values.looks import bases_of, is_kind, short_name

_CONTEXTS: Final = frozenset(
    {
        "agent_framework.FunctionInvocationContext",
        "agents.RunContextWrapper",
        "autogen_core.CancellationToken",
        "fastmcp.Context",
        "google.Context",
        "langchain_core.AsyncCallbackManagerForToolRun",
        "langchain_core.CallbackManagerForToolRun",
        "langgraph.ToolRuntime",
        "livekit.RunContext",
        "mcp.Context",
        "pydantic_ai.RunContext",
        "strands.ToolContext",
        "workflows.Context",
    }
)
"""By package and name; what is derived from one is one, too."""
_ANNOTATION: Final = re.compile(
    r"\b(?:RunnableConfig|Injected(?:State|Store|ToolArg|ToolCallId))\b"
)


def is_context(kind: type) -> bool:
    """Return whether objects of a class are a framework's view of the run."""
    return any(short_name(base) in _CONTEXTS for base in bases_of(kind))


def asks_for_context(annotation: Any) -> bool:
    """Return whether a parameter is annotated as one that the framework fills."""
    if type(annotation) is str:
        return _ANNOTATION.search(annotation) is not None
    parts = [part for part in get_args(annotation) if part is not annotation]
    kind = annotation if is_kind(annotation, type) else type(annotation)
    names = (short_name(base) for base in bases_of(kind))
    return any(map(asks_for_context, parts)) or any(map(_ANNOTATION.search, names))

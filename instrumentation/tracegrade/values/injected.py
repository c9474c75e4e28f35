"""Recognizes arguments that a framework passes to a tool and the model never sees.

Such an argument holds ids, clocks and whole conversations, so with it no two calls would be equal.
It is recognized by the class of the value or, if that is an everyday dict or text, by the
parameter's annotation.

The classes are those of OpenAI Agents, Pydantic AI, LangChain, Google ADK, Strands, AutoGen,
LlamaIndex workflows, the Agent Framework, LiveKit Agents and MCP, as their packages define them.
"""

import re
from typing import Annotated, Any, Final, ForwardRef, Literal, get_args, get_origin

from tracegrade.values.native_inspection import bases_of, class_name, is_kind, module_name

_CONTEXTS: Final = {
    "AsyncCallbackManagerForToolRun": ("langchain_core",),
    "CallbackManagerForToolRun": ("langchain_core",),
    "CancellationToken": ("autogen_core",),
    "Context": ("fastmcp", "google.adk", "mcp.server", "workflows.context"),
    "FunctionInvocationContext": ("agent_framework",),
    "RunContext": ("livekit.agents", "pydantic_ai"),
    "RunContextWrapper": ("agents.run_context",),
    "ToolContext": ("google.adk", "strands"),
    "ToolRuntime": ("langgraph",),
}
"""By class name, the packages or modules that define such a class; derived classes count, too."""
_ANNOTATION: Final = re.compile(
    r"\b(?:RunnableConfig|Injected(?:State|Store|ToolArg|ToolCallId))\b"
)


_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")


def is_context(kind: type) -> bool:
    """Return whether objects of a class are a framework's view of the run."""
    return any(_is_defined_by_a_framework(base) for base in bases_of(kind))


def _is_defined_by_a_framework(kind: type) -> bool:
    module = module_name(kind)
    return any(
        module == package or module.startswith(f"{package}.")
        for package in _CONTEXTS.get(class_name(kind), ())
    )


def asks_for_context(annotation: Any) -> bool:
    """Return whether a parameter is annotated as one that the framework fills.

    Texts within an annotation describe a parameter or are its values, so they do not count.
    """
    if type(annotation) is ForwardRef:
        return asks_for_context(annotation.__forward_arg__)
    if type(annotation) is str:
        return _ANNOTATION.search(_QUOTED.sub("", annotation)) is not None
    origin = get_origin(annotation)
    if origin is Literal:
        return False
    parts = [part for part in get_args(annotation) if part is not annotation]
    if origin is Annotated:
        parts = [parts[0], *(part for part in parts[1:] if type(part) is not str)]
    kind = annotation if is_kind(annotation, type) else type(annotation)
    names = map(class_name, bases_of(kind))
    return any(map(asks_for_context, parts)) or any(map(_ANNOTATION.search, names))

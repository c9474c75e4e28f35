"""Which content blocks and items are of tools that the model's provider runs itself.

Such a block stays as it is in the message that holds it: builds read the forms of all providers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final = re.compile(
    r"server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result"
    r"|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call"
    r"|mcp_approval_request|builtin-tool-(call|return)"
)
_KEYS: Final = (
    "executable_code",
    "executableCode",
    "code_execution_result",
    "codeExecutionResult",
)


def is_hosted(block: Mapping[str, Any]) -> bool:
    """Return whether this is such a call, or what came of one.

    The types are OpenAI's (Responses), Anthropic's, LangChain's, Pydantic AI's and those of the
    GenAI conventions, the keys Google's; Vercel's AI SDK and Pydantic AI mark others.
    """
    if block.get("providerExecuted") is True or block.get("builtin") is True:
        return True
    if any(isinstance(block.get(key), dict) for key in _KEYS):
        return True
    kind = block.get("type", block.get("part_kind"))
    is_typed = isinstance(kind, str) and _TYPES.fullmatch(kind) is not None
    return is_typed and block.get("execution") != "client"

"""Reads tool results in any provider's format, with whether the source calls them failed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tracegrade_collector.importing.spellings import as_id, as_text, block_text, first
from tracegrade_collector.importing.trajectory import ToolResult

_KEYS: Final = ("toolResult", "functionResponse", "function_response")
_TYPES: Final = (
    "tool_result",
    "tool_call_response",
    "apply_patch_call_output",
    "computer_call_output",
    "custom_tool_call_output",
    "function_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "tool-result",
    "tool-error",
)
_OF_MESSAGE: Final = ("tool_call_id", "error", "is_error", "isError", "status")
"""Keys of a message that describe the one result that it holds as a block."""

_FAILED: Final = ("error", "failed", "failure")
_NO_ERROR: Final[tuple[Any, ...]] = (None, "", False, 0, {}, [])


def read_results(message: Mapping[str, Any]) -> Iterator[ToolResult]:
    """Yield the results in a tool's message: blocks, or the message itself.

    A denied call is a result; the approval of a call is not.
    """
    if message.get("type") == "mcp_approval_response":
        denied = {"call_id": message.get("approval_request_id"), "status": "failed"}
        if message.get("approve") is False:
            yield read_result({**denied, "content": message.get("reason") or "denied"})
        return
    blocks = first(message, "content", "parts")
    results = [result_in(block) for block in blocks] if isinstance(blocks, list) else []
    if not results or None in results:
        yield read_result(message)
        return
    status = {key: message.get(key) for key in _OF_MESSAGE} if len(results) == 1 else {}
    for result in results:
        yield read_result({**status, **(result or {})})


def result_in(block: Any) -> dict[str, Any] | None:
    """Return the result of a content block; None if it has none."""
    if not isinstance(block, dict):
        return None
    inner = next((block[key] for key in _KEYS if isinstance(block.get(key), dict)), None)
    return block if inner is None and block.get("type") in _TYPES else inner


def read_result(value: Mapping[str, Any]) -> ToolResult:
    """Return a result in any of the spellings; by default its error's text."""
    name = first(value, "name", "tool_name", "toolName")
    call_id = first(
        value, "tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "call_id", "id"
    )
    content = first(value, "content", "output", "response", "result", "value")
    if value.get("content") == []:  # no blocks
        content = ""
    typed = content.get("type") if isinstance(content, dict) else None
    if typed in _TYPED_OUTPUTS and isinstance(content, dict) and "value" in content:
        content = content["value"]  # Vercel's AI SDK
    text, error = _text(content), value.get("error")
    failed = (
        value.get("is_error") is True
        or value.get("isError") is True
        or value.get("status") in _FAILED
        or value.get("type") == "tool-error"
        or typed in _ERRORS
        or error not in _NO_ERROR
    )
    failure = None if error in _NO_ERROR or error is True else error_text(error)
    output = text if text.strip() else failure or text
    return ToolResult(
        as_id(call_id),
        name if isinstance(name, str) else None,
        output,
        failed,
        error=failure,
        of_user=value.get("requestor") == "user",  # tau2-bench
    )


_ERRORS: Final = ("error-text", "error-json")
_TYPED_OUTPUTS: Final = ("text", "json", *_ERRORS)


def error_text(error: Any) -> str:
    """Return the message of an error: a text, or an object's message; else all of it."""
    reason = first(error, "message", "msg", "text") if isinstance(error, dict) else error
    return as_text(reason if isinstance(reason, str) and reason else error)


def _text(content: Any) -> str:
    """Return a result as text; one in blocks of text as these, line by line."""
    if content is None:
        return ""
    blocks: Sequence[Any] = content if isinstance(content, list) else ()
    texts = [text for block in blocks if (text := block_text(block)) is not None]
    if texts and len(texts) == len(blocks):
        return "\n".join(texts)
    return as_text(content)

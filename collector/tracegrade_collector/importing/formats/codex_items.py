"""Items and events of a Codex rollout → messages, tool results and failures.

Codex writes most failures only into the text of a result: an exit code in the lines before the
output, or one of its fixed sentences. Events that end a call may also name its failure.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.session_part import without_images
from tracegrade_collector.importing.message_shapes import unpacked
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.spellings import as_id, as_text, block_text, first, quoted_word
from tracegrade_collector.importing.trajectory import Message, ToolResult

_EXIT_CODE: Final = re.compile(
    r"(?:(?:Chunk ID|Wall time|Total output lines|Original token count|Warning): [^\n]*\n)*"
    r"(?:Exit code:|Process exited with code) (-?\d+)(?:\n|$)"
)
_FAILED_TEXTS: Final = (
    "aborted by user",
    "apply_patch verification failed",
    "exec_command failed",
    "execution error: ",
    "failed to parse function arguments",
    "patch rejected",
    "rejected by user",
    "tool call error: ",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "write_stdin failed",
)
_FAILED: Final = ("failed", "declined", "errored")
_CONTEXT: Final = re.compile(r"\s*<([a-z][a-z_ ]*)\b[^>]*>.*</\1>\s*", re.DOTALL)
"""A message that Codex itself wrote in the user's place, such as `<environment_context>`."""

_GUIDES: Final = re.compile(r"# AGENTS\.md instructions")
_NOT_BY_USER: Final = "messages that the user did not write"
_RESULTS: Final = (
    "custom_tool_call_output",
    "function_call_output",
    "local_shell_call_output",
    "mcp_tool_call_output",
    "tool_search_output",
)


def read_item(item: JsonObject, ignored: Counter[str], *, of_subagent: bool) -> Message | None:
    """Return the message that an item is; None for an item that belongs to no trajectory.

    Args:
        item: As the Responses API writes it.
        ignored: Counts what is left out, by reason.
        of_subagent: Whether messages of other agents are the session's input.
    """
    kind = item.get("type")
    if kind in _RESULTS:
        return Message("tool", [_result(item, ignored)])
    if kind == "message" and item.get("role") in ("developer", "system"):
        ignored[_NOT_BY_USER] += 1
        return None
    if kind == "agent_message" and of_subagent:
        item = {"role": "user", "content": item.get("content")}
    elif kind == "tool_search_call" and item.get("execution") == "client":
        item = {**item, "type": "function_call", "name": "tool_search"}
    elif kind == "reasoning":
        item = _reasoning(item)
    elif kind not in _KINDS:
        ignored[f"items of type {quoted_word(kind)}"] += 1
        return None
    if item.get("role") == "user" and _is_context(item.get("content")):
        ignored[_NOT_BY_USER] += 1
        return None
    return next(iter(read_messages([item], ignored)), None)


_KINDS: Final = (
    "custom_tool_call",
    "function_call",
    "image_generation_call",
    "local_shell_call",
    "message",
    "tool_search_call",
    "web_search_call",
)


def failure_in(event: JsonObject) -> tuple[str, str] | None:
    """Return the id of the call that an event names as failed, and the reason."""
    inner = event.get("item")
    value = {**event, **inner} if isinstance(inner, dict) else event
    call_id = as_id(first(value, "call_id", "id"))
    if call_id is None:
        return None
    code, result = value.get("exit_code"), value.get("result")
    error = result.get("Err") if isinstance(result, dict) else None
    answer = result.get("Ok", result) if isinstance(result, dict) else {}
    if type(code) is int and code != 0:
        return call_id, f"exit code {code}"
    if error is not None:
        return call_id, as_text(error)
    is_error = isinstance(answer, dict) and answer.get("isError", answer.get("is_error")) is True
    is_failed = value.get("success") is False or value.get("status") in _FAILED
    return (call_id, "") if is_error or is_failed else None


def _reasoning(item: JsonObject) -> JsonObject:
    """Return a thought with the text of its content, else of its summary."""
    content = item.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [text for block in blocks if (text := block_text(block))]
    return {**item, "content": "\n".join(texts) or None}


def _is_context(content: Any) -> bool:
    """Return whether all texts of a message are Codex's own."""
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [text for block in blocks if (text := block_text(block)) is not None]
    return bool(texts) and all(_GUIDES.match(text) or _CONTEXT.fullmatch(text) for text in texts)


def _result(item: JsonObject, ignored: Counter[str]) -> ToolResult:
    call_id = as_id(first(item, "call_id", "id"))
    text, exit_code, success = _output(first(item, "output", "result", "tools"), ignored)
    error = None if exit_code in (None, 0) else f"exit code {exit_code}"
    if error is None and (success is False or _is_failure(text)):
        error = text.partition("\n")[0]
    return ToolResult(call_id, None, text, failed=error is not None, error=error or None)


def _is_failure(text: str) -> bool:
    return text == "aborted" or text.startswith(_FAILED_TEXTS)


def _output(output: Any, ignored: Counter[str]) -> tuple[str, int | None, Any]:
    """Return the text of an output, its exit code, and whether Codex says that it succeeded."""
    if isinstance(output, dict) and "content" in output:
        return (*_output(output["content"], ignored)[:2], output.get("success"))
    if isinstance(output, list):
        return *_with_code(_text_of(output, ignored)), None
    if isinstance(output, str):
        return *_with_code(output), None
    return "" if output is None else as_text(output), None, None


def _with_code(text: str) -> tuple[str, int | None]:
    value = unpacked(text) if text.startswith('{"output":') else None
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(metadata, dict):
        return as_text(value.get("output")), _whole(metadata)
    found = _EXIT_CODE.match(text)
    return text, int(found[1]) if found else None


def _whole(metadata: Mapping[str, Any]) -> int | None:
    code = metadata.get("exit_code")
    return code if type(code) is int else None


def _text_of(blocks: list[Any], ignored: Counter[str]) -> str:
    """Return the text of a list of blocks, without its images."""
    kept = without_images(blocks, ignored)
    texts = [(block_text(block), block) for block in kept]
    return "\n".join(as_text(block) if text is None else text for text, block in texts)

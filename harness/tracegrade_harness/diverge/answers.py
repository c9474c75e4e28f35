"""Brings answers from tapes and from live services into one form for comparison."""

import hashlib
import json
from typing import Any, Final

from tracegrade_harness.diverge.comparison import ServiceAnswer
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.proxy.messages import FAILED
from tracegrade_harness.proxy.tape import reply_from_json
from tracegrade_harness.tape.entries import TapeEntry

MCP: Final = "mcp:"
"""Prefix of the channels of MCP servers."""


def answer_on(entry: TapeEntry) -> ServiceAnswer:
    """Return the answer in an entry of a tape.

    Raises:
        SuiteUnusable: It has none that could be read.
    """
    try:
        reply = {**entry.reply}
        return _mcp_answer(reply) if entry.key.channel.startswith(MCP) else _http_answer(reply)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"the reply to '{entry.key.name}' is malformed; correct it, or record it again"
        raise SuiteUnusable(msg) from error


def _http_answer(reply: dict[str, Any]) -> ServiceAnswer:
    read = reply_from_json(reply)
    outcome = f"HTTP {read.status:d}"
    return ServiceAnswer(read.status >= FAILED, outcome, _content(read.body))


def _content(body: bytes) -> Any:
    """Return a body's JSON, else its text, else a digest of its bytes."""
    try:
        text = body.decode()
    except UnicodeDecodeError:  # a tape keeps the secrets of such a body
        return f"{len(body)} bytes, SHA-256 {hashlib.sha256(body).hexdigest()}"
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _mcp_answer(reply: dict[str, Any]) -> ServiceAnswer:
    if "error" in reply:
        error = reply["error"]
        code = error.get("code") if isinstance(error, dict) else None
        return ServiceAnswer(failed=True, outcome=f"MCP error {code}", content=error)
    if "result" not in reply:
        return ServiceAnswer(failed=True, outcome="no answer", content=None)
    result = reply["result"]
    failed = isinstance(result, dict) and result.get("isError") is True
    return ServiceAnswer(failed, "MCP isError" if failed else "MCP result", _opened(result))


def _opened(result: Any) -> Any:
    """Return a result; texts with a JSON object or list are replaced by it."""
    parts = result.get("content") if isinstance(result, dict) else None
    if not isinstance(parts, list):
        return result
    return {**result, "content": [_opened_part(part) for part in parts]}


def _opened_part(part: Any) -> Any:
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str) or text.lstrip()[:1] not in {"{", "["}:
        return part
    return {**part, "text": _content(text.encode(errors="replace"))}

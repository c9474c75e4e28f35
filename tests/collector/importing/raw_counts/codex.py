"""Counts a rollout of Codex that was not forked."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)$", re.MULTILINE)
ERRORS = ("unsupported ", "failed to parse function arguments", "aborted", "exec_command failed")


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    items = [row["payload"] for row in rows if row["type"] == "response_item"]
    plans = [each.get("call_id") for each in items if each.get("name") == "update_plan"]
    calls = [each for each in items if each["type"] in CALLS and each.get("call_id") not in plans]
    results = [each for each in items if each["type"].endswith("_output")]
    tokens = _tokens([row["payload"] for row in rows if row["type"] == "event_msg"])
    return RunCounts(
        runs=1,
        calls=len(calls),
        failed_calls=sum(_failed(each) for each in results if each["call_id"] not in plans),
        answers=sum(map(_is_answer, items, [*items[1:], {}])),
        input_tokens=sum(each["input_tokens"] for each in tokens),
        output_tokens=sum(each["output_tokens"] for each in tokens),
        thoughts=sum(map(_is_thought, items)),
    )


def _is_answer(item: Row, after: Row) -> bool:
    """Return whether the model said this last, before the user or the end."""
    speaks = item["type"] == "message" and item["role"] == "assistant"
    by_user = after.get("type", "message") == "message" and after.get("role") != "assistant"
    return bool(speaks and by_user)


def _is_thought(item: Row) -> bool:
    """Return whether an item has a thought in words, which most models encrypt."""
    parts = [*(item.get("summary") or []), *(item.get("content") or [])]
    return item["type"] == "reasoning" and any(each.get("text") for each in parts)


def _tokens(events: Sequence[Row]) -> list[Row]:
    """Return the tokens of each model call: those of the first event with a total."""
    infos = [each.get("info") or {} for each in events if each["type"] == "token_count"]
    measured = [each for each in infos if each.get("last_token_usage")]
    of_total: dict[str, Row] = {}
    for each in measured:
        of_total.setdefault(json.dumps(each["total_token_usage"]), each)
    return [each["last_token_usage"] for each in of_total.values()]


def _failed(item: Row) -> bool:
    """Return whether an output tells an exit code that is not 0, or one of Codex's errors."""
    text = item["output"] if isinstance(item["output"], str) else json.dumps(item["output"])
    if text.startswith('{"output"'):
        return bool(json.loads(text).get("metadata", {}).get("exit_code"))
    found = EXIT_CODE.search(text.partition("Output:\n")[0])
    return (found is not None and found[1] != "0") or text.startswith(ERRORS)

"""Counts a session file of Claude Code that was not forked, or the file of a subagent."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    messages = [each["message"] for each in rows if "message" in each and not _is_made(each)]
    said = [each for each in messages if each["role"] == "assistant"]
    by_model = {each.get("id", number): each for number, each in enumerate(said)}
    blocks = [block for each in messages for block in _blocks(each)]
    plans = [each["id"] for each in blocks if each.get("name") == "TodoWrite"]
    results = [each for each in blocks if each["type"] == "tool_result"]
    usages = [each.get("usage", {}) for each in by_model.values()]
    return RunCounts(
        runs=1,
        calls=sum(each["type"] == "tool_use" and each["id"] not in plans for each in blocks),
        failed_calls=sum(each.get("is_error") is True for each in results),
        answers=sum(_is_answer(each) for each in by_model.values()),
        input_tokens=sum(map(_input_tokens, usages)),
        output_tokens=sum(each.get("output_tokens", 0) for each in usages),
        thoughts=sum(bool(each.get("thinking")) for each in blocks),
    )


def _is_made(row: Row) -> bool:
    is_synthetic = row["message"].get("model") == "<synthetic>"
    return bool(row.get("isMeta") or row.get("isCompactSummary") or is_synthetic)


def _is_answer(message: Row) -> bool:
    """Return whether a message ended its turn; without a reason to stop, one of text alone."""
    kinds = {each["type"] for each in _blocks(message)}
    return bool(message.get("stop_reason", "end_turn" if kinds == {"text"} else "") == "end_turn")


def _blocks(message: Row) -> list[Row]:
    return message["content"] if isinstance(message["content"], list) else []


def _input_tokens(usage: Row) -> int:
    """Return the tokens of the input, with those read from a cache and written to it."""
    cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(int(usage.get(key) or 0) for key in ("input_tokens", *cached))

"""Counts a session of Qwen Code that was not forked, with its subagents."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    said = [row for row in rows if row["type"] == "assistant"]
    parts = [part for row in said for part in row["message"]["parts"]]
    usages = [row.get("usageMetadata") or {} for row in said]
    ran = [row for row in rows if row["type"] == "tool_result"]
    return RunCounts(
        runs=len({row.get("agentId") for row in rows if row["type"] != "system"}),
        calls=sum("functionCall" in part for part in parts),
        failed_calls=sum(map(_failed, ran)),
        answers=sum(map(_is_answer, said)),
        input_tokens=sum(each.get("promptTokenCount", 0) for each in usages),
        output_tokens=sum(map(_output, usages)),
        thoughts=sum(part.get("thought") is True and bool(part["text"]) for part in parts),
    )


def _is_answer(row: Row) -> bool:
    parts = row["message"]["parts"]
    speaks = any(part.get("text") and part.get("thought") is not True for part in parts)
    return speaks and not any("functionCall" in part for part in parts)


def _failed(row: Row) -> bool:
    responses = [part["functionResponse"]["response"] for part in row["message"]["parts"]]
    status = (row.get("toolCallResult") or {}).get("status")
    return status in ("error", "cancelled") or any("error" in each for each in responses)


def _output(usage: Row) -> int:
    output, thoughts = usage.get("candidatesTokenCount", 0), usage.get("thoughtsTokenCount", 0)
    is_whole = usage.get("promptTokenCount", 0) + output == usage.get("totalTokenCount")
    return int(output if is_whole else output + thoughts)

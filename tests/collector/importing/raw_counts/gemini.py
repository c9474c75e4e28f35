"""Counts a session of Gemini CLI: lines, the last of each id, or a document."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        rows = json.loads(text)["messages"]
    else:
        rows = [row for row in map(json.loads, text.splitlines()) if "type" in row]
    last = {row["id"]: row for row in rows}
    by_model = [row for row in last.values() if row["type"] == "gemini"]
    called = [call for row in by_model for call in row.get("toolCalls") or []]
    calls = [call for call in called if call["name"] != "write_todos"]
    tokens = [row.get("tokens") or {} for row in by_model]
    return RunCounts(
        runs=1,
        calls=len(calls),
        failed_calls=sum(call["status"] in ("error", "cancelled") for call in calls),
        answers=sum(bool(row["content"]) and not row.get("toolCalls") for row in by_model),
        input_tokens=sum(each.get("input", 0) + each.get("tool", 0) for each in tokens),
        output_tokens=sum(each.get("output", 0) + each.get("thoughts", 0) for each in tokens),
        thoughts=sum(len(row.get("thoughts") or []) for row in by_model),
    )

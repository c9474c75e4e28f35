"""Counts calls of Weave, one a line, whose ops declare the kind `llm` or `tool`."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    calls = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    tools = [call for call in calls if _kind(call) == "tool"]
    models = [call for call in calls if _kind(call) == "llm"]
    messages = [choice["message"] for call in models for choice in call["output"]["choices"]]
    usages = [usage for call in models for usage in call["summary"].get("usage", {}).values()]
    return RunCounts(
        runs=len({call["trace_id"] for call in calls}),
        calls=len(tools),
        failed_calls=sum(bool(call["exception"]) for call in tools),
        answers=sum(not message.get("tool_calls") for message in messages),
        input_tokens=sum(usage["prompt_tokens"] for usage in usages),
        output_tokens=sum(usage["completion_tokens"] for usage in usages),
    )


def _kind(call: dict[str, Any]) -> Any:
    return call["attributes"].get("weave", {}).get("kind")

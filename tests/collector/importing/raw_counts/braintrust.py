"""Counts events of Braintrust, one a line."""

import json
from pathlib import Path

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file without spans of scorers."""
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    kinds = [event["span_attributes"].get("type") for event in events]
    tools = [event for event, kind in zip(events, kinds, strict=True) if kind == "tool"]
    models = [event for event, kind in zip(events, kinds, strict=True) if kind == "llm"]
    messages = [choice["message"] for event in models for choice in event["output"]]
    return RunCounts(
        runs=len({event["root_span_id"] for event in events}),
        calls=len(tools),
        failed_calls=sum(bool(event.get("error")) for event in tools),
        answers=sum(not message.get("tool_calls") for message in messages),
        input_tokens=sum(event["metrics"].get("prompt_tokens", 0) for event in models),
        output_tokens=sum(event["metrics"].get("completion_tokens", 0) for event in models),
    )

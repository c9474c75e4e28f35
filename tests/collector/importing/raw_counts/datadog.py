"""Counts spans of answers of Datadog's Export API, one answer a line or a file."""

import json
from pathlib import Path

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    text = path.read_text("utf-8")
    lines = text.splitlines() if "\n{" in text else [text]
    spans = [each["attributes"] for line in lines for each in json.loads(line)["data"]]
    tools = [span for span in spans if span["span_kind"] == "tool"]
    models = [span for span in spans if span["span_kind"] == "llm"]
    messages = [message for span in models for message in span["output"]["messages"]]
    return RunCounts(
        runs=len({span["trace_id"] for span in spans}),
        calls=len(tools),
        failed_calls=sum(span["status"] == "error" for span in tools),
        answers=sum(not message.get("tool_calls") for message in messages),
        input_tokens=int(sum(span["metrics"].get("input_tokens", 0) for span in models)),
        output_tokens=int(sum(span["metrics"].get("output_tokens", 0) for span in models)),
    )

"""Counts traces of Opik's export, one a line or one a file."""

import json
from pathlib import Path

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    text = path.read_text("utf-8")
    lines = text.splitlines() if "\n{" in text else [text]
    traces = [json.loads(line) for line in lines]
    spans = [span for trace in traces for span in trace["spans"]]
    tools = [span for span in spans if span["type"] == "tool"]
    models = [span for span in spans if span["type"] == "llm"]
    messages = [choice["message"] for span in models for choice in span["output"]["choices"]]
    usages = [span["usage"] or {} for span in models]
    return RunCounts(
        runs=len(traces),
        calls=len(tools),
        failed_calls=sum(bool(span["error_info"]) for span in tools),
        answers=sum(not message.get("tool_calls") for message in messages),
        input_tokens=sum(usage.get("prompt_tokens", 0) for usage in usages),
        output_tokens=sum(usage.get("completion_tokens", 0) for usage in usages),
    )

"""Counts spans of Honeycomb's events: a list in JSON, or CSV."""

import csv
import json
from pathlib import Path

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    text = path.read_text("utf-8")
    rows = json.loads(text) if text.startswith("[") else list(csv.DictReader(text.splitlines()))
    tools = [row for row in rows if row.get("gen_ai.operation.name") == "execute_tool"]
    models = [row for row in rows if row.get("gen_ai.operation.name") == "chat"]
    outputs = [json.loads(row["gen_ai.output.messages"]) for row in models]
    return RunCounts(
        runs=len({row["trace.trace_id"] for row in rows}),
        calls=len(tools),
        failed_calls=sum(str(row["status_code"]) == "2" for row in tools),
        answers=sum(
            all(part["type"] == "text" for part in message["parts"])
            for messages in outputs
            for message in messages
        ),
        input_tokens=sum(int(row["gen_ai.usage.input_tokens"]) for row in models),
        output_tokens=sum(int(row["gen_ai.usage.output_tokens"]) for row in models),
    )

"""Counts runs of LangSmith, one a line: of LangChain, and of its clients around OpenAI's.

A call that no tool ran for is a call all the same, and did not fail: it was not executed.
"""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    runs: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    tools = [each for each in runs if each["run_type"] == "tool"]
    messages = [_message(each["outputs"]) for each in runs if each["run_type"] == "llm"]
    usages = [message.get("usage_metadata") or {} for message in messages]
    lost = sum(len(message.get("tool_calls") or []) for message in messages) - len(tools)
    return RunCounts(
        runs=len({each["trace_id"] for each in runs}),
        calls=len(tools) + lost,
        failed_calls=sum(bool(each.get("error")) for each in tools),
        answers=sum(not message.get("tool_calls") for message in messages),
        input_tokens=sum(usage.get("input_tokens", 0) for usage in usages),
        output_tokens=sum(usage.get("output_tokens", 0) for usage in usages),
        thoughts=sum(bool(message.get("reasoning_content")) for message in messages),
    )


def _message(outputs: Row) -> Row:
    if "generations" in outputs:
        message = outputs["generations"][0][0]["message"]
        return dict(message.get("kwargs", message))
    message = outputs["choices"][0]["message"]
    return {**message, "usage_metadata": outputs.get("usage_metadata")}

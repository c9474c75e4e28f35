"""Counts a session that OpenCode has exported."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    messages = json.loads(path.read_text("utf-8"))["messages"]
    by_model = [each for each in messages if each["info"]["role"] == "assistant"]
    by_model = [each for each in by_model if each["info"].get("summary") is not True]
    parts = [part for message in by_model for part in message["parts"]]
    called = [part for part in parts if part["type"] == "tool"]
    calls = [part for part in called if part["tool"] != "todowrite"]
    ends = [part["tokens"] for part in parts if part["type"] == "step-finish"]
    cached = sum(each["cache"]["read"] + each["cache"]["write"] for each in ends)
    return RunCounts(
        runs=1,
        calls=len(calls),
        failed_calls=sum(map(_failed, calls)),
        # One that the limit of its length has cut is an answer, too.
        answers=sum(message["info"].get("finish") in {"stop", "length"} for message in by_model),
        input_tokens=sum(each["input"] for each in ends) + cached,
        output_tokens=sum(each["output"] + each["reasoning"] for each in ends),
        thoughts=sum(part["type"] == "reasoning" and bool(part["text"].strip()) for part in parts),
    )


def _failed(call: Row) -> bool:
    state = call["state"]
    exit_code = state.get("metadata", {}).get("exit") or 0
    return state["status"] == "error" or call["tool"] == "invalid" or exit_code != 0

"""Counts files of mini-swe-agent 2, with models of Chat Completions, and lists of messages."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    document = json.loads(path.read_text("utf-8"))
    if isinstance(document, list):
        return _of_messages(document)
    messages: list[Row] = document["messages"]
    extras = [each.get("extra") or {} for each in messages]
    responses = [each["response"] for each in extras if each.get("response")]
    answers = [each["choices"][0]["message"] for each in responses]
    usages = [each.get("usage") or {} for each in responses]
    codes = [each["returncode"] for each in extras if "returncode" in each]
    return RunCounts(
        runs=1,
        calls=sum(len(each.get("tool_calls") or []) for each in answers),
        failed_calls=sum(code != 0 for code in codes),
        answers=int(bool(document["info"].get("submission"))),
        input_tokens=sum(each["prompt_tokens"] for each in usages),
        output_tokens=sum(each["completion_tokens"] for each in usages),
        thoughts=sum(bool(each.get("reasoning_content")) for each in answers),
    )


def _of_messages(messages: list[Row]) -> RunCounts:
    """Return the counts of messages alone, whose last one is what was submitted."""
    results = [each["content"] for each in messages if each["role"] == "user"][1:]
    return RunCounts(
        runs=1,
        calls=len(results),
        failed_calls=sum(
            text.startswith("<returncode>") and not text.startswith("<returncode>0<")
            for text in results
        ),
        answers=int(bool(messages[-1]["content"])),
    )

"""Counts trajectories of ATIF, with the sub-agents' inside them."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

_FAILURES = ("error", "exception", "traceback")


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    return _of_document(json.loads(path.read_text("utf-8")))


def _of_document(document: dict[str, Any]) -> RunCounts:
    total = RunCounts(runs=1)
    steps = [
        each
        for each in document["steps"]
        if each["source"] != "system"
        and not (each["source"] == "agent" and each.get("is_copied_context"))
    ]
    for number, step in enumerate(steps):
        is_last = number + 1 == len(steps) or steps[number + 1]["source"] == "user"
        if step["source"] == "agent":
            total = total.plus(_of_step(step, is_last=is_last))
    for inner in document.get("subagent_trajectories") or []:
        total = total.plus(_of_document(inner))
    return total


def _of_step(step: dict[str, Any], *, is_last: bool) -> RunCounts:
    metrics = step.get("metrics") or {}
    calls = step.get("tool_calls") or []
    results = (step.get("observation") or {}).get("results") or []
    return RunCounts(
        calls=len(calls),
        failed_calls=sum(_failed(each) for each in results if calls),
        answers=int(is_last and not calls and bool(_text(step["message"]))),
        input_tokens=metrics.get("prompt_tokens") or 0,
        output_tokens=metrics.get("completion_tokens") or 0,
        thoughts=int(bool(step.get("reasoning_content"))),
    )


def _text(message: Any) -> str:
    parts = message if isinstance(message, list) else [{"type": "text", "text": message}]
    return "".join(part["text"] for part in parts if part["type"] == "text")


def _failed(result: dict[str, Any]) -> bool:
    extra, text = result.get("extra") or {}, result.get("content")
    is_flagged = bool(extra.get("is_error") or extra.get("tool_result_is_error"))
    return is_flagged or (isinstance(text, str) and text.strip().lower().startswith(_FAILURES))

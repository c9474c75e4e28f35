"""Counts a log of Inspect, a document or an archive: a run for each sample with messages."""

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    total = RunCounts()
    for sample in _samples(path):
        if sample.get("messages"):
            total = total.plus(_of_sample(sample))
    return total


def _samples(path: Path) -> list[Row]:
    if path.suffix == ".json":
        return list(json.loads(path.read_text("utf-8")).get("samples") or [])
    with zipfile.ZipFile(path) as file:
        names = [name for name in file.namelist() if name.startswith("samples/")]
        return [json.loads(file.read(name)) for name in names]


def _of_sample(sample: Row) -> RunCounts:
    messages = sample["messages"]
    said = [each for each in messages if each["role"] == "assistant"]
    results = [each for each in messages if each["role"] == "tool"]
    usages = [output.get("usage") or {} for output in _outputs(sample, said)]
    scores = [each["value"] for each in (sample.get("scores") or {}).values()]
    return RunCounts(
        runs=1,
        calls=max(sum(len(each.get("tool_calls") or []) for each in said), len(results)),
        failed_calls=sum(bool(each.get("error")) for each in results),
        answers=sum(not each.get("tool_calls") for each in said),
        input_tokens=sum(map(_given, usages)),
        output_tokens=sum(usage.get("output_tokens", 0) for usage in usages),
        successes=int(bool(scores) and all(value in {"C", 1} for value in scores)),
        thoughts=sum(_reasons(each) for each in said),
    )


def _outputs(sample: Row, said: list[Row]) -> list[Row]:
    """Return the outputs of the agent's model calls, without those of a grader."""
    told = [each.get("id") or each["content"] for each in said]
    events = [each for each in sample.get("events") or [] if each["event"] == "model"]
    outputs = [each["output"] for each in events]
    if not events and len(said) == 1:  # before Inspect logged events
        return [sample["output"]]
    messages = [each["choices"][0]["message"] for each in outputs]
    keys = [each.get("id") or each["content"] for each in messages]
    return [output for output, key in zip(outputs, keys, strict=True) if key in told]


def _given(usage: Row) -> int:
    """Return the whole input: cached tokens stand beside it, unless the total lacks them."""
    given, cached = usage.get("input_tokens", 0), usage.get("input_tokens_cache_read") or 0
    cached += usage.get("input_tokens_cache_write") or 0
    is_whole = usage.get("total_tokens") == given + usage.get("output_tokens", 0)
    return int(given if is_whole else given + cached)


def _reasons(message: Row) -> bool:
    parts = message["content"] if isinstance(message["content"], list) else []
    return any(part["type"] == "reasoning" for part in parts)

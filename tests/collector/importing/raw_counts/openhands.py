"""Counts a file of events of OpenHands' SDK, one a line."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    events: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    actions = [each for each in events if each["kind"] == "ActionEvent"]
    results = [each for each in events if each["kind"] == "ObservationEvent"]
    requested = {each["tool_call_id"] for each in actions}
    stats = [each["value"] for each in events if each.get("key") == "stats"]
    models = stats[-1]["usage_to_metrics"].values() if stats else []
    tokens = [each["accumulated_token_usage"] for each in models]
    said = [
        each for each in events if each["kind"] == "MessageEvent" and each["source"] == "agent"
    ]
    ended = [each for each in actions if each["tool_name"] == "finish"]
    alone = [each for each in results if each["tool_call_id"] not in requested]
    return RunCounts(
        runs=1,
        calls=len(actions) - len(ended) + len(alone),
        failed_calls=sum(map(_failed, results)),
        answers=len(said) + len(ended),
        input_tokens=sum(each["prompt_tokens"] for each in tokens),
        output_tokens=sum(each["completion_tokens"] for each in tokens),
        thoughts=sum(bool(each["reasoning_content"]) for each in actions),
    )


def _failed(event: Row) -> bool:
    observation = event["observation"]
    return bool(observation["is_error"]) or observation.get("exit_code") not in {None, 0, -1}

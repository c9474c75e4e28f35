"""Counts files of SWE-agent."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

_FAILURES = ("error", "exception", "traceback")


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    document = json.loads(path.read_text("utf-8"))
    steps: list[dict[str, Any]] = document["trajectory"]
    stats = document["info"].get("model_stats") or {}
    acted = [each for each in steps if each["action"].strip()]
    return RunCounts(
        runs=1,
        calls=len(acted),
        failed_calls=sum(
            each["observation"].strip().lower().startswith(_FAILURES) for each in acted
        ),
        answers=int(bool(document["info"].get("submission"))),
        input_tokens=stats.get("tokens_sent") or 0,
        output_tokens=stats.get("tokens_received") or 0,
        thoughts=sum(bool(each["thought"].strip()) for each in steps),
    )

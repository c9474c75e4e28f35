"""Counts trajectories of OpenHands before its SDK, and records of its benchmarks, each a run."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]

_NO_CALLS = ("message", "finish", "think", "system", "recall", "change_agent_state", "null")
_NO_RESULTS = ("agent_state_changed", "finish", "think", "system", "recall", "null")


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file: a list of events, or records, one a line."""
    total, text = RunCounts(), path.read_text("utf-8")
    if text.startswith("["):
        return _of_run(json.loads(text), {})
    for record in map(json.loads, text.splitlines()):
        total = total.plus(_of_run(record["history"], record))
    return total


def _of_run(events: list[Row], record: Row) -> RunCounts:
    acted = [each for each in events if "action" in each and each.get("source") != "user"]
    seen = [each for each in events if "observation" in each and each.get("source") != "user"]
    results = [each for each in seen if each["observation"] not in _NO_RESULTS]
    lone = [each for each in results if each["observation"] == "error" and "cause" not in each]
    spoke = [each for each in acted if each["action"] == "message" and _is_agents(each)]
    ended = [each for each in acted if each["action"] == "finish" and _said(each)]
    tokens = record.get("metrics", {}).get("accumulated_token_usage") or _sums(acted)
    return RunCounts(
        runs=1,
        calls=sum(each["action"] not in _NO_CALLS for each in acted) + len(lone),
        failed_calls=sum(map(_failed, results)),
        answers=len(spoke) + len(ended),
        input_tokens=tokens.get("prompt_tokens", 0),
        output_tokens=tokens.get("completion_tokens", 0),
        successes=int(_report(record).get("resolved") is True),
        thoughts=sum(each["action"] != "finish" and bool(_said(each)) for each in acted),
    )


def _report(record: Row) -> Row:
    return (record.get("test_result") or {}).get("report") or {}


def _is_agents(event: Row) -> bool:
    return event.get("source") == "agent" or event.get("wait_for_response") is True


def _said(event: Row) -> Any:
    args = event.get("args", event)
    return args.get("final_thought") or args.get("thought")


def _sums(acted: list[Row]) -> dict[str, int]:
    known = [each.get("tool_call_metadata") or {} for each in acted]
    responses = [each.get("model_response") or {} for each in known]
    usages = {each.get("id"): each.get("usage") or {} for each in responses}.values()
    names = ("prompt_tokens", "completion_tokens")
    return {name: sum(each.get(name) or 0 for each in usages) for name in names}


def _failed(event: Row) -> bool:
    extras = event.get("extras") or event
    code = (extras.get("metadata") or extras).get("exit_code")
    refused = event["observation"] in ("edit", "read", "run_ipython") and event[
        "content"
    ].startswith("ERROR:\n")
    is_marked = event["observation"] == "error" or event.get("success") is False
    return is_marked or refused or extras.get("error") is True or code not in {None, 0, -1}

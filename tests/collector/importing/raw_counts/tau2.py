"""Counts results of tau2-bench in one file, or with a folder `simulations` next to it."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    results = json.loads(path.read_text("utf-8"))
    simulations = results.get("simulations") or [
        json.loads(each.read_text("utf-8")) for each in (path.parent / "simulations").glob("*")
    ]
    total = RunCounts()
    for simulation in simulations:
        total = total.plus(_of_simulation(simulation))
    return total


def _of_simulation(simulation: dict[str, Any]) -> RunCounts:
    messages = simulation.get("messages") or []
    by_agent = [each for each in messages if each["role"] == "assistant"]
    results = [each for each in messages if each["role"] == "tool"]
    results = [inner for each in results for inner in each.get("tool_messages") or [each]]
    results = [each for each in results if each["requestor"] == "assistant"]
    roles = [each["role"] for each in messages]
    first = roles.index("user") if "user" in roles else len(roles)
    tokens = [each.get("usage") or {} for each in by_agent]
    reward = (simulation.get("reward_info") or {}).get("reward")
    is_attempt = simulation["termination_reason"] != "infrastructure_error"
    return RunCounts(
        runs=1,
        calls=len(results),
        failed_calls=sum(each["error"] for each in results),
        answers=sum(
            1
            for each in messages[first:]
            if each["role"] == "assistant" and each["content"] and not each["tool_calls"]
        ),
        input_tokens=sum(each.get("prompt_tokens", 0) for each in tokens),
        output_tokens=sum(each.get("completion_tokens", 0) for each in tokens),
        successes=int(reward == 1 and is_attempt),
        thoughts=sum(bool(_thought(each)) for each in by_agent),
    )


def _thought(message: dict[str, Any]) -> Any:
    """Return what the model thought before a message, as LiteLLM returned it."""
    return ((message.get("raw_data") or {}).get("message") or {}).get("reasoning_content")

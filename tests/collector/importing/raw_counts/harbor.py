"""Counts a folder of a Harbor job: a run for each trial, with the trajectories of its agent.

Where the steps of a trial have no tokens, those of its result count.
"""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.atif import raw_counts as of_trajectory


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of the trials in one folder, which have their result."""
    total = RunCounts()
    for file in path.rglob("result.json"):
        result = json.loads(file.read_text("utf-8"))
        if "trial_name" in result:
            total = total.plus(_of_trial(file.parent, result))
    return total


def _of_trial(folder: Path, result: dict[str, Any]) -> RunCounts:
    total = RunCounts()
    for file in folder.rglob("trajectory.json"):
        total = total.plus(of_trajectory(file))
    if not total.input_tokens and not total.output_tokens:
        usage = result["agent_result"] or {}
        total = total._replace(
            input_tokens=usage.get("n_input_tokens") or 0,
            output_tokens=usage.get("n_output_tokens") or 0,
        )
    rewards = (result["verifier_result"] or {}).get("rewards") or {}
    return total._replace(runs=1, successes=int(rewards.get("reward") == 1))

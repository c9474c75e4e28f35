"""An agent with a fixed plan finds the first wrong step of a failed run, in at most four calls."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.explorer.lakes import explorer
from tests.explorer.mcp_server.planted import NEW, planted_lake, wrong_span
from tests.explorer.mcp_server.tool_calls import Caller, with_client

SEEDS = range(10)
MOST_CALLS = 4


class FoundStep(NamedTuple):
    """The answer of the agent."""

    span_id: str
    calls: int


async def ask_for_wrong_step(caller: Caller) -> FoundStep:
    """Find a failed run of the newer release, and the span of its first wrong step."""
    failed = await caller("search_runs", filter=f"release={NEW} outcome=failed", limit=1)
    run_id = failed.data["rows"][0]["trajectory_id"]
    why = (await caller("explain_failure", id=run_id)).data
    parted = why.get("nearest_success", {}).get("step_of_this_run")
    wrong = why.get("first_wrong_step") or parted or why["read_next"]["get_run"]
    at = {"first": wrong.get("step", wrong.get("first")), "count": 1}
    steps = (await caller("get_run", id=run_id, **at)).data["steps"]
    return FoundStep(steps[0]["span_id"], 3)


def finds(root: Path, seed: int) -> bool:
    """Return whether the agent finds the planted step of one lake."""
    lake, fault = planted_lake(root / str(seed), seed)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        answer = with_client(pages, ask_for_wrong_step)
    assert answer.calls <= MOST_CALLS
    return answer.span_id == wrong_span(fault)


def test_a_planted_step_is_found(tmp_path: Path) -> None:
    """Another tool than the task expects."""
    assert finds(tmp_path, 0)


@pytest.mark.slow
def test_planted_steps_are_found_in_nine_of_ten_lakes(tmp_path: Path) -> None:
    """Faults of five kinds at random places, half of them in lakes without expected calls."""
    found = [finds(tmp_path, seed) for seed in SEEDS]

    assert sum(found) >= 0.9 * len(found), found

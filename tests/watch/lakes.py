"""Scored lakes whose runs succeed or fail as a test says, day by day."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from tests.queries.traces import agent, land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification
from tracegrade_watch.rules.model import WatchFile

TASKS = """
version: 1
tools: {look: {effect: read}, pay: {effect: destructive}}
tasks:
  refund: {expected: [{decision: find, tool: look}]}
  cancel: {expected: [{decision: find, tool: look}]}
"""


class Day(NamedTuple):
    """The runs of one release on one day."""

    release: str
    day: int
    succeeded: int
    failed: int
    agent_name: str = "support"
    conversation: str | None = None
    """Of all of them; None if each is by itself."""
    arm: str | None = None
    """Arm of an experiment."""
    tool_name: str = "look"
    """Tool that each run calls; there is no other than `look` and `pay`."""


def land_days(lake: Lake, days: Sequence[Day], first_trace: int = 1) -> None:
    """Land the runs of days, each with an id of its own from the first."""
    trace = first_trace - 1
    for number, day in enumerate(days, first_trace):
        spans = []
        for place in range(day.succeeded + day.failed):
            trace += 1
            named: dict[str, Any] = {
                "tracegrade__task__id": ("refund", "cancel")[place % 2],
                "tracegrade__run__mode": "production",
                "tracegrade__outcome": "success" if place < day.succeeded else "failure",
            }
            if day.conversation:
                named["gen_ai__conversation__id"] = day.conversation
            if day.arm:
                named["experiment__arm"] = day.arm
            at = day.day * 86_400_000
            spans.append(agent(1, trace=trace, agent_name=day.agent_name, at=at, **named))
            spans.append(tool(2, 1, trace=trace, tool_name=day.tool_name, at=at + 1))
        body = request_of(spans, {"service.version": day.release})
        land(lake, body, seq=number, day=day.day)


def scored_lake(folder: Path, days: Sequence[Day]) -> Lake:
    """Return a lake with the runs of these days, scored."""
    lake = Lake.create(folder)
    land_days(lake, days)
    score_again(lake)
    return lake


def score_again(lake: Lake) -> None:
    """Score what is new in a lake."""
    tasks = lake.root.with_name(f"{lake.root.name}-tasks.yaml")
    tasks.write_text(TASKS)
    score(lake, usable_specification(tasks)[0])


def release_days(
    release: str, first_day: int, days: int, succeeded: int, failed: int
) -> list[Day]:
    """Return equal days of a release."""
    return [Day(release, first_day + day, succeeded, failed) for day in range(days)]


def rules(text: str, **defaults: object) -> WatchFile:
    """Return rules in YAML, without `version`."""
    values = {"version": 1, "defaults": defaults, "watch": yaml.safe_load(text)}
    return WatchFile.model_validate(values)

"""Chooses the tool calls after which a run is killed, from a baseline run."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from tracegrade_harness.suite.model import Point

POINTS: Final[tuple[Point, ...]] = ("early", "mid", "late")

Absence = Literal["no_calls", "first_call_writes", "no_writes"]
"""The reason why a run has no such point."""


class Boundary(NamedTuple):
    """The moment after a tool call returned, before any other event."""

    number: int
    """Number of tool calls that had returned, including this one."""
    tool: str
    arguments: str | None
    """Canonical JSON; None if the span has none."""
    wrote: bool
    """The call is declared to write, or the environment changed during it."""


def points(
    boundaries: Sequence[Boundary], planned_steps: int | None
) -> dict[Point, Boundary | Absence]:
    """Return the call after which each kill point is, or why there is none.

    Early is after the first call, unless that wrote. Mid is the first moment at which half of the
    plan's steps are done and something was written. Without a plan, it is after the first write.
    Late is after the last write. Mid and late can be one moment. Source: docs/metrics.md, section
    6.1.

    Args:
        boundaries: The boundaries of the whole run, in order.
        planned_steps: Steps of the plan from before the first call; None if there was none.
    """
    if not boundaries:
        return dict.fromkeys(POINTS, "no_calls")
    first = boundaries[0]
    writes = [boundary for boundary in boundaries if boundary.wrote]
    early: Boundary | Absence = "first_call_writes" if first.wrote else first
    if not writes:
        return {"early": early, "mid": "no_writes", "late": "no_writes"}
    half = (planned_steps or 0) / 2
    after_write = boundaries[boundaries.index(writes[0]) :]
    mid = next((boundary for boundary in after_write if boundary.number >= half), writes[-1])
    return {"early": early, "mid": mid, "late": writes[-1]}

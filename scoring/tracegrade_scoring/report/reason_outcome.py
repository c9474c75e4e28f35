"""Why runs of a release failed, as read from the lake."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReasonOutcome:
    """The number of failed runs with a reason as their first, and the first of these runs."""

    kind: str
    object: str | None
    """What it is about; None if nothing in particular."""
    key: str
    """The same for the reason in every release of the agent."""
    runs: int
    sentence: str
    """Sentence of the first of these runs."""
    trajectory_id: str
    step_trajectory_id: str | None
    """That run, or its sub-agent's, of the step."""
    step_index: int | None
    span_id: str | None

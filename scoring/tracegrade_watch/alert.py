"""An alert, and the evidence for it."""

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

AlertState: TypeAlias = Literal["firing", "acknowledged", "resolved"]

ID_DIGITS: Final = 12
"""Hex digits of an alert's id."""


@dataclass(frozen=True)
class Side:
    """The runs of one side of a comparison."""

    release: str | None
    runs: int
    """Attempts."""
    scored: int
    """Attempts for which the metric has a value."""
    value_sum: float
    """Sum of these values; for yes-or-no metrics the number of attempts with yes."""
    days: int
    """Dates with a value."""

    @property
    def mean(self) -> float | None:
        """Mean of the values; None without one."""
        return self.value_sum / self.scored if self.scored else None


@dataclass(frozen=True)
class TaskChange:
    """A task that both sides ran, and how far its mean moved."""

    task_id: str | None
    base_scored: int
    base_mean: float
    candidate_scored: int
    candidate_mean: float


@dataclass(frozen=True)
class DayMean:
    """The mean of one date of one side."""

    date: datetime.date
    release: str | None
    scored: int
    mean: float


@dataclass(frozen=True)
class Evidence:
    """Why an alert fires; numbers of the lake and text of the rules, no text of a trace."""

    statement: str
    """One sentence with the numbers, such as `success fell from 0.90 to 0.80: ...`."""
    rule_text: str
    """The rule, on one line, as the file has it."""
    resolves: str
    """What would resolve the alert, in one sentence."""
    ratio: float | None = None
    """Evidence ratio E of a statistical test; None for a fact."""
    threshold: float | None = None
    """Ratio from which the alert fires; None for a fact."""
    observed: float | None = None
    """Number that a fact rule looks at: a day's mean, hours, runs; None for a test."""
    limit: float | None = None
    """Limit of that number; None for a test."""
    base: Side | None = None
    candidate: Side | None = None
    tasks: tuple[TaskChange, ...] = ()
    """Tasks that moved most, at most five; the worst first."""
    days: tuple[DayMean, ...] = ()
    """Newest dates of both sides, at most sixty, the oldest first."""
    run_ids: tuple[str, ...] = ()
    """At most three trajectories that show the change; the newest first."""
    content: str | None = None
    """Words out of traces that belong to the sentence; they leave only where they are wanted."""
    note: str | None = None
    """Note of the person who acknowledged it."""


@dataclass(frozen=True)
class Alert:
    """One change that a rule found; a row of the table `alerts`."""

    alert_id: str
    rule: str
    """Id of the rule."""
    agent_name: str | None
    run_mode: str | None
    metric: str | None
    base: str | None
    candidate: str | None
    dimension: str | None
    dimension_value: str | None
    state: AlertState
    first_run: datetime.datetime | None
    """Time of the newest received run when it first fired, UTC without a zone."""
    last_run: datetime.datetime | None
    """Time of the newest received run when it last changed, UTC without a zone."""
    evidence: Evidence
    notified: Mapping[str, str] = field(default_factory=dict)
    """By the name of a destination: the state that it was last sent, or why it was not."""


def alert_id_of(rule: str, *parts: str | None) -> str:
    """Return the id of an alert.

    Args:
        rule: Id of the rule.
        parts: agent_name, run_mode, metric, base, candidate, dimension, dimension_value.
    """
    text = repr((rule, *parts))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:ID_DIGITS]

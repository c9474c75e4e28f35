"""The result of one run of an agent: a row of `harness_trials`."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from tracegrade_harness.suite.model import Point

Status = Literal["done", "budget", "invalid", "error", "not_applicable", "not_run"]

NO_TOKENS: Final = "no_tokens: "
"""First words of the note about a model that did not report its tokens."""


class TrialResult(BaseModel):
    """One trial, or one kill of it; the fields are columns of `harness_trials`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str
    agent_name: str
    release: str | None
    trial: int
    kill_point: Point | None
    trajectory_id: str | None = None
    baseline_trajectory_id: str | None = None
    status: Status
    reason: str | None = None
    exit_code: int | None = None
    boundary: int | None = None
    immediate: float | None = None
    after_recovery: float | None = None
    label: str | None = None
    """Label of a kill's verdict, in addition to its value: `rolled_forward`."""
    success: bool | None = None
    verifiers: list[dict[str, Any]] | None = None
    leftovers: list[dict[str, Any]] | None = None
    changed: dict[str, Any] | None = None
    states: list[dict[str, Any]] | None = None
    recovery_log: str | None = None
    notes: list[str] = []
    """Notes for a reader of the numbers."""
    traces: list[str] = []
    """Traces of its agent's spans, in the order in which they came; its run is in one."""
    turns: list[str] = []
    """Trajectories of later turns of its run's conversation, which also get the verdict."""
    tape_misses: list[str] = []
    """Calls of its agent that are missing on its tape."""
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None
    started_at: datetime

    @property
    def cost_is_unknown(self) -> bool:
        """Whether it used models at an unknown cost."""
        untold = any(note.startswith(NO_TOKENS) for note in self.notes)
        return self.usd is None and (self.tokens is not None or untold)

    @property
    def key(self) -> tuple[str, int, str]:
        """The task, trial and kill point; a resumed run knows by them what is done."""
        return self.task_id, self.trial, self.kill_point or ""

"""The agent's plan: a list of steps that the agent works through and rewrites when one fails."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass
class PlanStep:
    """One step of the plan; its fields are those of the attribute `tracegrade.plan`."""

    id: str
    text: str
    tool: str
    effect: Literal["read", "write", "destructive"] = "read"
    inputs: list[str] = field(default_factory=list)
    """Its inputs: given by the task, or outputs of earlier steps."""
    outputs: list[str] = field(default_factory=list)
    rollback: str | None = None
    """The undo of a write."""
    on_failure: list[str] = field(default_factory=list)
    """The action after its failure; empty if the plan has none."""
    status: Literal["pending", "completed", "failed"] = "pending"


@dataclass
class Plan:
    """Steps in the order of their execution."""

    steps: list[PlanStep]

    def next(self) -> PlanStep | None:
        """Return the first step that is still to be done, or None."""
        return next((step for step in self.steps if step.status == "pending"), None)

    def insert_before(self, step: PlanStep, new: PlanStep) -> None:
        """Put a new step right before another one."""
        self.steps.insert(self.steps.index(step), new)

    def drop(self, *ids: str) -> None:
        """Take out the steps of these ids that are not done yet."""
        self.steps = [
            step for step in self.steps if step.id not in ids or step.status == "completed"
        ]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the steps as plain values, without empty fields."""
        return [
            {name: value for name, value in asdict(step).items() if value not in (None, [])}
            for step in self.steps
        ]

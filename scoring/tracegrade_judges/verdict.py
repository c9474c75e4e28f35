"""The forms of a judge's verdict; `verdict_checks.py` decides whether one can be true."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

PLANS: Final = frozenset({"plan", "thought"})
"""Kinds of steps in which an agent plans."""


class JudgedStep(NamedTuple):
    """A step as a judge reads it; texts without secrets."""

    number: int
    """Its step_index."""
    kind: str
    role: str | None
    tool_name: str | None
    status: str | None
    texts: Mapping[str, str]
    """Arguments, result, content, plan and error message: those that there are."""
    turn: int = 0
    sub_goal: str | None = None
    is_whole: bool = True
    """No part of it was left out or replaced as a whole."""


class _Answered(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SubGoalVerdict(_Answered):
    """Whether a criterion is met."""

    met: Literal["yes", "no", "cannot_tell"]
    evidence_steps: Annotated[list[int], Field(max_length=50)]
    """Indexes of the steps that show it."""
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of one of them, copied."""
    reason: Annotated[str, Field(max_length=4_000)]


class GradedVerdict(_Answered):
    """The score of a criterion, by a graded rubric."""

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
    """None: what would decide was not recorded."""
    evidence_steps: Annotated[list[int], Field(max_length=50)]
    """Indexes of the steps that show it."""
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of one of them, copied."""
    reason: Annotated[str, Field(max_length=4_000)]

    def as_met(self, least_score: float) -> SubGoalVerdict:
        """Return whether the criterion is met: from this score on."""
        met: Literal["yes", "no", "cannot_tell"] = "cannot_tell"
        if self.score is not None:
            met = "yes" if round(self.score, 9) >= least_score else "no"
        return SubGoalVerdict(met=met, **self.model_dump(exclude={"score"}))


class AnswerVerdict(_Answered):
    """A verdict on how right an answer is."""

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of the answer that decides, copied."""
    reason: Annotated[str, Field(max_length=4_000)]


class GradedAnswerVerdict(_Answered):
    """The score of an answer, by a graded rubric of a user's own."""

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
    """None: what would decide was not recorded."""
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of the answer that decides, copied."""
    reason: Annotated[str, Field(max_length=4_000)]


class AnswerMetVerdict(_Answered):
    """Whether an answer is right, by a rubric of a user's own that says yes or no."""

    met: Literal["yes", "no", "cannot_tell"]
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of the answer that decides, copied."""
    reason: Annotated[str, Field(max_length=4_000)]


AnyAnswerVerdict = AnswerVerdict | GradedAnswerVerdict | AnswerMetVerdict


def score_of(verdict: AnyAnswerVerdict) -> float | None:
    """Return how right an answer is, in [0, 1]; None if the judge cannot tell."""
    if isinstance(verdict, AnswerMetVerdict):
        return {"yes": 1.0, "no": 0.0}.get(verdict.met)
    return verdict.score

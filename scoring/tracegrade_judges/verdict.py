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


class AnswerVerdict(_Answered):
    """A verdict on how right an answer is."""

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    quote: Annotated[str, Field(max_length=4_000)]
    """Text of the answer that decides, copied."""
    reason: Annotated[str, Field(max_length=4_000)]

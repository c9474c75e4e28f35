"""Whether a verdict can be true of the steps and the answer that its judge read; pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tracegrade_judges.untrusted_text import json_string
from tracegrade_judges.verdict import (
    PLANS,
    AnyAnswerVerdict,
    JudgedStep,
    SubGoalVerdict,
    score_of,
)

ACTIONS: Final = frozenset({"tool_call", "observation"})
"""Kinds of steps that show what was done; thoughts, plans and answers claim it."""


def fault_of_sub_goal(
    verdict: SubGoalVerdict, steps: Sequence[JudgedStep], *, cites_action: bool
) -> str | None:
    """Return why a verdict is rejected, as the message to its judge; None if it is accepted.

    Args:
        verdict: The judge's reply.
        steps: All steps of the trajectory.
        cites_action: Whether a yes needs a step that shows an action.
    """
    if verdict.met == "cannot_tell":
        return None
    known = {step.number: step for step in steps}
    cited = [known[index] for index in verdict.evidence_steps if index in known]
    if unknown := sorted(set(verdict.evidence_steps) - known.keys()):
        return f"evidence_steps names steps that do not exist: {unknown[:5]}"
    if not cited:
        return "evidence_steps is empty; cite the steps that show it"
    if not any(stands_in(verdict.quote, step.texts.values()) for step in cited):
        return "quote is in none of the cited steps; copy it from one of them"
    if cites_action and verdict.met == "yes" and not any(step.kind in ACTIONS for step in cited):
        return "a yes has to cite a tool_call or an observation: what an agent says is a claim"
    return None


def fault_of_plan(verdict: SubGoalVerdict, steps: Sequence[JudgedStep]) -> str | None:
    """Return why a verdict on a plan cannot stand; None if it can.

    Args:
        verdict: As answered.
        steps: Those that its judge may read.
    """
    fault = fault_of_sub_goal(verdict, steps, cites_action=False)
    kinds = {step.kind for step in steps if step.number in verdict.evidence_steps}
    if fault is None and verdict.met == "yes" and not kinds & PLANS:
        return "a yes has to cite a step of kind plan or thought: there the plan stands"
    return fault


def fault_of_served(
    verdict: SubGoalVerdict, steps: Sequence[JudgedStep], step_index: int
) -> str | None:
    """Return why a verdict on what a call serves cannot stand; None if it can.

    Args:
        verdict: As answered.
        steps: All steps of the trajectory.
        step_index: Of the call.
    """
    fault = fault_of_sub_goal(verdict, steps, cites_action=False)
    if fault is None and verdict.met == "yes" and step_index not in verdict.evidence_steps:
        return f"a yes has to cite the call itself, step {step_index}"
    return fault


def fault_of_answer(verdict: AnyAnswerVerdict, answer: str) -> str | None:
    """Return why a verdict on an answer cannot stand; None if it can."""
    if score_of(verdict) is None:
        return None
    if answer.strip() and not stands_in(verdict.quote, [answer]):
        return "quote is not in the answer; copy it from there"
    return None


def stands_in(quote: str, texts: Iterable[str]) -> bool:
    """Return whether a quote, apart from whitespace, is in one of the texts, plain or escaped."""
    squeezed = _squeezed(quote)
    return bool(squeezed) and any(
        squeezed in _squeezed(text) or squeezed in _squeezed(json_string(text)) for text in texts
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)

"""Makes one verdict of the replies of a panel's judges to one question; pure."""

from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from tracegrade_judges.ask.ask import ERROR, NO, YES, JudgeVerdict
from tracegrade_judges.questions.build import JudgeQuestion

TIE: Final = "tie"
NO_MAJORITY: Final = "no_majority"
"""Codes for a panel without a verdict: as many say yes as no; or too few could tell."""
PANEL: Final = "panel"
"""Key of what each judge said: first in the evidence, so that no page cuts it off."""
_CITED: Final = ("evidence_steps", "quote", "reason", "turns")
_SUMS: Final = ("requests", "input_tokens", "output_tokens", "cost_usd")
_OF_EACH: Final = (
    "reason_code", "turn", *_CITED, "votes", "model", "prompt_version", "rubric", "rubric_hash",
)  # fmt: skip


def panel_verdict(question: JudgeQuestion, replies: Mapping[str, JudgeVerdict]) -> JudgeVerdict:
    """Return what more than half of all judges say, with the reply of each as evidence.

    The value is the median of the judges of the majority. Otherwise it is an error: a tie, too
    few who could tell, or why none could.

    Args:
        question: That the panel was asked.
        replies: By the name of the judge.
    """
    votes = Counter(reply.label for reply in replies.values())
    label = next((each for each in (YES, NO) if 2 * votes[each] > len(replies)), ERROR)
    said = ", ".join(f"{name} {reply.label}" for name, reply in replies.items())
    counted = {
        "votes": dict(sorted(votes.items())),
        "replies": {name: _of_each(reply) for name, reply in replies.items()},
        **_spending(replies),
    }
    if label == ERROR:
        reason = {PANEL: said, "reason_code": _reason(replies)}
        return JudgeVerdict(question, ERROR, None, {**reason, **counted})
    deciding = [reply for reply in replies.values() if reply.label == label]
    values = [reply.value for reply in deciding if reply.value is not None]
    first = deciding[0].evidence
    cited = {key: first[key] for key in _CITED if key in first}
    return JudgeVerdict(question, label, median(values), {PANEL: said, **cited, **counted})


def disagrees(verdict: JudgeVerdict) -> bool:
    """Return whether some judges of a panel said yes to a question and others no."""
    votes = verdict.evidence.get("votes", {}) if PANEL in verdict.evidence else {}
    return bool(votes.get(YES) and votes.get(NO))


def _reason(replies: Mapping[str, JudgeVerdict]) -> str:
    labels = [reply.label for reply in replies.values()]
    if set(labels) == {ERROR}:
        return str(next(iter(replies.values())).evidence["reason_code"])
    return TIE if labels.count(YES) == labels.count(NO) else NO_MAJORITY


def _of_each(reply: JudgeVerdict) -> Mapping[str, Any]:
    kept = {key: reply.evidence[key] for key in _OF_EACH if key in reply.evidence}
    return {"label": reply.label, "value": reply.value, **kept}


def _spending(replies: Mapping[str, JudgeVerdict]) -> Mapping[str, Any]:
    """Return what all judges took together; None where one of them is not known."""
    found = {}
    for key in _SUMS:
        amounts = [each.evidence[key] for each in replies.values() if key in each.evidence]
        found[key] = None if None in amounts else sum(amounts)
    return found

"""The definition of replanning, and of an agent's own plan, written out attempt by attempt."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tracegrade_scoring.attempts.plan_steps import normal_text

from .plain import Attempt, Call, Result, score


def plan_scores(attempt: Attempt) -> dict[str, Result]:
    """Return the replanning scores and those of the attempt's own plan."""
    metrics = (*REPLANNING, "plan_coverage", "plan_completion")
    if not attempt.plans:
        return dict.fromkeys(metrics, ("not_applicable", None, None))
    if any(plan is None for _, plan in attempt.plans):
        return dict.fromkeys(metrics, ("error", None, None))
    plans = [(calls, plan or []) for calls, plan in attempt.plans]
    return {**_replanning(attempt.calls, plans), **_own_plan(attempt.calls, plans)}


REPLANNING = (
    "replans",
    "replans_per_100_calls",
    "replans_reactive",
    "replans_spontaneous",
    "replan_given_failure",
    "replans_source_text",
)


def _replanning(
    calls: Sequence[Call], plans: Sequence[tuple[int, list[Any]]]
) -> dict[str, Result]:
    replans = []
    for (since, before), (until, after) in pairwise(plans):
        between = calls[since:until]
        if is_replan(before, after, between):
            replans.append((until, any(call.failed for call in between)))
    failures = [i for i, call in enumerate(calls) if call.failed]
    answered = [i for i in failures if any(until == i + 1 for until, _ in replans)]
    lists = [plan for _, plan in plans if plan]
    changes = sum(a != b for a, b in pairwise(lists))
    reactive = sum(failed for _, failed in replans)
    counts = (len(replans), reactive, len(replans) - reactive, changes)
    return {
        "replans": score(counts[0], 1, True),
        "replans_reactive": score(counts[1], 1, True),
        "replans_spontaneous": score(counts[2], 1, True),
        "replans_source_text": score(counts[3], 1, True),
        "replans_per_100_calls": score(counts[0], len(calls) / 100, True),
        "replan_given_failure": score(len(answered), len(failures), True),
    }


def is_replan(before: Sequence[Any], after: Sequence[Any], between: Sequence[Call]) -> bool:
    """Return whether the steps that remain were changed."""
    pairs = matched(before, after)
    marks = any(step.get("status") for step in (*before, *after))
    good = [call for call in between if not call.failed]
    gone = set()
    for i, step in enumerate(before):
        by_call = any(
            (call.sub_goal is not None and call.sub_goal == step.get("id"))
            or call.tool == step.get("tool")
            for call in good
        )
        ends = step.get("status") == "completed" if marks else by_call
        if ends or (i in pairs and after[pairs[i]].get("status") == "completed"):
            gone.add(i)
    kept = [pairs.get(i) for i in range(len(before)) if i not in gone]
    gone_after = {pairs[i] for i in gone if i in pairs}
    left = [
        j
        for j, step in enumerate(after)
        if j not in gone_after and step.get("status") != "completed"
    ]
    return kept != left


def matched(before: Sequence[Any], after: Sequence[Any]) -> dict[int, int]:
    """Return which step of `after` each of `before` is."""
    pairs: dict[int, int] = {}

    def free(j: int) -> bool:
        return j not in pairs.values()

    for key in (lambda step: step.get("id"), whole):
        for old, new in ((True, (True,)), (False, (False, True)), (True, (False, True))):
            for i, step in enumerate(before):
                same_key = [
                    j
                    for j, s in enumerate(after)
                    if free(j) and key(s) == key(step) and is_done(s) in new
                ]
                if i not in pairs and key(step) and same_key and is_done(step) == old:
                    pairs[i] = same_key[0]
    while True:
        candidates = [
            (-likeness(text(step), text(other)), i, j)
            for i, step in enumerate(before)
            for j, other in enumerate(after)
            if i not in pairs and free(j) and step.get("status") != "completed"
        ]
        best = min(candidates, default=(0.0, 0, 0))
        if best[0] > -0.5:
            return pairs
        pairs[best[1]] = best[2]


def is_done(step: Any) -> bool:
    """Return whether a plan marks the step as completed."""
    return bool(step.get("status") == "completed")


def text(step: Any) -> str:
    """Return the text of a step as it is compared."""
    return normal_text(step.get("text", ""))


def whole(step: Any) -> str:
    """Return the text of a step; of one without text and id its tool."""
    return text(step) or ("" if "id" in step else str(step.get("tool", "")))


def likeness(text: str, other: str) -> float:
    """Return the Jaccard similarity of the words of two texts."""
    words, others = set(text.split()), set(other.split())
    return len(words & others) / len(words | others) if words | others else 0.0


def _own_plan(calls: Sequence[Call], plans: Sequence[tuple[int, list[Any]]]) -> dict[str, Result]:
    graph = next(((i, since, plan) for i, (since, plan) in enumerate(plans) if plan), None)
    if graph is None:
        return dict.fromkeys(("plan_coverage", "plan_completion"), ("not_applicable", None, None))
    index, since, first = graph
    ids = {step.get("id") for step in first} - {None}
    marked = any(step.get("status") for _, plan in plans for step in plan)
    named = any(call.sub_goal is not None for call in calls)
    attempted = completed = 0
    for i, step in enumerate(first):
        own = [
            call
            for call in calls[since:]
            if (
                call.sub_goal == step.get("id")
                if call.sub_goal in ids
                else call.tool == step.get("tool")
            )
        ]
        states = [step.get("status")]
        for _, plan in plans[index + 1 :]:
            pairs = matched(first, plan)
            states.append(plan[pairs[i]].get("status") if i in pairs else None)
        marks = [state for state in states if state]
        begun = any(mark != "pending" for mark in marks)
        attempted += bool(own) or begun
        ended = bool(marks) and marks[-1] == "completed"
        completed += ended or any(not call.failed for call in own)
    measurable = marked or any(step.get("tool") or (step.get("id") and named) for step in first)
    if not measurable:
        return dict.fromkeys(("plan_coverage", "plan_completion"), ("not_applicable", None, None))
    return {
        "plan_coverage": ("scored", attempted, len(first)),
        "plan_completion": ("scored", completed, len(first)),
    }

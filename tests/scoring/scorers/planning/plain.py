"""Planning quality as docs/metrics.md defines it, slow and plain: loops over steps, no SQL."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Step = Mapping[str, Any]
Task = Mapping[str, Any]
QUESTIONS = ("dependency_ordering", "branch_coverage", "scope_control", "reversibility")


def scores(task: Task, tools: Mapping[str, Any], plan: Sequence[Step] | None) -> dict[str, Any]:
    """Return each metric's value, or the status of one that is not scored."""
    wholes = ("pq", "pq_strict", "pq_partial")
    parts = [f"pq_{name}" for name in QUESTIONS]
    required = required_steps(task)
    if required is None:
        return {}
    if required == 2:
        return dict.fromkeys((*wholes, *parts), "not_applicable")
    if required < 2 or not plan:
        value = Fraction(10 if required < 2 else 0)
        return dict.fromkeys(wholes, value) | dict.fromkeys(parts, "not_applicable")
    found = {
        "dependency_ordering": dependency_ordering(plan, task.get("given", [])),
        "branch_coverage": share([has_branch(s) for s in plan if can_fail(s, task, tools)]),
        "scope_control": scope_control(plan, task),
        "reversibility": share([mark(s) for s in plan if changes_inside(s, task, tools)]),
    }
    known = [value for value in found.values() if value is not None]
    strict = [
        value if name in ("dependency_ordering", "reversibility") else Fraction(value == 1)
        for name, value in found.items()
        if value is not None
    ]
    whole = len(known) == len(found)
    return {
        "pq": sum(known) * Fraction(5, 2) if whole else "error",
        "pq_strict": sum(strict) * Fraction(5, 2) if whole else "error",
        "pq_partial": 10 * sum(known) / len(known) if known else "error",
        **{f"pq_{name}": "error" if v is None else v for name, v in found.items()},
    }


def with_verdicts(
    rules: Mapping[str, Any], verdicts: Sequence[tuple[str, str, Fraction | None]]
) -> dict[str, Any]:
    """Return the values of a plan of known length that may have verdicts.

    Args:
        rules: As `scores` returns them, of a task of three or more steps.
        verdicts: Question, who (verifier, evaluation or judge), and share; None: could not tell.
    """
    said = {
        (question, who): [share for asked, by, share in verdicts if (asked, by) == (question, who)]
        for question, who, _ in verdicts
    }
    unseen = rules["pq_reversibility"] == "not_applicable"
    if unseen and all(_answer(name, "error", said) == "error" for name in QUESTIONS):
        return dict(rules)
    found = {question: _answer(question, rules[f"pq_{question}"], said) for question in QUESTIONS}
    known = [value for value in found.values() if value != "error"]
    strict = [
        Fraction(found[name] == 1) if name in ("branch_coverage", "scope_control") else found[name]
        for name in QUESTIONS
    ]
    whole = len(known) == len(found)
    return {
        "pq": sum(known) * Fraction(5, 2) if whole else "error",
        "pq_strict": sum(strict) * Fraction(5, 2) if whole else "error",
        "pq_partial": 10 * sum(known) / len(known) if known else "error",
        **{f"pq_{name}": value for name, value in found.items()},
    }


def _answer(question: str, rule: Any, said: Mapping[tuple[str, str], Sequence[Any]]) -> Any:
    """Return a share, or `error`: people first, then the rule, evaluations, judges."""
    for who in ("verifier", "rule", "evaluation", "judge"):
        if who == "rule" and not isinstance(rule, str):
            return rule
        if shares := said.get((question, who)):
            return "error" if None in shares else min(shares)
    return "error"


def required_steps(task: Task) -> int | None:
    """Return how many steps a task requires; None if it does not say."""
    if "optimal_steps" in task:
        return int(task["optimal_steps"])
    if "expected" in task and task.get("expected_complete", True) is True:
        return len(task["expected"])
    return len(task.get("sub_goals", {})) or None


def share(marks: Sequence[Any]) -> Fraction:
    """Return the mean; 1 of nothing."""
    return Fraction(sum(map(Fraction, marks))) / len(marks) if marks else Fraction(1)


def dependency_ordering(plan: Sequence[Step], given: Sequence[str]) -> Fraction | None:
    """Return forward edges / (edges + unproduced inputs)."""
    if not any("inputs" in step or "outputs" in step for step in plan):
        return None
    edges, unproduced = [], 0
    for i, step in enumerate(plan):
        for wanted in sorted(set(step.get("inputs", [])) - set(given)):
            makers = [j for j, other in enumerate(plan) if wanted in other.get("outputs", [])]
            earlier = [j for j in makers if j < i]
            if makers:
                edges.append((max(earlier) if earlier else min(makers), i))
            else:
                unproduced += 1
    reaches = {(i, j): (i, j) in edges for i in range(len(plan)) for j in range(len(plan))}
    for k, i, j in product(range(len(plan)), repeat=3):
        reaches[i, j] = reaches[i, j] or (reaches[i, k] and reaches[k, j])
    forward = [(i, j) for i, j in edges if i < j and not reaches[j, i]]
    total = len(edges) + unproduced
    return Fraction(len(forward), total) if total else Fraction(1)


def inside(step: Step, task: Task) -> bool | None:
    """Return whether a step is inside the objective; None if it names no tool or sub-goal."""
    goals = task.get("sub_goals", {})
    if step.get("id") in goals:
        return True
    if "tool" not in step:
        return None
    served = any(step["tool"] in goal["serves"] for goal in goals.values())
    return served or step["tool"] in task.get("scope", [])


def scope_control(plan: Sequence[Step], task: Task) -> Fraction | None:
    """Return 1 - steps outside / steps; None if nothing says what is inside."""
    held = [inside(step, task) for step in plan]
    if not task.get("scope") and not task.get("sub_goals"):
        return None
    if all(one is None for one in held):
        return None
    return 1 - Fraction(held.count(False), len(plan))


def effect(step: Step, tools: Mapping[str, Any]) -> Any:
    """Return what a step does: by the registry, else as it says."""
    return tools.get(step.get("tool", ""), {}).get("effect") or step.get("effect")


def can_fail(step: Step, task: Task, tools: Mapping[str, Any]) -> bool:
    """Return whether a step has a failure probability worth a plan."""
    if "can_fail" in task:
        return bool({step.get("tool"), step.get("id")} & set(task["can_fail"]))
    return "tool" in step or effect(step, tools) in ("write", "destructive")


def has_branch(step: Step) -> bool:
    """Return whether a step says what to do if it fails."""
    return bool(step.get("on_failure"))


def changes_inside(step: Step, task: Task, tools: Mapping[str, Any]) -> bool:
    """Return whether a step changes something and is not outside the objective."""
    stated = bool(task.get("scope") or task.get("sub_goals"))
    outside = stated and inside(step, task) is False
    return effect(step, tools) in ("write", "destructive") and not outside


def mark(step: Step) -> Fraction:
    """Return how well a step is tagged."""
    if step.get("rollback"):
        return Fraction(1)
    return Fraction(1, 2) if step.get("effect") in ("write", "destructive") else Fraction(0)

"""Repeats, recovery, termination and failure modes as metrics.md defines them, slow and plain."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from . import plain
from .plain import Attempt, Call, Value, equal

Task = Mapping[str, Any]
Tools = Mapping[str, Any]


def scores(attempt: Attempt, task: Task, tools: Tools) -> dict[str, Value]:
    """Return redundant calls, recovery rate, termination and failure modes of an attempt."""
    ended = ending(attempt, task, tools)
    return {
        "termination": "not_applicable" if ended == "unknown" else Fraction(ended == "at_success"),
        "redundant_calls": redundant_calls(attempt, tools),
        "recovery_rate": recovery_rate(attempt, task),
        "loop_trap": _loop_trap(attempt),
        "tool_hallucination": _tool_hallucination(attempt, tools),
    }


def may_equal(one: Call, other: Call) -> bool | None:
    """Return whether tool and arguments are equal; None if arguments were not captured."""
    if one.tool != other.tool:
        return False
    if one.arguments is None or other.arguments is None:
        return None
    return equal(one.arguments, other.arguments)


def redundant_calls(attempt: Attempt, tools: Tools) -> Value:
    """Return how many calls equal the most recent equal success with no change between."""
    calls = attempt.calls
    pairs = [(p, c) for c in range(len(calls)) for p in range(c)]
    if any(may_equal(calls[p], calls[c]) is None for p, c in pairs):
        return "error"
    found = 0
    for c, call in enumerate(calls):
        equals = [p for p in range(c) if _same_success(calls[p], call)]
        if equals:
            between = calls[equals[-1] + 1 : c]
            found += all(plain.effect_of(b.tool, tools) == "read" for b in between)
    return Fraction(found)


def _same_success(earlier: Call, call: Call) -> bool:
    known = earlier.result is not None and call.result is not None
    return (
        not earlier.failed
        and bool(may_equal(earlier, call))
        and (not known or earlier.result == call.result)
    )


def recovery_rate(attempt: Attempt, task: Task) -> Value:
    """Return recovered / failed calls."""
    failed = [i for i, call in enumerate(attempt.calls) if call.failed]
    found = [_recovered(attempt.calls, i, task.get("sub_goals", {})) for i in failed]
    if not failed:
        return "not_applicable"
    return "error" if None in found else Fraction(sum(map(bool, found)), len(found))


def _recovered(calls: Sequence[Call], i: int, sub_goals: Mapping[str, Any]) -> bool | None:
    chances = [
        _recovers(calls[i], later, sub_goals) for later in calls[i + 1 : i + 6] if not later.failed
    ]
    return True if True in chances else None if None in chances else False


def _recovers(failed: Call, later: Call, sub_goals: Mapping[str, Any]) -> bool | None:
    kind, purpose = plain.purpose_of(failed, sub_goals)
    if kind == "goal":
        if plain.purpose_of(later, sub_goals) != (kind, purpose):
            return False
        same = may_equal(failed, later)
        return None if same is None else not same
    if later.tool != failed.tool:
        return False
    same = may_equal(failed, later)
    return None if same is None else not same and _keeps_one(failed.arguments, later.arguments)


def _keeps_one(one: Any, other: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict) or len(one) < 2:
        return True
    return any(key in other and equal(value, other[key]) for key, value in one.items())


def loops(calls: Sequence[Call]) -> tuple[int | None, set[int]]:
    """Return where a loop shows first, and all calls that loops cover."""
    starts: list[int] = []
    covered: set[int] = set()
    for third in range(len(calls)):
        same = [i for i in range(len(calls)) if _same_outcome(calls[i], calls[third])]
        if len(same) >= 3 and same[2] == third:
            starts.append(third)
            covered.update(same)
    for length in (2, 3):
        for start in range(len(calls) - 3 * length + 1):
            if _is_round(calls[start : start + 3 * length], length):
                starts.append(start + 2 * length)
                covered.update(range(start, start + 3 * length))
    return min(starts, default=None), covered


def _same_outcome(one: Call, other: Call) -> bool:
    return bool(may_equal(one, other)) and one.result is not None and one.result == other.result


def _is_round(calls: Sequence[Call], length: int) -> bool:
    block = calls[:length]
    repeated = all(may_equal(call, calls[i % length]) for i, call in enumerate(calls))
    return repeated and not all(may_equal(call, block[0]) for call in block)


def _loop_trap(attempt: Attempt) -> Value:
    calls = attempt.calls
    if loops(calls)[0] is not None:
        return Fraction(1)
    hidden = any(_hidden_arguments(calls, c) or _hidden_result(calls, c) for c in calls)
    return "error" if hidden else Fraction(0)


def _hidden_arguments(calls: Sequence[Call], call: Call) -> bool:
    same_tool = [c for c in calls if c.tool == call.tool]
    return len(same_tool) >= 3 and any(c.arguments is None for c in same_tool)


def _hidden_result(calls: Sequence[Call], call: Call) -> bool:
    same = [c for c in calls if may_equal(c, call)]
    return len(same) >= 3 and any(c.result is None for c in same)


def _tool_hallucination(attempt: Attempt, tools: Tools) -> Value:
    allowed = [c.tool in tools if c.offered is None else c.offered for c in attempt.calls]
    schemas = [bool(tools.get(c.tool, {}).get("parameters")) for c in attempt.calls]
    valid = [plain.is_valid(c, tools) for c in attempt.calls]
    if not attempt.calls:
        return "not_applicable"
    if False in allowed or False in valid:
        return Fraction(1)
    hidden = any(s and v is None for s, v in zip(schemas, valid, strict=True))
    return "error" if hidden else Fraction(0)


def ending(attempt: Attempt, task: Task, tools: Tools) -> str:
    """Return how the attempt ended."""
    success = {"success": True, "failure": False}.get(attempt.outcome or "")
    calls = attempt.calls
    covered = loops(calls)[1]
    if attempt.ending:
        return attempt.ending
    if not success and covered & set(range(max(0, len(calls) - 3), len(calls))):
        return "looped"
    if success is not True:
        return "unknown" if success is None else "early"
    needed = _needed(attempt, task, tools)
    if not calls:
        return "at_success"
    return "unknown" if not needed else "late" if max(needed) < len(calls) - 1 else "at_success"


def _needed(attempt: Attempt, task: Task, tools: Tools) -> set[int]:
    sub_goals, expected = task.get("sub_goals", {}), task.get("expected") or []
    points = plain.points(attempt, sub_goals)
    complete = task.get("expected_complete", True)
    pairs = plain.pair([p[0] for p in points], expected, complete, tools)
    serving = [
        id(call)
        for i, point in enumerate(points)
        for call in point
        if i in pairs and plain.fits_tool(point[0], expected[pairs[i]], tools)
    ]
    return {
        i
        for i, call in enumerate(attempt.calls)
        if plain.effect_of(call.tool, tools) in ("write", "destructive")
        or plain.purpose_of(call, sub_goals)[0] == "goal"
        or id(call) in serving
    }

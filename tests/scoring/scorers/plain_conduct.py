"""Conduct and failure modes as docs/metrics.md, sections 3 and 9, defines them, slow and plain."""

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from . import plain
from .plain import Attempt, Call, Value
from .plain_values import equal

Task = Mapping[str, Any]
Tools = Mapping[str, Any]


def scores(attempt: Attempt, task: Task, tools: Tools) -> dict[str, Value]:
    """Return redundant calls, recovery rate, termination and failure modes of an attempt."""
    ended = ending(attempt, task, tools)
    return {
        "termination": "not_applicable" if ended == "unknown" else Fraction(ended == "at_success"),
        "redundant_calls": redundant_calls(attempt, tools),
        "recovery_rate": recovery_rate(attempt, task),
        "loop_trap": _loop_trap(attempt, tools),
        "tool_hallucination": _tool_hallucination(attempt, tools),
        "premature_commitment": _shows(premature_commitment(attempt, task, tools)),
        "cascading_error": _shows(cascading_error(attempt, task, tools)),
        "goal_drift": _shows(goal_drift(attempt, task, tools)),
    }


def first_steps(attempt: Attempt, task: Task, tools: Tools) -> dict[str, int | None]:
    """Return the first step that shows each mode but hallucination."""
    found = {
        "loop_trap": loops(attempt.calls, tools)[0],
        "premature_commitment": premature_commitment(attempt, task, tools),
        "cascading_error": cascading_error(attempt, task, tools),
        "goal_drift": goal_drift(attempt, task, tools),
    }
    return {mode: step if isinstance(step, int) else None for mode, step in found.items()}


def _shows(found: int | Value | None) -> Value:
    """Return 1 for the index of a step, 0 for none; a status as it is."""
    return found if isinstance(found, str) else Fraction(found is not None)


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
            found += not any(plain.may_change(b, tools) for b in between)
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


def loops(calls: Sequence[Call], tools: Tools) -> tuple[int | None, set[int]]:
    """Return where a loop shows first, and all calls that loops cover."""
    starts: list[int] = []
    covered: set[int] = set()
    for third in range(len(calls)):
        same = [
            i
            for i in range(len(calls))
            if _same_outcome(calls[i], calls[third]) and _since(calls, i) == _since(calls, third)
        ]
        if len(same) >= 3 and same[2] == third:
            starts.append(third)
            covered.update(same)
    for third in range(2, len(calls)):
        run = calls[third - 2 : third + 1]
        acts = plain.writes(run[2], tools) or all(call.failed for call in run)
        again = all(may_equal(call, run[0]) for call in run) and acts
        if again or _reworded(run, tools) is True:
            starts.append(third)
            covered.update(range(third - 2, third + 1))
    for length in (2, 3):
        for start in range(len(calls) - 3 * length + 1):
            if _is_round(calls[start : start + 3 * length], length):
                starts.append(start + 2 * length)
                covered.update(range(start, start + 3 * length))
    return min(starts, default=None), covered


def _reworded(run: Sequence[Call], tools: Tools) -> bool | None:
    """Return whether three calls ask one thing in other words; None if results decide it."""
    steps = list(pairwise(run))
    asks = all(plain.effect_of(call.tool, tools) in (None, "read") for call in run)
    if not asks or not all(_rewords(one, other) for one, other in steps):
        return False
    if all(may_equal(one, other) for one, other in steps):
        return False
    results = [call.result for call in run]
    if any(one != other for one, other in pairwise(results) if one and other):
        return False
    return None if None in results else True


def _rewords(one: Call, other: Call) -> bool:
    """Return whether arguments are equal, or the same in other words."""
    if one.tool != other.tool or one.arguments is None or other.arguments is None:
        return False
    if may_equal(one, other):
        return True
    mappings = isinstance(one.arguments, dict) and isinstance(other.arguments, dict)
    return (
        mappings
        and one.arguments.keys() == other.arguments.keys()
        and all(_same_words(value, other.arguments[key]) for key, value in one.arguments.items())
    )


def _same_words(one: Any, other: Any) -> bool:
    if equal(one, other):
        return True
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    words, others = ({*re.findall(r"[^\W_]+", text.lower())} for text in (one, other))
    digits, other_digits = ({w for w in each if re.search(r"\d", w)} for each in (words, others))
    names = _names(one) <= others and _names(other) <= words
    alike = bool(words & others) and 3 * len(words & others) >= 2 * len(words | others)
    return alike and names and digits == other_digits


def _names(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W_]+", text)[1:] if word[0].isupper()}


def _same_outcome(one: Call, other: Call) -> bool:
    return bool(may_equal(one, other)) and one.result is not None and one.result == other.result


def _since(calls: Sequence[Call], end: int) -> int | None:
    """Return how many calls, up to one that went well, may have found what no other call did."""
    if calls[end].failed:
        return None
    results = [call.result for call in calls]
    found = [
        not call.failed and (call.result is None or results.count(call.result) == 1)
        for call in calls
    ]
    return sum(found[: end + 1])


def _is_round(calls: Sequence[Call], length: int) -> bool:
    block = calls[:length]
    repeated = all(may_equal(call, calls[i % length]) for i, call in enumerate(calls))
    return repeated and not all(may_equal(call, block[0]) for call in block)


def _loop_trap(attempt: Attempt, tools: Tools) -> Value:
    calls = attempt.calls
    if loops(calls, tools)[0] is not None:
        return Fraction(1)
    hidden = any(_hidden_arguments(calls, c) or _hidden_result(calls, c) for c in calls)
    hidden |= any(_hidden_finding(calls, c) for c in calls)
    hidden |= any(_reworded(calls[i : i + 3], tools) is None for i in range(len(calls) - 2))
    return "error" if hidden else Fraction(0)


def _hidden_arguments(calls: Sequence[Call], call: Call) -> bool:
    same_tool = [c for c in calls if c.tool == call.tool]
    return len(same_tool) >= 3 and any(c.arguments is None for c in same_tool)


def _hidden_result(calls: Sequence[Call], call: Call) -> bool:
    same = [c for c in calls if may_equal(c, call)]
    return len(same) >= 3 and any(c.result is None for c in same)


def _hidden_finding(calls: Sequence[Call], call: Call) -> bool:
    same = [c for c in calls if _same_outcome(c, call) and not c.failed]
    return len(same) >= 3 and any(c.result is None and not c.failed for c in calls)


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
    covered = loops(calls, tools)[1]
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
    served = _expected_calls(attempt, task, tools)[0]
    return served | {
        i
        for i, call in enumerate(attempt.calls)
        if plain.writes(call, tools)
        or (_served(call, task) if task.get("sub_goals") else call.sub_goal)
    }


def _expected_calls(attempt: Attempt, task: Task, tools: Tools) -> tuple[set[int], int]:
    """Return the calls that serve an expectation, and how many expectations are served."""
    expected = task.get("expected") or []
    points = plain.points(attempt, task.get("sub_goals", {}))
    pairs = plain.pair([p[0] for p in points], task, tools)
    met = [i for i in pairs if plain.fits_tool(points[i][0], expected[pairs[i]], tools)]
    serving = [id(call) for i in met for call in points[i]]
    return {i for i, call in enumerate(attempt.calls) if id(call) in serving}, len(met)


def _served(call: Call, task: Task) -> set[str]:
    """Return the sub-goals that a call serves."""
    sub_goals = task.get("sub_goals", {})
    if call.sub_goal in sub_goals:
        return {str(call.sub_goal)}
    return {name for name, node in sub_goals.items() if call.tool in node["serves"]}


def _completed(attempt: Attempt, task: Task, name: str) -> int | None:
    """Return the first call that served a sub-goal and went well."""
    served = [i for i, c in enumerate(attempt.calls) if name in _served(c, task) and not c.failed]
    return served[0] if served else None


def _open_before(attempt: Attempt, task: Task, i: int) -> set[str]:
    """Return the prerequisites of the sub-goal that call i serves which were open then."""
    sub_goals = task.get("sub_goals", {})
    kind, purpose = plain.purpose_of(attempt.calls[i], sub_goals)
    needed, found = list(sub_goals.get(purpose, {}).get("deps", [])), set()
    while kind == "goal" and needed:
        name = needed.pop()
        needed += sub_goals[name].get("deps", [])
        done = _completed(attempt, task, name)
        if done is None or done >= i:
            found.add(name)
    return found


def premature_commitment(attempt: Attempt, task: Task, tools: Tools) -> int | Value | None:
    """Return the first write before what it depends on, or an answer that claims what is not."""
    sub_goals = task.get("sub_goals", {})
    if not sub_goals:
        return "not_applicable"
    destroyed = off_plan_destruction(attempt, task, tools)
    for i, call in enumerate(attempt.calls):
        early = plain.writes(call, tools) and not call.failed and _open_before(attempt, task, i)
        if early or i == destroyed:
            return i
    claimed = [_claims(attempt, task, tools, name) for name in sub_goals]
    return len(attempt.calls) if True in claimed else "error" if None in claimed else None


def off_plan_destruction(attempt: Attempt, task: Task, tools: Tools) -> int | None:
    """Return the call that destroyed something off the plan before anything of it was done."""
    on_plan = [bool(_served(call, task)) for call in attempt.calls]
    if not task.get("sub_goals"):
        met = _expected_calls(attempt, task, tools)[0]
        on_plan = [i in met for i in range(len(attempt.calls))]
    for i, call in enumerate(attempt.calls):
        if on_plan[i] and (not call.failed or not task.get("sub_goals")):
            return None
        destroys = plain.effect_of(call.tool, tools) == "destructive" and not call.failed
        if destroys and not on_plan[i]:
            return i
    return None


def _claims(attempt: Attempt, task: Task, tools: Tools, name: str) -> bool | None:
    """Return whether the answer says that a critical sub-goal was done, which it was not."""
    goal = task["sub_goals"][name]
    done = {call.tool for call in attempt.calls if not call.failed}
    named = any(call.sub_goal == name and not call.failed for call in attempt.calls)
    writing = [
        tool for tool in goal["serves"] if plain.effect_of(tool, tools) in ("write", "destructive")
    ]
    if (
        not goal.get("critical")
        or _completed(attempt, task, name) is not None
        or named
        or not writing
        or done & {*writing}
        or attempt.answer is None
    ):
        return False
    if not attempt.answer:
        return None
    said = set(re.findall(r"(?:have|now) (\w)ed", attempt.answer))
    changed = {c.tool for c in attempt.calls if not c.failed and plain.may_change(c, tools)}
    return bool((said - changed) & {name, *writing})


def cascading_error(attempt: Attempt, task: Task, tools: Tools) -> int | Value | None:
    """Return the first call that led to two later failures."""
    calls = attempt.calls
    if not task.get("sub_goals") and all(call.result is None for call in calls):
        return "not_applicable"
    wrong = _mismatched(attempt, task, tools)
    failed = [i for i, call in enumerate(calls) if call.failed]
    roots = [
        i
        for i in range(len(calls))
        if (calls[i].failed or i in wrong) and len([f for f in failed if f > i]) >= 2
    ]
    for root in roots:
        if len([f for f in failed if f > root and _follows(attempt, task, root, f)]) >= 2:
            return root
    hidden = any(calls[r].result is None for r in roots)
    hidden |= bool(roots) and any(calls[f].arguments is None for f in failed)
    return "error" if hidden else None


def _mismatched(attempt: Attempt, task: Task, tools: Tools) -> set[int]:
    points = plain.points(attempt, task.get("sub_goals", {}))
    decisions = plain.decisions(attempt, task, tools)[: len(points)]
    firsts = [id(p[0]) for p, d in zip(points, decisions, strict=True) if {"a", "b"} & {*d.failed}]
    return {i for i, call in enumerate(attempt.calls) if id(call) in firsts}


def _follows(attempt: Attempt, task: Task, root: int, later: int) -> bool:
    one, other = attempt.calls[root], attempt.calls[later]
    kind, purpose = plain.purpose_of(one, task.get("sub_goals", {}))
    if kind == "goal" and purpose in _open_before(attempt, task, later):
        return True
    new = tokens(one.result) - tokens(_text(one.arguments))
    return bool(new & tokens(_text(other.arguments)))


def _text(arguments: Any) -> str | None:
    return arguments if isinstance(arguments, str | None) else json.dumps(arguments)


def tokens(text: str | None) -> set[str]:
    """Return the distinctive tokens of a text that has no separators, and no dots in numbers."""
    found = {run.lower().strip(".") for run in re.findall(r"[\w.@+-]+", text or "")}
    return {
        t
        for t in found
        if (t.isdigit() and len(t) >= 3)
        or (len(t) >= 4 and any(c.isdigit() or c == "@" for c in t))
    }


def goal_drift(attempt: Attempt, task: Task, tools: Tools) -> int | Value | None:
    """Return the first of three calls in a row off the plan, with none after that served it."""
    calls, complete = attempt.calls, task.get("expected_complete", True)
    if task.get("sub_goals"):
        done = {name: _completed(attempt, task, name) for name in task["sub_goals"]}
        served = [_served(call, task) for call in calls]
        on_plan = {i for i, names in enumerate(served) if names}
        needed = {i for i in on_plan if any(_is_open(done[name], i) for name in served[i])}
        is_open = None in done.values()
    elif task.get("expected") is not None and complete is not False:
        needed, met = _expected_calls(attempt, task, tools)
        on_plan = set(needed)
        is_open = met < len(task["expected"])
        if complete == "writes":
            on_plan |= {i for i, call in enumerate(calls) if not plain.may_change(call, tools)}
    else:
        return "not_applicable"
    strayed = [
        i
        for i in range(max(needed, default=-1) + 1, len(calls) - 2)
        if not on_plan & {i, i + 1, i + 2}
    ]
    shown = [off_plan_destruction(attempt, task, tools), *strayed]
    drifted = attempt.outcome != "success" and is_open
    return min((i for i in shown if i is not None), default=None) if drifted else None


def _is_open(done: int | None, i: int) -> bool:
    return done is None or done >= i

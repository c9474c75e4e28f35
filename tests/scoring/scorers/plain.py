"""Tool selection as docs/metrics.md, section 1, defines it, slow and plain: loops, no SQL."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .plain_values import ABSENT, fits

RANK: dict[Any, Any] = {"read": 1, "write": 2, "destructive": 3}
ALONE, OTHER_ARGUMENTS, OTHER_TOOL = 2, 1, 3


@dataclass
class Call:
    """One call; `arguments` None if not captured, a string if it was no JSON."""

    tool: str
    arguments: Any = field(default_factory=dict)
    failed: bool = False
    sub_goal: str | None = None
    decision: str | None = None
    offered: bool | None = None
    result: str | None = None


@dataclass
class Attempt:
    """One attempt: its task, its calls, and what the trace says of it."""

    task: str | None
    calls: list[Call]
    offered: list[str] | None = None
    outcome: str | None = None
    ending: str | None = None
    """`budget` or `crashed`, if it did not end by itself."""
    answer: str | None = None
    """What it said last; "" if that was not captured, None if it did not answer."""


@dataclass
class Decision:
    """One decision point as it is judged."""

    picked: str | None
    expected: str | None
    correct: bool | None
    failed: list[str]
    counted: bool
    missed: bool
    calls: int
    applied: list[str]


def points(attempt: Attempt, sub_goals: Mapping[str, Any]) -> list[list[Call]]:
    """Return the calls of each decision point, points in the order of their first calls."""
    found: list[list[Call]] = []
    last_point: dict[tuple[str, str], list[Call]] = {}
    for call in attempt.calls:
        purpose = purpose_of(call, sub_goals)
        point = last_point.get(purpose)
        if point and point[-1].failed:
            point.append(call)
        else:
            last_point[purpose] = [call]
            found.append(last_point[purpose])
    return found


def purpose_of(call: Call, sub_goals: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sub-goal that a call serves, else its tool, each with the word for it."""
    if call.sub_goal:
        return "goal", call.sub_goal
    for name, sub_goal in sub_goals.items():
        if call.tool in sub_goal["serves"]:
            return "goal", name
    return "tool", call.tool


def fits_tool(call: Call, expected: Mapping[str, Any], tools: Mapping[str, Any]) -> bool:
    """Return whether the tool is the expected one, an accepted one, or of the expected effect."""
    if call.tool in (expected.get("tool"), *expected.get("accept", [])):
        return True
    return "tool" not in expected and effect_of(call.tool, tools) == expected["effect"]


def effect_of(tool: str, tools: Mapping[str, Any]) -> Any:
    """Return what the registry knows of the tool's effect."""
    return tools.get(tool, {}).get("effect")


def may_change(call: Call, tools: Mapping[str, Any]) -> bool:
    """Return whether a call is not a read, and its tool not made up: unoffered, and it failed."""
    offered = call.offered if call.offered is not None else not tools or call.tool in tools
    return effect_of(call.tool, tools) != "read" and not (call.failed and not offered)


def writes(call: Call, tools: Mapping[str, Any]) -> bool:
    """Return whether a call is known to be a write or destructive, of a tool that exists."""
    return effect_of(call.tool, tools) in ("write", "destructive") and may_change(call, tools)


def fits_arguments(call: Call, expected: Mapping[str, Any]) -> bool | None:
    """Return whether every key given is present and equal; None if that cannot be known."""
    given = expected.get("arguments") or {}
    if not given:
        return True
    if call.arguments is None:
        return None
    if not isinstance(call.arguments, dict):
        return False
    return all(fits(call.arguments.get(k, ABSENT), v) for k, v in given.items())


def pair(picks: Sequence[Call], task: Mapping[str, Any], tools: Any) -> dict[int, int]:
    """Return which expectation each pick stands for: by name first, then by least cost."""
    expected, complete = task.get("expected") or [], task.get("expected_complete", True)
    walks = _walks if task.get("sequence_matters", True) else _free_walks
    pairs: dict[int, int] = {}
    for position, point in enumerate(expected):
        named = [
            i
            for i, c in enumerate(picks)
            if point.get("decision") and c.decision == point["decision"]
        ]
        if named:
            pairs[named[0]] = position
    left = [i for i in range(len(picks)) if i not in pairs]
    open_ = [p for p in range(len(expected)) if p not in pairs.values()]

    def cost(i: int, p: int) -> int | None:
        if fits_tool(picks[i], expected[p], tools):
            return 0 if fits_arguments(picks[i], expected[p]) else OTHER_ARGUMENTS
        return OTHER_TOOL if complete is True else None

    best = min(walks(left, open_, cost), key=lambda walk: walk[:2])
    return pairs | dict(best[2])


def _walks(
    left: list[int], open_: list[int], cost: Any
) -> Iterator[tuple[int, list[int], list[tuple[int, int]]]]:
    """Yield (cost, moves from the end, pairs) of every alignment.

    A move is 0 (leave the pick), 1 (pair) or 2 (leave the expectation): the order of ties.
    """
    if not left and not open_:
        yield 0, [], []
    if left:
        for total, moves, pairs in _walks(left[:-1], open_, cost):
            yield total + ALONE, [0, *moves], pairs
    if left and open_ and (price := cost(left[-1], open_[-1])) is not None:
        for total, moves, pairs in _walks(left[:-1], open_[:-1], cost):
            yield total + price, [1, *moves], [*pairs, (left[-1], open_[-1])]
    if open_:
        for total, moves, pairs in _walks(left, open_[:-1], cost):
            yield total + ALONE, [2, *moves], pairs


def _free_walks(
    left: list[int], open_: list[int], cost: Any
) -> Iterator[tuple[int, list[int], list[tuple[int, int]]]]:
    """Yield (cost, moves from the end, pairs) of every assignment, in any order.

    A move is 0 (leave the pick), or the expectation that it meets, counted from the last.
    """
    if not left:
        yield ALONE * len(open_), [], []
        return
    for total, moves, pairs in _free_walks(left[:-1], open_, cost):
        yield total + ALONE, [0, *moves], pairs
    for place, position in enumerate(reversed(open_), 1):
        if (price := cost(left[-1], position)) is not None:
            rest = [p for p in open_ if p != position]
            for total, moves, pairs in _free_walks(left[:-1], rest, cost):
                yield total + price, [place, *moves], [*pairs, (left[-1], position)]


def is_valid(call: Call, tools: Mapping[str, Any]) -> bool | None:
    """Return whether the arguments satisfy the only schema used here: `k` must be an integer.

    None if there is no schema or the arguments were not captured.
    """
    if not tools.get(call.tool, {}).get("parameters") or call.arguments is None:
        return None
    if not isinstance(call.arguments, dict) or "k" not in call.arguments:
        return False
    value = call.arguments["k"]
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)


def better_exists(call: Call, attempt: Attempt, tools: Mapping[str, Any]) -> bool | None:
    """Return whether a safer or cheaper alternative was at hand; None without alternatives."""
    alternatives = tools.get(call.tool, {}).get("alternatives")
    if not alternatives:
        return None
    picked = tools[call.tool]
    offered = alternatives if attempt.offered is None else attempt.offered
    return any(_is_better(tools[a], picked) for a in alternatives if a in offered)


def _is_better(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    no_worse, lower = True, False
    for key in ("effect", "cost"):
        a, b = (RANK.get(tool.get(key), tool.get(key)) for tool in (one, other))
        if a is None or b is None:
            no_worse = no_worse and a is b
        else:
            no_worse = no_worse and a <= b
            lower = lower or a < b
    return no_worse and lower


def decisions(attempt: Attempt, task: Mapping[str, Any], tools: Any) -> list[Decision]:
    """Return every decision point of an attempt, the missed ones last."""
    expected = task.get("expected") or []
    made = points(attempt, task.get("sub_goals", {}))
    if not made and task.get("expected") == [] and task.get("expected_complete", True) is True:
        return [Decision(None, None, True, [], True, False, 0, ["a"])]
    pairs = pair([p[0] for p in made], task, tools)
    found = [
        _judge(p, expected[pairs[i]] if i in pairs else None, attempt, task, tools)
        for i, p in enumerate(made)
    ]
    missed = [e for i, e in enumerate(expected) if i not in pairs.values()]
    found += [Decision(None, e.get("tool"), False, ["a"], True, True, 0, ["a"]) for e in missed]
    return found


def _judge(
    point: list[Call], expected: Any, attempt: Attempt, task: Mapping[str, Any], tools: Any
) -> Decision:
    call = point[0]
    held = {
        "a": _criterion_a(call, expected, task, tools),
        "b": _criterion_b(call, expected, tools),
        "c": _criterion_c(call, expected, attempt, tools),
    }
    applied = [name for name, value in held.items() if value is not None]
    failed = [name for name in applied if held[name] is False]
    correct = False if failed else None if "unknown" in held.values() or not applied else True
    wanted = expected.get("tool") if expected else None
    return Decision(call.tool, wanted, correct, failed, bool(applied), False, len(point), applied)


def _criterion_a(call: Call, expected: Any, task: Mapping[str, Any], tools: Any) -> bool | None:
    if expected is None:
        closed = task.get("expected") is not None and task.get("expected_complete", True) is True
        return False if closed else None
    effect = expected.get("effect")
    return fits_tool(call, expected, tools) and effect in (None, effect_of(call.tool, tools))


def _criterion_b(call: Call, expected: Any, tools: Any) -> bool | str | None:
    parts: list[bool | None] = []
    if tools.get(call.tool, {}).get("parameters"):
        parts.append(is_valid(call, tools))
    if expected and expected.get("arguments") and fits_tool(call, expected, tools):
        parts.append(fits_arguments(call, expected))
    if not parts:
        return None
    if False in parts:
        return False
    return "unknown" if None in parts else True


def _criterion_c(call: Call, expected: Any, attempt: Attempt, tools: Any) -> bool | None:
    better = better_exists(call, attempt, tools)
    if better is None:
        return None
    return not better or (expected is not None and call.tool == expected.get("tool"))


Value = Fraction | str
"""A scored value, or `not_applicable` or `error`."""


def tool_selection(found: Sequence[Decision], task: Mapping[str, Any]) -> dict[str, Value]:
    """Return tsa, its literal form, missed decisions and the wrong-call rate."""
    counted = [d for d in found if d.counted]
    missed = sum(d.missed for d in counted)
    made = [d for d in counted if not d.missed]
    correct = sum(d.correct is True for d in counted)
    calls = sum(d.calls for d in counted)
    has_list = task.get("expected") is not None
    expects = any(c in "ac" for d in counted for c in d.applied)
    unknown = any(d.correct is None for d in counted)

    def rate(top: int, bottom: int) -> Value:
        if not bottom or (not expects and not (has_list and not counted)):
            return "not_applicable"
        return "error" if unknown else Fraction(top, bottom)

    return {
        "tsa": rate(correct, len(counted)),
        "tsa_source_text": rate(correct, len(made)),
        "wrong_call_rate": rate(calls - correct, calls),
        "missed_decisions": Fraction(missed) if has_list else "not_applicable",
    }


def call_scores(attempt: Attempt, tools: Mapping[str, Any]) -> dict[str, Value]:
    """Return what needs no task."""
    allowed = [c.tool in tools if c.offered is None else c.offered for c in attempt.calls]
    with_schema = [c for c in attempt.calls if tools.get(c.tool, {}).get("parameters")]
    valid = [is_valid(c, tools) for c in with_schema]
    safe = {
        name
        for name, tool in tools.items()
        if any(effect_of(a, tools) in ("read", "write") for a in tool.get("alternatives", []))
    }
    destructive = [
        c
        for c in attempt.calls
        if effect_of(c.tool, tools) == "destructive" and may_change(c, tools)
    ]
    return {
        "tool_allowed_rate": _share(allowed),
        "parameter_validity": "error" if None in valid else _share(valid),
        "destructive_when_safe_existed": Fraction(sum(c.tool in safe for c in destructive)),
    }


def _share(held: Sequence[bool | None]) -> Value:
    return Fraction(sum(h is True for h in held), len(held)) if held else "not_applicable"


def step_scores(attempt: Attempt, task: Mapping[str, Any]) -> dict[str, Value]:
    """Return success and the steps beside the optimum."""
    success = {"success": True, "failure": False}.get(attempt.outcome or "")
    actual = len(attempt.calls)
    optimum: int = task.get("optimal_steps") or 0
    if "optimal_steps" not in task and task.get("expected") is not None:
        optimum = len(task["expected"]) if task.get("expected_complete", True) is True else 0
    measurable = success is True and optimum > 0
    return {
        "success": "not_applicable" if success is None else Fraction(int(success)),
        "actual_steps": Fraction(actual),
        "step_efficiency": min(Fraction(1), Fraction(optimum, actual))
        if measurable and actual
        else "not_applicable",
        "step_ratio": Fraction(actual, optimum) if measurable else "not_applicable",
    }

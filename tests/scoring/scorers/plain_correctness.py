"""Tool correctness as docs/metrics.md defines it, slow and plain: every matching is tried."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from . import plain
from .plain import Attempt, Call, Value
from .plain_values import ABSENT, fits

Expectation = Mapping[str, Any]
Tools = Mapping[str, Any]

NAMES = ("tool_selection_jaccard", "tool_parameters", "tool_sequence", "tool_utilization")


def scores(attempt: Attempt, task: Mapping[str, Any], tools: Tools) -> dict[str, Value]:
    """Return the four dimensions without the fourth, tool correctness and tool-correct."""
    absent: Value = "not_applicable"
    if task.get("expected") is None:
        return dict.fromkeys((*NAMES, "tool_correctness", "tool_correct"), absent)
    expected, calls = graded(attempt, task, tools)
    found = dict(zip(NAMES[:3], _dimensions(expected, calls, task, tools), strict=True))
    found["tool_utilization"] = absent
    return {**found, **_together(expected, calls, task, list(found.values()))}


def _together(
    expected: Sequence[Expectation], calls: Sequence[Call], task: Mapping[str, Any], found: Any
) -> dict[str, Value]:
    complete = task.get("expected_complete", True)
    total: Value
    if bool(expected) != bool(calls) and (expected or complete is not False):
        total = Fraction(0)
    elif "error" in found:
        total = "error"
    else:
        applicable = [value for value in found if value != "not_applicable"]
        total = sum(applicable, Fraction()) / len(applicable) if applicable else "not_applicable"
    correct = total if isinstance(total, str) else Fraction(total == 1)
    return {"tool_correctness": total, "tool_correct": correct}


def graded(
    attempt: Attempt, task: Mapping[str, Any], tools: Tools
) -> tuple[list[Expectation], list[Call]]:
    """Return the expected and the actual calls after the filter."""
    expected, calls = list(task["expected"]), list(attempt.calls)
    if task.get("expected_complete", True) == "writes":
        known = [e.get("effect") or plain.effect_of(e.get("tool"), tools) for e in expected]
        expected = [e for e, effect in zip(expected, known, strict=True) if effect != "read"]
        calls = [c for c in calls if plain.may_change(c, tools)]
    return expected, calls


def _dimensions(
    expected: Sequence[Expectation], calls: Sequence[Call], task: Mapping[str, Any], tools: Tools
) -> Iterator[Value]:
    fits = [[plain.fits_tool(c, e, tools) for c in calls] for e in expected]
    like = [
        [similarity(e, c) if fits[i][j] else Fraction(0) for j, c in enumerate(calls)]
        for i, e in enumerate(expected)
    ]
    matched = int(_best([[Fraction(f) for f in row] for row in fits]))
    free = task.get("expected_complete", True) is False
    total = len(expected) + (0 if free else len(calls) - matched)
    yield Fraction(matched, total) if total else "not_applicable"
    stated = [i for i, e in enumerate(expected) if e.get("arguments") is not None]
    hidden = [j for j, c in enumerate(calls) if any(like[i][j] is None for i in stated)]
    known = [[value or Fraction(0) for value in row] for row in like]
    yield (
        "not_applicable"
        if not stated
        else "error"
        if hidden
        else _best([known[i] for i in stated]) / len(stated)
    )
    choices = [j for j in hidden if sum(row[j] for row in fits) > 1]
    yield _sequence(fits, known, len(calls), bool(choices), task.get("sequence_matters", True))


def _sequence(
    fits: Sequence[Sequence[bool]], like: Any, calls: int, hidden: bool, ordered: bool
) -> Value:
    if not fits:
        return "not_applicable"
    if not ordered:
        return Fraction(calls > 0)
    if hidden:
        return "error"

    def common(i: int, j: int) -> int:
        if not i or not j:
            return 0
        most = (
            max(like[e][j - 1] for e in range(len(fits)) if fits[e][j - 1])
            if any(row[j - 1] for row in fits)
            else None
        )
        if fits[i - 1][j - 1] and like[i - 1][j - 1] == most:
            return common(i - 1, j - 1) + 1
        return max(common(i - 1, j), common(i, j - 1))

    return Fraction(common(len(fits), calls), len(fits))


def similarity(expected: Expectation, call: Call) -> Fraction | None:
    """Return equal keys / keys of both; 0 where none are stated, None if it cannot be known."""
    wanted = expected.get("arguments")
    if wanted is None:
        return Fraction(0)
    if call.arguments is None:
        return None
    if not isinstance(call.arguments, dict):
        return Fraction(0)
    made = call.arguments
    asked = {k: v for k, v in wanted.items() if k in made or not fits(ABSENT, v)}
    keys = asked.keys() | made.keys()
    same = [k for k, v in asked.items() if fits(made.get(k, ABSENT), v)]
    return Fraction(len(same), len(keys)) if keys else Fraction(1)


def _best(gains: Sequence[Sequence[Fraction]], taken: frozenset[int] = frozenset()) -> Fraction:
    """Return the largest sum of one gain from each row, each column used at most once."""
    if not gains:
        return Fraction(0)
    with_first = (
        gains[0][j] + _best(gains[1:], taken | {j})
        for j in range(len(gains[0]))
        if j not in taken and gains[0][j]
    )
    return max((_best(gains[1:], taken), *with_first))

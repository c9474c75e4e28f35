"""Tool correctness: the cases that other evaluators get wrong, utilization, turns and weights."""

import json
from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.scoring.build import (
    Case,
    Row,
    Score,
    all_scores,
    call,
    connection,
    score_rows,
    scored,
    scores,
    specification,
    trajectory,
)
from tests.slow import slow_after

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.attempts.assignment import largest_assignment, largest_matching
from tracegrade_scoring.errors import BadWeights
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.model import ToolCorrectness
from tracegrade_scoring.tasks.specification import weighted

from .selection import at_once, picks

Made = str | tuple[str, Row]


def graded(
    expected: Sequence[Made],
    made: Sequence[Made],
    *,
    steps: Sequence[Row] = (),
    weights: ToolCorrectness | None = None,
    **task: Any,
) -> dict[str, Score]:
    """Return the scores of an attempt that made these calls where those were expected."""
    points = [_named(e, "tool") for e in expected]
    calls = [
        call("t1", i, made_call["tool"], arguments=_written(made_call["arguments"]))
        for i, made_call in enumerate({"arguments": {}, **_named(m, "tool")} for m in made)
    ]
    whole = {"version": 1, "tasks": {"task": {"expected": points, **task}}}
    spec = specification(json.dumps(whole))
    if weights:
        spec = spec.model_copy(update={"tool_correctness": weights})
    run = trajectory("t1", task_id="task")
    return scores(scored(connection([*calls, *steps], [run]), spec, until="tool_correctness"))


def graded_at_once(
    cases: Sequence[tuple[list[Made], list[Made], Any]], options: ToolCorrectness
) -> list[dict[str, Score]]:
    """Return the scores of each case's attempt: expected calls, calls made; each has its task."""
    tasks = {
        f"t{i}": {"expected": [_named(e, "tool") for e in expected]}
        for i, (expected, _, _) in enumerate(cases)
    }
    calls = [
        call(f"t{i}", step, made_call["tool"], arguments=_written(made_call["arguments"]))
        for i, (_, made, _) in enumerate(cases)
        for step, made_call in enumerate({"arguments": {}, **_named(m, "tool")} for m in made)
    ]
    runs = [trajectory(name, task_id=name) for name in tasks]
    spec = specification(json.dumps({"version": 1, "tasks": tasks}))
    spec = spec.model_copy(update={"tool_correctness": options})
    found = all_scores(scored(connection(calls, runs), spec, until="tool_correctness"))
    return [found[name] for name in tasks]


def _written(arguments: Row) -> str | None:
    return canonical_json(json.dumps(arguments))


def _named(made: Made, key: str) -> Row:
    return {key: made} if isinstance(made, str) else {key: made[0], "arguments": made[1]}


def value(found: dict[str, Score], metric: str = "tool_correctness") -> float | str | None:
    """Return a score's value, or why it has none."""
    score = found[metric]
    return score.value if score.status == "scored" else score.reason


REGRESSIONS: list[tuple[list[Made], list[Made], float]] = [
    (["a", "a"], ["a", "a"], 1.0),
    (["s", "s", "m"], ["s", "m", "m"], (2 / 4 + 2 / 3) / 2),
    (["a", "b"], ["a", "b", "z", "z"], (2 / 4 + 1) / 2),
    (["a", "b", "c"], ["a", "b", "z"], (2 / 4 + 2 / 3) / 2),
    ([("a", {"n": 1})], [("a", {"n": 1}), ("a", {"n": 1})], (1 / 2 + 1 + 1) / 3),
    ([("calc", {"a": 1}), ("calc", {"a": 2})], [("calc", {"a": 1}), ("calc", {"a": 2})], 1.0),
    ([("calc", {"a": 1}), ("calc", {"a": 2})], [("calc", {"a": 2}), ("calc", {"a": 1})], 2.5 / 3),
    ([("a", {})], [("a", {})], 1.0),
    ([("a", {})], [("a", {"n": 1})], 2 / 3),
    ([("a", {"n": 1, "m": 2})], [("a", {"n": 1.0, "k": 3})], (1 + 1 / 3 + 1) / 3),
    ([("a", {"n": 1})], [("a", {"n": True})], 2 / 3),
]
"""Expected calls, calls made, tool correctness with equal weights; no result was captured."""


@pytest.fixture(scope="module")
def regressions() -> list[dict[str, Score]]:
    """The scores of all REGRESSIONS."""
    return graded_at_once(REGRESSIONS, ToolCorrectness())


@pytest.mark.parametrize("case", range(len(REGRESSIONS)), ids=lambda i: str(REGRESSIONS[i][:2]))
def test_calls_are_matched_one_to_one(regressions: list[dict[str, Score]], case: int) -> None:
    """Calls are a multiset, a call is used once, and what is partly right is partly credited."""
    found, correctness = regressions[case], REGRESSIONS[case][2]

    assert value(found) == pytest.approx(correctness, abs=1e-12)
    assert value(found, "tool_correct") == (correctness == 1)


LITERAL: list[tuple[list[Made], list[Made], tuple[float, ...]]] = [
    (["a", "b"], ["a", "b"], (1.0, 1.0)),
    (["a", "a"], ["a", "a"], (1.0, 1 / 2)),
    (["s", "s", "m"], ["s", "m", "m"], (1.0, 1 / 3)),
    (["x", "a"], ["a", "x", "a"], (1.0, 0.0)),
    (["a", "b"], ["a", "b", "z", "z"], (2 / 3, 1.0)),
    (["a"], [], (0.0, 0.0)),
    ([("c", {"n": 1}), ("c", {"n": 2})], [("c", {"n": 1}), ("c", {"n": 2})], (1.0, 1 / 2, 1 / 2)),
    ([("c", {"n": 1}), ("d", {})], [("c", {"n": 1, "k": 1})], (1 / 2, 1 / 2, 1 / 4)),
]
"""Expected calls, calls made, selection, sequence and, where stated, parameters by the paper."""


@pytest.fixture(scope="module")
def literals() -> list[dict[str, Score]]:
    """The scores of all LITERAL cases."""
    return graded_at_once(LITERAL, ToolCorrectness(compat="agentic"))


@pytest.mark.parametrize("case", range(len(LITERAL)), ids=lambda i: str(LITERAL[i][:2]))
def test_paper_is_followed_to_the_letter_if_asked(
    literals: list[dict[str, Score]], case: int
) -> None:
    """Names are a set, an expectation meets the first call of its name, order is the place."""
    found, literal = literals[case], LITERAL[case][2]
    names = ("tool_selection_jaccard", "tool_sequence", "tool_parameters")

    assert tuple(value(found, name) for name in names[: len(literal)]) == literal
    assert value(found) == pytest.approx(sum(literal) / len(literal))


def by_the_paper(expected: list[Row], made: list[Row]) -> tuple[Any, ...]:
    """Return selection, sequence and parameters as the text has them; None: nothing to measure."""
    names, used = {each["tool"] for each in expected}, [each["tool"] for each in made]
    found = [used.index(each["tool"]) if each["tool"] in used else None for each in expected]
    shares = [
        shared_keys(each["arguments"], {} if at is None else made[at]["arguments"], at is not None)
        for each, at in zip(expected, found, strict=True)
        if "arguments" in each
    ]
    return (
        len(names & set(used)) / len(names | set(used)) if names or used else None,
        sum(at == i for i, at in enumerate(found)) / len(found) if found else None,
        sum(shares) / len(shares) if shares else None,
    )


def shared_keys(wanted: Row, given_: Row, made: bool) -> float:
    """Return equal keys / keys of both; 1 if a call was made and there are none."""
    keys = wanted.keys() | given_.keys()
    equal = sum(key in wanted and key in given_ and wanted[key] == given_[key] for key in keys)
    return float(made) if not keys else equal / len(keys)


def test_paper_is_followed_on_random_attempts() -> None:
    """Two hundred attempts, each at a task of its own."""
    random = Random(1)  # noqa: S311 - no secret hangs on it

    def calls(stated: float) -> list[Row]:
        made: list[dict[str, Any]] = [
            {"tool": random.choice("abc")} for _ in range(random.randint(0, 4))
        ]
        for each in made:
            if random.random() < stated:
                keys = random.sample("xyz", random.randint(0, 3))
                each["arguments"] = {key: random.randint(1, 2) for key in keys}
        return [*made]

    cases = {f"t{i}": (calls(0.7), calls(1)) for i in range(200)}
    tasks = {name: {"expected": expected} for name, (expected, _) in cases.items()}
    spec = specification(json.dumps({"version": 1, "tasks": tasks}))
    steps = [
        call(name, i, each["tool"], arguments=_written(each["arguments"]))
        for name, (_, made) in cases.items()
        for i, each in enumerate(made)
    ]
    runs = [trajectory(name, task_id=name) for name in cases]
    options = ToolCorrectness(compat="agentic")
    con = scored(
        connection(steps, runs),
        spec.model_copy(update={"tool_correctness": options}),
        until="tool_correctness",
    )

    found = {row[:2]: row[2].value for row in score_rows(con, "tool_correctness_scores")}
    names = ("tool_selection_jaccard", "tool_sequence", "tool_parameters")
    for name, case in cases.items():
        values = tuple(found[name, metric] for metric in names)
        assert values == pytest.approx(by_the_paper(*case)), case


@pytest.mark.parametrize(("text", "used"), slow_after(1, [("It is order 7781.", 1), ("Done.", 0)]))
def test_answer_uses_tools_or_not_by_the_paper(text: str, used: int) -> None:
    """One result of two that comes back is enough; ours is a half."""
    steps = [
        call("t1", 0, "a", result="order 7781"),
        call("t1", 1, "b", result="order 9999"),
        answer(text),
    ]
    ours, literal = (
        value(graded(["a", "b"], [], steps=steps, weights=weights), "tool_utilization")
        for weights in (None, ToolCorrectness(compat="agentic"))
    )

    assert (ours, literal) == (used / 2, used)


def test_order_is_the_longest_common_subsequence() -> None:
    """A call too many does not shift all that follow."""
    task = {"expected": [{"tool": "x"}, {"tool": "a"}]}
    cases = [
        Case(picks(*"axa"), task),
        Case(picks(*"ax"), task),
        Case(picks(*"ax"), {**task, "sequence_matters": False}),
    ]

    assert [value(each, "tool_sequence") for each in at_once(cases, "")] == [1, 1 / 2, 1]


def test_steps_may_count_from_any_number() -> None:
    """Positions in the trajectory do not affect the score."""
    task = {"expected": [{"tool": "a"}, {"tool": "b"}]}
    cases = [
        Case([call("t1", first + i, tool) for i, tool in enumerate("ab")], task)
        for first in (0, 1)
    ]

    from_none, from_one = at_once(cases, "")
    assert from_none == from_one


def test_weights_that_sum_to_one_make_a_perfect_turn_correct() -> None:
    """.4, .3, .2 and .1 add up to less than 1 in floating point."""
    weights = ToolCorrectness(selection=0.4, parameters=0.3, sequence=0.2, utilization=0.1)
    found = graded([("a", {"n": 1})], [("a", {"n": 1})], weights=weights)

    assert value(found, "tool_correct") == 1


@pytest.mark.parametrize(
    "weights",
    [
        {"selection": -1.0},
        {"selection": 0.0, "parameters": 0.0, "sequence": 0.0, "utilization": 0.0},
    ],
)
def test_weights_without_meaning_are_refused(weights: dict[str, float]) -> None:
    """A negative weight, or none at all."""
    with pytest.raises(ValidationError):
        ToolCorrectness.model_validate(weights)


def test_weights_are_given_in_words() -> None:
    """A dimension that is not named has weight 1; other weights, other scores of everything."""
    assert weighted(Specification(), None, None, "agentic").tool_correctness.compat == "agentic"
    assert weighted(Specification(), None, None, "none").tool_correctness == ToolCorrectness()
    made = weighted(Specification(), "utilization=0, sequence=.5", 0.9)

    assert made.tool_correctness == ToolCorrectness(sequence=0.5, utilization=0.0, threshold=0.9)
    assert made.hash != Specification().hash


@pytest.mark.parametrize("weights", ["speed=1", "sequence", "sequence=-1", "sequence=x"])
def test_words_that_are_no_weights_are_refused(weights: str) -> None:
    """The message names what was given."""
    with pytest.raises(BadWeights, match=f"--tool-weights '{weights}'"):
        weighted(Specification(), weights, 1.0)


def test_threshold_decides_what_is_correct() -> None:
    """An attempt at the threshold is tool-correct."""
    half = graded(["a", "b"], ["a"], weights=ToolCorrectness(threshold=0.5))

    assert (value(half), value(half, "tool_correct")) == (0.5, 1)


FREE: list[tuple[str, str, bool, tuple[Any, ...]]] = [
    ("", "", True, ("no_calls", "no_calls", "no_calls_expected")),
    ("", "a", True, (0, 0, "no_calls_expected")),
    ("", "a", False, ("no_calls", "no_calls", "no_calls_expected")),
    ("a", "", True, (0, 0, 0)),
    ("a", "az", False, (1, 1, 1)),
]
"""Tools that were expected and called, whether these are all, and the scores."""


def test_no_calls_and_free_calls() -> None:
    """Nothing beside nothing is not applicable; something beside nothing is 0, never 0 / 0."""
    cases = [
        Case(picks(*made), {"expected": [{"tool": tool} for tool in expected],
                            "expected_complete": complete, "sequence_matters": True})
        for expected, made, complete, _ in FREE
    ]  # fmt: skip
    names = ("tool_correctness", "tool_selection_jaccard", "tool_sequence")

    found = [tuple(value(each, name) for name in names) for each in at_once(cases, "")]
    assert found == [scored_as for *_, scored_as in FREE]


def test_calls_where_none_are_expected_are_wrong_however_their_results_were_used() -> None:
    """`expected: []` states expectations, so results are judged, and make up for nothing.

    docs/metrics.md, section 2.3. Under `expected_complete: false` calls are free.
    """
    steps = [call("t1", 0, "look", result="order 7781"), answer("It is order 7781.")]
    by_turn = {"expected": [{"tool": "look", "turn": 1}]}
    cases = [
        Case(steps, {"expected": []}),
        Case(steps, {"expected": [], "expected_complete": False}),
        Case(steps, by_turn),
        Case(steps, {}),
    ]
    names = ("tool_correctness", "tool_correct", "tool_selection_jaccard", "tool_utilization")
    by_use = ToolCorrectness(selection=0.0, parameters=0.0, sequence=0.0, utilization=1.0)

    found = [tuple(value(each, name) for name in names) for each in at_once(cases, "")]
    assert found == [
        (0, 0, 0, 1),
        ("no_calls", "no_calls", "no_calls", 1),
        (0, 0, 0, 1),
        ("no_expectation",) * 4,
    ]
    assert value(graded([], [], steps=steps, weights=by_use)) == 0
    assert value(graded(["look"], [], steps=steps, weights=by_use)) == 1


def test_no_call_is_wrong_even_if_order_is_irrelevant() -> None:
    """An agent that did nothing did nothing right."""
    assert value(graded(["a"], [], sequence_matters=False)) == 0


def test_arguments_that_were_not_captured_are_an_error() -> None:
    """They equal nothing, and they cannot be called wrong."""
    task = "{version: 1, tasks: {task: {expected: [{tool: a, arguments: {n: 1}}]}}}"
    run = trajectory("t1", task_id="task")
    con = scored(
        connection([call("t1", 0, "a", arguments=None)], [run]),
        specification(task),
        until="tool_correctness",
    )
    found = scores(con)

    assert value(found, "tool_selection_jaccard") == 1
    assert value(found, "tool_parameters") == "content_missing"
    assert value(found) == "content_missing"


def answer(text: str, step_index: int = 9) -> Row:
    """Return the final answer of the attempt."""
    return {"trajectory_id": "t1", "step_index": step_index, "kind": "answer", "content": text}


USED: list[tuple[str, str, float | str]] = [
    ('{"total": 1234.50}', "You pay $1,234.5.", 1),
    ("order #7781", "It is order 7781.", 1),
    ("order #7781", "It is order 77812.", 0),
    ("Ada@Example.org", "I wrote to ada@example.org.", 1),
    ("seats: 12", "There are 12 seats", "no_distinctive_result"),
    ("1,234,567 rows", "1234567", 1),
    ("id a-7 and 100.0", "100", 1),
    ('{"seats":[101,202]}', "Seat 202 is yours.", 1),
    ('{"text":"Order:\\nA-1234\\u0021"}', "It is A-1234.", 1),
    ('{"phone":"\\u002B49151"}', "Call +49151", 1),
    ("saved in C:\\new1234", "It is in C:\\new1234.", 1),
]
"""A result, the answer, and how well the answer uses it."""


@pytest.fixture(scope="module")
def used() -> list[dict[str, Score]]:
    """The scores of all USED."""
    task = {"expected": [{"tool": "look"}]}
    cases = [
        Case([call("t1", 5, "look", result=result), answer(text)], task)
        for result, text, _ in USED
    ]
    return at_once(cases, "")


@pytest.mark.parametrize("case", range(len(USED)), ids=lambda i: str(USED[i][:2]))
def test_result_is_used_if_a_distinctive_token_comes_back(
    used: list[dict[str, Score]], case: int
) -> None:
    """Tokens are compared whole, in any case; numbers by value, and JSON by its content."""
    assert value(used[case], "tool_utilization") == USED[case][2]


def test_result_is_used_only_by_what_comes_later() -> None:
    """An argument of a later call uses it, one of the call itself does not."""
    steps = [
        call("t1", 0, "look", arguments='{"id":"o-7781"}', result="o-7781 found"),
        call("t1", 1, "look", arguments='{"id":"o-9999"}', result="o-5555"),
        call("t1", 2, "look", arguments='{"id":"o-7781"}', result="Error: o-7781"),
    ]
    found = graded(["look"], [], steps=steps)

    assert found["tool_utilization"][:3] == (0.5, 1, 2)


def test_reads_alone_are_not_graded_where_only_writes_are() -> None:
    """No write was expected and none made: what was read does not make it wrong."""
    task = """
    version: 1
    tools: {look: {effect: read}}
    tasks: {task: {expected: [], expected_complete: writes}}
    """
    looked = call("t1", 0, "look", result="order 7781")
    found = scores(
        scored(
            connection([looked], [trajectory("t1", task_id="task")]),
            specification(task),
            until="tool_correctness",
        )
    )

    assert (value(found), value(found, "tool_correct")) == ("no_calls", "no_calls")
    assert value(found, "tool_utilization") == 0


def test_dimensions_have_their_own_value_whatever_their_weight() -> None:
    """Where all that has weight is lacking, the score is not applicable, and the others stay."""
    weights = ToolCorrectness(selection=0.0, parameters=1.0, sequence=0.0, utilization=0.0)
    found = graded(["look"], ["look"], weights=weights)

    assert value(found) == value(found, "tool_correct") == "no_arguments_expected"
    assert value(found, "tool_selection_jaccard") == value(found, "tool_sequence") == 1


def test_turns_are_graded_one_by_one() -> None:
    """A call in the wrong turn is wrong; the score is the mean, correct only if every turn is."""
    task = {"expected": [{"tool": "a", "turn": 0}, {"tool": "b", "turn": 1}]}

    def turns(*tools: tuple[str, int]) -> Case:
        return Case([call("t1", i, tool, turn=turn) for i, (tool, turn) in enumerate(tools)], task)

    right, wrong = at_once([turns(("a", 0), ("b", 1)), turns(("a", 0), ("b", 0))], "")
    assert (value(right), value(right, "tool_correct")) == (1, 1)
    assert (value(wrong), value(wrong, "tool_correct")) == ((3 / 4 + 0) / 2, 0)


def test_many_calls_of_one_tool_find_places_without_end() -> None:
    """However many calls have to make room for the next one, Python's stack does not decide."""
    assert largest_matching([list(range(1100))] * 1100) == 1100
    assert largest_matching([[0], [0, 1], [1, 2], [0, 2], [2]]) == 3


@given(st.randoms(use_true_random=True))
def test_assignment_is_the_best_of_all(random: Random) -> None:
    """The Hungarian method finds what trying every pairing finds."""
    rows, columns = random.randint(1, 4), random.randint(1, 5)
    gains = [[random.randint(0, 6) for _ in range(columns)] for _ in range(rows)]
    padded = [row + [0] * max(0, rows - columns) for row in gains]
    every = permutations(range(max(rows, columns)), rows)

    assert largest_assignment(gains) == max(
        sum(row[i] for row, i in zip(padded, chosen, strict=True)) for chosen in every
    )

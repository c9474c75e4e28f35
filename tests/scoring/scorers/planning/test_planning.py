"""Planning quality agrees with its definition, on structured plans and on plans in thoughts."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import (
    Row,
    Score,
    call,
    connection,
    prepared,
    score_rows,
    specification,
    trajectory,
)

from tracegrade_scoring.scorers.planning.reading import read_steps

from . import plain

TOOLS = {
    "look": {"effect": "read"},
    "save": {"effect": "write"},
    "drop": {"effect": "destructive"},
    "wait": {},
}

FILES = """
tools:
  list_files: {effect: read}
  read_csv: {effect: read}
  write_clean: {effect: write}
  write_report: {effect: write}
  archive: {effect: write}
tasks:
  files: {optimal_steps: 4, scope: [list_files, read_csv, write_clean, write_report]}
  open: {optimal_steps: 4}
  two: {optimal_steps: 2, scope: [list_files]}
  one: {expected: [{tool: list_files}]}
  goals: {sub_goals: {a: {serves: [list_files]}, b: {serves: [archive]}, c: {serves: [read_csv]}}}
  unknown: {expected: [{tool: list_files}], expected_complete: writes}
"""
"""The article's file-processing agent, and tasks of other lengths."""

FIVE_STEPS: Sequence[Mapping[str, Any]] = [
    {"id": "list", "tool": "list_files", "outputs": ["files"]},
    {"id": "read", "tool": "read_csv", "inputs": ["files"], "outputs": ["rows"]},
    {"id": "clean", "tool": "write_clean", "inputs": ["rows"], "outputs": ["clean"]},
    {"id": "archive", "tool": "archive", "inputs": ["files"]},
    {"tool": "write_report", "inputs": ["clean"], "effect": "write", "rollback": "delete it"},
]
"""Ordered, without a branch, with one step too many, and one of two writes tagged."""

TEXT = """I know what to do.
1. list_files in /data/uploads
2. read_csv for each of them
   - if a header is malformed, skip the file
3. write_clean (write); on failure, undo it by deleting the folder
4. archive the uploads
5. write_report (write)
Let us begin."""


def thought(content: str | None, step_index: int = 0) -> Row:
    """Return one thought of attempt t1."""
    known = {"trajectory_id": "t1", "step_index": step_index, "kind": "thought"}
    return {**known, "content": content}


def plan(steps: object, step_index: int = 0, trajectory_id: str = "t1") -> Row:
    """Return one declared plan."""
    text = None if steps is None else json.dumps(steps)
    known = {"trajectory_id": trajectory_id, "step_index": step_index, "kind": "plan"}
    return {**known, "plan": text}


def scored(
    tasks: str, steps: Sequence[Row], attempts: Mapping[str, str]
) -> dict[tuple[str, str], Score]:
    """Return the scores of attempts at tasks of known length, by attempt and metric."""
    runs = [trajectory(name, task_id=task_id) for name, task_id in attempts.items()]
    spec = specification(tasks)
    with connection(steps, runs) as con:
        prepared(con, spec, "plan_graph", "planning")
        rows = score_rows(con, "planning_scores")
    return {
        (attempt, metric): score
        for attempt, metric, score in rows
        if score[3:] != ("not_applicable", None, "length_unknown", None)
    }


def of(task: str, *steps: Row) -> dict[str, Score]:
    """Return the scores of one attempt that makes a call after these steps."""
    (found,) = several((task, steps))
    return found


def several(*attempts: tuple[str, Sequence[Row]]) -> list[dict[str, Score]]:
    """Return the scores of attempts at tasks; each attempt makes a call after its steps."""
    tried = {f"t{i}": each for i, each in enumerate(attempts, start=1)}
    rows = [
        {**row, "trajectory_id": name}
        for name, (_, steps) in tried.items()
        for row in (*steps, call(name, 50, "list_files"))
    ]
    found = scored(FILES, rows, {name: task for name, (task, _) in tried.items()})
    return [
        {metric: score for (of, metric), score in found.items() if of == name} for name in tried
    ]


def test_worked_example_is_the_article_s() -> None:
    """2.5 for order, nothing for branches and scope, half of the writes tagged: 3.75 strict."""
    found = of("files", plan(FIVE_STEPS))

    assert found["pq_strict"].value == 3.75
    assert found["pq"].value == pytest.approx(2.5 + 0 + 2.0 + 1.25)
    assert found["pq_scope_control"][:3] == (0.8, 4.0, 5.0)
    assert found["pq_dependency_ordering"][:3] == (1.0, 4.0, 4.0)


def test_list_in_a_thought_is_a_plan() -> None:
    """What is nested in an item belongs to it; without inputs its order cannot be judged."""
    found = of("files", thought(TEXT))

    assert found["pq_dependency_ordering"].reason == "no_inputs_declared"
    assert found["pq_branch_coverage"][:3] == (0.4, 2.0, 5.0)
    assert found["pq_scope_control"][:3] == (0.8, 4.0, 5.0)
    assert found["pq_reversibility"][:3] == (0.75, 1.5, 2.0)
    assert (found["pq"].status, found["pq"].reason) == ("error", "no_inputs_declared")
    assert found["pq_partial"].value == pytest.approx(10 * (0.4 + 0.8 + 0.75) / 3)


def test_json_in_a_thought_is_a_plan() -> None:
    """It is read as if it had been declared."""
    said = thought(f"My plan:\n```json\n{json.dumps(FIVE_STEPS, indent=1)}\n```\nNow to it.")

    read, declared = several(("files", [said]), ("files", [plan(FIVE_STEPS)]))
    assert read == declared


def test_json_in_a_thought_may_stand_beside_other_brackets() -> None:
    """A text that only looks like a list of objects is not a plan, and hides none."""
    written = json.dumps(FIVE_STEPS)
    declared, listed, *others = several(
        ("files", [plan(FIVE_STEPS)]),
        ("files", [thought(TEXT)]),
        ("files", [thought(f"As in [1], for {{user}}: {written} (see [2])")]),
        ("files", [thought(f'{{"steps": {written}, "notes": [{{"a": 1}}]}}')]),
        ("files", [thought(TEXT), thought("First I call f([{x}]).", 1)]),
        ("files", [thought("First I call f([{x}]).")]),
        ("files", [{**plan(None), "content": "I shall look first."}]),
        ("files", [{**plan(None), "plan": "[" * 1020 + "]" * 1020}]),
    )

    assert others[:2] == [declared] * 2
    assert others[2] == listed
    assert others[3]["pq"].label == "no_plan"
    assert [each["pq"].reason for each in others[4:]] == ["plan_unreadable"] * 2


def test_last_plan_before_the_first_call_counts() -> None:
    """A declared one before one in a thought; what comes after the first call is too late."""
    bad = [{"tool": "archive", "inputs": ["x"]}]
    worked, *others = several(
        ("files", [plan(FIVE_STEPS)]),
        ("files", [plan(bad), plan(FIVE_STEPS, 1)]),
        ("files", [plan(FIVE_STEPS), thought(TEXT, 1)]),
        ("files", [thought(TEXT), plan(FIVE_STEPS, 1), plan(bad, 60)]),
    )

    assert others == [worked] * 3


def test_handing_over_is_no_first_call() -> None:
    """A plan after a sub-agent was called, and before the agent's own first call, is in time."""
    runs = [
        trajectory("t1", task_id="files"),
        trajectory("sub", parent_trajectory_id="t1", parent_step=0),
    ]
    steps = [
        *(call("t1", 0, "ask_helper"), plan(FIVE_STEPS, 1), call("t1", 2, "list_files")),
        call("sub", 0, "read_csv"),
    ]
    spec = specification(FILES)
    with connection(steps, runs) as con:
        prepared(con, spec, "plan_graph", "planning")
        found = {m: s for _, m, s in score_rows(con, "planning_scores")}

    assert found["pq_strict"].value == 3.75


NEEDED: list[tuple[str, list[Row], float | None, str, str]] = [
    ("files", [], 0.0, "scored", "no_plan"),
    ("files", [plan([])], 0.0, "scored", "no_plan"),
    ("files", [thought("I shall look first.\n- one thing")], 0.0, "scored", "no_plan"),
    ("files", [plan({"plan": "I look, then I write."})], None, "error", "plan_unreadable"),
    ("files", [plan({"todos": []})], 0.0, "scored", "no_plan"),
    ("files", [plan(None)], None, "error", "content_missing"),
    ("files", [thought(None)], None, "error", "content_missing"),
    ("two", [plan(FIVE_STEPS)], None, "not_applicable", "two_steps"),
    ("one", [], 10.0, "scored", "no_plan_needed"),
    ("goals", [], 0.0, "scored", "no_plan"),
]
"""A task, the steps before the first call, and planning quality, its status and why."""


@pytest.fixture(scope="module")
def needed() -> list[dict[str, Score]]:
    """The scores of all NEEDED."""
    return several(*((task, steps) for task, steps, *_ in NEEDED))


@pytest.mark.parametrize("case", range(len(NEEDED)), ids=lambda i: f"{i}-{NEEDED[i][4]}")
def test_whether_a_plan_was_needed(needed: list[dict[str, Score]], case: int) -> None:
    """Three and more required steps need a plan, none or one do not, two say nothing."""
    found, (_, _, value, status, said) = needed[case], NEEDED[case]

    assert {found[name][0] for name in ("pq", "pq_strict", "pq_partial")} == {value}
    assert found["pq"].status == status
    assert said in (found["pq"].label, found["pq"].reason)
    assert found["pq_scope_control"].reason == said


def test_thoughts_that_nobody_could_see_are_no_missing_plan() -> None:
    """A run that the harness watched from outside, say. A plan that was seen counts."""
    flags = {"flags": ["unrecorded_thoughts"]}
    runs = [trajectory(name, task_id="files", **flags) for name in ("t1", "t2")]
    steps = [call("t1", 5, "list_files"), plan(FIVE_STEPS, 0, "t2"), call("t2", 5, "list_files")]
    spec = specification(FILES)
    with connection(steps, runs) as con:
        prepared(con, spec, "plan_graph", "planning")
        found = {(t, m): s for t, m, s in score_rows(con, "planning_scores")}

    assert (found["t1", "pq"].status, found["t1", "pq"].reason) == ("error", "content_missing")
    assert found["t1", "pq_partial"].reason == "content_missing"
    assert found["t2", "pq_strict"].value == 3.75


def test_task_of_unknown_length_has_no_planning_score() -> None:
    """Where only the writes are expected, nothing says how many steps it takes."""
    planned = [plan(FIVE_STEPS)]

    assert several(("unknown", planned), ("none", planned)) == [{}, {}]


def test_task_without_an_objective_cannot_judge_scope() -> None:
    """Without scope and sub-goals nothing is outside; the other questions still have answers."""
    found = of("open", plan(FIVE_STEPS))

    assert found["pq_scope_control"].reason == "no_scope"
    assert found["pq"].status == "error"
    assert found["pq_reversibility"][:3] == (1 / 3, 1.0, 3.0)
    assert found["pq_partial"].value == pytest.approx(10 * (1 + 0 + 1 / 3) / 3)


def random_plan(random: Random) -> list[dict[str, Any]]:
    """Return a plan of up to five steps."""
    return [random_step(random) for _ in range(random.randint(0, 5))]


def random_step(random: Random) -> dict[str, Any]:
    """Return one step with some of the keys that a plan may have."""
    step: dict[str, Any] = {"text": "next"}
    if random.random() < 0.4:
        step["id"] = random.choice("abxy")
    if random.random() < 0.7:
        step["tool"] = random.choice([*TOOLS, "other"])
    for key in ("inputs", "outputs"):
        if random.random() < 0.6:
            step[key] = random.sample("pqrs", random.randint(0, 2))
    if random.random() < 0.5:
        step["effect"] = random.choice(("read", "write", "destructive"))
    if random.random() < 0.3:
        step["rollback"] = "take it back"
    if random.random() < 0.4:
        step["on_failure"] = random.choice(([], ["stop"], "stop"))
    return step


def random_task(random: Random) -> dict[str, Any]:
    """Return a task, now and then one that says little."""
    task: dict[str, Any] = {}
    if random.random() < 0.6:
        task["optimal_steps"] = random.randint(0, 4)
    if random.random() < 0.4:
        task["expected"] = [{"tool": "look"}] * random.randint(0, 4)
        task["expected_complete"] = random.choice((True, "writes"))
    if random.random() < 0.5:
        task["scope"] = random.sample([*TOOLS], random.randint(0, 3))
    if random.random() < 0.5:
        names = random.sample("abcd", random.randint(1, 4))
        task["sub_goals"] = {name: {"serves": [random.choice([*TOOLS])]} for name in names}
    return task


@settings(max_examples=2, phases=[Phase.generate])
@given(st.integers(min_value=0))
def test_scores_are_those_of_the_definition(seed: int) -> None:
    """Four plans at each of 60 tasks score as the slow and plain definition says."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    tasks = {f"task-{i}": random_task(random) for i in range(60)}
    plans = {f"{task_id}/{i}": random_plan(random) for task_id in tasks for i in range(4)}
    attempts = {name: name.split("/")[0] for name in plans}
    text = json.dumps({"tools": TOOLS, "tasks": tasks})

    found = scored(text, [plan(steps, 0, name) for name, steps in plans.items()], attempts)
    for name, task_id in attempts.items():
        wanted = plain.scores(tasks[task_id], TOOLS, plans[name])
        assert {metric for attempt, metric in found if attempt == name} == set(wanted)
        for metric, value in wanted.items():
            score = found[name, metric]
            if isinstance(value, str):
                assert score.status == value, (name, metric)
            else:
                assert score.value == pytest.approx(float(value), abs=1e-12), (name, metric)


FORMS = ("{n}. {text}", "- {text}", "* {text}", "Step {n}: {text}", "  {n}) {text}")


@given(
    st.sampled_from(FORMS),
    st.lists(
        st.tuples(
            st.sampled_from(("look around", "save it (write)", "think")),
            st.sampled_from(("", "if it fails, stop", "on error retry")),
            st.sampled_from(("", "roll back by dropping it", "undo")),
            st.sampled_from((" ", "\n     - ")),
        ),
        min_size=2,
        max_size=5,
    ),
)
def test_every_form_of_a_list_reads_alike(
    form: str, steps: list[tuple[str, str, str, str]]
) -> None:
    """What stands before an item does not matter, nor where in it something is said."""
    lines = [
        form.format(n=i, text=glue.join(filter(None, (text, branch, back))))
        for i, (text, branch, back, glue) in enumerate(steps, start=1)
    ]
    found = read_steps("First:\n" + "\n".join(lines))

    assert [(s.branch, s.rollback, s.marked) for s in found] == [
        (bool(branch), bool(back), bool(back) or "write" in text)
        for text, branch, back, _ in steps
    ]
